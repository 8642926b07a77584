/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-commands-events-private.h"

#include "device/gyre-executor-private.h"

static void
keep_shares (GyreCommands *self)
{
  GyreMeshSpec now;

  gyre_mesh_get_spec (self->mesh, &now);
  for (guint a = 0; a < self->spec.n_axes; a++)
    g_free (self->spec.weights[a]);
  self->spec = now;
  for (guint a = 0; a < now.n_axes; a++)
    self->spec.weights[a] =
        g_memdup2 (now.weights[a], now.axes[a].size * sizeof (double));
}

static gsize
find_align (GyreMesh *mesh)
{
  gsize align = 4;

  for (guint d = 0; d < gyre_mesh_get_n_devices (mesh); d++)
    align = MAX (align, gyre_device_get_align (gyre_mesh_get_device (mesh, d)));

  return align;
}

/* The plan of a program: made once. */
static GyrePlan *
get_plan (GyreCommands       *self,
          const GyreProgram  *program,
          GError            **error)
{
  GyrePlan *plan;

  for (guint i = 0; i < self->plans->len; i++)
    {
      plan = g_ptr_array_index (self->plans, i);
      if (plan->lives->program == program)
        return plan;
    }

  plan = gyre_plan_new (program, find_align (self->mesh),
                        self->plans->len > 0 ? g_ptr_array_index (self->plans, 0) : NULL,
                        error);
  if (plan != NULL)
    g_ptr_array_add (self->plans, plan);

  return plan;
}

static gboolean
make_lines (GyreCommands        *self,
            GyreProgram *const  *programs,
            GError             **error)
{
  for (guint d = 0; d < self->n_lines; d++)
    {
      GyrePlan *plan = get_plan (self, programs[d], error);

      if (plan == NULL)
        return FALSE;
      self->lines[d] = gyre_line_new (gyre_mesh_get_device (self->mesh, d), d,
                                      self->n_lines, programs[d], plan);
    }

  self->events = gyre_events_new (self->lines, self->n_lines, error);
  return self->events != NULL;
}

GyreCommands *
gyre_commands_new (GyreMesh            *mesh,
                   GyreProgram *const  *programs,
                   GyreCrewTable       *crews,
                   GError             **error)
{
  g_autoptr (GyreCommands) self = g_new0 (GyreCommands, 1);

  self->mesh = g_object_ref (mesh);
  self->crews = gyre_crew_table_ref (crews);
  self->n_lines = gyre_mesh_get_n_devices (mesh);
  self->lines = g_new0 (GyreLine *, self->n_lines);
  self->next = g_new0 (guint, self->n_lines);
  self->plans = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_plan_free);

  if (!make_lines (self, programs, error) || !gyre_commands_update (self, error))
    return NULL;

  return g_steal_pointer (&self);
}

void
gyre_commands_free (GyreCommands *self)
{
  if (self == NULL)
    return;

  for (guint d = 0; d < self->n_lines; d++)
    gyre_line_free (self->lines[d]);
  for (guint a = 0; a < self->spec.n_axes; a++)
    g_free (self->spec.weights[a]);
  g_clear_pointer (&self->events, g_array_unref);
  g_ptr_array_unref (self->plans);
  gyre_crew_table_unref (self->crews);
  g_object_unref (self->mesh);
  g_free (self->lines);
  g_free (self->next);
  g_free (self);
}

typedef struct
{
  GyreCommands *self;
  GError       *error;
} Update;

static gboolean
update (GyreCommands  *self,
        GError       **error)
{
  keep_shares (self);
  if (!gyre_crews_assign (self, error))
    return FALSE;

  for (guint d = 0; d < self->n_lines; d++)
    if (!gyre_line_lower (self->lines[d], &self->spec, error)
        || !gyre_line_store (self->lines[d], &self->spec, error))
      return FALSE;

  for (guint d = 0; d < self->n_lines; d++)
    if (!gyre_line_bind (self->lines[d], &self->spec, self->lines, error))
      return FALSE;

  return TRUE;
}

/* The executor may still have a run to enqueue: what it reads is changed on its
 * thread. */
static void
update_job (gpointer data)
{
  Update *job = data;

  update (job->self, &job->error);
}

gboolean
gyre_commands_update (GyreCommands  *self,
                      GError       **error)
{
  Update job = { self, NULL };

  gyre_executor_call (update_job, &job);
  if (job.error == NULL)
    return TRUE;

  g_propagate_error (error, job.error);
  return FALSE;
}

guint
gyre_commands_n_inputs (GyreCommands *self)
{
  return self->lines[0]->program->graph->inputs->len;
}

guint
gyre_commands_n_outputs (GyreCommands *self)
{
  return self->lines[0]->program->graph->outputs->len;
}

static const GyreTensor *
get_value (const GyreLine *line,
           gboolean        output,
           guint           i)
{
  const GyreGraph *graph = line->program->graph;

  return g_ptr_array_index (output ? graph->outputs : graph->inputs, i);
}

GyreLayout *
gyre_commands_get_layout (GyreCommands *self,
                          guint         device,
                          gboolean      output,
                          guint         i)
{
  const GyreLine *line = self->lines[device];
  const GyreTensor *value = get_value (line, output, i);
  const GyreSpec *spec = &line->program->specs[value->id];
  g_autofree gint64 *ranges = g_new0 (gint64, 2 * self->n_lines);

  for (guint d = 0; spec->flat != 0 && d < self->n_lines; d++)
    gyre_line_get_chunk (self->lines[d], spec->group, &ranges[2 * d], &ranges[2 * d + 1]);

  return gyre_layout_new (&self->spec, &value->shape, spec, FALSE, ranges);
}

gsize
gyre_commands_get_size (GyreCommands *self,
                        guint         device,
                        gboolean      output,
                        guint         i)
{
  return gyre_line_size (self->lines[device], &self->spec,
                         get_value (self->lines[device], output, i)->id);
}

GyreShape
gyre_commands_get_local (GyreCommands *self,
                         guint         device,
                         gboolean      output,
                         guint         i)
{
  const GyreLine *line = self->lines[device];
  const GyreTensor *value = get_value (line, output, i);
  GyreShape local;

  gyre_spec_local_shape (&line->program->specs[value->id], &self->spec, &value->shape,
                         device, &local, NULL);
  return local;
}

GyreResult
gyre_commands_get_result (GyreCommands *self,
                          guint         output)
{
  const GyreLine *line = self->lines[0];
  guint root = line->plan->lives->root[get_value (line, TRUE, output)->id];
  const GyrePlace *place = &line->plan->places[root];
  int first = line->plan->lives->output[root], donor = line->program->donated[first];

  if (place->kind == GYRE_PLACE_INPUT)
    return (GyreResult) { GYRE_RESULT_INPUT, place->index };
  if (place->kind == GYRE_PLACE_BUCKET && donor >= 0
      && line->plan->home[donor] == (int) place->index)
    return (GyreResult) { GYRE_RESULT_INPUT, (guint) donor };
  if (first != (int) output)
    return (GyreResult) { GYRE_RESULT_OUTPUT, (guint) first };

  return (GyreResult) { GYRE_RESULT_FRESH, output };
}

gboolean
gyre_commands_overwrites (GyreCommands *self,
                          guint         input)
{
  const GyreLine *line = self->lines[0];
  guint id = get_value (line, FALSE, input)->id;

  if (line->plan->home[input] >= 0)
    return TRUE;

  for (guint root = 0; root < line->plan->lives->n; root++)
    if (root != id && line->plan->places[root].kind == GYRE_PLACE_INPUT
        && line->plan->places[root].index == input)
      return TRUE;

  return FALSE;
}

GyreStore *
gyre_commands_get_home (GyreCommands  *self,
                        guint          device,
                        guint          input,
                        GError       **error)
{
  GyreLine *line = self->lines[device];

  return line->plan->home[input] < 0
             ? NULL
             : gyre_line_get_part (line, (guint) line->plan->home[input], FALSE, error);
}

static gboolean
run_lines (GyreCommands     *self,
           const GyreEvent  *event,
           GError          **error)
{
  for (guint d = 0; d < self->n_lines; d++)
    if (!gyre_line_run (self->lines[d], &self->next[d],
                        event != NULL ? event->keys[d] : G_MAXUINT, error))
      return FALSE;

  return TRUE;
}

gboolean
gyre_commands_acquire (GyreCommands  *self,
                       GError       **error)
{
  for (guint i = 0; i < self->events->len; i++)
    {
      const GyreEvent *event = &g_array_index (self->events, GyreEvent, i);

      if (event->kind == GYRE_EVENT_ACQUIRE
          && !gyre_event_run (event, self->lines, self->n_lines, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
gyre_commands_enqueue (GyreCommands       *self,
                       GyreBuffer *const **slots,
                       GError            **error)
{
  for (guint d = 0; d < self->n_lines; d++)
    {
      gyre_line_patch (self->lines[d], slots[d]);
      self->next[d] = 0;
    }

  for (guint i = 0; i < self->events->len; i++)
    {
      const GyreEvent *event = &g_array_index (self->events, GyreEvent, i);

      if (!run_lines (self, event, error)
          || !gyre_event_run (event, self->lines, self->n_lines, error))
        return FALSE;
    }

  return run_lines (self, NULL, error);
}
