/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-line-private.h"

static void
clear_need (gpointer data)
{
  GyreNeed *need = data;

  g_clear_pointer (&need->buffer, gyre_buffer_unref);
}

static void
clear_crew (gpointer data)
{
  GyreLineCrew *crew = data;

  gyre_crew_unref (crew->crew);
}

static void
clear_bound (gpointer data)
{
  GyreBound *bound = data;

  if (bound->kind == GYRE_COMMAND_LAUNCH)
    g_free (bound->launch.args);
}

static GyreTarget
make_target (GyreDevice *device)
{
  return (GyreTarget) {
    .cpu = gyre_device_get_kind (device) == GYRE_DEVICE_CPU,
    .max_work_group = gyre_device_get_max_work_group (device),
    .local_memory = gyre_device_get_local_memory (device),
    .compute_units = gyre_device_get_compute_units (device),
    .memory = gyre_device_get_memory (device),
    .max_allocation = gyre_device_get_max_allocation (device),
  };
}

GyreLine *
gyre_line_new (GyreDevice        *device,
               guint              index,
               guint              n_devices,
               const GyreProgram *program,
               const GyrePlan    *plan)
{
  GyreLine *self = g_new0 (GyreLine, 1);

  self->device = g_object_ref (device);
  self->index = index;
  self->program = program;
  self->plan = plan;
  self->target = make_target (device);
  self->crews = g_array_new (FALSE, TRUE, sizeof (GyreLineCrew));
  g_array_set_clear_func (self->crews, clear_crew);
  self->bounds = g_new0 (gint64 *, plan->buckets->n_groups + 1);
  for (guint i = 0; i < plan->buckets->n_groups; i++)
    self->bounds[i] = g_new0 (gint64, n_devices + 1);
  self->lowered = g_array_new (FALSE, FALSE, sizeof (GyreLowered));
  self->scratch = g_array_new (FALSE, TRUE, sizeof (GyreNeed));
  self->needs = g_array_new (FALSE, TRUE, sizeof (GyreNeed));
  g_array_set_clear_func (self->needs, clear_need);
  self->need_of = g_new0 (guint, plan->lives->n + 1);
  self->blocks = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_buffer_unref);
  self->bound = g_array_new (FALSE, TRUE, sizeof (GyreBound));
  g_array_set_clear_func (self->bound, clear_bound);
  self->patches = g_array_new (FALSE, FALSE, sizeof (GyrePatch));

  return self;
}

void
gyre_line_free (GyreLine *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->patches);
  g_array_unref (self->bound);
  g_array_unref (self->needs);
  g_array_unref (self->scratch);
  g_ptr_array_unref (self->blocks);
  g_array_unref (self->lowered);
  g_array_unref (self->crews);
  for (guint i = 0; i < self->plan->buckets->n_groups; i++)
    g_free (self->bounds[i]);
  g_free (self->bounds);
  g_free (self->need_of);
  gyre_arena_free (self->arena);
  g_object_unref (self->device);
  g_free (self);
}

void
gyre_line_get_chunk (const GyreLine *self,
                     guint16         group,
                     gint64         *first,
                     gint64         *count)
{
  *first = self->bounds[group - 1][self->index];
  *count = self->bounds[group - 1][self->index + 1] - *first;
}

gint64
gyre_line_count (const GyreLine     *self,
                 const GyreMeshSpec *mesh,
                 guint               id)
{
  const GyreTensor *value = g_ptr_array_index (self->program->graph->nodes, id);
  const GyreSpec *spec = &self->program->specs[id];
  gint64 first, count;
  GyreShape local;

  if (spec->flat != 0)
    {
      gyre_line_get_chunk (self, spec->group, &first, &count);
      return count;
    }

  gyre_spec_local_shape (spec, mesh, &value->shape, self->index, &local, NULL);
  return gyre_shape_n_elements (&local);
}

gsize
gyre_line_size (const GyreLine     *self,
                const GyreMeshSpec *mesh,
                guint               id)
{
  const GyreTensor *value = g_ptr_array_index (self->program->graph->nodes, id);

  return (gsize) gyre_line_count (self, mesh, id) * gyre_dtype_size (value->dtype);
}

static gint64 *
flat_bounds (gpointer data,
             guint    id)
{
  const GyreLine *self = data;

  return self->bounds[self->program->specs[id].group - 1];
}

static gboolean
lower_node (GyreLine          *self,
            GyreLower         *lower,
            const GyreTensor  *node,
            GError           **error)
{
  guint first_temp = self->scratch->len;

  g_array_set_size (lower->commands, 0);
  g_array_set_size (lower->temps, 0);
  lower->variant = NULL;
  if (!node->prim->lower (lower, node, error))
    return FALSE;

  for (guint i = 0; i < lower->temps->len; i++)
    {
      GyreNeed need = { node->id,
                        (int) i,
                        g_array_index (lower->temps, gsize, i),
                        GYRE_KEY_AT (self->plan->lives->at[node->id]),
                        GYRE_KEY_AT (self->plan->lives->at[node->id]),
                        NULL };

      g_array_append_val (self->scratch, need);
    }

  for (guint i = 0; i < lower->commands->len; i++)
    {
      GyreLowered lowered = { g_array_index (lower->commands, GyreCommand, i),
                              first_temp };

      lowered.command.node = node;
      if (lowered.command.kind != GYRE_COMMAND_COLLECTIVE)
        g_array_append_val (self->lowered, lowered);
    }

  return TRUE;
}

/* Nodes without a lower rule are inputs and views. */
gboolean
gyre_line_lower (GyreLine            *self,
                 const GyreMeshSpec  *mesh,
                 GError             **error)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  g_autoptr (GArray) commands = g_array_new (FALSE, TRUE, sizeof (GyreCommand));
  g_autoptr (GArray) temps = g_array_new (FALSE, TRUE, sizeof (gsize));
  const GyreGraph *graph = self->program->graph;
  GyreLower lower = { graph,       mesh,          self->program->specs,
                      self->index, &self->target, arena,
                      commands,    temps,         flat_bounds,
                      self };

  g_array_set_size (self->lowered, 0);
  g_array_set_size (self->scratch, 0);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (graph->nodes, i);

      if (node->prim->lower == NULL || (node->prim->flags & GYRE_PRIM_VIEW) != 0)
        continue;
      if (!lower_node (self, &lower, node, error))
        {
          g_prefix_error (error, "%s%s%s: ", node->path,
                          node->path[0] != '\0' ? ": " : "", node->prim->name);
          return FALSE;
        }
    }

  gyre_arena_free (self->arena);
  self->arena = g_steal_pointer (&arena);
  return TRUE;
}
