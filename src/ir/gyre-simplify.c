/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-simplify-private.h"

#include <string.h>

/* A pass copies the live nodes to a new graph, and on the way merges equal ones and asks
 * each primitive for a simpler equal (which folds constants too).  What a pass leaves
 * without use, the next one drops: passes are run until one changes nothing. */

/* Rules that undo one another would go on for ever. */
#define MAX_PASSES 64
#define MAX_REWRITES 16

typedef struct
{
  GyreGraph   *to;
  GyreTensor **map;      /* by id in the graph that is copied */
  GHashTable  *seen;     /* nodes of to, by what they compute */
  gboolean     changed;
} Pass;

static gboolean
is_ragged (const GyreGraph *graph)
{
  for (guint a = 0; a < graph->n_axes; a++)
    if (graph->axes[a].ragged)
      return TRUE;

  return FALSE;
}

/* Where members were traced apart, with extents of their own, a constant may fold on one
 * and not on another: all must meet in the same collectives none the less. */
static gboolean
is_kept (const GyreTensor *node)
{
  GyrePrimFlags kept = GYRE_PRIM_IMPURE;

  if (is_ragged (node->graph))
    kept |= GYRE_PRIM_COLLECTIVE;

  return node->prim == &gyre_prim_input || (node->prim->flags & kept) != 0;
}

static gboolean *
find_live (const GyreGraph *graph)
{
  gboolean *live = g_new0 (gboolean, graph->nodes->len + 1);

  for (guint i = 0; i < graph->outputs->len; i++)
    live[((const GyreTensor *) g_ptr_array_index (graph->outputs, i))->id] = TRUE;

  for (guint id = graph->nodes->len; id-- > 0;)
    {
      const GyreTensor *node = g_ptr_array_index (graph->nodes, id);

      live[id] |= is_kept (node);
      for (guint i = 0; live[id] && i < node->n_operands; i++)
        live[node->operands[i]->id] = TRUE;
    }

  return live;
}

static gboolean
is_swappable (const GyreTensor *node)
{
  return (node->prim->flags & GYRE_PRIM_COMMUTATIVE) != 0 && node->n_operands == 2;
}

static guint
hash_node (gconstpointer data)
{
  const GyreTensor *node = data;
  const guchar *attrs = node->attrs;
  guint hash = g_direct_hash (node->prim);
  guint operands = 0;

  for (guint i = 0; i < node->n_operands; i++)
    operands = (is_swappable (node) ? operands : operands * 31) + node->operands[i]->id;
  for (gsize i = 0; i < node->prim->attrs_size; i++)
    hash = hash * 33 + attrs[i];

  return hash * 31 + operands;
}

static gboolean
equal_operands (const GyreTensor *a,
                const GyreTensor *b)
{
  gboolean equal = TRUE;

  for (guint i = 0; i < a->n_operands; i++)
    equal = equal && a->operands[i] == b->operands[i];

  return equal || (is_swappable (a) && a->operands[0] == b->operands[1]
                   && a->operands[1] == b->operands[0]);
}

static gboolean
equal_nodes (gconstpointer data_a,
             gconstpointer data_b)
{
  const GyreTensor *a = data_a, *b = data_b;

  return a->prim == b->prim && a->n_operands == b->n_operands && a->dtype == b->dtype &&
         gyre_shape_equal (&a->shape, &b->shape) && equal_operands (a, b) &&
         (a->prim->attrs_size == 0 ||
          memcmp (a->attrs, b->attrs, a->prim->attrs_size) == 0);
}

/* The first node that computes the same. */
static GyreTensor *
merge_node (Pass       *self,
            GyreTensor *node)
{
  GyreTensor *first;

  if (is_kept (node))
    return node;

  first = g_hash_table_lookup (self->seen, node);
  if (first == NULL)
    {
      g_hash_table_add (self->seen, node);
      return node;
    }

  self->changed |= first != node;
  return first;
}

/* Whether a rule kept to its word; one that did not is a bug of that primitive. */
static gboolean
check_simpler (Pass             *self,
               const GyreTensor *node,
               const GyreTensor *simpler)
{
  if (!simpler->poison && simpler->dtype == node->dtype
      && gyre_shape_equal (&simpler->shape, &node->shape))
    return TRUE;

  g_critical ("the simplify rule of %s made something else: %s", node->prim->name,
              self->to->error != NULL ? self->to->error->message
                                      : "another shape or dtype");
  g_clear_error (&self->to->error);

  return FALSE;
}

static GyreTensor *
simplify_node (Pass       *self,
               GyreTensor *node)
{
  for (guint i = 0; i < MAX_REWRITES; i++)
    {
      GyreTensor *simpler = NULL;

      self->to->path = node->path;
      if (node->prim->simplify != NULL && !is_kept (node))
        simpler = node->prim->simplify (self->to, node);
      self->to->path = "";

      if (simpler == NULL || simpler == node || !check_simpler (self, node, simpler))
        break;
      self->changed = TRUE;
      node = simpler;
    }

  return node;
}

static GyreTensor *
rewrite_node (Pass             *self,
              const GyreTensor *node)
{
  g_autofree GyreTensor **operands = g_new (GyreTensor *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = self->map[node->operands[i]->id];

  return merge_node (
      self, simplify_node (self, gyre_graph_copy_node (self->to, node, operands)));
}

static GyreGraph *
run_pass (const GyreGraph *graph,
          gboolean        *changed)
{
  Pass self = { gyre_graph_new_like (graph) };
  g_autofree gboolean *live = find_live (graph);

  self.map = g_new0 (GyreTensor *, graph->nodes->len + 1);
  self.seen = g_hash_table_new (hash_node, equal_nodes);

  gyre_graph_push (self.to);
  for (guint id = 0; id < graph->nodes->len; id++)
    if (live[id])
      self.map[id] = rewrite_node (&self, g_ptr_array_index (graph->nodes, id));
    else
      self.changed = TRUE;
  gyre_graph_pop ();

  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const GyreTensor *output = g_ptr_array_index (graph->outputs, i);

      gyre_graph_add_output (self.to, self.map[output->id]);
    }

  g_hash_table_unref (self.seen);
  g_free (self.map);
  *changed = self.changed;

  return self.to;
}

GyreGraph *
gyre_graph_simplify (const GyreGraph *graph)
{
  GyreGraph *result;
  gboolean changed;

  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (graph->error == NULL, NULL);

  result = run_pass (graph, &changed);
  for (guint i = 0; changed && i < MAX_PASSES; i++)
    {
      GyreGraph *next = run_pass (result, &changed);

      gyre_graph_free (result);
      result = next;
    }

  return result;
}
