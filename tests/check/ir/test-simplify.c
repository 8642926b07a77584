/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"
#include "ir/gyre-simplify-private.h"
#include "ir/toy-prims.h"

static GyreGraph *graph;
static GyreTensor *x, *y;

static void
setup (void)
{
  graph = gyre_graph_new ();
  x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2));
  y = gyre_graph_input (graph, "y", GYRE_F32, &GYRE_SHAPE (2));
}

static void
teardown (void)
{
  g_clear_pointer (&graph, gyre_graph_free);
}

static void
assert_simplifies_to (const char *expected)
{
  g_autoptr (GyreGraph) simple = gyre_graph_simplify (graph);
  g_autoptr (GyreGraph) again = gyre_graph_simplify (simple);
  g_autofree char *text = gyre_graph_to_string (simple);
  g_autofree char *text_again = gyre_graph_to_string (again);

  ck_assert_str_eq (text, expected);
  ck_assert_str_eq (text_again, expected);
}

START_TEST (drops_dead_code_but_no_inputs)
{
  toy_binary (&toy_add, toy_scaled (x, 2), y);
  gyre_graph_add_output (graph, toy_scaled (x, 3));
  assert_simplifies_to ("%0 = f32[2] input {x}\n"
                        "%1 = f32[2] input {y}\n"
                        "%2 = f32[2] toy-scale %0 {3}\n"
                        "return %2\n");
}
END_TEST

START_TEST (merges_equal_nodes)
{
  GyreTensor *x2 = toy_scaled (x, 2), *y3 = toy_scaled (y, 3);
  GyreTensor *a = toy_binary (&toy_mul, x2, y3);
  GyreTensor *b = toy_binary (&toy_mul, toy_scaled (y, 3), toy_scaled (x, 2));

  gyre_graph_add_output (graph, toy_binary (&toy_add, a, b));
  gyre_graph_add_output (graph, b);
  assert_simplifies_to ("%0 = f32[2] input {x}\n"
                        "%1 = f32[2] input {y}\n"
                        "%2 = f32[2] toy-scale %0 {2}\n"
                        "%3 = f32[2] toy-scale %1 {3}\n"
                        "%4 = f32[2] toy-mul %2 %3\n"
                        "%5 = f32[2] toy-add %4 %4\n"
                        "return %5 %4\n");
}
END_TEST

START_TEST (keeps_what_differs)
{
  gyre_graph_add_output (graph, toy_scaled (x, 2));
  gyre_graph_add_output (graph, toy_scaled (x, 3));
  gyre_graph_add_output (graph, toy_scaled (y, 2));
  gyre_graph_add_output (graph, toy_binary (&toy_add, x, y));
  gyre_graph_add_output (graph, toy_binary (&toy_mul, x, y));
  assert_simplifies_to ("%0 = f32[2] input {x}\n"
                        "%1 = f32[2] input {y}\n"
                        "%2 = f32[2] toy-scale %0 {2}\n"
                        "%3 = f32[2] toy-scale %0 {3}\n"
                        "%4 = f32[2] toy-scale %1 {2}\n"
                        "%5 = f32[2] toy-add %0 %1\n"
                        "%6 = f32[2] toy-mul %0 %1\n"
                        "return %2 %3 %4 %5 %6\n");
}
END_TEST

START_TEST (applies_rules_to_a_fixed_point)
{
  GyreTensor *z = x;

  for (int i = 0; i < 40; i++)
    z = toy_scaled (z, i % 2 ? 2 : 0.5);
  graph->path = g_intern_string ("dense_0");
  z = toy_scaled (toy_binary (&toy_add, z, y), 4);
  gyre_graph_add_output (graph, toy_scaled (z, 2));
  assert_simplifies_to ("%0 = f32[2] input {x}\n"
                        "%1 = f32[2] input {y}\n"
                        "%2 = f32[2] toy-add %0 %1  ; dense_0\n"
                        "%3 = f32[2] toy-scale %2 {8}  ; dense_0\n"
                        "return %3\n");
}
END_TEST

START_TEST (leaves_impure_nodes_alone)
{
  toy_unary (&toy_noise, x);
  gyre_graph_add_output (graph, toy_unary (&toy_noise, x));
  assert_simplifies_to ("%0 = f32[2] input {x}\n"
                        "%1 = f32[2] input {y}\n"
                        "%2 = f32[2] toy-noise %0\n"
                        "%3 = f32[2] toy-noise %0\n"
                        "return %3\n");
}
END_TEST

static void
build_collectives (gboolean ragged)
{
  graph->n_axes = 1;
  graph->axes[0] = (GyreAxis) { g_intern_string ("data"), 2, TRUE, ragged };
  toy_unary (&toy_sum, y);
  gyre_graph_add_output (graph, toy_unary (&toy_sum, x));
  gyre_graph_add_output (graph, toy_unary (&toy_sum, x));
}

START_TEST (merges_collectives)
{
  build_collectives (FALSE);
  assert_simplifies_to ("axis data=2 manual\n"
                        "%0 = f32[2] input {x}\n"
                        "%1 = f32[2] input {y}\n"
                        "%2 = f32[2] toy-sum %0\n"
                        "return %2 %2\n");
}
END_TEST

/* Members were traced apart: each must come to every collective of the others. */
START_TEST (leaves_collectives_of_ragged_axes_alone)
{
  build_collectives (TRUE);
  assert_simplifies_to ("axis data=2 manual ragged\n"
                        "%0 = f32[2] input {x}\n"
                        "%1 = f32[2] input {y}\n"
                        "%2 = f32[2] toy-sum %1\n"
                        "%3 = f32[2] toy-sum %0\n"
                        "%4 = f32[2] toy-sum %0\n"
                        "return %3 %4\n");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "simplify", setup, teardown);

  tcase_add_test (tcase, drops_dead_code_but_no_inputs);
  tcase_add_test (tcase, merges_equal_nodes);
  tcase_add_test (tcase, keeps_what_differs);
  tcase_add_test (tcase, applies_rules_to_a_fixed_point);
  tcase_add_test (tcase, leaves_impure_nodes_alone);
  tcase_add_test (tcase, merges_collectives);
  tcase_add_test (tcase, leaves_collectives_of_ragged_axes_alone);
}

GYRE_CHECK_MAIN ("simplify", add_tests)
