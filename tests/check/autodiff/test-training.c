/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/interpret.h"
#include "ir/gyre-simplify-private.h"

#include <string.h>

/* A classifier 64-16-4 learns noisy patterns of 8x8 by gradient descent, all of it in the
 * interpreter: trace, gradient, simplification and the rules of what it is made of. */

#define N_ROWS    32
#define N_CLASSES 4
#define N_HIDDEN  16
#define N_PARAMS  (N_HIDDEN + 64 * N_HIDDEN + N_CLASSES + N_HIDDEN * N_CLASSES)

static GyreTensor *
dense (GyreTree   *params,
       const char *name,
       GyreTensor *x)
{
  GyreTree *own = gyre_tree_get_tree (params, name);

  return gyre_add (gyre_matmul (x, gyre_tree_get_tensor (own, "kernel")),
                   gyre_tree_get_tensor (own, "bias"));
}

static GyreTensor *
loss_func (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  GyreTensor *hidden = gyre_tanh (dense (params, "dense_0",
                                         gyre_tree_get_tensor (data, "image")));
  GyreTensor *logits = dense (params, "dense_1", hidden);
  GyreTensor *wanted = gyre_one_hot (gyre_tree_get_tensor (data, "label"), N_CLASSES);
  GyreTensor *chosen = gyre_mul (gyre_log_softmax (logits, -1), wanted);

  return gyre_mul_scalar (gyre_sum (chosen), -1.0 / N_ROWS);
}

static GyreTree *
descend (const char       *path,
         GyreTree *const  *leaves,
         guint             n_trees,
         gpointer          data,
         GError          **error)
{
  GyreTensor *param = gyre_tree_as_tensor (leaves[0]);
  GyreTensor *grad = gyre_tree_as_tensor (leaves[1]);

  return gyre_tree_new_tensor (gyre_sub (param, gyre_mul_scalar (grad, 0.5)));
}

/* {batch, params} → {loss, params} */
static GyreTree *
step (GyreTree *args,
      gpointer  data)
{
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_func, params,
                                         gyre_tree_get_tree (args, "batch"), &loss, NULL);
  GyreTree *next =
      gyre_tree_map ((GyreTree *[]){ params, grads }, 2, descend, NULL, NULL);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("loss", loss),
                          GYRE_TREE_ENTRY ("params", next), NULL);
}

static GyreGraph *
trace_step (void)
{
  static const char *const paths[] = {
    "batch/image", "batch/label", "params/dense_0/bias", "params/dense_0/kernel",
    "params/dense_1/bias", "params/dense_1/kernel",
  };
  static const GyreAval avals[] = {
    { GYRE_F32, { 2, { N_ROWS, 64 } } }, { GYRE_I32, { 1, { N_ROWS } } },
    { GYRE_F32, { 1, { N_HIDDEN } } },   { GYRE_F32, { 2, { 64, N_HIDDEN } } },
    { GYRE_F32, { 1, { N_CLASSES } } },  { GYRE_F32, { 2, { N_HIDDEN, N_CLASSES } } },
  };
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    set_placeholder (args, paths[i]);
  gyre_trace_run (trace, step, NULL, args, avals, &error);
  gyre_assert_no_error (error);

  return gyre_graph_simplify (trace->graph);
}

/* A bright quarter tells the class; the rest is noise. */
static void
draw (double *images,
      double *labels)
{
  fill_numbers (images, N_ROWS * 64, 3);
  for (int row = 0; row < N_ROWS; row++)
    {
      int label = row % N_CLASSES;

      labels[row] = label;
      for (int i = 0; i < 64; i++)
        if ((i / 32) * 2 + (i % 8) / 4 == label)
          images[row * 64 + i] += 1;
    }
}

START_TEST (learns)
{
  g_autoptr (GyreGraph) graph = trace_step ();
  g_autofree double *numbers = g_new (double, N_ROWS * 65 + N_PARAMS);
  double *params = numbers + N_ROWS * 65;
  double losses[40];

  draw (numbers, numbers + N_ROWS * 64);
  fill_numbers (params, N_PARAMS, 11);
  for (int i = 0; i < N_PARAMS; i++)
    params[i] *= 0.2;

  for (int i = 0; i < 40; i++)
    {
      g_autofree double *results = interpret (graph, numbers);

      losses[i] = results[0];
      memcpy (params, results + 1, N_PARAMS * sizeof (double));
    }

  /* Four classes at first, ln 4 = 1.39 and some; hardly a doubt at last. */
  ck_assert (losses[0] > 1 && losses[0] < 2);
  ck_assert (losses[39] < 0.05);
  for (int i = 1; i < 40; i++)
    ck_assert (losses[i] < losses[i - 1]);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "learn", learns);
}

GYRE_CHECK_MAIN ("training", add_tests)
