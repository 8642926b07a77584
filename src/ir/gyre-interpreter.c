/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-prim-private.h"

#include <string.h>

/* The oracle: every node by its reference rule, all members of the mesh in step, so
 * that a collective has the operands of all of them at hand. */
typedef struct
{
  const GyreGraph *const *graphs;
  guint                   n_members;
  GyreMeshSpec            mesh;
  const GyreRef          *inputs;
  GyreRef                *values;   /* values[member * n_nodes + id] */
  guint                  *uses;     /* left, by id */
  guint                   n_nodes;
} Interpreter;

static const GyreTensor *
get_node (const Interpreter *self,
          guint              member,
          guint              id)
{
  return g_ptr_array_index (self->graphs[member]->nodes, id);
}

static GyreRef *
get_value (const Interpreter *self,
           guint              member,
           guint              id)
{
  return &self->values[member * self->n_nodes + id];
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

/* An input is looked at where it lies, not copied. */
static gboolean
take_input (Interpreter       *self,
            const GyreTensor  *node,
            guint              member,
            GError           **error)
{
  const GyreInputAttrs *attrs = node->attrs;
  const GyreRef *input =
      &self->inputs[member * self->graphs[0]->inputs->len + attrs->index];

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

  *get_value (self, member, node->id) = *input;

  return TRUE;
}

static void
gather_operands (const Interpreter *self,
                 const GyreTensor  *node,
                 guint              member,
                 GyreRef           *in)
{
  for (guint i = 0; i < node->n_operands; i++)
    in[i] = *get_value (self, member, node->operands[i]->id);
}

static void
run_local (Interpreter      *self,
           const GyreTensor *node,
           guint             member)
{
  g_autofree GyreRef *in = g_new0 (GyreRef, node->n_operands + 1);
  GyreRef *out = get_value (self, member, node->id);

  gather_operands (self, node, member, in);
  allocate_value (out, node);
  node->prim->reference (node, in, out);
}

static void
run_collective (Interpreter *self,
                guint        id)
{
  const GyreTensor *node = get_node (self, 0, id);
  g_autofree GyreRef *in = g_new0 (GyreRef, self->n_members * node->n_operands + 1);
  g_autofree GyreRef *out = g_new0 (GyreRef, self->n_members);

  for (guint m = 0; m < self->n_members; m++)
    {
      gather_operands (self, get_node (self, m, id), m, in + m * node->n_operands);
      allocate_value (&out[m], get_node (self, m, id));
    }
  node->prim->reference_mesh (node, &self->mesh, in, out);
  for (guint m = 0; m < self->n_members; m++)
    *get_value (self, m, id) = out[m];
}

static gboolean
run_node (Interpreter  *self,
          guint         id,
          GError      **error)
{
  const GyreTensor *node = get_node (self, 0, id);

  if (node->prim->reference_mesh != NULL)
    {
      run_collective (self, id);
      return TRUE;
    }

  for (guint m = 0; m < self->n_members; m++)
    {
      if (node->prim == &gyre_prim_input)
        {
          if (!take_input (self, get_node (self, m, id), m, error))
            return FALSE;
        }
      else if (node->prim->reference != NULL)
        {
          run_local (self, get_node (self, m, id), m);
        }
      else
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                       "%s has no reference rule: the interpreter can't run it",
                       node->prim->name);
          return FALSE;
        }
    }

  return TRUE;
}

static void
drop_value (Interpreter *self,
            guint        id)
{
  for (guint m = 0; m < self->n_members; m++)
    {
      GyreRef *value = get_value (self, m, id);

      if (get_node (self, m, id)->prim != &gyre_prim_input)
        g_free (value->data);
      value->data = NULL;
    }
}

/* Frees the operands that this node was the last to use. */
static void
drop_operands (Interpreter      *self,
               const GyreTensor *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (--self->uses[node->operands[i]->id] == 0)
      drop_value (self, node->operands[i]->id);
}

static gboolean
run_nodes (Interpreter  *self,
           GError      **error)
{
  for (guint id = 0; id < self->n_nodes; id++)
    {
      if (!run_node (self, id, error))
        return FALSE;
      drop_operands (self, get_node (self, 0, id));
    }

  return TRUE;
}

static void
copy_outputs (const Interpreter *self,
              GyreRef           *outputs)
{
  for (guint m = 0; m < self->n_members; m++)
    {
      const GPtrArray *wanted = self->graphs[m]->outputs;

      for (guint i = 0; i < wanted->len; i++)
        {
          const GyreTensor *output = g_ptr_array_index (wanted, i);

          copy_value (&outputs[m * wanted->len + i], get_value (self, m, output->id));
        }
    }
}

static gboolean
interpret (const GyreGraph *const *graphs,
           guint                   n_members,
           const GyreMeshSpec     *mesh,
           const GyreRef          *inputs,
           GyreRef                *outputs,
           GError                **error)
{
  Interpreter self = { graphs, n_members, *mesh, inputs };
  gboolean done;

  if (graphs[0]->error != NULL)
    {
      g_propagate_error (error, g_error_copy (graphs[0]->error));
      return FALSE;
    }

  self.n_nodes = graphs[0]->nodes->len;
  self.values = g_new0 (GyreRef, (gsize) n_members * self.n_nodes + 1);
  self.uses = gyre_graph_count_uses (graphs[0]);

  done = run_nodes (&self, error);
  if (done)
    copy_outputs (&self, outputs);

  for (guint id = 0; id < self.n_nodes; id++)
    drop_value (&self, id);
  g_free (self.values);
  g_free (self.uses);

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
    g_return_val_if_fail (graphs[m]->nodes->len == graphs[0]->nodes->len, FALSE);

  return interpret (graphs, n_members, &mesh, inputs, outputs, error);
}
