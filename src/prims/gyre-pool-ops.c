/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-pool-private.h"

/* The builders of pools */

static GyrePoolAttrs
make_attrs (const gint64 *window,
            const gint64 *strides,
            const gint64 *padding)
{
  GyrePoolAttrs attrs = { { 0 } };

  for (int i = 0; i < 2; i++)
    {
      attrs.window[i] = window[i];
      attrs.strides[i] = strides != NULL ? strides[i] : window[i];
      attrs.padding[i][0] = padding != NULL ? padding[2 * i] : 0;
      attrs.padding[i][1] = padding != NULL ? padding[2 * i + 1] : 0;
    }

  return attrs;
}

/**
 * gyre_max_pool:
 * @x: f32[n, h, w, c]: images
 * @window: (array fixed-size=2): its height and width
 * @strides: (array fixed-size=2) (nullable): from window to window; %NULL: the window's
 *   own size
 * @padding: (array fixed-size=4) (nullable): low and high of the height, then of the
 *   width; %NULL is none
 *
 * The largest element of each window; what is padded is none. NaN wins. Gradient: goes to
 * the first of the largest elements, row by row. Sharding: samples and channels may be
 * split. Kernel of the gradient: pool.cl.
 *
 * Returns: (transfer none): f32[n, h', w', c]; a poison tensor where the window doesn't
 *   fit
 */
GyreTensor *
gyre_max_pool (GyreTensor   *x,
               const gint64 *window,
               const gint64 *strides,
               const gint64 *padding)
{
  GyrePoolAttrs attrs;

  g_return_val_if_fail (x != NULL && window != NULL, NULL);

  attrs = make_attrs (window, strides, padding);
  return gyre_prims_emit1 (&gyre_prim_window_max, x, &attrs);
}

/**
 * gyre_sum_pool:
 * @x: f32[n, h, w, c]: images
 * @window: (array fixed-size=2): its height and width
 * @strides: (array fixed-size=2) (nullable): from window to window; %NULL: the window's
 *   own size
 * @padding: (array fixed-size=4) (nullable): low and high of the height, then of the
 *   width; %NULL is none
 *
 * The sum of each window. Gradient: the sum of ct over the windows that the element is
 * in. Sharding: samples and channels may be split, and a partial sum stays one.
 *
 * Returns: (transfer none): f32[n, h', w', c]; a poison tensor where the window doesn't
 *   fit
 */
GyreTensor *
gyre_sum_pool (GyreTensor   *x,
               const gint64 *window,
               const gint64 *strides,
               const gint64 *padding)
{
  GyrePoolAttrs attrs;

  g_return_val_if_fail (x != NULL && window != NULL, NULL);

  attrs = make_attrs (window, strides, padding);
  return gyre_prims_emit1 (&gyre_prim_window_sum, x, &attrs);
}

/* How many elements window p of dimension dim holds that are not padded: f32, with one
 * element in all other dimensions */
static GyreTensor *
count_elements (const GyrePoolAttrs *attrs,
                const GyreTensor    *x,
                const GyreTensor    *y,
                int                  dim)
{
  int i = dim - 1;
  GyreShape shape = GYRE_SHAPE (1, 1, 1, 1);
  GyreTensor *first, *end;

  shape.dims[dim] = y->shape.dims[dim];
  first = gyre_mul_scalar (gyre_iota (shape, GYRE_F32, dim), (double) attrs->strides[i]);
  first = gyre_add_scalar (first, (double) -attrs->padding[i][0]);
  end = gyre_add_scalar (first, (double) attrs->window[i]);

  return gyre_sub (gyre_min (end, gyre_full_like (end, (double) x->shape.dims[dim])),
                   gyre_max (first, gyre_full_like (first, 0)));
}

/**
 * gyre_avg_pool:
 * @x: f32[n, h, w, c]: images
 * @window: (array fixed-size=2): its height and width
 * @strides: (array fixed-size=2) (nullable): from window to window; %NULL: the window's
 *   own size
 * @padding: (array fixed-size=4) (nullable): low and high of the height, then of the
 *   width; %NULL is none
 * @count_padding: whether what is padded counts, as zeros; else a mean is that of the
 *   elements that there are
 *
 * The mean of each window: gyre_sum_pool() divided by a number.
 *
 * Returns: (transfer none): f32[n, h', w', c]; a poison tensor where the window doesn't
 *   fit
 */
GyreTensor *
gyre_avg_pool (GyreTensor   *x,
               const gint64 *window,
               const gint64 *strides,
               const gint64 *padding,
               gboolean      count_padding)
{
  GyreTensor *sum = gyre_sum_pool (x, window, strides, padding);
  GyrePoolAttrs attrs;
  GyreTensor *count;

  g_return_val_if_fail (sum != NULL, NULL);

  if (sum->poison)
    return sum;
  attrs = make_attrs (window, strides, padding);
  if (count_padding || (attrs.padding[0][0] == 0 && attrs.padding[0][1] == 0
                        && attrs.padding[1][0] == 0 && attrs.padding[1][1] == 0))
    return gyre_mul_scalar (sum, 1.0 / (double) (window[0] * window[1]));

  count = gyre_mul (count_elements (&attrs, x, sum, 1),
                    count_elements (&attrs, x, sum, 2));
  return gyre_div (sum, count);
}
