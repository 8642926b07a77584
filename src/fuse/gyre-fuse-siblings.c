/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-grouper-private.h"

/* Groups of one shape that read the same array, and of which none needs the other, become
 * one. */

static gboolean
has_loops (const GyreFuseGrouper *self,
           guint                  group)
{
  for (guint id = 0; id < self->nodes->len; id++)
    if (self->groups->group_of[id] == (int) group && self->infos[id].probe.loops)
      return TRUE;

  return FALSE;
}

static void
collect_arrays (const GyreFuseGrouper *self,
                const GyreTensor      *node,
                guint                  group,
                gint64                 size,
                GHashTable            *arrays)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GyreTensor *operand = node->operands[i];

      if (self->groups->repeated[operand->id])
        collect_arrays (self, operand, group, size, arrays);
      else if (self->groups->group_of[operand->id] != (int) group
               && gyre_shape_n_elements (&operand->shape) >= size)
        g_hash_table_add (arrays, (gpointer) operand);
    }
}

/* The arrays, as large as its results, that a group reads. */
static GHashTable *
find_arrays (const GyreFuseGrouper *self,
             guint                  group)
{
  const GyreTensor *output =
      g_ptr_array_index (gyre_grouper_group (self, group)->outputs, 0);
  GHashTable *arrays = g_hash_table_new (NULL, NULL);

  for (guint id = 0; id < self->nodes->len; id++)
    if (self->groups->group_of[id] == (int) group)
      collect_arrays (self, gyre_grouper_node (self, id), group,
                      gyre_shape_n_elements (&output->shape), arrays);

  return arrays;
}

static gboolean
share_array (GHashTable *a,
             GHashTable *b)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (g_hash_table_contains (b, key))
      return TRUE;

  return FALSE;
}

static gboolean
may_merge (GyreFuseGrouper  *self,
           GHashTable      **arrays,
           guint             a,
           guint             b)
{
  GyreFuseGroup *first = gyre_grouper_group (self, a),
                *second = gyre_grouper_group (self, b);

  return first->outputs->len > 0 && second->outputs->len > 0
         && first->outputs->len + second->outputs->len <= MAX_OUTPUTS
         && first->n_members + second->n_members <= MAX_MEMBERS
         && gyre_grouper_same_place (self, g_ptr_array_index (first->outputs, 0),
                        g_ptr_array_index (second->outputs, 0))
         && arrays[a] != NULL && arrays[b] != NULL && share_array (arrays[a], arrays[b])
         && !gyre_grouper_reaches (self, a, b) && !gyre_grouper_reaches (self, b, a);
}

static int
compare_outputs (gconstpointer a,
                 gconstpointer b)
{
  const GyreTensor *const *first = a, *const *second = b;

  return (*first)->id < (*second)->id ? 1 : -1;
}

static void
merge (GyreFuseGrouper *self,
       guint            into,
       guint            from)
{
  GyreFuseGroup *target = gyre_grouper_group (self, into),
                *source = gyre_grouper_group (self, from);

  for (guint id = 0; id < self->nodes->len; id++)
    if (self->groups->group_of[id] == (int) from)
      self->groups->group_of[id] = (int) into;
  for (guint i = 0; i < source->outputs->len; i++)
    g_ptr_array_add (target->outputs, g_ptr_array_index (source->outputs, i));
  target->n_members += source->n_members;
  g_ptr_array_sort (target->outputs, compare_outputs);
  g_ptr_array_set_size (source->outputs, 0);
}

void
gyre_grouper_merge (GyreFuseGrouper *self)
{
  guint n = self->groups->groups->len;
  g_autofree GHashTable **arrays = g_new0 (GHashTable *, n + 1);

  for (guint i = 0; i < n; i++)
    if (!has_loops (self, i))
      arrays[i] = find_arrays (self, i);

  for (guint a = 0; a < n; a++)
    for (guint b = a + 1; b < n; b++)
      if (may_merge (self, arrays, a, b))
        merge (self, a, b);

  for (guint i = 0; i < n; i++)
    g_clear_pointer (&arrays[i], g_hash_table_unref);
}
