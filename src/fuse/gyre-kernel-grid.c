/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-kernel-writer-private.h"

#include <string.h>

void
gyre_kernel_grid_init (GyreKernelGrid   *self,
                       const GyreTensor *result,
                       const GyreSpec   *spec,
                       GyreArena        *arena)
{
  memset (self, 0, sizeof *self);

  for (int d = result->shape.rank - 1; d >= 0; d--)
    {
      GyreExtent extent = gyre_extent_of (result, spec, d);
      GyreExtents extents = { 1 };

      self->ix[d] = "0";
      if (gyre_extent_is_one (&extent))
        continue;

      gyre_extents_multiply (&extents, &extent);
      self->ix[d] = gyre_arena_printf (arena, "i%d", d);
      self->names[self->n_ranges] = self->ix[d];
      self->extents[self->n_ranges++] = extents;
    }
}

/* The dimension of the access whose index is this name alone; -1: none; -2: it occurs
 * otherwise, or twice. */
static int
find_index (const GyreAccess *access,
            const char       *name)
{
  int found = -1;

  for (int d = 0; d < access->value->shape.rank; d++)
    {
      if (!gyre_text_has_name (access->ix[d], name))
        continue;
      if (found != -1 || strcmp (access->ix[d], name) != 0)
        return -2;
      found = d;
    }

  return found;
}

/* Whether the access takes outer and inner as one: outer steps over all of inner. */
static gboolean
access_allows (const GyreAccess  *access,
               const GyreSpec    *spec,
               const char        *outer,
               const char        *inner,
               const GyreExtents *inner_extents)
{
  int at_outer = find_index (access, outer);
  int at_inner = find_index (access, inner);
  GyreExtents outer_stride, inner_stride;

  if (at_outer == -1 && at_inner == -1)
    return TRUE;
  if (at_outer < 0 || at_inner < 0)
    return FALSE;

  outer_stride = gyre_extents_stride (access->value, spec, at_outer);
  inner_stride = gyre_extents_stride (access->value, spec, at_inner);
  inner_stride.literal *= inner_extents->literal;
  for (guint i = 0; i < inner_extents->n; i++)
    gyre_extents_multiply (&inner_stride, &inner_extents->factors[i]);

  return gyre_extents_equal (&outer_stride, &inner_stride);
}

static gboolean
may_merge (const GyreKernelGrid   *self,
           guint                   inner,
           const GyreKernelWriter *writer)
{
  const char *inner_name = self->names[inner];
  const char *outer_name = self->names[inner + 1];

  if (gyre_text_has_name (writer->text->str, inner_name)
      || gyre_text_has_name (writer->text->str, outer_name))
    return FALSE;

  for (guint i = 0; i < writer->accesses->len; i++)
    {
      const GyreAccess *access = &g_array_index (writer->accesses, GyreAccess, i);

      if (!access_allows (access, &writer->fusion->specs[access->value->id], outer_name,
                          inner_name, &self->extents[inner]))
        return FALSE;
    }

  return TRUE;
}

/* The range of the outer one goes into the inner one's, whose index then runs over both:
 * with the outer index 0, every address comes out right. */
static void
merge (GyreKernelGrid *self,
       guint           into,
       guint           outer,
       const char     *outer_name)
{
  const GyreExtents *from = &self->extents[outer];

  self->extents[into].literal *= from->literal;
  for (guint i = 0; i < from->n; i++)
    gyre_extents_multiply (&self->extents[into], &from->factors[i]);

  for (int d = 0; d < GYRE_MAX_RANK; d++)
    if (self->ix[d] != NULL && strcmp (self->ix[d], outer_name) == 0)
      self->ix[d] = "0";
}

void
gyre_kernel_grid_collapse (GyreKernelGrid         *self,
                           const GyreKernelWriter *writer)
{
  GyreKernelGrid before = *self;
  guint into = 0;

  if (before.n_ranges == 0)
    return;

  for (guint outer = 1; outer < before.n_ranges; outer++)
    if (may_merge (&before, outer - 1, writer))
      {
        merge (self, into, outer, before.names[outer]);
      }
    else
      {
        into++;
        self->names[into] = before.names[outer];
        self->extents[into] = before.extents[outer];
      }
  self->n_ranges = into + 1;
}
