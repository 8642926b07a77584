/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/gyre-region-private.h"

/* A gradient g of N elements, summed over the mesh, has a region: every value that
 * depends on g, as far as these are element-wise over N elements, plus what only they
 * read and which is element-wise too.  The region is usable if it ends in donated outputs
 * and in reductions to one element (a norm), and in nothing else. */

typedef struct
{
  const GyreGraph *graph;
  const GyreSpec  *specs;
  const gboolean  *whole;
  const int       *donated;
  GPtrArray      **users;       /* by node id: the nodes that read it */
  int             *output_of;   /* by node id: an output that it is, or -1 */
  guint           *n_outputs;   /* by node id: how many outputs it is */
  GyreRegions     *regions;
} Finder;

static gint64
node_size (const GyreTensor *node)
{
  return gyre_shape_n_elements (&node->shape);
}

/* A vector from vectors of its size and from single elements. */
gboolean
gyre_node_can_flatten (const GyreTensor *node)
{
  if ((node->prim->flags & GYRE_PRIM_ELEMENTWISE) != 0)
    return TRUE;
  for (guint i = 0; i < node->n_operands; i++)
    if (node_size (node->operands[i]) != 1 &&
        node_size (node->operands[i]) != node_size (node))
      return FALSE;
  return node->prim->flatten != NULL;
}

static gboolean
is_input (const GyreTensor *node)
{
  return node->prim == &gyre_prim_input;
}

/* A reduction of everything: its result leaves the region as a partial sum. */
gboolean
gyre_node_is_sink (const GyreTensor *node)
{
  return (node->prim->flags & GYRE_PRIM_REDUCTION) != 0 && node->prim->flatten != NULL &&
         node_size (node) == 1 && node->prim->linear != 0;
}

static gboolean
is_replicated_but (const GyreSpec *spec, guint8 partial)
{
  GyreSpec rest = *spec;

  rest.partial &= (guint8) ~partial;
  return gyre_spec_is_replicated (&rest);
}

static gboolean
is_gradient (const Finder *self, const GyreTensor *node)
{
  const GyreSpec *spec = &self->specs[node->id];

  return self->whole[node->id] && spec->partial != 0 && node->dtype == GYRE_F32 &&
         node_size (node) > 1 && is_replicated_but (spec, spec->partial);
}

/* Whether an output of the region can take over its input. */
static gboolean
ends_in_state (const Finder *self, const GyreTensor *node)
{
  const GyreTensor *input;
  int               output = self->output_of[node->id];

  if (self->n_outputs[node->id] == 0)
    return TRUE;
  if (self->n_outputs[node->id] > 1 || !self->donated || self->donated[output] < 0)
    return FALSE;

  input = g_ptr_array_index (self->graph->inputs, self->donated[output]);
  return input->dtype == node->dtype && gyre_shape_equal (&input->shape, &node->shape) &&
         gyre_spec_is_replicated (&self->specs[input->id]);
}

/* Everything that depends on the gradient; FALSE if something there can't be flat. */
static gboolean
collect_users (const Finder *self, const GyreTensor *gradient, GHashTable *region)
{
  g_autoptr (GPtrArray) work = g_ptr_array_new ();

  g_ptr_array_add (work, (gpointer) gradient);
  while (work->len > 0)
    {
      const GyreTensor *node  = g_ptr_array_steal_index_fast (work, work->len - 1);
      const GPtrArray  *users = self->users[node->id];

      if (!ends_in_state (self, node))
        return FALSE;
      for (guint i = 0; i < users->len; i++)
        {
          const GyreTensor *user = g_ptr_array_index (users, i);

          if (gyre_node_is_sink (user))
            continue;
          if (!gyre_node_can_flatten (user) || node_size (user) != node_size (gradient) ||
              self->regions->group[user->id] != 0 || is_gradient (self, user))
            return FALSE;
          if (g_hash_table_add (region, (gpointer) user))
            g_ptr_array_add (work, (gpointer) user);
        }
    }
  return TRUE;
}

static gboolean
all_users_inside (const Finder *self, const GyreTensor *node, GHashTable *region)
{
  const GPtrArray *users = self->users[node->id];

  for (guint i = 0; i < users->len; i++)
    if (!g_hash_table_contains (region, g_ptr_array_index (users, i)))
      return FALSE;
  return users->len > 0;
}

static gboolean
operands_fit (const Finder *self, const GyreTensor *node, gint64 size)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GyreTensor *operand = node->operands[i];

      if (node_size (operand) != size && node_size (operand) != 1)
        return FALSE;
      if (!gyre_spec_is_replicated (&self->specs[operand->id]) &&
          !self->whole[operand->id])
        return FALSE;
    }
  return TRUE;
}

/* Takes in what only the region reads, users before operands. */
static void
absorb_operands (const Finder *self, const GyreTensor *gradient, GHashTable *region)
{
  gint64 size = node_size (gradient);

  for (guint i = self->graph->nodes->len; i-- > 0;)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->nodes, i);

      if (node == gradient || node_size (node) != size || is_input (node) ||
          self->n_outputs[i] > 0 || self->regions->group[i] != 0 ||
          is_gradient (self, node) ||
          g_hash_table_contains (region, node) || !gyre_node_can_flatten (node) ||
          !all_users_inside (self, node, region) || !operands_fit (self, node, size))
        continue;
      g_hash_table_add (region, (gpointer) node);
    }
}

static gboolean
region_fits (const Finder *self, const GyreTensor *gradient, GHashTable *region)
{
  GHashTableIter iter;
  gpointer       key;

  g_hash_table_iter_init (&iter, region);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const GyreTensor *node = key;

      for (guint i = 0; i < node->n_operands; i++)
        {
          const GyreTensor *operand = node->operands[i];

          if (operand == gradient || g_hash_table_contains (region, operand) ||
              node_size (operand) == 1)
            continue;
          if (node_size (operand) != node_size (gradient) ||
              !gyre_spec_is_replicated (&self->specs[operand->id]))
            return FALSE;
        }
    }
  return g_hash_table_size (region) > 0;
}

/* A donated input that the region alone reads is held in chunks. */
static void
claim_inputs (Finder *self, const GyreTensor *gradient, GHashTable *region, guint16 group)
{
  for (guint i = 0; self->donated && i < self->graph->outputs->len; i++)
    {
      const GyreTensor *output = g_ptr_array_index (self->graph->outputs, i);
      const GyreTensor *input;

      if (self->donated[i] < 0 || !g_hash_table_contains (region, output))
        continue;
      input = g_ptr_array_index (self->graph->inputs, self->donated[i]);
      if (self->n_outputs[input->id] == 0 && node_size (input) == node_size (gradient) &&
          all_users_inside (self, input, region))
        self->regions->flat_input[input->id] = group;
    }
}

static void
add_region (Finder *self, const GyreTensor *gradient, GHashTable *region)
{
  GyreRegions   *regions = self->regions;
  GHashTableIter iter;
  gpointer       key;
  guint16        group   = (guint16) ++regions->n_groups;

  regions->gradient[gradient->id] = group;
  regions->axes[group - 1]        = self->specs[gradient->id].partial;
  g_hash_table_iter_init (&iter, region);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    regions->group[((const GyreTensor *) key)->id] = group;
  claim_inputs (self, gradient, region, group);
}

static void
try_gradient (Finder *self, const GyreTensor *gradient)
{
  g_autoptr (GHashTable) region = g_hash_table_new (NULL, NULL);

  if (self->n_outputs[gradient->id] > 0 || !collect_users (self, gradient, region))
    return;
  absorb_operands (self, gradient, region);
  if (region_fits (self, gradient, region))
    add_region (self, gradient, region);
}

static void
index_graph (Finder *self)
{
  guint n = self->graph->nodes->len;

  self->users     = g_new0 (GPtrArray *, n);
  self->output_of = g_new (int, n);
  self->n_outputs = g_new0 (guint, n);
  for (guint i = 0; i < n; i++)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->nodes, i);

      self->users[i]     = g_ptr_array_new ();
      self->output_of[i] = -1;
      for (guint j = 0; j < node->n_operands; j++)
        g_ptr_array_add (self->users[node->operands[j]->id], (gpointer) node);
    }
  for (guint i = 0; i < self->graph->outputs->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->outputs, i);

      self->output_of[node->id] = (int) i;
      self->n_outputs[node->id]++;
    }
}

static void
clear_index (Finder *self)
{
  for (guint i = 0; i < self->graph->nodes->len; i++)
    g_ptr_array_unref (self->users[i]);
  g_free (self->users);
  g_free (self->output_of);
  g_free (self->n_outputs);
}

GyreRegions *
gyre_regions_new (const GyreGraph *graph,
                  const GyreSpec  *specs,
                  const gboolean  *whole,
                  const int       *donated)
{
  guint        n       = graph->nodes->len;
  GyreRegions *regions = g_new0 (GyreRegions, 1);
  Finder       finder  = { graph, specs, whole, donated, NULL, NULL, NULL, regions };

  regions->group      = g_new0 (guint16, n);
  regions->gradient   = g_new0 (guint16, n);
  regions->flat_input = g_new0 (guint16, n);
  regions->axes       = g_new0 (guint8, n);
  index_graph (&finder);
  for (guint i = 0; i < n && regions->n_groups < G_MAXUINT16; i++)
    {
      const GyreTensor *node = g_ptr_array_index (graph->nodes, i);

      if (is_gradient (&finder, node))
        try_gradient (&finder, node);
    }
  clear_index (&finder);
  return regions;
}

void
gyre_regions_free (GyreRegions *self)
{
  g_free (self->group);
  g_free (self->gradient);
  g_free (self->flat_input);
  g_free (self->axes);
  g_free (self);
}
