/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-key.h>
#include <gyre/gyre-ops.h>

#include "device/gyre-kernel-private.h"
#include "ir/gyre-prim-private.h"
#include "schedule/gyre-step-private.h"

#include <gyre/gyre-error.h>

/* Sums of a few hundred products in f32 against double. */
#define RTOL 2e-5
#define ATOL 2e-5

static GPtrArray *devices;
static GyreMesh *mesh;

static void
open_mesh (const char   *spec,
           const double *weights)
{
  g_autoptr (GError) error = NULL;

  devices = gyre_devices_open (spec, &error);
  gyre_assert_no_error (error);
  mesh = gyre_mesh_new ("data=*", devices, &error);
  gyre_assert_no_error (error);
  gyre_mesh_set_shares (mesh, "data", weights, &error);
  gyre_assert_no_error (error);
}

static void
close_mesh (void)
{
  g_clear_object (&mesh);
  g_clear_pointer (&devices, g_ptr_array_unref);
}

static const struct
{
  const char   *devices;
  const double *weights;
} meshes[] = {
  { "pocl", NULL },
  { "pocl*3", NULL },
  { "pocl*3", (const double[]) { 5, 2, 1 } },
  { "pocl*3", (const double[]) { 1, 0, 2 } },
  { "pocl*7", NULL },
};

static GyreArray *
random_array (guint64   seed,
              GyreShape shape)
{
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  g_autofree float *data = g_new (float, n + 1);

  gyre_key_normal (gyre_key_new (seed), n, data);
  for (gsize i = 0; i < n; i++)
    data[i] *= 0.5f;

  return gyre_array_new (GYRE_F32, shape, data);
}

static const float *
get_floats (GyreTree   *tree,
            const char *path,
            GBytes    **bytes)
{
  g_autoptr (GError) error = NULL;

  *bytes = gyre_array_get (gyre_tree_get_array (tree, path), &error);
  gyre_assert_no_error (error);
  return g_bytes_get_data (*bytes, NULL);
}

/* --- the oracle --- */

static void
fill_ref (GyreRef   *ref,
          GyreArray *array)
{
  g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
  const float *data = g_bytes_get_data (bytes, NULL);
  gint64 n = gyre_shape_n_elements (&array->shape);

  ref->dtype = array->dtype;
  ref->shape = array->shape;
  ref->data = g_new (double, n + 1);
  for (gint64 i = 0; i < n; i++)
    ref->data[i] = data[i];
}

/* Every result of the function, on the host in double. */
static GPtrArray *
interpret (GyreStepFunc func,
           gpointer     data,
           GyreTree    *args)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) paths = NULL, leaves = gyre_tree_flatten (args, &paths);
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autofree GyreAval *avals = g_new0 (GyreAval, leaves->len);
  g_autofree GyreRef *inputs = g_new0 (GyreRef, leaves->len);
  GyreRef *outputs;
  GPtrArray *results = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < leaves->len; i++)
    {
      fill_ref (&inputs[i], gyre_tree_as_array (g_ptr_array_index (leaves, i)));
      avals[i] = (GyreAval) { inputs[i].dtype, inputs[i].shape };
    }
  gyre_trace_run (trace, func, data, args, avals, &error);
  gyre_assert_no_error (error);

  outputs = g_new0 (GyreRef, trace->graph->outputs->len);
  gyre_interpret (trace->graph, inputs, outputs, &error);
  gyre_assert_no_error (error);
  for (guint i = 0; i < trace->graph->outputs->len; i++)
    g_ptr_array_add (results, outputs[i].data);

  for (guint i = 0; i < leaves->len; i++)
    g_free (inputs[i].data);
  g_free (outputs);
  return results;
}

static void
assert_results (GyreTree  *results,
                GPtrArray *expected)
{
  g_autoptr (GPtrArray) paths = NULL, leaves = gyre_tree_flatten (results, &paths);

  ck_assert_uint_eq (leaves->len, expected->len);
  for (guint i = 0; i < leaves->len; i++)
    {
      const double *want = g_ptr_array_index (expected, i);
      g_autoptr (GBytes) bytes = NULL;
      const float *have = get_floats (results, g_ptr_array_index (paths, i), &bytes);

      for (gsize k = 0; k < g_bytes_get_size (bytes) / 4; k++)
        if (!gyre_check_near (have[k], want[k], ATOL + RTOL * fabs (want[k])))
          ck_abort_msg ("%s[%" G_GSIZE_FORMAT "] is %.9g, not %.9g",
                        (char *) g_ptr_array_index (paths, i), k, have[k], want[k]);
    }
}

/* --- functions --- */

static GyreTree *
elementwise (GyreTree *args,
             gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");

  return gyre_tree_build (
    GYRE_TENSOR_ENTRY ("y", gyre_add_scalar (gyre_mul (gyre_tanh (x), x), 1)),
    GYRE_TENSOR_ENTRY ("sum", gyre_sum (gyre_square (x))), NULL);
}

/* Two layers by hand, and a loss; w is replicated. */
static GyreTree *
two_layers (GyreTree *args,
            gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x"), *a = gyre_tree_get (args, "w/a"),
             *b = gyre_tree_get (args, "w/b");
  GyreTensor *h = gyre_tanh (gyre_matmul (x, a));
  GyreTensor *y = gyre_matmul (h, b);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y),
                          GYRE_TENSOR_ENTRY ("loss", gyre_mean (gyre_square (y))), NULL);
}

/* All rows meet all rows: the program names no collective. */
static GyreTree *
gram (GyreTree *args,
      gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");
  GyreTensor *logits = gyre_matmul_full (x, FALSE, x, TRUE);

  return gyre_tree_build (
    GYRE_TENSOR_ENTRY ("loss", gyre_mean (gyre_log_sum_exp (logits, 1, FALSE))), NULL);
}

static GyreTree *
make_args (GyreArray *x)
{
  g_autoptr (GyreArray) a = random_array (2, GYRE_SHAPE (12, 20));
  g_autoptr (GyreArray) b = random_array (3, GYRE_SHAPE (20, 5));
  GyreTree *args = gyre_tree_new_dict ();
  g_autoptr (GyreTree) w = gyre_tree_new_dict ();

  gyre_tree_set_array (args, "x", x);
  gyre_tree_set_array (w, "a", a);
  gyre_tree_set_array (w, "b", b);
  gyre_tree_set (args, "w", w);

  return args;
}

static void
check_jit (GyreStepFunc func,
           GyreTree    *args,
           const char  *shardings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step = gyre_step_jit (func, mesh, shardings, NULL, NULL, NULL, &error);
  g_autoptr (GPtrArray) expected = interpret (func, NULL, args);

  gyre_assert_no_error (error);
  for (int i = 0; i < 3; i++)
    {
      g_autoptr (GyreTree) results = gyre_step_run_tree (step, args, &error);

      gyre_assert_no_error (error);
      assert_results (results, expected);
    }
  ck_assert_uint_eq (gyre_step_get_n_traces (step), 1);
}

START_TEST (computes_elementwise)
{
  g_autoptr (GyreArray) x = random_array (1, GYRE_SHAPE (13, 12));
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  gyre_tree_set_array (args, "x", x);
  check_jit (elementwise, args, "x=data");
}
END_TEST

START_TEST (computes_layers)
{
  g_autoptr (GyreArray) x = random_array (1, GYRE_SHAPE (13, 12));
  g_autoptr (GyreTree) args = make_args (x);

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  check_jit (two_layers, args, "x=data");
}
END_TEST

START_TEST (computes_across_rows)
{
  g_autoptr (GyreArray) x = random_array (1, GYRE_SHAPE (13, 12));
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  gyre_tree_set_array (args, "x", x);
  check_jit (gram, args, "x=data");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "step", NULL, close_mesh);

  tcase_add_loop_test (tcase, computes_elementwise, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, computes_layers, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, computes_across_rows, 0, G_N_ELEMENTS (meshes));
}

GYRE_CHECK_MAIN ("step", add_tests)
