/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-line-private.h"

/* Scratch memory: planned for what is needed now and was needed before, so that shares
 * that come and go make nothing new. */

/* What is needed now: roots in the arena, then the scratch of nodes.  Buffers are
 * none. */
static GArray *
list_needs (GyreLine           *self,
            const GyreMeshSpec *mesh)
{
  GArray *needs = g_array_new (FALSE, TRUE, sizeof (GyreNeed));

  for (guint root = 0; root < self->plan->lives->n; root++)
    if (self->plan->places[root].kind == GYRE_PLACE_ARENA)
      {
        GyreNeed need = { root, -1, gyre_line_size (self, mesh, root) };

        gyre_plan_get_life (self->plan, root, &need.first, &need.last);
        self->need_of[root] = needs->len;
        g_array_append_val (needs, need);
      }

  self->n_roots = needs->len;
  g_array_append_vals (needs, self->scratch->data, self->scratch->len);
  return needs;
}

static const GyreNeed *
find_old (const GyreLine *self,
          const GyreNeed *need,
          guint           hint)
{
  for (guint k = 0; k < self->needs->len; k++)
    {
      const GyreNeed *old = &g_array_index (self->needs, GyreNeed,
                                            (k + hint) % self->needs->len);

      if (old->id == need->id && old->temp == need->temp)
        return old;
    }

  return NULL;
}

/* Takes the largest sizes; FALSE: what there is does. */
static gboolean
merge_needs (const GyreLine *self,
             GArray         *needs)
{
  gboolean grew = needs->len != self->needs->len;

  for (guint i = 0; i < needs->len; i++)
    {
      GyreNeed *need = &g_array_index (needs, GyreNeed, i);
      const GyreNeed *old = find_old (self, need, i);

      grew |= old == NULL || old != &g_array_index (self->needs, GyreNeed, i)
              || old->size < need->size;
      if (old != NULL)
        need->size = MAX (need->size, old->size);
    }

  return grew;
}

static gboolean
make_blocks (GyreLine      *self,
             const GArray  *sizes,
             GError       **error)
{
  g_ptr_array_set_size (self->blocks, 0);
  for (guint b = 0; b < sizes->len; b++)
    {
      GyreBuffer *block =
          gyre_buffer_new (self->device, g_array_index (sizes, gsize, b), error);

      if (block == NULL)
        {
          g_prefix_error (error, "scratch memory of a step: ");
          return FALSE;
        }
      g_ptr_array_add (self->blocks, block);
    }

  return TRUE;
}

static gboolean
make_needs (GyreLine            *self,
            GArray              *needs,
            const GyreInterval  *intervals,
            GError             **error)
{
  for (guint i = 0; i < needs->len; i++)
    {
      GyreNeed *need = &g_array_index (needs, GyreNeed, i);

      need->buffer =
          gyre_buffer_new_sub (g_ptr_array_index (self->blocks, intervals[i].block),
                               intervals[i].offset, intervals[i].size, error);
      if (need->buffer == NULL)
        return FALSE;
    }

  return TRUE;
}

static gboolean
place_needs (GyreLine  *self,
             GArray    *needs,
             GError   **error)
{
  g_autofree GyreInterval *intervals = g_new0 (GyreInterval, needs->len + 1);
  g_autoptr (GArray) sizes = NULL;

  for (guint i = 0; i < needs->len; i++)
    {
      const GyreNeed *need = &g_array_index (needs, GyreNeed, i);

      intervals[i] = (GyreInterval) { MAX (need->size, 4), need->first, need->last };
    }

  sizes = gyre_pack (intervals, needs->len, gyre_device_get_align (self->device),
                     gyre_device_get_max_allocation (self->device));
  return make_blocks (self, sizes, error) && make_needs (self, needs, intervals, error);
}

static void
clear_need (gpointer data)
{
  GyreNeed *need = data;

  g_clear_pointer (&need->buffer, gyre_buffer_unref);
}

gboolean
gyre_line_store (GyreLine            *self,
                 const GyreMeshSpec  *mesh,
                 GError             **error)
{
  g_autoptr (GArray) needs = list_needs (self, mesh);

  if (!merge_needs (self, needs))
    return TRUE;

  g_array_set_size (self->needs, 0);
  g_array_set_clear_func (needs, clear_need);
  if (!place_needs (self, needs, error))
    return FALSE;

  g_array_unref (self->needs);
  self->needs = g_steal_pointer (&needs);
  return TRUE;
}

GyreStore *
gyre_line_get_part (GyreLine  *self,
                    guint      exchange,
                    gboolean   chunk,
                    GError   **error)
{
  const GyreBuckets *buckets = self->plan->buckets;
  const GyreExchange *x = &g_array_index (self->plan->exchanges, GyreExchange, exchange);
  guint b = g_array_index (buckets->bucket_of, guint, exchange);
  const GyreLineCrew *crew = &g_array_index (self->crews, GyreLineCrew, b);
  gsize size = gyre_dtype_size (x->dtype);
  gsize offset =
      gyre_bucket_get_offset (g_ptr_array_index (buckets->buckets, b), exchange);
  gint64 first = 0, count = x->n_elements;

  if (chunk && x->group > 0)
    gyre_line_get_chunk (self, x->group, &first, &count);

  return gyre_crew_get_part (crew->crew, crew->member,
                             count > 0 ? offset + (gsize) first * size : 0,
                             (gsize) count * size, error);
}
