/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre-array.h>
#include <gyre/gyre-error.h>
#include <gyre/gyre-ops.h>
#include <gyre/gyre-step.h>

/* How arguments go into a pmap: stacked, the same for all, in rows by share, static, and
 * given up; on some of the devices that are open. */

static GPtrArray *devices;
static GyreMesh *mesh;    /* three of the five devices */

static void
open_mesh (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) all = gyre_devices_open ("pocl*5", &error);

  gyre_assert_no_error (error);
  devices = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < 5; i += 2)
    g_ptr_array_add (devices, g_object_ref (g_ptr_array_index (all, i)));
  mesh = gyre_mesh_new ("data=*", devices, &error);
  gyre_assert_no_error (error);
}

static void
close_mesh (void)
{
  g_clear_object (&mesh);
  g_clear_pointer (&devices, g_ptr_array_unref);
}

/* w [3] stacked to one a device, rate [] the same for all, x [n, 2] in rows, and the
 * static exponent: w' = w + rate · Σ x of the device's rows, twice; the count of rows. */
static GyreTree *
step_func (GyreTree *args,
           gpointer  data)
{
  const int *times = data;
  GyreTensor *x = gyre_tree_get (args, "x");
  GyreTensor *w = gyre_tree_get (args, "state/w");
  GyreTensor *sum = gyre_mul (gyre_sum (x), gyre_tree_get (args, "rate"));

  for (int i = 0; i < *times; i++)
    w = gyre_add (w, sum);
  return gyre_tree_build (
    GYRE_TREE_ENTRY ("state", gyre_tree_build (GYRE_TENSOR_ENTRY ("w", w), NULL)),
    GYRE_TENSOR_ENTRY ("rows", gyre_constant (GYRE_F32,
                                              (double) gyre_tensor_dim (x, 0))), NULL);
}

static GyreTree *
make_state (void)
{
  const float w[] = { 10, 20, 30 };
  g_autoptr (GyreArray) array = gyre_array_new (GYRE_F32, GYRE_SHAPE (3), w);
  g_autoptr (GyreTree) state = gyre_tree_build (GYRE_ARRAY_ENTRY ("w", array), NULL);

  return state != NULL ? g_steal_pointer (&state) : NULL;
}

static GyreTree *
run (GyreStep  *step,
     GyreTree  *state,
     gint64     rows,
     GError   **error)
{
  const float numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
  g_autoptr (GyreArray) x = gyre_array_new (GYRE_F32, GYRE_SHAPE (rows, 2), numbers);
  g_autoptr (GyreArray) rate = gyre_array_new_scalar (GYRE_F32, 0.5);

  return gyre_step_run (step, error, GYRE_TREE_ENTRY ("state", state),
                        GYRE_ARRAY_ENTRY ("x", x), GYRE_ARRAY_ENTRY ("rate", rate), NULL);
}

static void
assert_floats (GyreTree    *tree,
               const char  *path,
               const float *should)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = gyre_array_get (gyre_tree_get_array (tree, path), &error);
  const float *is;
  gsize size;

  gyre_assert_no_error (error);
  is = g_bytes_get_data (bytes, &size);
  ck_assert_uint_eq (size, 3 * sizeof (float));
  for (guint i = 0; i < 3; i++)
    ck_assert_float_eq (is[i], should[i]);
}

/* Seven rows are 3, 2, 2; two are 1, 1, 0: a device may have none. */
START_TEST (arguments_of_every_kind)
{
  int times = 2;
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) state = make_state ();
  g_autoptr (GyreTree) once = NULL, twice = NULL, again = NULL;
  g_autoptr (GyreStep) step = gyre_step_pmap (step_func, mesh, "data", "rate", "x",
                                              "state", &times, NULL, &error);

  gyre_assert_no_error (error);
  once = run (step, state, 7, &error);
  gyre_assert_no_error (error);
  assert_floats (once, "rows", (float[]) { 3, 2, 2 });
  assert_floats (once, "state/w", (float[]) { 10 + 21, 20 + 34, 30 + 50 });
  ck_assert_uint_eq (gyre_step_get_n_traces (step), 2);

  twice = run (step, gyre_tree_get_tree (once, "state"), 2, &error);
  gyre_assert_no_error (error);
  assert_floats (twice, "rows", (float[]) { 1, 1, 0 });
  assert_floats (twice, "state/w", (float[]) { 31 + 3, 54 + 7, 80 });

  again = run (step, gyre_tree_get_tree (once, "state"), 2, &error);
  ck_assert_ptr_null (again);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DONATED);
  gyre_assert_error_says (error, "argument state/w");
}
END_TEST

/* Trees that are mapped together must be of one structure: the step's error says where
 * they are not. */

static GyreTree *
first_leaf (const char       *path,
            GyreTree *const  *leaves,
            guint             n_trees,
            gpointer          data,
            GError          **error)
{
  return gyre_tree_ref (leaves[0]);
}

static GyreTree *
map_unlike (GyreTree *args,
            gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");
  GyreTree *both[] = { gyre_tree_get_tree (args, "state"),
                       gyre_tree_build (GYRE_TENSOR_ENTRY ("v", x), NULL) };

  return gyre_tree_map (both, 2, first_leaf, NULL, NULL);
}

START_TEST (names_where_trees_differ)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) state = make_state ();
  g_autoptr (GyreStep) step =
      gyre_step_jit (map_unlike, mesh, NULL, NULL, NULL, NULL, &error);

  gyre_assert_no_error (error);
  ck_assert_ptr_null (run (step, state, 3, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TREE);
  gyre_assert_error_says (error, "differ at \"v\"");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "pmap", open_mesh, close_mesh);

  tcase_add_test (tcase, arguments_of_every_kind);
  tcase_add_test (tcase, names_where_trees_differ);
}

GYRE_CHECK_MAIN ("pmap", add_tests)
