/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "gyre-check.h"

#include <math.h>
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
  Call        call;
  guint       n;      /* members */
  const char *axis;   /* or axes, in the order of the members */
} Setting;

static inline guint
next_of (guint m,
         guint n)
{
  return (m + 1) % n;
}

/* Along a ring, the last member sends nothing. */
static inline GyreTensor *
rotate (GyreTensor    *x,
        const Setting *setting)
{
  guint n = setting->n;
  guint pairs[16];

  for (guint m = 0; m + 1 < n; m++)
    {
      pairs[2 * m] = m;
      pairs[2 * m + 1] = next_of (m, n);
    }
  return gyre_ppermute (x, setting->axis, pairs, n - 1);
}

/* Rows for each member: row k is (k + 1) x. */
static inline GyreTensor *
make_rows (GyreTensor *x,
           guint       n)
{
  GyreTensor *rows[8];

  for (guint k = 0; k < n; k++)
    rows[k] = gyre_expand_dims (gyre_mul_scalar (x, k + 1), 0);
  return gyre_concatenate (rows, n, 0);
}

static inline GyreTensor *
apply (GyreTensor    *x,
       const Setting *setting)
{
  const char *axis = setting->axis;

  switch (setting->call)
    {
    case PSUM:
      return gyre_psum (x, axis);
    case PMEAN:
      return gyre_pmean (x, axis);
    case PMAX:
      return gyre_pmax (x, axis);
    case PMIN:
      return gyre_pmin (x, axis);
    case ALL_GATHER:
      return gyre_all_gather (x, axis);
    case PSUM_SCATTER:
      return gyre_psum_scatter (make_rows (x, setting->n), axis);
    case ALL_TO_ALL:
      return gyre_all_to_all (make_rows (x, setting->n), axis);
    case PPERMUTE:
      return rotate (x, setting);
    default:
      return gyre_mul (x, gyre_add (gyre_convert (gyre_axis_index (axis), GYRE_F32),
                                    gyre_convert (gyre_axis_size (axis), GYRE_F32)));
    }
}

/* Element i of member m's result, row r of it where it has rows. */
static inline double
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

static inline GyreTree *
call_step (GyreTree *args,
           gpointer  data)
{
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", apply (gyre_tree_get (args, "x"), data)), NULL);
}

static inline GyreMesh *
make_mesh_of (const char *layout,
              GPtrArray  *devices)
{
  g_autoptr (GError) error = NULL;
  GyreMesh *mesh = gyre_mesh_new (layout, devices, &error);

  gyre_assert_no_error (error);
  return mesh;
}

static inline GyreMesh *
make_mesh (const char *layout,
           guint       n)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *pocl = g_strdup_printf ("pocl*%u", n);
  g_autofree char *spec = gyre_check_device_spec (pocl);
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);

  gyre_assert_no_error (error);
  return make_mesh_of (layout, devices);
}

static inline GBytes *
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

static inline void
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

static inline void
check_length (GyreMesh   *mesh,
              guint       n,
              const char *axis,
              gsize       length)
{
  g_autoptr (GyreArray) x = gyre_array_new_normal (
      gyre_key_new (length), GYRE_SHAPE ((gint64) n, (gint64) length), 1);
  g_autoptr (GBytes) numbers = gyre_array_get (x, NULL);

  for (guint call = 0; call < N_CALLS; call++)
    {
      Setting setting = { (Call) call, n, axis };
      g_autoptr (GBytes) bytes = run (mesh, axis, call_step, &setting, x);

      compare (&setting, g_bytes_get_data (numbers, NULL), length, bytes);
    }
}

/* --- gradients --- */

/* All members together lose Σ (1 + m) |call (x)|²; each gets the gradient by its own
 * x. */
static inline GyreTree *
gradient_step (GyreTree *args,
               gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x"), *loss, *grad;
  const Setting *setting = data;
  GyreTensor *place = gyre_convert (gyre_axis_index (setting->axis), GYRE_F32);

  loss = gyre_mul (gyre_sum (gyre_square (apply (x, data))), gyre_add_scalar (place, 1));
  gyre_grad_of (loss, &x, 1, &grad);
  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", grad), NULL);
}

static inline double
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
static inline double
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

static inline void
check_gradient (GyreMesh      *mesh,
                const Setting *setting)
{
  const gsize length = 3;
  gsize n = setting->n * length;
  g_autoptr (GyreArray) x =
      gyre_array_new_normal (gyre_key_new (5), GYRE_SHAPE (setting->n, 3), 1);
  g_autoptr (GBytes) numbers = gyre_array_get (x, NULL);
  g_autofree float *copy = g_memdup2 (g_bytes_get_data (numbers, NULL),
                                      n * sizeof (float));
  g_autoptr (GBytes) bytes =
      run (mesh, setting->axis, gradient_step, (gpointer) setting, x);
  const float *grads = g_bytes_get_data (bytes, NULL);

  for (gsize i = 0; i < n; i++)
    {
      double should = difference (copy, length, setting, i);

      if (!(fabs (grads[i] - should) <= 1e-5 + 1e-4 * fabs (should)))
        ck_abort_msg ("call %d, %u members: gradient [%" G_GSIZE_FORMAT "] is %.9g, not "
                      "%.9g", (int) setting->call, setting->n, i, grads[i], should);
    }
}
