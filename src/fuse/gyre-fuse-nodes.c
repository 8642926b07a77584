/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-grouper-private.h"

/* What each node is by itself. */

static gboolean
is_fusible (const GyreTensor *node)
{
  return node->prim->fuse != NULL && !(node->prim->flags & GYRE_PRIM_COLLECTIVE)
         && !(node->prim->flags & GYRE_PRIM_VIEW);
}

gboolean
gyre_grouper_is_free (const GyreFuseGrouper *self,
                      const GyreTensor      *node)
{
  const GyreFuseInfo *info = &self->infos[node->id];

  return info->fusible &&
         (info->probe.moves ||
          (node->prim->flags & GYRE_PRIM_GENERATOR && info->probe.work <= 2 * CHEAP));
}

/* What is read where a node is made for next to nothing. */
static gboolean
is_small (const GyreFuseGrouper *self,
          const GyreTensor      *node,
          const GyreTensor      *operand)
{
  return gyre_grouper_is_free (self, operand) &&
         (operand->n_operands == 0 || gyre_grouper_n_elements (operand->operands[0]) <
                                          gyre_grouper_n_elements (node));
}

static guint
count_remake (const GyreFuseGrouper *self,
              const GyreTensor      *node)
{
  const GyreFuseInfo *info = &self->infos[node->id];
  const GyreTensor *large = NULL;
  guint work;

  if (!info->fusible || !(node->prim->flags & GYRE_PRIM_ELEMENTWISE) || info->probe.loops
      || info->probe.work > CHEAP)
    return 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const GyreTensor *operand = node->operands[i];

      if (is_small (self, node, operand) || operand == large)
        continue;
      if (large != NULL)
        return 0;
      large = operand;
    }

  work = MAX (info->probe.work, 1);
  if (large == NULL || !self->infos[large->id].fusible)
    return work;
  if (self->infos[large->id].remake == 0)
    return 0;
  work += self->infos[large->id].remake;

  return work <= MAX_REMAKE ? work : 0;
}

void
gyre_grouper_look_at_nodes (GyreFuseGrouper *self)
{
  const GPtrArray *outputs = self->groups->program->graph->outputs;

  for (guint id = 0; id < self->nodes->len; id++)
    {
      const GyreTensor *node = gyre_grouper_node (self, id);
      GyreFuseInfo *info = &self->infos[id];

      info->users = g_array_new (FALSE, FALSE, sizeof (guint));
      info->fusible = is_fusible (node);
      if (info->fusible)
        info->probe = gyre_fuse_probe (node);
      for (guint i = 0; i < node->n_operands; i++)
        g_array_append_val (self->infos[node->operands[i]->id].users, id);
      info->remake = count_remake (self, node);
    }
  for (guint i = 0; i < outputs->len; i++)
    self->infos[((GyreTensor *) g_ptr_array_index (outputs, i))->id].returned = TRUE;
}

gboolean
gyre_grouper_same_place (const GyreFuseGrouper *self,
                         const GyreTensor      *a,
                         const GyreTensor      *b)
{
  const GyreSpec *specs = self->groups->program->specs;

  return gyre_shape_equal (&a->shape, &b->shape) &&
         specs[a->id].group == specs[b->id].group &&
         gyre_spec_equal (&specs[a->id], &specs[b->id]);
}
