/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-grouper-private.h"

/* Whether group is reached from the users of node, those in the group itself aside: if it
 * is, node can't be one of its outputs. */

static gboolean reaches_from_users (GyreFuseGrouper          *self,
                                    const GyreTensor *node,
                                    guint             group);

static gboolean
reaches (GyreFuseGrouper *self,
         guint            id,
         guint            group)
{
  int own = self->groups->group_of[id];
  const GPtrArray *outputs;

  if (self->marks[id] == self->n_searches)
    return FALSE;
  self->marks[id] = self->n_searches;

  if (own == (int) group)
    return TRUE;
  if (own < 0 || self->groups->repeated[id])
    return reaches_from_users (self, gyre_grouper_node (self, id), group);

  outputs = gyre_grouper_group (self, own)->outputs;
  for (guint i = 0; i < outputs->len; i++)
    if (reaches_from_users (self, g_ptr_array_index (outputs, i), group))
      return TRUE;

  return FALSE;
}

static gboolean
reaches_from_users (GyreFuseGrouper  *self,
                    const GyreTensor *node,
                    guint             group)
{
  const GArray *users = self->infos[node->id].users;

  for (guint i = 0; i < users->len; i++)
    if (reaches (self, g_array_index (users, guint, i), group))
      return TRUE;

  return FALSE;
}

gboolean
gyre_grouper_makes_cycle (GyreFuseGrouper  *self,
                          const GyreTensor *node,
                          guint             group)
{
  const GArray *users = self->infos[node->id].users;

  self->n_searches++;
  for (guint i = 0; i < users->len; i++)
    {
      guint id = g_array_index (users, guint, i);

      if (self->groups->group_of[id] != (int) group && reaches (self, id, group))
        return TRUE;
    }

  return FALSE;
}

gboolean
gyre_grouper_reaches (GyreFuseGrouper *self,
                      guint            from,
                      guint            to)
{
  const GPtrArray *outputs = gyre_grouper_group (self, from)->outputs;

  self->n_searches++;
  for (guint i = 0; i < outputs->len; i++)
    if (reaches_from_users (self, g_ptr_array_index (outputs, i), to))
      return TRUE;

  return FALSE;
}
