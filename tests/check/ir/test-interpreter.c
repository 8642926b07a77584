/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"
#include "ir/toy-prims.h"

static GyreRef
make_ref (double *data,
          gint64  n)
{
  return (GyreRef) { GYRE_F32, GYRE_SHAPE (n), data };
}

START_TEST (runs_a_graph)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GError) error = NULL;
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2));
  GyreTensor *y = gyre_graph_input (graph, "y", GYRE_F32, &GYRE_SHAPE (2));
  GyreRef inputs[] = { make_ref ((double[]) { 1, 2 }, 2),
                       make_ref ((double[]) { 3, 5 }, 2) };
  GyreRef outputs[3];

  gyre_graph_add_output (graph, toy_scaled (toy_binary (&toy_add, x, y), 2));
  gyre_graph_add_output (graph, y);
  gyre_graph_add_output (graph, toy_binary (&toy_mul, x, x));
  ck_assert (gyre_interpret (graph, inputs, outputs, &error));
  gyre_assert_no_error (error);
  ck_assert_double_eq (outputs[0].data[1], 14);
  ck_assert_double_eq (outputs[1].data[0], 3);
  ck_assert_double_eq (outputs[2].data[1], 4);
  for (int i = 0; i < 3; i++)
    g_free (outputs[i].data);
}
END_TEST

START_TEST (refuses_other_shapes)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GError) error = NULL;
  GyreRef input = make_ref ((double[]) { 1, 2, 3 }, 3), output;

  gyre_graph_add_output (graph, gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2)));
  ck_assert (!gyre_interpret (graph, &input, &output, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "(x) is f32[3]");
}
END_TEST

/* data=2, model=3: the sum over data pairs the members 0 and 3, 1 and 4, 2 and 5. */
START_TEST (collectives_see_all_members)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GError) error = NULL;
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (1));
  double data[6] = { 1, 10, 100, 1000, 10000, 100000 };
  GyreRef inputs[6], outputs[6], alone;

  graph->n_axes = 2;
  graph->axes[0] = (GyreAxis) { g_intern_string ("data"), 2, TRUE, FALSE };
  graph->axes[1] = (GyreAxis) { g_intern_string ("model"), 3, TRUE, FALSE };
  gyre_graph_add_output (graph, gyre_graph_emit (graph, &toy_sum, &x, 1, NULL));
  for (int m = 0; m < 6; m++)
    inputs[m] = make_ref (data + m, 1);

  ck_assert (gyre_interpret_mesh (graph, 6, inputs, outputs, &error));
  for (int m = 0; m < 6; m++)
    {
      ck_assert_double_eq (outputs[m].data[0], data[m % 3] + data[m % 3 + 3]);
      g_free (outputs[m].data);
    }

  ck_assert (gyre_interpret (graph, inputs, &alone, &error));
  ck_assert_double_eq (alone.data[0], 1);
  g_free (alone.data);
}
END_TEST

START_TEST (members_may_be_ragged)
{
  g_autoptr (GError) error = NULL;
  double data[] = { 1, 2, 3 };
  GyreRef inputs[2] = { make_ref (data, 2), make_ref (data + 2, 1) }, outputs[2];
  GyreGraph *graphs[2];

  for (int m = 0; m < 2; m++)
    {
      GyreTensor *x;

      graphs[m] = gyre_graph_new ();
      graphs[m]->n_axes = 1;
      graphs[m]->axes[0] = (GyreAxis) { g_intern_string ("data"), 2, TRUE, TRUE };
      x = gyre_graph_input (graphs[m], "x", GYRE_F32, &GYRE_SHAPE (2 - m));
      gyre_graph_add_output (graphs[m], toy_scaled (x, 10));
    }
  ck_assert (gyre_interpret_ragged ((const GyreGraph *const *) graphs, 2, inputs, outputs,
                                    &error));
  ck_assert_int_eq (outputs[0].shape.dims[0], 2);
  ck_assert_int_eq (outputs[1].shape.dims[0], 1);
  ck_assert_double_eq (outputs[1].data[0], 30);
  for (int m = 0; m < 2; m++)
    {
      g_free (outputs[m].data);
      gyre_graph_free (graphs[m]);
    }
}
END_TEST

START_TEST (members_must_meet)
{
  g_autoptr (GError) error = NULL;
  GyreRef inputs[2] = { make_ref ((double[]) { 1 }, 1), make_ref ((double[]) { 2 }, 1) };
  GyreRef outputs[2];
  GyreGraph *graphs[2];

  for (int m = 0; m < 2; m++)
    {
      GyreTensor *x;

      graphs[m] = gyre_graph_new ();
      graphs[m]->n_axes = 1;
      graphs[m]->axes[0] = (GyreAxis) { g_intern_string ("data"), 2, TRUE, TRUE };
      x = gyre_graph_input (graphs[m], "x", GYRE_F32, &GYRE_SHAPE (1));
      gyre_graph_add_output (graphs[m],
                             m == 0 ? toy_scaled (x, 2) : toy_unary (&toy_sum, x));
    }
  ck_assert (!gyre_interpret_ragged ((const GyreGraph *const *) graphs, 2, inputs,
                                     outputs, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING);
  gyre_assert_error_says (error, "member 0 has come to its end, and member 1 to toy-sum");
  for (int m = 0; m < 2; m++)
    gyre_graph_free (graphs[m]);
}
END_TEST

START_TEST (gives_the_error_of_the_graph)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GError) error = NULL;

  gyre_graph_fail (graph, g_error_new (GYRE_ERROR, GYRE_ERROR_TRACE, "no good"));
  ck_assert (!gyre_interpret (graph, NULL, NULL, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TRACE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "run", runs_a_graph);
  gyre_check_add (suite, "shapes", refuses_other_shapes);
  gyre_check_add (suite, "mesh", collectives_see_all_members);
  gyre_check_add (suite, "ragged", members_may_be_ragged);
  gyre_check_add (suite, "meeting", members_must_meet);
  gyre_check_add (suite, "error", gives_the_error_of_the_graph);
}

GYRE_CHECK_MAIN ("interpreter", add_tests)
