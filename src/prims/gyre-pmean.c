/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-collective-private.h"

/* Means over a manual axis. */

/* The members along the axes; 0, and an error on the graph, where a mean of means is not
 * the mean. */
static guint
count_equals (GyreGraph  *graph,
              const char *axes)
{
  g_auto (GStrv) names = gyre_collective_split_axes (graph, "pmean", axes);
  guint n = names != NULL ? 1 : 0;

  for (guint i = 0; n > 0 && names[i] != NULL; i++)
    {
      GyreAxisAttrs attrs = { 0 };
      const GyreAxis *found;

      if (!gyre_axis_attrs_init (&attrs, graph, "pmean", names[i], &found))
        return 0;
      n *= attrs.size;
      if (!found->ragged)
        continue;
      gyre_graph_fail (graph, g_error_new (GYRE_ERROR, GYRE_ERROR_SHARDING,
                                           "pmean: the members along '%s' hold unlike "
                                           "numbers of rows, so a mean of their means is "
                                           "not the mean: use gyre_pmean_weighted () "
                                           "with each member's count",
                                           names[i]));
      return 0;
    }

  return n;
}

/**
 * gyre_pmean:
 * @x: f32, i32 or u32: each member's own, of one shape
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * gyre_psum() divided by the number of members; of integers that truncates, where JAX
 * makes floats: gyre_convert() them first for that. Where the members hold unlike numbers
 * of rows a mean of their means isn't the mean: then this is an error, and
 * gyre_pmean_weighted() is right.
 *
 * Returns: (transfer none): a tensor like @x; on an error a poison tensor
 */
GyreTensor *
gyre_pmean (GyreTensor *x,
            const char *axis)
{
  guint n;

  g_return_val_if_fail (x != NULL && axis != NULL, NULL);

  if (x->poison)
    return x;
  n = count_equals (x->graph, axis);
  if (n == 0)
    return gyre_graph_fail (x->graph, NULL);

  x = gyre_psum (x, axis);
  return gyre_div (x, gyre_full_like (x, n));
}

/**
 * gyre_pmean_weighted:
 * @x: f32: each member's own mean, of one shape
 * @count: f32[], i32[] or u32[]: over how many samples the member's @x is a mean
 * @axis: the name of a manual axis, or of several: `"data+model"`
 *
 * Σ count · x / Σ count over the members along @axis: the mean over all samples. The @x
 * of a member that has none is not looked at, even if it is NaN.
 *
 * Returns: (transfer none): a tensor like @x; on an error a poison tensor
 */
GyreTensor *
gyre_pmean_weighted (GyreTensor *x,
                     GyreTensor *count,
                     const char *axis)
{
  GyreTensor *weighted;

  g_return_val_if_fail (x != NULL && count != NULL && axis != NULL, NULL);

  count = gyre_convert (count, GYRE_F32);
  weighted = gyre_select (gyre_greater (count, gyre_full_like (count, 0)),
                          gyre_mul (x, count), gyre_full_like (x, 0));
  return gyre_div (gyre_psum (weighted, axis), gyre_psum (count, axis));
}
