/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-array-private.h"

#include <string.h>

/* A stacked array has one row a device, whatever the shares. */
static void
fill_block (GyreBlock          *block,
            const GyreMeshSpec *mesh,
            const GyreShape    *shape,
            const GyreLayout   *layout,
            guint               device)
{
  GyreMeshSpec equal = *mesh;

  memset (equal.weights, 0, sizeof equal.weights);
  gyre_spec_local_shape (&layout->spec, layout->stacked ? &equal : mesh, shape, device,
                         &block->local, block->offsets);
}

/* Which of the summands a device has. */
static guint
find_summand (const GyreMeshSpec *mesh,
              guint8              partial,
              guint               device)
{
  guint summand = 0;

  for (guint a = 0; a < mesh->n_axes; a++)
    if (partial & 1 << a)
      summand = summand * mesh->axes[a].size + gyre_mesh_spec_coord (mesh, device, a);

  return summand;
}

GyreLayout *
gyre_layout_new (const GyreMeshSpec *mesh,
                 const GyreShape    *shape,
                 const GyreSpec     *spec,
                 gboolean            stacked,
                 const gint64       *ranges)
{
  GyreLayout *self = g_new0 (GyreLayout, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->spec = *spec;
  self->stacked = stacked;
  self->n_blocks = gyre_mesh_spec_n_devices (mesh);
  self->blocks = g_new0 (GyreBlock, self->n_blocks);

  for (guint d = 0; d < self->n_blocks; d++)
    {
      GyreBlock *block = &self->blocks[d];

      block->flat = spec->flat != 0;
      block->summand = find_summand (mesh, spec->partial, d);
      if (block->flat)
        {
          block->first = ranges[2 * d];
          block->count = ranges[2 * d + 1];
        }
      else
        fill_block (block, mesh, shape, self, d);
    }

  return self;
}

GyreLayout *
gyre_layout_ref (GyreLayout *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
gyre_layout_unref (GyreLayout *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_free (self->blocks);
  g_free (self);
}

static gboolean
block_equal (const GyreBlock *a,
             const GyreBlock *b)
{
  if (a->flat || b->flat)
    return a->flat == b->flat && a->first == b->first && a->count == b->count;

  return gyre_shape_equal (&a->local, &b->local)
         && memcmp (a->offsets, b->offsets, sizeof a->offsets) == 0;
}

gboolean
gyre_layout_equal (const GyreLayout *a,
                   const GyreLayout *b)
{
  if (a->n_blocks != b->n_blocks || a->stacked != b->stacked
      || a->spec.partial != b->spec.partial)
    return FALSE;

  for (guint d = 0; d < a->n_blocks; d++)
    if (!block_equal (&a->blocks[d], &b->blocks[d]))
      return FALSE;

  return TRUE;
}

gint64
gyre_block_n (const GyreBlock *self)
{
  return self->flat ? self->count : gyre_shape_n_elements (&self->local);
}

gboolean
gyre_block_is_run (const GyreBlock *self,
                   const GyreShape *shape,
                   gint64          *first)
{
  gboolean split = FALSE;

  *first = self->first;
  if (self->flat)
    return TRUE;

  *first = 0;
  for (int i = 0; i < shape->rank; i++)
    {
      if (split && self->local.dims[i] != shape->dims[i])
        return gyre_block_n (self) == 0;
      *first = *first * shape->dims[i] + self->offsets[i];
      split |= self->local.dims[i] != 1;
    }

  return TRUE;
}

/* Calls copy for each run along the last dimension. */
static void
for_each_row (const GyreBlock *self,
              const GyreShape *shape,
              gsize            size,
              guint8          *whole,
              guint8          *block,
              gboolean         to_block)
{
  gint64 index[GYRE_MAX_RANK] = { 0 };
  int last = shape->rank - 1;
  gint64 row = last >= 0 ? self->local.dims[last] : 1;
  gint64 n = gyre_block_n (self);

  for (gint64 done = 0; done < n; done += row)
    {
      gint64 at = 0;
      guint8 *w, *b = block + (gsize) done * size;

      for (int i = 0; i <= last; i++)
        at = at * shape->dims[i] + self->offsets[i] + index[i];
      w = whole + (gsize) at * size;
      memcpy (to_block ? b : w, to_block ? w : b, (gsize) row * size);

      for (int i = last - 1; i >= 0 && ++index[i] == self->local.dims[i]; i--)
        index[i] = 0;
    }
}

static void
move_block (const GyreBlock *self,
            const GyreShape *shape,
            gsize            size,
            guint8          *whole,
            guint8          *block,
            gboolean         to_block)
{
  gsize bytes = (gsize) gyre_block_n (self) * size;
  gint64 first;

  if (bytes == 0)
    return;

  if (!gyre_block_is_run (self, shape, &first))
    for_each_row (self, shape, size, whole, block, to_block);
  else if (to_block)
    memcpy (block, whole + (gsize) first * size, bytes);
  else
    memcpy (whole + (gsize) first * size, block, bytes);
}

void
gyre_block_gather (const GyreBlock *self,
                   const GyreShape *shape,
                   gsize            size,
                   const guint8    *whole,
                   guint8          *block)
{
  move_block (self, shape, size, (guint8 *) whole, block, TRUE);
}

void
gyre_block_scatter (const GyreBlock *self,
                    const GyreShape *shape,
                    gsize            size,
                    const guint8    *block,
                    guint8          *whole)
{
  move_block (self, shape, size, whole, (guint8 *) block, FALSE);
}

void
gyre_block_add (const GyreBlock *self,
                const GyreShape *shape,
                GyreDtype        dtype,
                const guint8    *block,
                guint8          *whole)
{
  gsize size = gyre_dtype_size (dtype);
  gsize n = (gsize) gyre_block_n (self);
  g_autofree guint8 *sum = g_malloc (n * size + 1);

  gyre_block_gather (self, shape, size, whole, sum);
  for (gsize i = 0; i < n; i++)
    if (dtype == GYRE_F32)
      ((float *) sum)[i] += ((const float *) block)[i];
    else
      ((guint32 *) sum)[i] += ((const guint32 *) block)[i];
  gyre_block_scatter (self, shape, size, sum, whole);
}

GBytes *
gyre_block_slice (const GyreBlock *self,
                  const GyreShape *shape,
                  gsize            size,
                  GBytes          *bytes)
{
  gsize n = (gsize) gyre_block_n (self) * size;
  guint8 *copy;
  gint64 first;

  if (n == 0)
    return g_bytes_new (NULL, 0);
  if (self->summand > 0)
    return g_bytes_new_take (g_malloc0 (n), n);
  if (gyre_block_is_run (self, shape, &first))
    return g_bytes_new_from_bytes (bytes, (gsize) first * size, n);

  copy = g_malloc (n);
  gyre_block_gather (self, shape, size, g_bytes_get_data (bytes, NULL), copy);
  return g_bytes_new_take (copy, n);
}
