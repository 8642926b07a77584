/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-prim-private.h"

#include <string.h>

/* The oracle: every node by its reference rule.  The members of a mesh run apart up to
 * their next collective, which then has the operands of all of them at hand. */
typedef struct
{
  const GyreGraph *graph;
  const GyreRef   *inputs;
  GyreRef         *values;   /* by id */
  guint           *uses;     /* left, by id */
  guint            next;     /* the node to run */
} Member;

typedef struct
{
  Member       *members;
  guint         n_members;
  GyreMeshSpec  mesh;
} Interpreter;

static const GyreTensor *
get_next (const Member *self)
{
  if (self->next == self->graph->nodes->len)
    return NULL;

  return g_ptr_array_index (self->graph->nodes, self->next);
}

static void
allocate_value (GyreRef          *value,
                const GyreTensor *node)
{
  value->dtype = node->dtype;
  value->shape = node->shape;
  value->data = g_new0 (double, gyre_shape_n_elements (&node->shape) + 1);
}

static void
copy_value (GyreRef       *to,
            const GyreRef *from)
{
  gsize n = gyre_shape_n_elements (&from->shape);

  *to = *from;
  to->data = g_new (double, n + 1);
  if (n > 0)
    memcpy (to->data, from->data, n * sizeof (double));
}

static void
drop_value (Member *self,
            guint   id)
{
  const GyreTensor *node = g_ptr_array_index (self->graph->nodes, id);

  if (node->prim != &gyre_prim_input)
    g_free (self->values[id].data);
  self->values[id].data = NULL;
}

/* Goes on to the next node, and frees the operands that this one was the last to use. */
static void
finish_node (Member           *self,
             const GyreTensor *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (--self->uses[node->operands[i]->id] == 0)
      drop_value (self, node->operands[i]->id);
  self->next++;
}

/* An input is looked at where it lies, not copied. */
static gboolean
take_input (Member            *self,
            const GyreTensor  *node,
            GError           **error)
{
  const GyreInputAttrs *attrs = node->attrs;
  const GyreRef *input = &self->inputs[attrs->index];

  if (input->dtype != node->dtype || !gyre_shape_equal (&input->shape, &node->shape))
    {
      g_autofree char *given = gyre_shape_to_string (&input->shape);
      g_autofree char *wanted = gyre_shape_to_string (&node->shape);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "input %u (%s) is %s%s, and the graph wants %s%s", attrs->index,
                   g_quark_to_string (attrs->name), gyre_dtype_name (input->dtype), given,
                   gyre_dtype_name (node->dtype), wanted);
      return FALSE;
    }

  self->values[node->id] = *input;

  return TRUE;
}

static void
gather_operands (const Member     *self,
                 const GyreTensor *node,
                 GyreRef          *in)
{
  for (guint i = 0; i < node->n_operands; i++)
    in[i] = self->values[node->operands[i]->id];
}

static gboolean
run_local (Member            *self,
           const GyreTensor  *node,
           GError           **error)
{
  g_autofree GyreRef *in = g_new0 (GyreRef, node->n_operands + 1);
  GyreRef *out = &self->values[node->id];

  if (node->prim->reference == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "%s has no reference rule: the interpreter can't run it",
                   node->prim->name);
      return FALSE;
    }

  gather_operands (self, node, in);
  allocate_value (out, node);
  node->prim->reference (node, in, out);

  return TRUE;
}

static gboolean
run_to_collective (Member  *self,
                   GError **error)
{
  const GyreTensor *node;

  while ((node = get_next (self)) != NULL && node->prim->reference_mesh == NULL)
    {
      if (node->prim == &gyre_prim_input ? !take_input (self, node, error)
                                         : !run_local (self, node, error))
        return FALSE;
      finish_node (self, node);
    }

  return TRUE;
}

/* All members have come to the same collective, or all to their end. */
static gboolean
check_meeting (const Interpreter  *self,
               GError            **error)
{
  const GyreTensor *first = get_next (&self->members[0]);

  for (guint m = 1; m < self->n_members; m++)
    {
      const GyreTensor *node = get_next (&self->members[m]);

      if ((node != NULL ? node->prim : NULL) == (first != NULL ? first->prim : NULL))
        continue;

      g_set_error (
          error, GYRE_ERROR, GYRE_ERROR_SHARDING,
          "member 0 has come to %s, and member %u to %s: all must come to the same "
          "collectives in one order",
          first != NULL ? first->prim->name : "its end", m,
          node != NULL ? node->prim->name : "its end");
      return FALSE;
    }

  return TRUE;
}

static void
run_collective (Interpreter *self)
{
  const GyreTensor *node = get_next (&self->members[0]);
  g_autofree GyreRef *in = g_new0 (GyreRef, self->n_members * node->n_operands + 1);
  g_autofree GyreRef *out = g_new0 (GyreRef, self->n_members);

  for (guint m = 0; m < self->n_members; m++)
    {
      gather_operands (&self->members[m], get_next (&self->members[m]),
                       in + m * node->n_operands);
      allocate_value (&out[m], get_next (&self->members[m]));
    }
  node->prim->reference_mesh (node, &self->mesh, in, out);

  for (guint m = 0; m < self->n_members; m++)
    {
      node = get_next (&self->members[m]);
      self->members[m].values[node->id] = out[m];
      finish_node (&self->members[m], node);
    }
}

static gboolean
run (Interpreter  *self,
     GError      **error)
{
  for (;;)
    {
      for (guint m = 0; m < self->n_members; m++)
        if (!run_to_collective (&self->members[m], error))
          return FALSE;
      if (!check_meeting (self, error))
        return FALSE;
      if (get_next (&self->members[0]) == NULL)
        return TRUE;
      run_collective (self);
    }
}

static void
copy_outputs (const Member *self,
              GyreRef      *outputs)
{
  for (guint i = 0; i < self->graph->outputs->len; i++)
    {
      const GyreTensor *output = g_ptr_array_index (self->graph->outputs, i);

      copy_value (&outputs[i], &self->values[output->id]);
    }
}

static void
member_init (Member          *self,
             const GyreGraph *graph,
             const GyreRef   *inputs)
{
  self->graph = graph;
  self->inputs = inputs;
  self->values = g_new0 (GyreRef, graph->nodes->len + 1);
  self->uses = gyre_graph_count_uses (graph);
}

static void
member_clear (Member *self)
{
  for (guint id = 0; id < self->graph->nodes->len; id++)
    drop_value (self, id);
  g_free (self->values);
  g_free (self->uses);
}

static gboolean
interpret (const GyreGraph *const  *graphs,
           guint                    n_members,
           const GyreMeshSpec      *mesh,
           const GyreRef           *inputs,
           GyreRef                 *outputs,
           GError                 **error)
{
  g_autofree Member *members = g_new0 (Member, n_members);
  Interpreter self = { members, n_members, *mesh };
  gboolean done;

  for (guint m = 0; m < n_members; m++)
    if (graphs[m]->error != NULL)
      {
        g_propagate_error (error, g_error_copy (graphs[m]->error));
        return FALSE;
      }

  for (guint m = 0; m < n_members; m++)
    member_init (&members[m], graphs[m], inputs + m * graphs[0]->inputs->len);
  done = run (&self, error);
  for (guint m = 0; m < n_members; m++)
    {
      if (done)
        copy_outputs (&members[m], outputs + m * graphs[0]->outputs->len);
      member_clear (&members[m]);
    }

  return done;
}

static void
mesh_of_graph (const GyreGraph *graph,
               GyreMeshSpec    *mesh)
{
  memset (mesh, 0, sizeof *mesh);
  mesh->n_axes = graph->n_axes;
  memcpy (mesh->axes, graph->axes, sizeof mesh->axes);
}

gboolean
gyre_interpret (const GyreGraph  *graph,
                const GyreRef    *inputs,
                GyreRef          *outputs,
                GError          **error)
{
  GyreMeshSpec mesh;

  g_return_val_if_fail (graph != NULL, FALSE);

  mesh_of_graph (graph, &mesh);
  for (guint a = 0; a < mesh.n_axes; a++)
    mesh.axes[a].size = 1;

  return interpret (&graph, 1, &mesh, inputs, outputs, error);
}

gboolean
gyre_interpret_mesh (const GyreGraph  *graph,
                     guint             n_members,
                     const GyreRef    *inputs,
                     GyreRef          *outputs,
                     GError          **error)
{
  g_autofree const GyreGraph **graphs = g_new (const GyreGraph *, n_members);

  for (guint m = 0; m < n_members; m++)
    graphs[m] = graph;

  return gyre_interpret_ragged (graphs, n_members, inputs, outputs, error);
}

gboolean
gyre_interpret_ragged (const GyreGraph *const  *graphs,
                       guint                    n_members,
                       const GyreRef           *inputs,
                       GyreRef                 *outputs,
                       GError                 **error)
{
  GyreMeshSpec mesh;

  g_return_val_if_fail (graphs != NULL && n_members > 0, FALSE);

  mesh_of_graph (graphs[0], &mesh);
  g_return_val_if_fail (gyre_mesh_spec_n_devices (&mesh) == n_members, FALSE);
  for (guint m = 1; m < n_members; m++)
    {
      g_return_val_if_fail (graphs[m]->inputs->len == graphs[0]->inputs->len, FALSE);
      g_return_val_if_fail (graphs[m]->outputs->len == graphs[0]->outputs->len, FALSE);
    }

  return interpret (graphs, n_members, &mesh, inputs, outputs, error);
}
