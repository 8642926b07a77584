/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-program-private.h"

/* Takes the graph.  All values are replicated and nothing is donated until a stage says
 * otherwise. */
GyreProgram *
gyre_program_new (GyreGraph          *graph,
                  const GyreMeshSpec *mesh)
{
  GyreProgram *self;

  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (mesh != NULL, NULL);

  self = g_new0 (GyreProgram, 1);
  self->graph = graph;
  self->mesh = *mesh;
  for (guint a = 0; a < mesh->n_axes; a++)
    if (mesh->weights[a] != NULL)
      self->mesh.weights[a] = gyre_arena_memdup (graph->arena, mesh->weights[a],
                                                 mesh->axes[a].size * sizeof (double));

  self->specs = gyre_arena_newn (graph->arena, GyreSpec, graph->nodes->len);
  self->donated = gyre_arena_newn (graph->arena, int, graph->outputs->len);
  for (guint i = 0; i < graph->outputs->len; i++)
    self->donated[i] = -1;

  return self;
}

void
gyre_program_free (GyreProgram *self)
{
  if (self == NULL)
    return;

  gyre_graph_free (self->graph);
  g_free (self);
}

static void
note_spec (const GyreTensor *node,
           GString          *out,
           gpointer          data)
{
  const GyreProgram *self = data;
  const GyreSpec *spec = &self->specs[node->id];
  g_autofree char *text = NULL;

  if (gyre_spec_is_replicated (spec))
    return;

  text = gyre_spec_to_string (spec, &self->mesh, node->shape.rank);
  g_string_append_printf (out, "  @ %s", text);
}

char *
gyre_program_to_string (const GyreProgram *self)
{
  GString *out;
  g_autofree char *graph = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  out = g_string_new ("mesh");
  for (guint a = 0; a < self->mesh.n_axes; a++)
    g_string_append_printf (out, " %s=%u", self->mesh.axes[a].name,
                            self->mesh.axes[a].size);
  g_string_append_c (out, '\n');

  graph = gyre_graph_to_string_full (self->graph, note_spec, (gpointer) self);
  g_string_append (out, graph);
  for (guint i = 0; i < self->graph->outputs->len; i++)
    if (self->donated[i] >= 0)
      g_string_append_printf (out, "output %u takes over input %d\n", i,
                              self->donated[i]);

  return g_string_free (out, FALSE);
}
