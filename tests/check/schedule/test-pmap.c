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

/* Rows on a mesh of two axes: cut over both, or over one of them, so that the members
 * along the other see the same. */

#define ROWS 11

/* {x, which is doubled; the mean of x over all rows} */
static GyreTree *
grid_func (GyreTree *args,
           gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");
  GyreTensor *n = gyre_constant (GYRE_F32, (double) gyre_tensor_dim (x, 0));
  GyreTensor *mean = gyre_mean (x);

  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("twice", gyre_mul_scalar (x, 2)),
      GYRE_TENSOR_ENTRY ("mean", gyre_pmean_weighted (mean, n, "data+model")),
      GYRE_TENSOR_ENTRY ("sum", gyre_psum (gyre_sum (x), "data")), NULL);
}

static const struct
{
  const char *ragged;
  guint       n_traces;
  double      parts[6];       /* of rows, one a device: data=2 by 3:1, model=3 */
} grids[] = {
  { "x", 3, { 3, 3, 2, 1, 1, 1 } },
  { "x=data", 2, { 8, 8, 8, 3, 3, 3 } },
  { "x=model", 2, { 4, 4, 3, 4, 4, 3 } },
};

static GyreStep *
open_grid (GyreStepFunc func,
           const char  *ragged)
{
  const double shares[] = { 3, 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) six = gyre_devices_open ("pocl*6", &error);
  g_autoptr (GyreMesh) grid = gyre_mesh_new ("data=2,model=3", six, &error);
  GyreStep *step;

  gyre_mesh_set_shares (grid, "data", shares, &error);
  step =
      gyre_step_pmap (func, grid, "data+model", NULL, ragged, NULL, NULL, NULL, &error);
  gyre_assert_no_error (error);
  return step;
}

static GyreTree *
run_grid (GyreStep  *step,
          float     *x,
          GError   **error)
{
  g_autoptr (GyreArray) array = NULL;

  for (guint i = 0; i < ROWS; i++)
    x[i] = (float) (i * i + 1);
  array = gyre_array_new (GYRE_F32, GYRE_SHAPE (ROWS), x);
  return gyre_step_run (step, error, GYRE_ARRAY_ENTRY ("x", array), NULL);
}

/* The sum that device d has: over the rows of those with its coordinate along model. */
static float
sum_of (const float  *x,
        const double *parts,
        const char   *ragged,
        guint         d)
{
  float sum = 0;
  guint at = 0;

  for (guint e = 0; e < 6; e++)
    {
      guint from = at;

      at += (guint) parts[e];
      if (g_str_equal (ragged, "x=data"))
        from = e < 3 ? 0 : 8;
      else if (g_str_equal (ragged, "x=model"))
        from = 4 * (e % 3);
      for (guint i = 0; e % 3 == d % 3 && i < parts[e]; i++)
        sum += x[from + i];
    }
  return sum;
}

START_TEST (cuts_rows_over_two_axes)
{
  float x[ROWS], total = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step = open_grid (grid_func, grids[_i].ragged);
  g_autoptr (GyreTree) results = run_grid (step, x, &error);
  g_autoptr (GBytes) twice = NULL, sums = NULL;
  const float *is;
  gsize size;

  gyre_assert_no_error (error);
  ck_assert_uint_eq (gyre_step_get_n_traces (step), grids[_i].n_traces);
  twice = gyre_array_get (gyre_tree_get_array (results, "twice"), &error);
  gyre_assert_no_error (error);
  is = g_bytes_get_data (twice, &size);
  ck_assert_uint_eq (size, sizeof x);
  for (guint i = 0; i < ROWS; i++)
    {
      ck_assert_float_eq (is[i], 2 * x[i]);
      total += x[i];
    }
  gyre_assert_near (gyre_tree_get_mean (results, "mean"), total / ROWS, 1e-4);
  sums = gyre_array_get (gyre_tree_get_array (results, "sum"), &error);
  is = g_bytes_get_data (sums, &size);
  ck_assert_uint_eq (size, 6 * sizeof (float));
  for (guint d = 0; d < 6; d++)
    gyre_assert_near (is[d], sum_of (x, grids[_i].parts, grids[_i].ragged, d), 1e-3);
}
END_TEST

/* One program for each number of rows, and the devices that run it. */
START_TEST (describes_each_program)
{
  static const char *const whose[] = { "devices 0, 1:\n", "devices 2:\n",
                                       "devices 3, 4, 5:\n" };
  float x[ROWS];
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step = open_grid (grid_func, "x");
  g_autoptr (GyreTree) results = run_grid (step, x, &error);
  g_autofree char *program = gyre_step_describe (step, "program");
  g_autofree char *graph = gyre_step_describe (step, "graph");

  gyre_assert_no_error (error);
  ck_assert (gyre_step_wait (step, &error));
  for (guint i = 0; i < G_N_ELEMENTS (whose); i++)
    {
      ck_assert_msg (strstr (program, whose[i]) != NULL, "%s", program);
      ck_assert_msg (strstr (graph, whose[i]) != NULL, "%s", graph);
    }
}
END_TEST

/* The mean of no rows is NaN, which a count of 0 leaves out. */
static GyreTree *
mean_of_all (GyreTree *args,
             gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");
  GyreTensor *n = gyre_constant (GYRE_F32, (double) gyre_tensor_dim (x, 0));

  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("mean", gyre_pmean_weighted (gyre_mean (x), n, "data")),
      GYRE_TENSOR_ENTRY ("own", gyre_mean (x)), NULL);
}

START_TEST (leaves_out_members_without_rows)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) state = make_state ();
  g_autoptr (GyreStep) step = gyre_step_pmap (mean_of_all, mesh, "data", "rate", "x",
                                              NULL, NULL, NULL, &error);
  g_autoptr (GyreTree) results = run (step, state, 2, &error);
  g_autoptr (GBytes) own = NULL;

  gyre_assert_no_error (error);
  assert_floats (results, "mean", (float[]) { 2.5, 2.5, 2.5 });
  own = gyre_array_get (gyre_tree_get_array (results, "own"), &error);
  ck_assert (isnan (((const float *) g_bytes_get_data (own, NULL))[2]));
}
END_TEST

static GyreTree *
sum_if_many (GyreTree *args,
             gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");
  GyreTensor *sum = gyre_sum (x);

  if (gyre_tensor_dim (x, 0) > 2)
    sum = gyre_psum (sum, "data");
  return gyre_tree_build (GYRE_TENSOR_ENTRY ("sum", sum), NULL);
}

START_TEST (refuses_collectives_of_some_members)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) state = make_state ();
  g_autoptr (GyreStep) step = gyre_step_pmap (sum_if_many, mesh, "data", "rate", "x",
                                              NULL, NULL, NULL, &error);

  ck_assert_ptr_null (run (step, state, 7, &error));
  gyre_assert_error_says (error, "must not depend on the number of rows");
}
END_TEST

static GyreTree *
mean_over (GyreTree *args,
           gpointer  data)
{
  GyreTensor *mean = gyre_mean (gyre_tree_get (args, "x"));

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", gyre_pmean (mean, "model")), NULL);
}

/* A plain mean is right along an axis whose members have as many rows. */
START_TEST (takes_means_over_members_alike)
{
  float x[ROWS];
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) same = open_grid (mean_over, "x=data");
  g_autoptr (GyreStep) other = open_grid (mean_over, "x=model");
  g_autoptr (GyreTree) good = run_grid (same, x, &error), bad = NULL;

  gyre_step_wait (same, &error);
  gyre_assert_no_error (error);
  ck_assert_ptr_nonnull (good);
  bad = run_grid (other, x, &error);
  ck_assert_ptr_null (bad);
  gyre_assert_error_says (error, "gyre_pmean_weighted");
}
END_TEST

START_TEST (refuses_other_axes)
{
  static const char *const texts[] = { "x=rows", "x=", "x=[data]", "x=~data" };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (gyre_step_pmap (step_func, mesh, "data", NULL, texts[_i], NULL,
                                      NULL, NULL, &error));
  gyre_assert_error_says (error, _i == 0 ? "'rows'" : "such as x=data");
}
END_TEST

static GyreTree *
gather_over (GyreTree *args,
             gpointer  axis)
{
  GyreTensor *x = gyre_tree_get (args, "x");

  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("sum", gyre_sum (gyre_all_gather (x, axis))), NULL);
}

static GyreTree *
gather_over_data (GyreTree *args,
                  gpointer  data)
{
  return gather_over (args, "data");
}

static GyreTree *
gather_over_model (GyreTree *args,
                   gpointer  data)
{
  return gather_over (args, "model");
}

/* Members that see the same rows can gather them; those with unlike numbers can't. */
START_TEST (gathers_where_members_are_alike)
{
  float x[ROWS];
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) alike = open_grid (gather_over_model, "x=data");
  g_autoptr (GyreStep) unlike = open_grid (gather_over_data, "x=data");
  g_autoptr (GyreTree) results = run_grid (alike, x, &error);
  g_autoptr (GBytes) bytes = NULL;
  const float *sums;

  gyre_assert_no_error (error);
  bytes = gyre_array_get (gyre_tree_get_array (results, "sum"), &error);
  gyre_assert_no_error (error);
  sums = g_bytes_get_data (bytes, NULL);
  for (guint d = 0; d < 6; d++)
    {
      float expected = 0;

      for (guint i = d < 3 ? 0 : 8; i < (d < 3 ? 8 : ROWS); i++)
        expected += 3 * x[i];
      gyre_assert_near (sums[d], expected, 1e-3);   /* integers: far below 2^24 */
    }

  ck_assert_ptr_null (run_grid (unlike, x, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TRACE);
  gyre_assert_error_says (error, "device 3");
  gyre_assert_error_says (error, "a result of 6 in place of 16");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "pmap", open_mesh, close_mesh);

  tcase_add_test (tcase, arguments_of_every_kind);
  tcase_add_test (tcase, names_where_trees_differ);
  tcase_add_loop_test (tcase, cuts_rows_over_two_axes, 0, G_N_ELEMENTS (grids));
  tcase_add_test (tcase, describes_each_program);
  tcase_add_test (tcase, leaves_out_members_without_rows);
  tcase_add_test (tcase, refuses_collectives_of_some_members);
  tcase_add_test (tcase, takes_means_over_members_alike);
  tcase_add_test (tcase, gathers_where_members_are_alike);
  tcase_add_loop_test (tcase, refuses_other_axes, 0, 4);
}

GYRE_CHECK_MAIN ("pmap", add_tests)
