/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-reduce-private.h"

/* What is made of the reductions of gyre-reduce.c. */

/**
 * gyre_mean_dims:
 * @x: f32
 * @dims: (array length=n_dims) (nullable): the dimensions; %NULL with 0: all
 * @n_dims: how many
 * @keep: whether the dimensions stay, with extent 1
 *
 * The sum over some dimensions, divided once by how many elements it is over: of the
 * global shape, so that shares of unlike size don't matter. See gyre_sum_dims().
 *
 * Returns: (transfer none): a tensor without @dims; a poison tensor where one isn't one
 * of
 *   @x
 */
GyreTensor *
gyre_mean_dims (GyreTensor *x,
                const int  *dims,
                int         n_dims,
                gboolean    keep)
{
  GyreTensor *sum = gyre_sum_dims (x, dims, n_dims, FALSE), *mean;
  guint32 mask;
  gint64 n = 1;

  if (sum == NULL || sum->poison)
    return sum;

  mask = gyre_reduce_mask (x, dims, n_dims);
  for (int i = 0; i < x->shape.rank; i++)
    if (mask >> i & 1)
      n *= x->shape.dims[i];

  mean = gyre_div (sum, gyre_full_like (sum, (double) n));
  return keep ? gyre_reduce_keep (x, mean, mask) : mean;
}

/**
 * gyre_sum:
 * @x: f32, i32, u32 or u8
 *
 * Returns: (transfer none): the sum of all elements, a scalar: see gyre_sum_dims()
 */
GyreTensor *
gyre_sum (GyreTensor *x)
{
  return gyre_sum_dims (x, NULL, 0, FALSE);
}

/**
 * gyre_mean:
 * @x: f32
 *
 * Returns: (transfer none): the mean of all elements, a scalar: see gyre_mean_dims()
 */
GyreTensor *
gyre_mean (GyreTensor *x)
{
  return gyre_mean_dims (x, NULL, 0, FALSE);
}

/**
 * gyre_sum_axis:
 * @x: f32, i32, u32 or u8
 * @dim: a dimension; -1 is the last
 * @keep: whether it stays, with extent 1
 *
 * Returns: (transfer none): the sum over one dimension: see gyre_sum_dims()
 */
GyreTensor *
gyre_sum_axis (GyreTensor *x,
               int         dim,
               gboolean    keep)
{
  return gyre_sum_dims (x, &dim, 1, keep);
}

/**
 * gyre_max_axis:
 * @x: f32, i32, u32 or u8
 * @dim: a dimension; -1 is the last
 * @keep: whether it stays, with extent 1
 *
 * Returns: (transfer none): the largest over one dimension: see gyre_max_dims()
 */
GyreTensor *
gyre_max_axis (GyreTensor *x,
               int         dim,
               gboolean    keep)
{
  return gyre_max_dims (x, &dim, 1, keep);
}

/**
 * gyre_mean_axis:
 * @x: f32
 * @dim: a dimension; -1 is the last
 * @keep: whether it stays, with extent 1
 *
 * Returns: (transfer none): the mean over one dimension: see gyre_mean_dims()
 */
GyreTensor *
gyre_mean_axis (GyreTensor *x,
                int         dim,
                gboolean    keep)
{
  return gyre_mean_dims (x, &dim, 1, keep);
}
