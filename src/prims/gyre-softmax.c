/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-ops.h>

/* Compositions of exponentials along a dimension.  The largest is subtracted first, so
 * that nothing overflows; its gradient would cancel, and is stopped. */

/* The largest, kept finite: where all are -∞, x minus it must not be NaN. */
static GyreTensor *
safe_max (GyreTensor *x,
          int         dim)
{
  GyreTensor *max = gyre_stop_gradient (gyre_max_axis (x, dim, TRUE));

  return gyre_select (gyre_is_finite (max), max, gyre_full_like (max, 0));
}

/**
 * gyre_log_sum_exp:
 * @x: f32
 * @dim: a dimension; -1 is the last
 * @keep: whether it stays, with extent 1
 *
 * ln Σ exp (x) along @dim, without overflow. Gradient: ct · softmax (x). Sharding: @dim
 * is gathered first, others stay split.
 *
 * Returns: (transfer none): f32, without @dim unless it is kept
 */
GyreTensor *
gyre_log_sum_exp (GyreTensor *x,
                  int         dim,
                  gboolean    keep)
{
  GyreTensor *max, *result;

  g_return_val_if_fail (x != NULL, NULL);

  max = safe_max (x, dim);
  result =
      gyre_add (gyre_log (gyre_sum_axis (gyre_exp (gyre_sub (x, max)), dim, TRUE)), max);
  return keep ? result : gyre_squeeze (result, dim);
}

/**
 * gyre_softmax:
 * @x: f32
 * @dim: a dimension; -1 is the last
 *
 * exp (x) / Σ exp (x) along @dim, without overflow. Gradient: y · (ct - Σ ct · y).
 * Sharding: @dim is gathered first, others stay split.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_softmax (GyreTensor *x,
              int         dim)
{
  GyreTensor *exps;

  g_return_val_if_fail (x != NULL, NULL);

  exps = gyre_exp (gyre_sub (x, safe_max (x, dim)));
  return gyre_div (exps, gyre_sum_axis (exps, dim, TRUE));
}

/**
 * gyre_log_softmax:
 * @x: f32
 * @dim: a dimension; -1 is the last
 *
 * x - ln Σ exp (x) along @dim, without overflow. Gradient: ct - exp (y) · Σ ct. Sharding:
 * @dim is gathered first, others stay split.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_log_softmax (GyreTensor *x,
                  int         dim)
{
  GyreTensor *shifted;

  g_return_val_if_fail (x != NULL, NULL);

  shifted = gyre_sub (x, safe_max (x, dim));
  return gyre_sub (shifted, gyre_log (gyre_sum_axis (gyre_exp (shifted), dim, TRUE)));
}
