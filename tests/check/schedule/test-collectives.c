/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gyre/gyre-array.h>
#include <gyre/gyre-error.h>
#include <gyre/gyre-key.h>
#include <gyre/gyre-ops.h>
#include <gyre/gyre-step.h>

/* Collectives inside pmap, on devices, against the host.  Member m has x[m, :]; what it
 * computes is (Σ over i of coefficient) · x, so the host's word is exact up to sums of
 * eight floats. */
#define RTOL 1e-6
#define ATOL 1e-6

typedef enum
{
  PSUM, PMEAN, PMAX, PMIN, ALL_GATHER, PSUM_SCATTER, ALL_TO_ALL, PPERMUTE, INDEX, N_CALLS
} Call;

typedef struct
{
  Call  call;
  guint n;      /* members */
} Setting;

static guint
next_of (guint m,
         guint n)
{
  return (m + 1) % n;
}

/* Along a ring, the last member sends nothing. */
static GyreTensor *
rotate (GyreTensor *x,
        guint       n)
{
  guint pairs[16];

  for (guint m = 0; m + 1 < n; m++)
    {
      pairs[2 * m] = m;
      pairs[2 * m + 1] = next_of (m, n);
    }
  return gyre_ppermute (x, "data", pairs, n - 1);
}

/* Rows for each member: row k is (k + 1) x. */
static GyreTensor *
make_rows (GyreTensor *x,
           guint       n)
{
  GyreTensor *rows[8];

  for (guint k = 0; k < n; k++)
    rows[k] = gyre_expand_dims (gyre_mul_scalar (x, k + 1), 0);
  return gyre_concatenate (rows, n, 0);
}

static GyreTensor *
apply (GyreTensor    *x,
       const Setting *setting)
{
  switch (setting->call)
    {
    case PSUM:
      return gyre_psum (x, "data");
    case PMEAN:
      return gyre_pmean (x, "data");
    case PMAX:
      return gyre_pmax (x, "data");
    case PMIN:
      return gyre_pmin (x, "data");
    case ALL_GATHER:
      return gyre_all_gather (x, "data");
    case PSUM_SCATTER:
      return gyre_psum_scatter (make_rows (x, setting->n), "data");
    case ALL_TO_ALL:
      return gyre_all_to_all (make_rows (x, setting->n), "data");
    case PPERMUTE:
      return rotate (x, setting->n);
    default:
      return gyre_mul (x, gyre_add (gyre_convert (gyre_axis_index ("data"), GYRE_F32),
                                    gyre_convert (gyre_axis_size ("data"), GYRE_F32)));
    }
}

/* Element i of member m's result, row r of it where it has rows. */
static double
host (const float   *x,
      gsize          length,
      const Setting *setting,
      guint          m,
      guint          r,
      gsize          i)
{
  guint n = setting->n;
  double sum = 0, most = x[i], least = x[i];

  for (guint k = 0; k < n; k++)
    {
      sum += x[k * length + i];
      most = MAX (most, x[k * length + i]);
      least = MIN (least, x[k * length + i]);
    }

  switch (setting->call)
    {
    case PSUM:
      return sum;
    case PMEAN:
      return sum / n;
    case PMAX:
      return most;
    case PMIN:
      return least;
    case ALL_GATHER:
      return x[r * length + i];
    case PSUM_SCATTER:
      return sum * (m + 1);
    case ALL_TO_ALL:
      return x[r * length + i] * (float) (m + 1);
    case PPERMUTE:
      return m > 0 ? x[(m - 1) * length + i] : 0;
    default:
      return x[m * length + i] * (float) (m + n);
    }
}

static GyreTree *
call_step (GyreTree *args,
           gpointer  data)
{
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", apply (gyre_tree_get (args, "x"), data)), NULL);
}

static GyreMesh *
make_mesh (const char *layout,
           guint       n)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *spec = g_strdup_printf ("pocl*%u", n);
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);
  GyreMesh *mesh;

  gyre_assert_no_error (error);
  mesh = gyre_mesh_new (layout, devices, &error);
  gyre_assert_no_error (error);
  return mesh;
}

static GBytes *
run (GyreMesh     *mesh,
     const char   *axis,
     GyreStepFunc  func,
     gpointer      data,
     GyreArray    *x)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step =
      gyre_step_pmap (func, mesh, axis, NULL, NULL, NULL, data, NULL, &error);
  g_autoptr (GyreTree) result = NULL;
  GBytes *bytes;

  gyre_assert_no_error (error);
  result = gyre_step_run (step, &error, GYRE_ARRAY_ENTRY ("x", x), NULL);
  gyre_assert_no_error (error);
  bytes = gyre_array_get (gyre_tree_get_array (result, "y"), &error);
  gyre_assert_no_error (error);
  return bytes;
}

static void
compare (const Setting *setting,
         const float   *x,
         gsize          length,
         GBytes        *bytes)
{
  gsize size;
  const float *y = g_bytes_get_data (bytes, &size);
  guint n = setting->n;
  guint rows = setting->call == ALL_GATHER || setting->call == ALL_TO_ALL ? n : 1;
  /* the rows that are scattered are rounded before they are added */
  double atol = setting->call == PSUM_SCATTER ? ATOL * n * n : ATOL;

  ck_assert_uint_eq (size, n * rows * length * sizeof (float));
  for (guint m = 0; m < n; m++)
    for (guint r = 0; r < rows; r++)
      for (gsize i = 0; i < length; i++)
        {
          double should = host (x, length, setting, m, r, i);
          double is = y[(m * rows + r) * length + i];

          if (!(fabs (is - should) <= atol + RTOL * n * fabs (should)))
            ck_abort_msg ("call %d, %u members, member %u, row %u, [%" G_GSIZE_FORMAT
                          "] is %.9g, not %.9g", (int) setting->call, n, m, r, i, is,
                          should);
        }
}

static void
check_length (gsize length,
              guint n,
              guint n_calls)
{
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", n);
  g_autoptr (GyreArray) x = gyre_array_new_normal (
      gyre_key_new (length), GYRE_SHAPE ((gint64) n, (gint64) length), 1);
  g_autoptr (GBytes) numbers = gyre_array_get (x, NULL);

  for (guint call = 0; call < n_calls; call++)
    {
      Setting setting = { (Call) call, n };
      g_autoptr (GBytes) bytes = run (mesh, "data", call_step, &setting, x);

      compare (&setting, g_bytes_get_data (numbers, NULL), length, bytes);
    }
}

START_TEST (on_short_lengths)
{
  static const gsize lengths[] = { 0, 1, 7 };

  check_length (lengths[_i % 3], (guint) _i / 3 + 1, N_CALLS);
}
END_TEST

START_TEST (on_a_long_length)
{
  check_length (1000003, (guint) _i + 1, N_CALLS);
}
END_TEST

/* What is moved through the host's memory is the same. */
START_TEST (through_the_host)
{
  g_setenv ("GYRE_ALL_REDUCE", "staged", TRUE);
  check_length (1003, (guint[]) { 2, 3, 8 }[_i], N_CALLS);
  g_unsetenv ("GYRE_ALL_REDUCE");
}
END_TEST

/* --- bytes --- */

/* The sum of the bytes that members get from others. */
static gsize
count_moved (const char *schedule)
{
  g_auto (GStrv) lines = g_strsplit (schedule, "\n", -1);
  gsize moved = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *gets = strstr (lines[i], "gets ");
      guint to, from;
      gsize bytes;

      if (gets != NULL && sscanf (lines[i], "routes: member %u", &to) == 1 &&
          sscanf (gets, "gets %" G_GSIZE_FORMAT " bytes from member %u", &bytes,
                  &from) == 2 && to != from)
        moved += bytes;
    }
  return moved;
}

/* Four members with rows of 100 floats; a reduce-scatter has no second half. */
START_TEST (moves_no_more_than_it_must)
{
  Setting setting = { (Call[]) { ALL_TO_ALL, PPERMUTE, PSUM_SCATTER }[_i], 4 };
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", 4);
  g_autoptr (GyreArray) x =
      gyre_array_new_normal (gyre_key_new (1), GYRE_SHAPE (4, 100), 1);
  g_autoptr (GyreStep) step = gyre_step_pmap (call_step, mesh, "data", NULL, NULL, NULL,
                                              &setting, NULL, NULL);
  g_autoptr (GyreTree) result = gyre_step_run (step, NULL, GYRE_ARRAY_ENTRY ("x", x),
                                               NULL);
  g_autofree char *schedule = gyre_step_describe (step, "schedule");

  ck_assert_ptr_nonnull (result);
  ck_assert_ptr_null (strstr (schedule, "all-reduce"));
  ck_assert_ptr_null (strstr (schedule, "all-gather"));
  if (setting.call == ALL_TO_ALL)
    ck_assert_uint_eq (count_moved (schedule), 4 * 3 * 400);
  else if (setting.call == PPERMUTE)
    ck_assert_uint_eq (count_moved (schedule), 3 * 400);
  else
    ck_assert_ptr_nonnull (strstr (schedule, "begin reduce-scatter"));
}
END_TEST

/* --- gradients --- */

/* All members together lose Σ (1 + m) |call (x)|²; each gets the gradient by its own
 * x. */
static GyreTree *
gradient_step (GyreTree *args,
               gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x"), *loss, *grad;
  GyreTensor *place = gyre_convert (gyre_axis_index ("data"), GYRE_F32);

  loss = gyre_mul (gyre_sum (gyre_square (apply (x, data))), gyre_add_scalar (place, 1));
  gyre_grad_of (loss, &x, 1, &grad);
  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", grad), NULL);
}

static double
host_loss (const float   *x,
           gsize          length,
           const Setting *setting)
{
  gboolean stacks = setting->call == ALL_GATHER || setting->call == ALL_TO_ALL;
  guint rows = stacks ? setting->n : 1;
  double loss = 0;

  for (guint m = 0; m < setting->n; m++)
    for (guint r = 0; r < rows; r++)
      for (gsize i = 0; i < length; i++)
        {
          double y = host (x, length, setting, m, r, i);

          loss += (1 + m) * y * y;
        }
  return loss;
}

/* The loss is a parabola: a central difference is exact but for rounding, as long as the
 * step changes no extreme. */
static double
difference (float         *x,
            gsize          length,
            const Setting *setting,
            gsize          at)
{
  float before = x[at], high = before + 1.0f / 256, low = before - 1.0f / 256;
  double up, down;

  x[at] = high;
  up = host_loss (x, length, setting);
  x[at] = low;
  down = host_loss (x, length, setting);
  x[at] = before;
  return (up - down) / ((double) high - low);
}

START_TEST (gradients)
{
  const gsize length = 3;
  Setting setting = { (Call) (_i % N_CALLS), (guint) _i / N_CALLS + 1 };
  gsize n = setting.n * length;
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", setting.n);
  g_autoptr (GyreArray) x =
      gyre_array_new_normal (gyre_key_new (5), GYRE_SHAPE (setting.n, 3), 1);
  g_autoptr (GBytes) numbers = gyre_array_get (x, NULL);
  g_autofree float *copy = g_memdup2 (g_bytes_get_data (numbers, NULL),
                                      n * sizeof (float));
  g_autoptr (GBytes) bytes = run (mesh, "data", gradient_step, &setting, x);
  const float *grads = g_bytes_get_data (bytes, NULL);

  for (gsize i = 0; i < n; i++)
    {
      double should = difference (copy, length, &setting, i);

      if (!(fabs (grads[i] - should) <= 1e-5 + 1e-4 * fabs (should)))
        ck_abort_msg ("call %d, %u members: gradient [%" G_GSIZE_FORMAT "] is %.9g, not "
                      "%.9g", (int) setting.call, setting.n, i, grads[i], should);
    }
}
END_TEST

/* --- two axes --- */

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

/* --- what is mistaken --- */

static GyreTree *
bad_axis (GyreTree *args,
          gpointer  data)
{
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", gyre_psum (gyre_tree_get (args, "x"), data)), NULL);
}

static GyreTree *
bad_rows (GyreTree *args,
          gpointer  data)
{
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", gyre_all_to_all (gyre_tree_get (args, "x"), "data")), NULL);
}

static GyreTree *
bad_pairs (GyreTree *args,
           gpointer  data)
{
  const guint pairs[] = { 0, 1, 1, 1 };

  GyreTensor *y = gyre_ppermute (gyre_tree_get (args, "x"), "data", pairs, 2);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y), NULL);
}

static GyreTree *
bad_mean (GyreTree *args,
          gpointer  data)
{
  GyreTensor *mean = gyre_mean (gyre_tree_get (args, "x"));

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", gyre_pmean (mean, "data")), NULL);
}

static const struct
{
  GyreStepFunc func;
  const char  *data;
  const char  *form;     /* jit, pmap, or ragged */
  gint64       rows;
  const char  *says;
} mistakes[] = {
  { bad_axis, "dat", "pmap", 3,
    "'dat' is not a manual axis of this function, which has: 'data'" },
  { bad_axis, "data+data", "pmap", 3, "'data' stands twice" },
  { bad_axis, "data", "jit", 3, "which has: none" },
  { bad_axis, "data", "pmap", 4, "argument x" },
  { bad_axis, "data", "pmap", 4, "leading dimension of 3" },
  { bad_rows, NULL, "pmap", 3, "a row for each member along 'data'" },
  { bad_pairs, NULL, "pmap", 3, "same destination" },
  { bad_mean, NULL, "ragged", 7, "gyre_pmean_weighted" },
};

START_TEST (says_what_is_mistaken)
{
  gboolean jit = g_str_equal (mistakes[_i].form, "jit");
  const char *ragged = g_str_equal (mistakes[_i].form, "ragged") ? "x" : NULL;
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", 3);
  g_autoptr (GyreArray) x =
      gyre_array_new_normal (gyre_key_new (0), GYRE_SHAPE (mistakes[_i].rows, 2), 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step =
      jit ? gyre_step_jit (mistakes[_i].func, mesh, NULL, NULL,
                           (gpointer) mistakes[_i].data, NULL, &error)
          : gyre_step_pmap (mistakes[_i].func, mesh, "data", NULL, ragged, NULL,
                            (gpointer) mistakes[_i].data, NULL, &error);

  gyre_assert_no_error (error);
  ck_assert_ptr_null (gyre_step_run (step, &error, GYRE_ARRAY_ENTRY ("x", x), NULL));
  gyre_assert_error_says (error, mistakes[_i].says);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "collectives", NULL, NULL);

  tcase_add_loop_test (tcase, on_short_lengths, 0, 3 * 8);
  tcase_add_loop_test (tcase, on_a_long_length, 0, 8);
  tcase_add_loop_test (tcase, through_the_host, 0, 3);
  tcase_add_loop_test (tcase, moves_no_more_than_it_must, 0, 3);
  tcase_add_loop_test (tcase, gradients, 0, 8 * N_CALLS);
  tcase_add_test (tcase, over_two_axes);
  tcase_add_test (tcase, moves_over_two_axes);
  tcase_add_loop_test (tcase, says_what_is_mistaken, 0, G_N_ELEMENTS (mistakes));
}

GYRE_CHECK_MAIN ("collectives", add_tests)
