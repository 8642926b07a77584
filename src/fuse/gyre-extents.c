/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fusion-private.h"

#include <string.h>

/* Extents that are numbers where the sharding leaves them whole, and symbols where it
 * splits them, so that one text serves every share. */

GyreExtent
gyre_extent_of (const GyreTensor *value,
                const GyreSpec   *spec,
                int               dim)
{
  GyreExtent extent = { value->shape.dims[dim] };

  if (spec->flat != 0)
    {
      extent.flat = spec->flat;
      extent.group = spec->group;
    }
  else if (spec->axes[dim] != 0)
    {
      extent.axes = spec->axes[dim];
      extent.base = spec->base[dim];
    }

  return extent;
}

static gboolean
is_whole (const GyreExtent *self)
{
  return self->axes == 0 && self->flat == 0;
}

gboolean
gyre_extent_is_one (const GyreExtent *self)
{
  return is_whole (self) && self->dim == 1;
}

static gboolean
extent_equal (const GyreExtent *a,
              const GyreExtent *b)
{
  return a->dim == b->dim && a->base == b->base && a->axes == b->axes &&
         a->flat == b->flat && a->group == b->group;
}

void
gyre_extents_multiply (GyreExtents      *self,
                       const GyreExtent *factor)
{
  if (is_whole (factor))
    self->literal *= factor->dim;
  else
    self->factors[self->n++] = *factor;
}

GyreExtents
gyre_extents_stride (const GyreTensor *value,
                     const GyreSpec   *spec,
                     int               dim)
{
  GyreExtents stride = { 1 };

  for (int d = dim + 1; d < value->shape.rank; d++)
    {
      GyreExtent extent = gyre_extent_of (value, spec, d);

      gyre_extents_multiply (&stride, &extent);
    }

  return stride;
}

static guint
count_factor (const GyreExtents *self,
              const GyreExtent  *factor)
{
  guint count = 0;

  for (guint i = 0; i < self->n; i++)
    count += extent_equal (&self->factors[i], factor);

  return count;
}

gboolean
gyre_extents_equal (const GyreExtents *a,
                    const GyreExtents *b)
{
  if (a->literal != b->literal || a->n != b->n)
    return FALSE;

  for (guint i = 0; i < a->n; i++)
    if (count_factor (a, &a->factors[i]) != count_factor (b, &a->factors[i]))
      return FALSE;

  return TRUE;
}

/* Any value of the group has its bounds. */
static const gint64 *
find_flat_bounds (const GyreExtent *extent,
                  const GyreLower  *lower)
{
  for (guint id = 0; id < lower->graph->nodes->len; id++)
    if (lower->specs[id].flat == extent->flat && lower->specs[id].group == extent->group)
      return lower->flat_bounds (lower->data, id);

  g_return_val_if_reached (NULL);
}

static void
local_range (const GyreExtent *extent,
             const GyreLower  *lower,
             gint64           *first,
             gint64           *count)
{
  GyreSpec spec = GYRE_SPEC_REPLICATED;
  GyreShape shape = GYRE_SHAPE (extent->dim);

  if (extent->flat != 0)
    {
      const gint64 *bounds = find_flat_bounds (extent, lower);

      *first = bounds[lower->device];
      *count = bounds[lower->device + 1] - bounds[lower->device];
      return;
    }

  spec.axes[0] = extent->axes;
  spec.base[0] = extent->base;
  gyre_spec_local_range (&spec, lower->mesh, &shape, lower->device, 0, first, count);
}

gint64
gyre_size_evaluate (GyreSizeKind       kind,
                    const GyreExtents *extents,
                    const GyreLower   *lower)
{
  gint64 product = extents->literal;

  for (guint i = 0; i < extents->n; i++)
    {
      gint64 first, count;

      local_range (&extents->factors[i], lower, &first, &count);
      if (kind == GYRE_SIZE_OFFSET)
        return first;
      product *= kind == GYRE_SIZE_GLOBAL ? extents->factors[i].dim : count;
    }

  return product;
}

static gboolean
is_one (const GyreTensor *value,
        const GyreSpec   *spec,
        int               dim)
{
  GyreExtent extent = gyre_extent_of (value, spec, dim);

  return gyre_extent_is_one (&extent);
}

static int
skip_ones (const GyreTensor *value,
           const GyreSpec   *spec,
           int               dim)
{
  while (dim < value->shape.rank && is_one (value, spec, dim))
    dim++;

  return dim;
}

gboolean
gyre_extents_map_view (const GyreTensor *view,
                       const GyreSpec   *specs,
                       int              *dims)
{
  const GyreTensor *operand = view->operands[0];
  const GyreSpec *inner = &specs[operand->id], *outer = &specs[view->id];
  int i = 0, j = 0;

  for (int d = 0; d < GYRE_MAX_RANK; d++)
    dims[d] = -1;

  while (TRUE)
    {
      GyreExtent a, b;

      i = skip_ones (view, outer, i);
      j = skip_ones (operand, inner, j);
      if (i == view->shape.rank || j == operand->shape.rank)
        return i == view->shape.rank && j == operand->shape.rank;

      a = gyre_extent_of (view, outer, i);
      b = gyre_extent_of (operand, inner, j);
      if (!extent_equal (&a, &b))
        return FALSE;
      dims[j++] = i++;
    }
}
