/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <math.h>

#include <gyre/gyre-array.h>
#include <gyre/gyre-key.h>
#include <gyre/gyre-ops.h>
#include <gyre/gyre-step.h>

/* A gradient of a gradient on devices: the Hessian of a network 10-32-1 times a vector v,
 * as the gradient of gradient · v, against differences of the gradient along v. */

#define ROWS 24

/* Of f32 gradients of about 1, over a step of H: rounding gives 1e-7 / H, and the third
 * derivative times H² is as large. */
#define H    4e-3
#define ATOL 2e-4

static const char *const params[] = { "w1", "b1", "w2", "b2" };
static const GyreShape shapes[] = {
  { 2, { 10, 32 } }, { 1, { 32 } }, { 2, { 32, 1 } }, { 1, { 1 } },
};

/* The mean of (tanh (x w1 + b1) w2 + b2 - y)². */
static GyreTensor *
loss_func (GyreTree  *tree,
           GyreTree **aux,
           gpointer   args)
{
  GyreTensor *h = gyre_matmul (gyre_tree_get (args, "x"), gyre_tree_get (tree, "w1"));
  GyreTensor *y;

  h = gyre_tanh (gyre_add (h, gyre_tree_get (tree, "b1")));
  y = gyre_add (gyre_matmul (h, gyre_tree_get (tree, "w2")), gyre_tree_get (tree, "b2"));
  return gyre_mean (gyre_square (gyre_sub (y, gyre_tree_get (args, "y"))));
}

/* gradient · v */
static GyreTensor *
slope_func (GyreTree  *tree,
            GyreTree **aux,
            gpointer   args)
{
  GyreTree *v = gyre_tree_get_tree (args, "v");
  GyreTree *grads = gyre_value_and_grad (loss_func, tree, args, NULL, NULL);
  GyreTensor *sum = gyre_constant (GYRE_F32, 0);

  for (gsize i = 0; i < G_N_ELEMENTS (params); i++)
    sum = gyre_add (sum, gyre_sum (gyre_mul (gyre_tree_get (grads, params[i]),
                                             gyre_tree_get (v, params[i]))));
  *aux = grads;
  return sum;
}

/* {params, v, x, y} → {product, grads} */
static GyreTree *
product_step (GyreTree *args,
              gpointer  data)
{
  GyreTree *grads;
  GyreTree *product = gyre_value_and_grad (
      slope_func, gyre_tree_get_tree (args, "params"), args, NULL, &grads);

  return gyre_tree_build (GYRE_TREE_ENTRY ("product", product),
                          GYRE_TREE_ENTRY ("grads", grads), NULL);
}

/* Parameters moved by step times v, both drawn from their names. */
static GyreTree *
make_params (double   step,
             gboolean vector)
{
  GyreTree *tree = gyre_tree_new_dict ();

  for (gsize i = 0; i < G_N_ELEMENTS (params); i++)
    {
      gint64 n = gyre_shape_n_elements (&shapes[i]);
      g_autofree float *p = g_new (float, n), *v = g_new (float, n);
      g_autoptr (GyreArray) array = NULL;

      gyre_key_normal (gyre_key_new (10 + i), (gsize) n, p);
      gyre_key_normal (gyre_key_new (20 + i), (gsize) n, v);
      for (gint64 k = 0; k < n; k++)
        p[k] = 0.3f * p[k] + (float) step * 0.1f * v[k];
      for (gint64 k = 0; vector && k < n; k++)
        p[k] = 0.1f * v[k];
      array = gyre_array_new (GYRE_F32, shapes[i], p);
      gyre_tree_set_array (tree, params[i], array);
    }
  return tree;
}

static GyreTree *
run (GyreStep *step,
     double    moved)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) at = make_params (moved, FALSE);
  g_autoptr (GyreTree) v = make_params (0, TRUE);
  g_autoptr (GyreArray) x =
      gyre_array_new_normal (gyre_key_new (1), GYRE_SHAPE (ROWS, 10), 1);
  g_autoptr (GyreArray) y =
      gyre_array_new_normal (gyre_key_new (2), GYRE_SHAPE (ROWS, 1), 1);
  GyreTree *results =
      gyre_step_run (step, &error, GYRE_TREE_ENTRY ("params", at),
                     GYRE_TREE_ENTRY ("v", v), GYRE_ARRAY_ENTRY ("x", x),
                     GYRE_ARRAY_ENTRY ("y", y), NULL);

  gyre_assert_no_error (error);
  return results;
}

static float *
take (GyreTree   *results,
      const char *what,
      const char *name)
{
  g_autofree char *path = g_build_path ("/", what, name, NULL);
  g_autoptr (GBytes) bytes = gyre_array_get (gyre_tree_get_array (results, path), NULL);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  return g_memdup2 (data, size);
}

static const struct
{
  const char *devices, *layout, *shardings;
} cases[] = {
  { "pocl", "data=1", NULL },
  { "pocl*3", "data=3", "x=data, y=data" },
  { "pocl*4", "data=2,model=2",
    "x=data, y=data, params/w1=,model, params/b1=model, params/w2=model, v/w1=,model" },
};

START_TEST (matches_differences_of_the_gradient)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (cases[_i].devices, &error);
  g_autoptr (GyreMesh) mesh = gyre_mesh_new (cases[_i].layout, devices, &error);
  g_autoptr (GyreStep) step = gyre_step_jit (product_step, mesh, cases[_i].shardings,
                                             NULL, NULL, NULL, &error);
  g_autoptr (GyreTree) here = run (step, 0);
  g_autoptr (GyreTree) after = run (step, H);
  g_autoptr (GyreTree) before = run (step, -H);
  float largest = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (params); i++)
    {
      g_autofree float *product = take (here, "product", params[i]);
      g_autofree float *up = take (after, "grads", params[i]);
      g_autofree float *down = take (before, "grads", params[i]);

      for (gint64 k = 0; k < gyre_shape_n_elements (&shapes[i]); k++)
        {
          gyre_assert_near (product[k], (up[k] - down[k]) / (2 * H), ATOL);
          largest = MAX (largest, fabsf (product[k]));
        }
    }
  ck_assert (largest > 0.1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "hessian", matches_differences_of_the_gradient,
                       G_N_ELEMENTS (cases));
}

GYRE_CHECK_MAIN ("hessian", add_tests)
