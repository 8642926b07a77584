/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/gyre-kept-private.h"

#include "partition/gyre-region-private.h"

/* State that is split over an axis which splits data too: parameters of which each member
 * of the data axis keeps a part.  The step gathers such a parameter once, before its
 * first use; the update stays in parts: a gradient that is a partial sum is scattered to
 * those who keep its parts.  A norm of it is taken of the parts, too: what leads from the
 * gradient to reductions to one element and to nothing else is a side of the update. */

typedef struct
{
  const GyreGraph *graph;
  GyreKept        *kept;
  GPtrArray      **users;     /* by node id */
  guint           *n_outputs; /* by node id */
  gboolean        *side;      /* by node id: all that it is for is in the end a sink */
} Finder;

static guint8
split_axes (const GyreSpec *spec)
{
  guint8 axes = 0;

  for (int i = 0; i < GYRE_MAX_RANK; i++)
    axes |= spec->axes[i];
  return axes;
}

static gboolean
is_donated (const GyreGraph *graph,
            const int       *donated,
            guint            input)
{
  for (guint o = 0; o < graph->outputs->len; o++)
    if (donated[o] == (int) input)
      return TRUE;

  return FALSE;
}

/* The axes that split what is no state. */
static guint8
find_data_axes (const GyreGraph *graph,
                const GyreSpec  *inputs,
                const int       *donated)
{
  guint8 axes = 0;

  for (guint i = 0; i < graph->inputs->len; i++)
    if (!is_donated (graph, donated, i))
      axes |= split_axes (&inputs[i]);

  return axes;
}

/* Adds what an output tells of its input, and of the node that makes it. */
static void
add_output (Finder         *self,
            const GyreSpec *inputs,
            int             input,
            guint8          data,
            GyreTensor     *output)
{
  const GyreTensor *state = g_ptr_array_index (self->graph->inputs, input);

  self->n_outputs[output->id]++;
  if ((split_axes (&inputs[input]) & data) == 0 ||
      !gyre_shape_equal (&state->shape, &output->shape))
    return;

  self->kept->gathered[state->id] = data;
  if (self->n_outputs[output->id] == 1)
    self->kept->specs[output->id] = &inputs[input];
}

static gboolean
is_elementwise (const GyreTensor *node)
{
  if ((node->prim->flags & GYRE_PRIM_ELEMENTWISE) == 0)
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (!gyre_shape_equal (&node->operands[i]->shape, &node->shape))
      return FALSE;

  return node->n_operands > 0;
}

static gboolean
is_aside (const Finder     *self,
          const GyreTensor *node)
{
  return self->side[node->id] || gyre_node_is_sink (node);
}

static gboolean
has_side_users_only (const Finder     *self,
                     const GyreTensor *node)
{
  const GPtrArray *users = self->users[node->id];

  for (guint i = 0; i < users->len; i++)
    if (!is_aside (self, g_ptr_array_index (users, i)))
      return FALSE;

  return users->len > 0 && self->n_outputs[node->id] == 0;
}

/* The spec of all its users, or NULL where they differ. */
static const GyreSpec *
find_spec (const Finder     *self,
           const GyreTensor *node)
{
  const GPtrArray *users = self->users[node->id];
  const GyreSpec *spec = self->kept->specs[node->id];

  if (self->n_outputs[node->id] > (spec != NULL ? 1 : 0))
    return NULL;

  for (guint i = 0; i < users->len; i++)
    {
      const GyreTensor *user = g_ptr_array_index (users, i);
      const GyreSpec *other = self->kept->specs[user->id];

      if (is_aside (self, user))
        continue;
      if (other == NULL || (spec != NULL && !gyre_spec_equal (spec, other)))
        return NULL;
      spec = other;
    }

  return spec;
}

/* From the outputs back: users come before what they read. */
static void
find_nodes (Finder *self)
{
  for (guint i = self->graph->nodes->len; i-- > 0;)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->nodes, i);

      self->side[i] = is_elementwise (node) && has_side_users_only (self, node);
      self->kept->specs[i] = is_elementwise (node) ? find_spec (self, node) : NULL;
      for (guint k = 0; k < node->n_operands; k++)
        g_ptr_array_add (self->users[node->operands[k]->id], (gpointer) node);
    }
}

/* How an operand lies for its other uses: the spec that it has, or is wanted in. */
static const GyreSpec *
find_wanted (const Finder     *self,
             const GyreTensor *operand)
{
  const GPtrArray *users = self->users[operand->id];
  const GyreSpec *spec = self->kept->specs[operand->id];

  for (guint i = 0; spec == NULL && i < users->len; i++)
    spec = self->kept->specs[((const GyreTensor *) g_ptr_array_index (users, i))->id];
  return spec;
}

/* The sides, operands before what is made of them: a side lies as the update does. */
static void
join_sides (Finder *self)
{
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->nodes, i);

      for (guint k = 0; self->side[i] && !self->kept->specs[i] && k < node->n_operands;
           k++)
        self->kept->specs[i] = find_wanted (self, node->operands[k]);
    }
}

GyreKept *
gyre_kept_new (const GyreGraph *graph,
               const GyreSpec  *inputs,
               const int       *donated)
{
  guint n = graph->nodes->len;
  GyreKept *self = g_new0 (GyreKept, 1);
  Finder finder = { graph, self, g_new0 (GPtrArray *, n + 1), g_new0 (guint, n + 1),
                    g_new0 (gboolean, n + 1) };
  guint8 data;

  self->gathered = g_new0 (guint8, n + 1);
  self->specs = g_new0 (const GyreSpec *, n + 1);
  for (guint i = 0; i < n; i++)
    finder.users[i] = g_ptr_array_new ();

  data = inputs != NULL && donated != NULL ? find_data_axes (graph, inputs, donated) : 0;
  for (guint o = 0; data != 0 && o < graph->outputs->len; o++)
    if (donated[o] >= 0)
      add_output (&finder, inputs, donated[o], data,
                  g_ptr_array_index (graph->outputs, o));
    else
      finder.n_outputs[((GyreTensor *) g_ptr_array_index (graph->outputs, o))->id]++;
  find_nodes (&finder);
  join_sides (&finder);

  for (guint i = 0; i < n; i++)
    g_ptr_array_unref (finder.users[i]);
  g_free (finder.users);
  g_free (finder.n_outputs);
  g_free (finder.side);
  return self;
}

void
gyre_kept_free (GyreKept *self)
{
  if (self == NULL)
    return;

  g_free (self->gathered);
  g_free (self->specs);
  g_free (self);
}
