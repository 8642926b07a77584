/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-ops.h>

#include "gyre-check.h"
#include "ir/gyre-simplify-private.h"

/* Graphs as text, compared with the files in golden/.  Where a change of them is meant,
 * GYRE_GOLDEN_UPDATE=1 writes them anew: read the difference before you commit it. */

static void
assert_golden (const GyreGraph *graph,
               const char      *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("GYRE_GOLDEN"), name, NULL);
  g_autofree char *text = gyre_graph_to_string (graph);
  g_autofree char *expected = NULL;
  g_autoptr (GError) error = NULL;

  gyre_assert_no_error (graph->error);
  if (g_getenv ("GYRE_GOLDEN_UPDATE") != NULL)
    g_file_set_contents (path, text, -1, &error);
  gyre_assert_no_error (error);

  g_file_get_contents (path, &expected, NULL, &error);
  gyre_assert_no_error (error);
  if (g_strcmp0 (text, expected) != 0)
    {
      g_printerr ("%s", text);
      ck_abort_msg ("%s differs from the graph on standard error", name);
    }
}

static GyreTensor *
dense (GyreGraph  *graph,
       const char *name,
       GyreTensor *x,
       GyreTensor *kernel,
       GyreTensor *bias)
{
  GyreTensor *y;

  graph->path = g_intern_string (name);
  y = gyre_add (gyre_matmul (x, kernel), bias);
  graph->path = "";

  return y;
}

/* A network 6-5-3 with relu, its loss on 4 rows, gradients, and a step of descent. */
static GyreGraph *
build_mlp (void)
{
  GyreGraph *graph = gyre_graph_new ();
  GyreTensor *image = gyre_graph_input (graph, "image", GYRE_F32, &GYRE_SHAPE (4, 6));
  GyreTensor *label = gyre_graph_input (graph, "label", GYRE_I32, &GYRE_SHAPE (4));
  GyreTensor *params[] = {
    gyre_graph_input (graph, "dense_0/bias", GYRE_F32, &GYRE_SHAPE (5)),
    gyre_graph_input (graph, "dense_0/kernel", GYRE_F32, &GYRE_SHAPE (6, 5)),
    gyre_graph_input (graph, "dense_1/bias", GYRE_F32, &GYRE_SHAPE (3)),
    gyre_graph_input (graph, "dense_1/kernel", GYRE_F32, &GYRE_SHAPE (5, 3)),
  };
  GyreTensor *grads[4], *x, *loss;

  gyre_graph_push (graph);
  x = dense (graph, "dense_0", image, params[1], params[0]);
  x = gyre_max (x, gyre_constant (GYRE_F32, 0));
  x = gyre_log_softmax (dense (graph, "dense_1", x, params[3], params[2]), -1);
  loss = gyre_neg (gyre_mean (gyre_sum_axis (gyre_mul (x, gyre_one_hot (label, 3)), -1,
                                             FALSE)));
  gyre_grad_of (loss, params, 4, grads);
  gyre_graph_add_output (graph, loss);
  for (int i = 0; i < 4; i++)
    gyre_graph_add_output (graph, gyre_sub (params[i], gyre_mul_scalar (grads[i], 0.1)));
  gyre_graph_pop ();

  return graph;
}

START_TEST (mlp)
{
  g_autoptr (GyreGraph) graph = build_mlp ();
  g_autoptr (GyreGraph) simple = NULL;

  assert_golden (graph, "mlp.txt");
  simple = gyre_graph_simplify (graph);
  assert_golden (simple, "mlp-simplified.txt");
}
END_TEST

/* x² of a scalar and its first two derivatives: 2x and 2, once the algebra is done. */
START_TEST (square)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GyreGraph) simple = NULL;
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SCALAR);
  GyreTensor *y, *first, *second;

  gyre_graph_push (graph);
  y = gyre_mul (x, x);
  gyre_grad_of (y, &x, 1, &first);
  gyre_grad_of (first, &x, 1, &second);
  gyre_graph_add_output (graph, y);
  gyre_graph_add_output (graph, first);
  gyre_graph_add_output (graph, second);
  gyre_graph_pop ();

  assert_golden (graph, "square.txt");
  simple = gyre_graph_simplify (graph);
  assert_golden (simple, "square-simplified.txt");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "mlp", mlp);
  gyre_check_add (suite, "square", square);
}

GYRE_CHECK_MAIN ("golden", add_tests)
