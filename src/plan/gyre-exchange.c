/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/gyre-exchange-private.h"

#include <gyre/gyre-error.h>

#include "ir/gyre-prim-private.h"

/* Bounds don't matter to what a collective is. */
static gint64 *
no_bounds (gpointer data,
           guint    id)
{
  return data;
}

/* When the operand is there: what another collective makes is at the first use of it. */
static guint
find_ready (const GyreLives  *lives,
            const GyreTensor *node,
            guint             root)
{
  const GyreTensor *made = g_ptr_array_index (lives->program->graph->nodes, root);

  return made->prim->flags & GYRE_PRIM_COLLECTIVE ? lives->at[node->id]
                                                  : lives->made[root];
}

static gboolean
add_exchange (const GyreLives   *lives,
              const GyreTensor  *node,
              const GyreCommand *command,
              GArray            *out)
{
  const GyreProgram *program = lives->program;
  const GyreCollectiveOp *op = &command->collective;
  const GyreTensor *in = g_ptr_array_index (program->graph->nodes, op->in);
  const GyreTensor *result = g_ptr_array_index (program->graph->nodes, op->out);
  GyreExchange exchange = { *op, lives->at[node->id] };

  exchange.in = lives->root[op->in];
  exchange.ready = find_ready (lives, node, exchange.in);
  exchange.used = MIN (lives->first_use[op->out], lives->n);
  exchange.dtype = node->dtype;
  exchange.n_elements = MAX (gyre_shape_n_elements (&in->shape),
                             gyre_shape_n_elements (&result->shape));
  if (op->kind == GYRE_COLLECTIVE_REDUCE_SCATTER && op->dim < 0)
    exchange.group = program->specs[op->out].group;
  else if (op->kind == GYRE_COLLECTIVE_ALL_GATHER && op->dim < 0)
    exchange.group = program->specs[op->in].group;
  g_array_append_val (out, exchange);

  return TRUE;
}

static gboolean
find_in_node (const GyreLives   *lives,
              GyreLower         *lower,
              const GyreTensor  *node,
              GArray            *out,
              GError           **error)
{
  if ((node->prim->flags & GYRE_PRIM_COLLECTIVE) == 0 || node->prim->lower == NULL)
    return TRUE;

  g_array_set_size (lower->commands, 0);
  if (!node->prim->lower (lower, node, error))
    return FALSE;

  for (guint i = 0; i < lower->commands->len; i++)
    {
      const GyreCommand *command = &g_array_index (lower->commands, GyreCommand, i);

      if (command->kind == GYRE_COMMAND_COLLECTIVE)
        add_exchange (lives, node, command, out);
    }

  return TRUE;
}

static int
compare_order (gconstpointer a,
               gconstpointer b)
{
  const GyreExchange *x = a, *y = b;

  if (x->op.order != y->op.order)
    return x->op.order < y->op.order ? -1 : 1;

  return x->node < y->node ? -1 : x->node > y->node;
}

GArray *
gyre_exchanges_find (const GyreLives  *lives,
                     GError          **error)
{
  const GyreProgram *program = lives->program;
  guint n_devices = gyre_mesh_spec_n_devices (&program->mesh);
  g_autofree gint64 *bounds = g_new0 (gint64, n_devices + 1);
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  g_autoptr (GArray) commands = g_array_new (FALSE, TRUE, sizeof (GyreCommand));
  g_autoptr (GArray) temps = g_array_new (FALSE, TRUE, sizeof (gsize));
  g_autoptr (GArray) out = g_array_new (FALSE, TRUE, sizeof (GyreExchange));
  GyreTarget target = { TRUE, 1, 0, 1 };
  GyreLower lower = { program->graph, &program->mesh, program->specs, 0, &target, arena,
                      commands, temps, no_bounds, bounds };

  for (guint i = 0; i < lives->n; i++)
    if (!find_in_node (lives, &lower, g_ptr_array_index (program->graph->nodes, i), out,
                       error))
      return NULL;

  g_array_sort (out, compare_order);
  return g_steal_pointer (&out);
}
