/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-ops.h>
#include <gyre/gyre-tree.h>

#include "ir/gyre-prim-private.h"
#include "prims/gyre-reshard-private.h"

/* Collectives over a manual axis, by the interpreter, on a mesh of 3 × 2. */

#define N_MEMBERS 6

static GyreGraph *graph;
static GyreTensor *x;     /* f32[2]: member m has 10 m and 10 m + 1 */

static void
set_up (void)
{
  graph = gyre_graph_new ();
  graph->n_axes = 2;
  graph->axes[0] = (GyreAxis) { "data", 3, TRUE, FALSE };
  graph->axes[1] = (GyreAxis) { "model", 2, TRUE, FALSE };
  gyre_graph_push (graph);
  x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2));
}

static void
tear_down (void)
{
  gyre_graph_pop ();
  g_clear_pointer (&graph, gyre_graph_free);
}

/* The outputs of all members; a graph of one output. */
static void
run (GyreTensor *result,
     GyreRef    *outputs)
{
  double numbers[N_MEMBERS][2];
  GyreRef inputs[N_MEMBERS];
  g_autoptr (GError) error = NULL;

  gyre_graph_add_output (graph, result);
  for (guint m = 0; m < N_MEMBERS; m++)
    {
      numbers[m][0] = 10 * m;
      numbers[m][1] = 10 * m + 1;
      inputs[m] = (GyreRef) { GYRE_F32, GYRE_SHAPE (2), numbers[m] };
    }
  gyre_interpret_mesh (graph, N_MEMBERS, inputs, outputs, &error);
  gyre_assert_no_error (error);
}

/* Members 0 and 1 differ along "model"; 0, 2 and 4 along "data". */
static void
expect (GyreTensor   *result,
        const double *expected,
        gsize         n)
{
  GyreRef outputs[N_MEMBERS];

  run (result, outputs);
  for (guint m = 0; m < N_MEMBERS; m++)
    {
      ck_assert_int_eq (gyre_shape_n_elements (&outputs[m].shape), (gint64) n);
      for (gsize i = 0; i < n; i++)
        gyre_assert_near (outputs[m].data[i], expected[m * n + i], 1e-12);
      g_free (outputs[m].data);
    }
}

START_TEST (psum_adds_along_its_axis)
{
  expect (gyre_psum (x, "data"),
          (double[]) { 60, 63, 90, 93, 60, 63, 90, 93, 60, 63, 90, 93 }, 2);
}
END_TEST

START_TEST (psum_of_the_other_axis)
{
  expect (gyre_psum (x, "model"),
          (double[]) { 10, 12, 10, 12, 50, 52, 50, 52, 90, 92, 90, 92 }, 2);
}
END_TEST

START_TEST (pmean_divides)
{
  expect (gyre_pmean (x, "data"),
          (double[]) { 20, 21, 30, 31, 20, 21, 30, 31, 20, 21, 30, 31 }, 2);
}
END_TEST

START_TEST (pmax_and_pmin)
{
  expect (gyre_sub (gyre_pmax (x, "data"), gyre_pmin (x, "model")),
          (double[]) { 40, 40, 50, 50, 20, 20, 30, 30, 0, 0, 10, 10 }, 2);
}
END_TEST

START_TEST (places_and_sizes)
{
  GyreTensor *place = gyre_mul (gyre_axis_index ("data"), gyre_axis_size ("data"));

  expect (gyre_add (place, gyre_axis_index ("model")), (double[]){ 0, 1, 3, 4, 6, 7 }, 1);
}
END_TEST

START_TEST (all_gather_stacks)
{
  expect (gyre_all_gather (x, "model"),
          (double[]) { 0, 1, 10, 11, 0, 1, 10, 11, 20, 21, 30, 31,
                       20, 21, 30, 31, 40, 41, 50, 51, 40, 41, 50, 51 }, 4);
}
END_TEST

/* A member with no sample has NaN, which is not looked at: 0 · NaN would be NaN. */
START_TEST (weighted_mean_skips_those_without)
{
  GyreTensor *place = gyre_axis_index ("data");
  GyreTensor *own = gyre_div (x, gyre_convert (place, GYRE_F32));

  /* Counts 0, 1, 2 and values NaN or ∞, x₁, x₂ / 2: (x₁ + x₂) / 3. */
  expect (gyre_pmean_weighted (own, place, "data"),
          (double[]) { 20, 62 / 3.0, 80 / 3.0, 82 / 3.0, 20, 62 / 3.0, 80 / 3.0, 82 / 3.0,
                       20, 62 / 3.0, 80 / 3.0, 82 / 3.0 }, 2);
}
END_TEST

/* s_m = Σ (2 + m) · psum (x): the gradient by each member's x is the sum of 2 + m over
 * its peers, since each of them is reached. */
START_TEST (gradient_of_psum)
{
  GyreTensor *weight, *grad;

  weight = gyre_add_scalar (gyre_convert (gyre_axis_index ("data"), GYRE_F32), 2);
  gyre_grad_of (gyre_sum (gyre_mul (gyre_psum (x, "data"), weight)), &x, 1, &grad);
  expect (grad, (double[]) { 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 }, 2);
}
END_TEST

/* Row r of the gathered is weighted by r + 1 by both members. */
START_TEST (gradient_of_all_gather)
{
  GyreTensor *rows, *grad;

  rows = gyre_add_scalar (gyre_iota (GYRE_SHAPE (2, 2), GYRE_F32, 0), 1);
  gyre_grad_of (gyre_sum (gyre_mul (gyre_all_gather (x, "model"), rows)), &x, 1, &grad);
  expect (grad, (double[]) { 2, 2, 4, 4, 2, 2, 4, 4, 2, 2, 4, 4 }, 2);
}
END_TEST

START_TEST (trees_leaf_by_leaf)
{
  g_autoptr (GyreTree) tree = gyre_tree_build (
      GYRE_TENSOR_ENTRY ("a", x), GYRE_TENSOR_ENTRY ("b", gyre_square (x)), NULL);
  g_autoptr (GyreTree) sums = gyre_psum_tree (tree, "model");

  expect (
      gyre_add (gyre_tree_get (sums, "a"), gyre_tree_get (sums, "b")),
      (double[]){ 110, 134, 110, 134, 1350, 1454, 1350, 1454, 4190, 4374, 4190, 4374 },
      2);
}
END_TEST

/* What the partitioner inserts changes where a value lies, and not the value. */
START_TEST (resharding_keeps_the_value)
{
  static const GyrePrim *const prims[] = { &gyre_prim_all_reduce,
                                           &gyre_prim_reduce_scatter,
                                           &gyre_prim_all_gather, &gyre_prim_shard };
  GyreReshardAttrs attrs = { 1, -1 };
  GyreTensor *value = x;

  for (guint i = 0; i < G_N_ELEMENTS (prims); i++)
    value = gyre_graph_emit (graph, prims[i], &value, 1, &attrs);
  expect (value, (double[]) { 0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51 }, 2);
}
END_TEST

/* What a lower rule asks for */

static GyreCommand
lower (GyreTensor *node,
       guint       device)
{
  GyreMeshSpec mesh = { .n_axes = 2 };
  GyreLower self = { graph, &mesh };
  GyreCommand command;

  mesh.axes[0] = graph->axes[0];
  mesh.axes[1] = graph->axes[1];
  self.device = device;
  self.commands = g_array_new (FALSE, TRUE, sizeof (GyreCommand));
  ck_assert (node->prim->lower (&self, node, NULL));
  ck_assert_uint_eq (self.commands->len, 1);
  command = g_array_index (self.commands, GyreCommand, 0);
  g_array_unref (self.commands);

  return command;
}

START_TEST (commands)
{
  GyreCommand max = lower (gyre_pmax (x, "model"), 0);
  GyreCommand gather = lower (gyre_all_gather (x, "data"), 0);
  GyreCommand place = lower (gyre_axis_index ("data"), 5);
  union { float f; gint32 i; } pattern = { place.fill.pattern };

  ck_assert_int_eq (max.kind, GYRE_COMMAND_COLLECTIVE);
  ck_assert_int_eq (max.collective.kind, GYRE_COLLECTIVE_ALL_REDUCE);
  ck_assert_int_eq (max.collective.op, GYRE_REDUCE_MAX);
  ck_assert_int_eq (max.collective.axes, 2);
  ck_assert_int_eq (gather.collective.kind, GYRE_COLLECTIVE_ALL_GATHER);
  ck_assert_int_eq (gather.collective.axes, 1);
  ck_assert_int_eq (gather.collective.dim, 0);
  ck_assert_int_eq (place.kind, GYRE_COMMAND_FILL);
  ck_assert_int_eq (pattern.i, 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "collective", set_up, tear_down);

  tcase_add_test (tcase, psum_adds_along_its_axis);
  tcase_add_test (tcase, psum_of_the_other_axis);
  tcase_add_test (tcase, pmean_divides);
  tcase_add_test (tcase, pmax_and_pmin);
  tcase_add_test (tcase, places_and_sizes);
  tcase_add_test (tcase, all_gather_stacks);
  tcase_add_test (tcase, weighted_mean_skips_those_without);
  tcase_add_test (tcase, gradient_of_psum);
  tcase_add_test (tcase, gradient_of_all_gather);
  tcase_add_test (tcase, trees_leaf_by_leaf);
  tcase_add_test (tcase, resharding_keeps_the_value);
  tcase_add_test (tcase, commands);
}

GYRE_CHECK_MAIN ("prims-collective", add_tests)
