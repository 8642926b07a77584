/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-step-private.h"

#include <gyre/gyre-error.h>

static void
append_axes (GString    *text,
             GyreMesh   *mesh,
             guint8      axes,
             const char *before)
{
  for (guint a = 0; a < gyre_mesh_get_n_axes (mesh); a++)
    if (axes & 1 << a)
      {
        g_string_append_printf (text, "%s%s", before, gyre_mesh_get_axis_name (mesh, a));
        before = "+";
      }
}

/* The public sharding of an automatic output: flat ones are whole to those outside. */
static GyreSharding *
make_sharding (GyreMesh       *mesh,
               const GyreSpec *spec,
               int             rank)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (int i = 0; i < rank; i++)
    {
      g_string_append (text, i > 0 ? "," : "");
      append_axes (text, mesh, spec->axes[i], "");
    }
  append_axes (text, mesh, spec->partial, "~");

  return gyre_sharding_new (mesh, text->str, NULL);
}

static const GyreTensor *
get_value (const GyreCompiled *self,
           gboolean            output,
           guint               i)
{
  const GyreProgram *program = g_ptr_array_index (self->programs, 0);

  return g_ptr_array_index (output ? program->graph->outputs : program->graph->inputs, i);
}

static void
make_auto_output (GyreCompiled *self,
                  GyrePort     *port,
                  guint         i)
{
  const GyreProgram *program = g_ptr_array_index (self->programs, 0);
  const GyreTensor *value = get_value (self, TRUE, i);

  port->shape = value->shape;
  port->sharding =
      make_sharding (self->mesh, &program->specs[value->id], value->shape.rank);
}

/* The rows that each device gives, or FALSE: all give the same shape. */
static gboolean
find_rows (GyreCompiled *self,
           guint         i,
           gint64       *rows)
{
  GyreShape first = gyre_commands_get_local (self->schedule, 0, TRUE, i);
  gboolean unlike = FALSE;

  for (guint d = 0; d < gyre_mesh_get_n_devices (self->mesh); d++)
    {
      GyreShape local = gyre_commands_get_local (self->schedule, d, TRUE, i);

      unlike |= !gyre_shape_equal (&local, &first);
      rows[d] = local.rank > 0 ? local.dims[0] : 0;
    }

  return unlike;
}

/* An argument whose rows are cut as those of a result are. */
static const GyrePort *
find_alike (GyreCompiled *self,
            const gint64 *rows)
{
  guint n = gyre_mesh_get_n_devices (self->mesh);
  g_autofree gint64 *others = g_new (gint64, n);

  for (guint k = 0; k < self->n_inputs; k++)
    if (self->inputs[k].ragged &&
        gyre_step_cut_rows (self->mesh, self->inputs[k].sharding, &self->inputs[k].shape,
                            others, NULL) &&
        memcmp (rows, others, sizeof (gint64) * n) == 0)
      return &self->inputs[k];

  return NULL;
}

/* Rows of devices with unlike numbers of them lie as those of an argument do, or stand
 * one after the other. */
static void
make_ragged_output (GyreCompiled *self,
                    GyrePort     *port,
                    const gint64 *rows)
{
  const GyrePort *alike = find_alike (self, rows);
  g_autofree char *axes = gyre_step_join_axes (self->mesh);

  port->shape.dims[0] = 0;
  for (guint d = 0; d < gyre_mesh_get_n_devices (self->mesh); d++)
    port->shape.dims[0] += rows[d];
  if (alike != NULL)
    port->shape.dims[0] = alike->shape.dims[0];
  port->sharding = alike != NULL ? gyre_sharding_ref (alike->sharding)
                                 : gyre_sharding_new (self->mesh, axes, NULL);
}

static void
make_manual_output (GyreCompiled *self,
                    GyrePort     *port,
                    guint         i)
{
  guint n = gyre_mesh_get_n_devices (self->mesh);
  g_autofree char *axes = gyre_step_join_axes (self->mesh);
  g_autofree char *stacked = g_strdup_printf ("[%s]", axes);
  g_autofree gint64 *rows = g_new (gint64, n);
  GyreShape *shape = &port->shape;

  *shape = get_value (self, TRUE, i)->shape;
  if (find_rows (self, i, rows))
    {
      make_ragged_output (self, port, rows);
      return;
    }

  memmove (shape->dims + 1, shape->dims, sizeof shape->dims[0] * (GYRE_MAX_RANK - 1));
  shape->dims[0] = n;
  shape->rank++;
  port->sharding = gyre_sharding_new (self->mesh, stacked, NULL);
}

/* A pmap port is cut as its sharding says, and each device's block is what it sees. */
static gboolean
set_manual_layout (GyreCompiled  *self,
                   GyrePort      *port,
                   gboolean       output,
                   guint          i,
                   GError       **error)
{
  GyreMeshSpec mesh;
  GyreSpec spec;

  if (port->shape.rank > GYRE_MAX_RANK)
    {
      g_set_error (
          error, GYRE_ERROR, GYRE_ERROR_SHAPE,
          "result %u has no room for the leading device dimension: its rank is %d", i,
          port->shape.rank - 1);
      return FALSE;
    }
  if (!gyre_sharding_resolve (port->sharding, &port->shape, &spec, error))
    return FALSE;

  gyre_mesh_get_spec (self->mesh, &mesh);
  port->layout = gyre_layout_new (&mesh, &port->shape, &spec,
                                  gyre_sharding_is_stacked (port->sharding), NULL);
  for (guint d = 0; d < port->layout->n_blocks; d++)
    if ((gsize) gyre_block_n (&port->layout->blocks[d]) * gyre_dtype_size (port->dtype)
        != gyre_commands_get_size (self->schedule, d, output, i))
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                     "the devices give result %u other shapes, and not by their rows: "
                     "reduce or gather it over the axis", i);
        return FALSE;
      }

  return TRUE;
}

static gboolean
set_layout (GyreCompiled  *self,
            GyrePort      *port,
            gboolean       manual,
            gboolean       output,
            guint          i,
            GError       **error)
{
  g_clear_pointer (&port->layout, gyre_layout_unref);
  port->reserved = FALSE;
  if (manual)
    return set_manual_layout (self, port, output, i, error);

  port->layout = gyre_commands_get_layout (self->schedule, 0, output, i);
  return TRUE;
}

gboolean
gyre_compiled_set_layouts (GyreCompiled  *self,
                           GError       **error)
{
  const GyreProgram *program = g_ptr_array_index (self->programs, 0);
  gboolean manual = program->mesh.axes[0].manual;

  for (guint i = 0; i < self->n_inputs; i++)
    if (!set_layout (self, &self->inputs[i], manual, FALSE, i, error))
      return FALSE;
  for (guint i = 0; i < self->n_outputs; i++)
    if (!set_layout (self, &self->outputs[i], manual, TRUE, i, error))
      return FALSE;

  self->version = gyre_mesh_get_version (self->mesh);
  return TRUE;
}

static void
make_inputs (GyreCompiled *compiled,
             GyreStepInfo *info,
             GPtrArray    *arrays,
             GPtrArray    *paths)
{
  compiled->n_inputs = arrays->len;
  compiled->inputs = g_new0 (GyrePort, compiled->n_inputs + 1);
  for (guint i = 0; i < compiled->n_inputs; i++)
    {
      GyrePort *port = &compiled->inputs[i];
      GyreArray *array = g_ptr_array_index (arrays, i);
      const char *path = g_ptr_array_index (paths, i);

      const GyreArgsRule *rule = gyre_step_info_find (info, path);

      port->sharding = gyre_sharding_ref (rule->sharding);
      port->ragged = rule->kind == GYRE_ARGS_RAGGED;
      port->dtype = array->dtype;
      port->shape = array->shape;
      port->donated = gyre_step_info_is_donated (info, path);
      port->overwritten = gyre_commands_overwrites (compiled->schedule, i);
    }
}

static gboolean
is_in_summands (const GyreCompiled *self,
                guint               i)
{
  const GyreProgram *program = g_ptr_array_index (self->programs, 0);

  return program->specs[get_value (self, TRUE, i)->id].partial != 0;
}

static void
make_outputs (GyreCompiled *compiled,
              GyreStepInfo *info)
{
  compiled->n_outputs = gyre_commands_n_outputs (compiled->schedule);
  compiled->outputs = g_new0 (GyrePort, compiled->n_outputs + 1);
  for (guint i = 0; i < compiled->n_outputs; i++)
    {
      GyrePort *port = &compiled->outputs[i];
      const GyreTensor *value = get_value (compiled, TRUE, i);

      port->dtype = value->dtype;
      port->result = gyre_commands_get_result (compiled->schedule, i);
      port->small = gyre_shape_n_elements (&value->shape) == 1
                    && port->result.kind != GYRE_RESULT_INPUT
                    && (info->manual || !is_in_summands (compiled, i));
      if (info->manual)
        make_manual_output (compiled, port, i);
      else
        make_auto_output (compiled, port, i);
    }
}

void
gyre_compiled_make_ports (GyreCompiled *self,
                          GyreStepInfo *info,
                          GPtrArray    *arrays,
                          GPtrArray    *paths)
{
  make_inputs (self, info, arrays, paths);
  make_outputs (self, info);
}

static void
clear_ports (GyrePort *ports,
             guint     n)
{
  for (guint i = 0; i < n; i++)
    {
      gyre_sharding_unref (ports[i].sharding);
      gyre_layout_unref (ports[i].layout);
    }
  g_free (ports);
}

void
gyre_compiled_clear_ports (GyreCompiled *self)
{
  clear_ports (self->inputs, self->n_inputs);
  clear_ports (self->outputs, self->n_outputs);
}
