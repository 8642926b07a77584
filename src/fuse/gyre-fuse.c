/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fuse-groups-private.h"
#include "fuse/gyre-fusion-private.h"

#include <string.h>

#include "base/gyre-env-private.h"

/* The new program: inputs first, then each group and each other node when all that it
 * needs is there, in the order of the old one as far as that goes. */

typedef struct
{
  const GyreProgram    *old;
  const GyreFuseGroups *groups;
  GyreGraph            *graph;
  GyreTensor          **made;    /* by old id */
  GArray               *specs;   /* GyreSpec, by new id */
} Builder;

/* The body of one group while it is made. */
typedef struct
{
  Builder    *builder;
  guint       group;
  GyreGraph  *graph;
  GHashTable *made;        /* old node → node of the body */
  GPtrArray  *operands;    /* old nodes, as the body's inputs */
  GPtrArray  *origins;     /* old nodes, by id in the body */
} Body;

static GyreTensor *build_value (Builder          *self,
                                const GyreTensor *old);

static gboolean
is_inside (const Body       *self,
           const GyreTensor *old)
{
  const GyreFuseGroups *groups = self->builder->groups;

  return groups->repeated[old->id] || groups->group_of[old->id] == (int) self->group;
}

static GyreTensor *
build_inside (Body             *self,
              const GyreTensor *old)
{
  GyreTensor *node = g_hash_table_lookup (self->made, old);
  g_autofree GyreTensor **operands = NULL;

  if (node != NULL)
    return node;

  if (is_inside (self, old))
    {
      operands = g_new (GyreTensor *, old->n_operands + 1);
      for (guint i = 0; i < old->n_operands; i++)
        operands[i] = build_inside (self, old->operands[i]);
      node = gyre_graph_copy_node (self->graph, old, operands);
    }
  else
    {
      g_autofree char *name = g_strdup_printf ("in%u", self->operands->len);

      node = gyre_graph_input (self->graph, name, old->dtype, &old->shape);
      g_ptr_array_add (self->operands, (gpointer) old);
    }

  g_hash_table_insert (self->made, (gpointer) old, node);
  g_ptr_array_add (self->origins, (gpointer) old);

  return node;
}

static void
keep_spec (Builder          *self,
           const GyreTensor *node,
           const GyreSpec   *spec)
{
  if (node->poison)
    return;
  if (self->specs->len <= node->id)
    g_array_set_size (self->specs, node->id + 1);
  g_array_index (self->specs, GyreSpec, node->id) = *spec;
}

static GyreFusion *
make_fusion (Body *self)
{
  const GyreProgram *old = self->builder->old;
  GyreFusion *fusion = gyre_fusion_new (self->builder->graph->arena, self->graph);

  for (guint i = 0; i < self->origins->len; i++)
    fusion->specs[i] =
        old->specs[((GyreTensor *) g_ptr_array_index (self->origins, i))->id];

  return fusion;
}

static void
emit_fusion (Body          *self,
             GyreFuseGroup *group)
{
  Builder *builder = self->builder;
  const GyreTensor *last = g_ptr_array_index (group->outputs, 0);
  g_autofree GyreTensor **operands = g_new (GyreTensor *, self->operands->len + 1);
  g_autofree GyreTensor **results = g_new (GyreTensor *, group->outputs->len);

  for (guint i = 0; i < self->operands->len; i++)
    operands[i] = build_value (builder, g_ptr_array_index (self->operands, i));

  builder->graph->path = last->path;
  gyre_fusion_emit (make_fusion (self), builder->graph, operands, results);
  builder->graph->path = "";

  for (guint i = 0; i < group->outputs->len; i++)
    {
      const GyreTensor *output = g_ptr_array_index (group->outputs, i);

      builder->made[output->id] = results[i];
      keep_spec (builder, results[i], &builder->old->specs[output->id]);
    }
}

static void
build_group (Builder *self,
             guint    index)
{
  GyreFuseGroup *group = g_ptr_array_index (self->groups->groups, index);
  Body body = { self, index, gyre_graph_new_like (self->graph) };

  body.made = g_hash_table_new (NULL, NULL);
  body.operands = g_ptr_array_new ();
  body.origins = g_ptr_array_new ();

  for (guint i = 0; i < group->outputs->len; i++)
    gyre_graph_add_output (body.graph,
                           build_inside (&body, g_ptr_array_index (group->outputs, i)));
  emit_fusion (&body, group);

  g_hash_table_unref (body.made);
  g_ptr_array_unref (body.operands);
  g_ptr_array_unref (body.origins);
}

static void
build_alone (Builder          *self,
             const GyreTensor *old)
{
  g_autofree GyreTensor **operands = g_new (GyreTensor *, old->n_operands + 1);

  for (guint i = 0; i < old->n_operands; i++)
    operands[i] = build_value (self, old->operands[i]);

  self->made[old->id] = gyre_graph_copy_node (self->graph, old, operands);
  keep_spec (self, self->made[old->id], &self->old->specs[old->id]);
}

static GyreTensor *
build_value (Builder          *self,
             const GyreTensor *old)
{
  int group = self->groups->group_of[old->id];

  if (self->made[old->id] != NULL)
    return self->made[old->id];

  if (group >= 0)
    build_group (self, group);
  else
    build_alone (self, old);

  return self->made[old->id];
}

/* A group is built where its last output stood, or earlier where something needs it. */
static gboolean
is_due (const Builder    *self,
        const GyreTensor *old)
{
  int group = self->groups->group_of[old->id];

  if (group >= 0)
    return g_ptr_array_index (
               ((GyreFuseGroup *) g_ptr_array_index (self->groups->groups, group))
                   ->outputs,
               0) == old;

  return !self->groups->repeated[old->id];
}

static void
build_nodes (Builder *self)
{
  const GPtrArray *inputs = self->old->graph->inputs;
  const GPtrArray *nodes = self->old->graph->nodes;
  const GPtrArray *outputs = self->old->graph->outputs;

  for (guint i = 0; i < inputs->len; i++)
    build_alone (self, g_ptr_array_index (inputs, i));
  for (guint i = 0; i < nodes->len; i++)
    if (is_due (self, g_ptr_array_index (nodes, i)))
      build_value (self, g_ptr_array_index (nodes, i));
  for (guint i = 0; i < outputs->len; i++)
    gyre_graph_add_output (self->graph,
                           build_value (self, g_ptr_array_index (outputs, i)));
}

static GyreProgram *
finish_program (Builder *self)
{
  GyreProgram *program = gyre_program_new (self->graph, &self->old->mesh);

  for (guint i = 0; i < self->specs->len; i++)
    program->specs[i] = g_array_index (self->specs, GyreSpec, i);
  for (guint i = 0; i < self->graph->outputs->len; i++)
    program->donated[i] = self->old->donated[i];

  return program;
}

GyreProgram *
gyre_fuse (GyreProgram  *program,
           GError      **error)
{
  gboolean fuse = !gyre_env_is ("GYRE_FUSE", "0");
  g_autoptr (GyreFuseGroups) groups = NULL;
  g_autofree GyreTensor **made = NULL;
  g_autoptr (GArray) specs = g_array_new (FALSE, TRUE, sizeof (GyreSpec));
  Builder builder;

  g_return_val_if_fail (program != NULL, NULL);

  if (program->graph->error != NULL)
    {
      g_propagate_error (error, g_error_copy (program->graph->error));
      return NULL;
    }

  groups = gyre_fuse_groups_new (program, fuse);
  made = g_new0 (GyreTensor *, program->graph->nodes->len + 1);
  builder =
      (Builder){ program, groups, gyre_graph_new_like (program->graph), made, specs };
  build_nodes (&builder);

  if (builder.graph->error != NULL)
    {
      g_propagate_error (error, g_error_copy (builder.graph->error));
      gyre_graph_free (builder.graph);
      return NULL;
    }

  return finish_program (&builder);
}
