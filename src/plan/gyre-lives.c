/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/gyre-lives-private.h"

#include "fuse/gyre-fuse-private.h"

static const GyreTensor *
get_node (const GyreLives *self,
          guint            id)
{
  return g_ptr_array_index (self->program->graph->nodes, id);
}

/* The node whose commands write the value. */
static guint
find_maker (const GyreTensor *node)
{
  return node->prim == &gyre_prim_project ? node->operands[0]->id : node->id;
}

/* Nodes that need a collective and that outputs alone need. */
static gboolean *
find_late (const GyreGraph *graph)
{
  guint n = graph->nodes->len;
  gboolean *late = g_new0 (gboolean, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const GyreTensor *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->n_operands; k++)
        late[i] |= late[node->operands[k]->id]
                   || (node->operands[k]->prim->flags & GYRE_PRIM_COLLECTIVE) != 0;
    }

  for (guint i = n; i-- > 0;)
    {
      const GyreTensor *node = g_ptr_array_index (graph->nodes, i);

      late[i] = late[i] && (node->prim->flags & GYRE_PRIM_COLLECTIVE) == 0;
      for (guint k = 0; !late[i] && k < node->n_operands; k++)
        late[node->operands[k]->id] = FALSE;
    }

  return late;
}

static void
set_positions (GyreLives *self)
{
  g_autofree gboolean *late = find_late (self->program->graph);
  guint position = 0;

  for (int turn = 0; turn < 2; turn++)
    for (guint i = 0; i < self->n; i++)
      if (late[i] == (turn == 1))
        self->at[i] = position++;
}

static void
add_use (GyreLives *self,
         guint      root,
         guint      position)
{
  self->first_use[root] = MIN (self->first_use[root], position);
  self->last_use[root] = MAX (self->last_use[root], position);
}

static void
add_node (GyreLives        *self,
          const GyreTensor *node)
{
  gboolean view = (node->prim->flags & GYRE_PRIM_VIEW) != 0;

  self->root[node->id] = view ? self->root[node->operands[0]->id] : node->id;
  self->maker[node->id] = find_maker (node);
  self->made[node->id] = self->at[self->maker[node->id]];
  self->last_use[node->id] = self->made[node->id];
  self->first_use[node->id] = G_MAXUINT;
  self->output[node->id] = -1;
  self->held[node->id] = !view;
  if (view)
    return;

  /* a tuple is no memory: its parts are */
  if (node->prim == &gyre_prim_project)
    {
      self->held[node->operands[0]->id] = FALSE;
      return;
    }

  for (guint i = 0; i < node->n_operands; i++)
    add_use (self, self->root[node->operands[i]->id], self->at[node->id]);
}

GyreLives *
gyre_lives_new (const GyreProgram *program)
{
  GyreLives *self = g_new0 (GyreLives, 1);
  const GyreGraph *graph = program->graph;

  self->program = program;
  self->n = graph->nodes->len;
  self->at = g_new0 (guint, self->n);
  self->maker = g_new0 (guint, self->n);
  self->root = g_new0 (guint, self->n);
  self->held = g_new0 (gboolean, self->n);
  self->made = g_new0 (guint, self->n);
  self->first_use = g_new0 (guint, self->n);
  self->last_use = g_new0 (guint, self->n);
  self->output = g_new0 (int, self->n);

  set_positions (self);
  for (guint i = 0; i < self->n; i++)
    add_node (self, g_ptr_array_index (graph->nodes, i));
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (graph->outputs, i);
      guint root = self->root[node->id];

      add_use (self, root, self->n);
      if (self->output[root] < 0)
        self->output[root] = (int) i;
    }

  return self;
}

void
gyre_lives_free (GyreLives *self)
{
  if (self == NULL)
    return;

  g_free (self->at);
  g_free (self->maker);
  g_free (self->root);
  g_free (self->held);
  g_free (self->made);
  g_free (self->first_use);
  g_free (self->last_use);
  g_free (self->output);
  g_free (self);
}

/* Which of its results a fused node keeps under this id. */
static guint
find_result (const GyreTensor *maker,
             guint             id)
{
  for (guint i = 0; i < gyre_fused_n_results (maker); i++)
    if (gyre_fused_result_id (maker, i) == id)
      return i;

  return 0;
}

gboolean
gyre_lives_may_overwrite (const GyreLives *self,
                          guint            result,
                          guint            operand)
{
  const GyreTensor *maker = get_node (self, self->maker[result]);

  if (self->last_use[operand] != self->made[result])
    return self->last_use[operand] < self->made[result];

  for (guint i = 0; i < maker->n_operands; i++)
    if (self->root[maker->operands[i]->id] == operand
        && (maker->prim->flags & GYRE_PRIM_ELEMENTWISE) == 0
        && !gyre_fused_may_overwrite (maker, find_result (maker, result), i))
      return FALSE;

  return TRUE;
}
