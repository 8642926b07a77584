/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/interpret.h"
#include "ir/gyre-simplify-private.h"

/* Members with a share each of a batch, and manual collectives: their gradient is that of
 * one member with the whole batch. */

#define N_ROWS 6
#define N_IN   4

static GyreTensor *
loss_func (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  GyreTensor *logits = gyre_matmul (data, gyre_tree_get_tensor (params, "kernel"));

  return gyre_mean (gyre_log_sum_exp (gyre_tanh (logits), -1, FALSE));
}

/* {kernel, x} → {gradient, loss}: means over all rows, however many are here. */
static GyreTree *
step (GyreTree *args,
      gpointer  average)
{
  GyreTensor *x = gyre_tree_get_tensor (args, "x"), *loss;
  GyreTensor *count = gyre_constant (GYRE_F32, (double) gyre_tensor_dim (x, 0));
  GyreTree *grads = gyre_value_and_grad (loss_func, gyre_tree_get_tree (args, "params"),
                                         x, &loss, NULL);

  if (average != NULL)
    {
      grads = gyre_pmean_weighted_tree (grads, count, average);
      loss = gyre_pmean_weighted (loss, count, average);
    }

  return gyre_tree_build (GYRE_TREE_ENTRY ("grads", grads),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static GyreTrace *
trace_step (gint64      n_rows,
            guint       n_members,
            const char *average)
{
  GyreTrace *trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();
  g_autoptr (GError) error = NULL;
  GyreAval avals[] = { { GYRE_F32, { 2, { N_IN, 3 } } },
                       { GYRE_F32, { 2, { n_rows, N_IN } } } };

  set_placeholder (args, "params/kernel");
  set_placeholder (args, "x");
  if (average != NULL)
    gyre_trace_add_axis (trace, average, n_members, TRUE, TRUE);
  gyre_trace_run (trace, step, (gpointer) average, args, avals, &error);
  gyre_assert_no_error (error);

  return trace;
}

/* Runs members on their rows; outputs[2 * member + i], to be freed. */
static void
run_members (double      *numbers,
             const gint64 *rows,
             guint         n_members,
             GyreRef      *outputs)
{
  GyreGraph *graphs[8];
  GyreRef inputs[16];
  g_autoptr (GError) error = NULL;
  double *next = numbers + N_IN * 3;

  for (guint m = 0; m < n_members; m++)
    {
      g_autoptr (GyreTrace) trace = trace_step (rows[m], n_members, "data");

      graphs[m] = gyre_graph_simplify (trace->graph);
      inputs[2 * m] = (GyreRef) { GYRE_F32, GYRE_SHAPE (N_IN, 3), numbers };
      inputs[2 * m + 1] = (GyreRef) { GYRE_F32, GYRE_SHAPE (rows[m], N_IN), next };
      next += rows[m] * N_IN;
    }
  gyre_interpret_ragged ((const GyreGraph *const *) graphs, n_members, inputs, outputs,
                         &error);
  gyre_assert_no_error (error);
  for (guint m = 0; m < n_members; m++)
    gyre_graph_free (graphs[m]);
}

/* Simplified, a member without rows has less to do than the others. */
static const struct
{
  guint  n;
  gint64 rows[6];
} shares[] = {
  { 1, { 6 } }, { 2, { 3, 3 } }, { 3, { 3, 2, 1 } }, { 3, { 5, 1, 0 } },
  { 6, { 1, 1, 1, 1, 1, 1 } },
};

START_TEST (shares_give_the_global_mean)
{
  double numbers[N_IN * 3 + N_ROWS * N_IN];
  g_autoptr (GyreTrace) whole = trace_step (N_ROWS, 1, NULL);
  g_autofree double *expected = NULL;
  GyreRef outputs[12];

  fill_numbers (numbers, G_N_ELEMENTS (numbers), 5);
  expected = interpret (whole->graph, numbers);
  run_members (numbers, shares[_i].rows, shares[_i].n, outputs);
  for (guint m = 0; m < shares[_i].n; m++)
    {
      /* Constants that were folded, 1/6 among them, are rounded to f32: 6e-8 of each. */
      for (int i = 0; i < N_IN * 3; i++)
        gyre_assert_near (outputs[2 * m].data[i], expected[i], 5e-7);
      gyre_assert_near (outputs[2 * m + 1].data[0], expected[N_IN * 3], 5e-7);
      g_free (outputs[2 * m].data);
      g_free (outputs[2 * m + 1].data);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "shares", shares_give_the_global_mean,
                       G_N_ELEMENTS (shares));
}

GYRE_CHECK_MAIN ("pmap", add_tests)
