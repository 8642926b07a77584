/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre.h>

/* A spectral layer that keeps all frequencies and multiplies them by 1 gives what it
 * gets, whether it transforms by products (few frequencies) or by gyre_rfft () (many). */

static GyreLayer *layer;

static GyreTensor *
loss_func (GyreTree  *wrt,
           GyreTree **aux,
           gpointer   data)
{
  GyreTree *params = gyre_tree_get_tree (data, "params"), *after = NULL;
  GyreTensor *y = gyre_model_apply (layer, params, gyre_tree_get_tree (data, "state"),
                                    gyre_tree_get (wrt, "x"), TRUE, NULL, &after);

  return gyre_mul_scalar (gyre_sum (gyre_square (y)), 0.5);
}

/* The gradient of Σ y² / 2 by x is y, which is x, where the layer is the identity. */
static GyreTree *
step_func (GyreTree *args,
           gpointer  data)
{
  GyreTensor *loss;
  GyreTree *wrt = gyre_tree_build (GYRE_TENSOR_ENTRY ("x", gyre_tree_get (args, "x")),
                                   NULL);

  return gyre_value_and_grad (loss_func, wrt, args, &loss, NULL);
}

static void
set_values (GyreTree   *args,
            const char *path,
            GyreShape   shape,
            float       value)
{
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  g_autofree float *data = g_new (float, n);
  g_autoptr (GyreArray) array = NULL;
  g_autoptr (GyreTree) leaf = NULL;

  for (gsize i = 0; i < n; i++)
    data[i] = value;
  array = gyre_array_new (GYRE_F32, shape, data);
  leaf = gyre_tree_new_array (array);
  gyre_tree_set_path (args, path, leaf);
}

static GyreTree *
run_layer (gint64     n,
           GyreArray *x)
{
  g_autofree char *spec = gyre_check_device_spec ("pocl");
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);
  g_autoptr (GyreMesh) mesh = gyre_mesh_new ("data=*", devices, &error);
  g_autoptr (GyreStep) step =
    gyre_step_jit (step_func, mesh, "", NULL, NULL, NULL, &error);
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();
  g_autoptr (GyreTree) state = gyre_tree_new_dict ();
  GyreShape shape = GYRE_SHAPE (n / 2 + 1, 1, 1);
  GyreTree *result;

  gyre_assert_no_error (error);
  set_values (args, "params/spectral_conv1d_0/real", shape, 1);
  set_values (args, "params/spectral_conv1d_0/imag", shape, 0);
  gyre_tree_set (args, "state", state);
  gyre_tree_set_array (args, "x", x);
  result = gyre_step_run_tree (step, args, &error);
  gyre_assert_no_error (error);
  return result;
}

static const gint64 lengths[] = { 12, 200, 257 };

START_TEST (gives_what_it_gets)
{
  gint64 n = lengths[_i];
  g_autofree char *line = g_strdup_printf ("spectral-conv1d features=1 modes=%d",
                                           (int) (n / 2 + 1));
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) x =
    gyre_array_new_normal (gyre_key_new (3), GYRE_SHAPE (2, n, 1), 1.0f);
  g_autoptr (GyreTree) result = NULL;
  g_autoptr (GBytes) a = NULL, b = NULL;

  layer = gyre_model_parse (line, &error);
  gyre_assert_no_error (error);
  result = run_layer (n, x);
  a = gyre_array_get (gyre_tree_get_array (result, "x"), &error);
  b = gyre_array_get (x, &error);
  gyre_assert_no_error (error);
  /* four transforms of numbers of size 1 */
  gyre_assert_floats_near (g_bytes_get_data (a, NULL), g_bytes_get_data (b, NULL),
                           (gsize) (2 * n), 0, 2e-5);
  g_clear_object (&layer);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("spectral");

  tcase_set_timeout (tcase, 0);
  tcase_add_loop_test (tcase, gives_what_it_gets, 0, G_N_ELEMENTS (lengths));
  suite_add_tcase (suite, tcase);
}

GYRE_CHECK_MAIN ("nn-spectral", add_tests)
