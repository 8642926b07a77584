/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-calls.h"

/* Collectives over several axes of a mesh. */

/* psum over one axis and over both, gathered places, and a sum scattered over both. */
static GyreTree *
two_axes (GyreTree *args,
          gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");   /* f32[] */
  GyreTensor *place = gyre_convert (gyre_axis_index ("dp+tp"), GYRE_F32);
  GyreTensor *values[] = {
    gyre_psum (x, "dp"), gyre_pmax (x, "tp"), gyre_pmean (x, "dp+tp"), place,
    gyre_psum_scatter (gyre_mul_scalar (gyre_all_gather (x, "dp+tp"), 2), "dp+tp"),
    gyre_convert (gyre_axis_size ("tp+dp"), GYRE_F32),
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = gyre_expand_dims (values[i], 0);
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", gyre_concatenate (values, G_N_ELEMENTS (values), 0)), NULL);
}

/* Member (d, t) holds 10 d + t + 100 r in row r of 6; the rows are of both axes. */
static GyreTree *
moves_over_both (GyreTree *args,
                 gpointer  data)
{
  const guint pairs[] = { 0, 1, 1, 2, 5, 0 };   /* in the order of tp, then dp */
  GyreTensor *rows = gyre_tree_get (args, "x"); /* f32[6] */
  GyreTensor *first = gyre_slice (rows, (gint64[]) { 0 }, (gint64[]) { 1 }, NULL);
  GyreTensor *values[] = {
    gyre_all_to_all (rows, "dp+tp"), gyre_all_to_all (rows, "tp+dp"),
    gyre_ppermute (first, "tp+dp", pairs, 3),
    gyre_expand_dims (gyre_psum_scatter (rows, "dp+tp"), 0),
    gyre_expand_dims (gyre_psum_scatter (rows, "tp+dp"), 0),
  };

  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", gyre_concatenate (values, G_N_ELEMENTS (values), 0)), NULL);
}

START_TEST (moves_over_two_axes)
{
  enum { DP = 3, TP = 2, N = 6 };
  g_autoptr (GyreMesh) mesh = make_mesh ("dp=3,tp=2", N);
  float numbers[N * N];
  g_autoptr (GyreArray) x = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const float *y;

  for (guint m = 0; m < N; m++)
    for (guint r = 0; r < N; r++)
      numbers[m * N + r] = 10 * (m / TP) + m % TP + 100 * r;
  x = gyre_array_new (GYRE_F32, GYRE_SHAPE (N, N), numbers);
  bytes = run (mesh, "dp+tp", moves_over_both, NULL, x);
  y = g_bytes_get_data (bytes, NULL);
  for (guint m = 0; m < N; m++, y += 2 * N + 3)
    {
      guint other = m % TP * DP + m / TP;   /* its place in the order of tp, then dp */
      guint source = other == 0 ? 5 : other <= 2 ? other - 1 : N;
      double sum = 0;

      for (guint k = 0; k < N; k++)
        {
          guint from = k % DP * TP + k / DP;   /* who is k in the other order */

          sum += numbers[k * N];
          ck_assert_float_eq (y[k], numbers[k * N + m]);
          ck_assert_float_eq (y[N + k], numbers[from * N + other]);
        }
      ck_assert_float_eq (y[2 * N], source == N ? 0
                                                : numbers[(source % DP * TP + source / DP)
                                                          * N]);
      ck_assert_float_eq (y[2 * N + 1], sum + 600 * m);
      ck_assert_float_eq (y[2 * N + 2], sum + 600 * other);
    }
}
END_TEST

START_TEST (over_two_axes)
{
  const float numbers[] = { 1, 2, 4, 8, 16, 32 };   /* [dp][tp] */
  g_autoptr (GyreMesh) mesh = make_mesh ("dp=3,tp=2", 6);
  g_autoptr (GyreArray) x = gyre_array_new (GYRE_F32, GYRE_SHAPE (6), numbers);
  g_autoptr (GBytes) bytes = run (mesh, "dp+tp", two_axes, NULL, x);
  const float *y = g_bytes_get_data (bytes, NULL);

  for (guint m = 0; m < 6; m++, y += 6)
    {
      ck_assert_float_eq (y[0], m % 2 == 0 ? 21 : 42);
      ck_assert_float_eq (y[1], numbers[m | 1]);
      gyre_assert_near (y[2], 63 / 6.0, 1e-5);
      ck_assert_float_eq (y[3], m);
      ck_assert_float_eq (y[4], 12 * numbers[m]);
      ck_assert_float_eq (y[5], 6);
    }
}
END_TEST

static const struct
{
  const char *layout;
  guint       n;
} meshes[] = { { "dp=2,tp=2", 4 }, { "dp=2,tp=3", 6 } };

/* In the mesh's order of both axes, members are as those of one. */
START_TEST (values_over_both)
{
  guint n = meshes[_i % 2].n;
  g_autoptr (GyreMesh) mesh = make_mesh (meshes[_i % 2].layout, n);

  check_length (mesh, n, "dp+tp", (gsize[]) { 0, 1, 7, 1003 }[_i]);
}
END_TEST

START_TEST (gradients_over_both)
{
  guint m = (guint) _i / N_CALLS;
  Setting setting = { (Call) (_i % N_CALLS), meshes[m].n, "dp+tp" };
  g_autoptr (GyreMesh) mesh = make_mesh (meshes[m].layout, meshes[m].n);

  check_gradient (mesh, &setting);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "collectives-axes", NULL, NULL);

  tcase_add_test (tcase, over_two_axes);
  tcase_add_test (tcase, moves_over_two_axes);
  tcase_add_loop_test (tcase, values_over_both, 0, 4);
  tcase_add_loop_test (tcase, gradients_over_both, 0, N_CALLS * G_N_ELEMENTS (meshes));
}

GYRE_CHECK_MAIN ("collectives-axes", add_tests)
