/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"

#include <string.h>

typedef struct
{
  GyreProgram *program;
  GyreDevice  *device;
  guint        member;
  GyreLower    lower;
  GyreBuffer **buffers;   /* by node id */
  guint        n_launches;
} Run;

/* Numbers of a dtype in bytes, and back */

static void
put_element (GyreDtype dtype,
             gpointer  bytes,
             gint64    i,
             double    value)
{
  if (dtype == GYRE_F32)
    ((float *) bytes)[i] = (float) value;
  else if (dtype == GYRE_I32)
    ((gint32 *) bytes)[i] = (gint32) value;
  else if (dtype == GYRE_U32)
    ((guint32 *) bytes)[i] = (guint32) value;
  else
    ((guint8 *) bytes)[i] = (guint8) value;
}

static double
get_element (GyreDtype     dtype,
             gconstpointer bytes,
             gint64        i)
{
  if (dtype == GYRE_F32)
    return ((const float *) bytes)[i];
  if (dtype == GYRE_I32)
    return ((const gint32 *) bytes)[i];
  if (dtype == GYRE_U32)
    return ((const guint32 *) bytes)[i];
  return ((const guint8 *) bytes)[i];
}

GyreRef
gyre_check_make_ref (GyreDtype        dtype,
                     const GyreShape *shape,
                     double           low,
                     double           high,
                     guint32          seed)
{
  gint64 n = gyre_shape_n_elements (shape);
  GyreRef ref = { dtype, *shape, g_new0 (double, n + 1) };
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);

  for (gint64 i = 0; i < n; i++)
    {
      double value = g_rand_double_range (random, low, high);

      if (dtype == GYRE_BOOL)
        ref.data[i] = g_rand_boolean (random);
      else
        ref.data[i] = dtype == GYRE_F32 ? floor (value * 64) / 64 : floor (value);
    }

  return ref;
}

/* Parts of arrays */

static gint64
global_index (const GyreShape *global,
              const GyreShape *local,
              const gint64    *offsets,
              gint64           i)
{
  gint64 index = 0, scale = 1;

  for (int d = global->rank - 1; d >= 0; d--)
    {
      index += (offsets[d] + i % local->dims[d]) * scale;
      i /= local->dims[d];
      scale *= global->dims[d];
    }

  return index;
}

static void
local_part (Run              *self,
            const GyreTensor *value,
            GyreShape        *local,
            gint64           *offsets)
{
  gyre_spec_local_shape (&self->program->specs[value->id], &self->program->mesh, &value->shape,
                         self->member, local, offsets);
}

/* Transfers */

typedef struct
{
  Run        *run;
  GyreBuffer *buffer;
  gpointer    bytes;
  gsize       size;
} Transfer;

static gboolean
write_bytes (gpointer   data,
             GError   **error)
{
  Transfer *self = data;

  return gyre_device_write (self->run->device, self->buffer, 0, self->size, self->bytes, NULL,
                            0, NULL, error)
         && gyre_check_wait (self->run->device, error);
}

static gboolean
read_bytes (gpointer   data,
            GError   **error)
{
  Transfer *self = data;

  return gyre_device_read (self->run->device, self->buffer, 0, self->size, self->bytes, NULL,
                           0, NULL, error)
         && gyre_check_wait (self->run->device, error);
}

static void
transfer (Run           *self,
          GyreCheckFunc  func,
          GyreBuffer    *buffer,
          gpointer       bytes,
          gsize          size)
{
  Transfer data = { self, buffer, bytes, size };
  GError *error = gyre_check_on_executor (func, &data);

  gyre_assert_no_error (error);
}

static GyreBuffer *
new_buffer (Run   *self,
            gsize  size)
{
  GError *error = NULL;
  GyreBuffer *buffer = gyre_buffer_new (self->device, size, &error);
  g_autofree guint8 *bytes = g_malloc (size + 1);

  gyre_assert_no_error (error);
  memset (bytes, 0xff, size);
  transfer (self, write_bytes, buffer, bytes, size);

  return buffer;
}

static void
make_buffer (Run              *self,
             const GyreTensor *value)
{
  GyreShape local;
  gint64 offsets[GYRE_MAX_RANK];

  if (value->prim->flags & GYRE_PRIM_VIEW)
    {
      self->buffers[value->id] = gyre_buffer_ref (self->buffers[value->operands[0]->id]);
      return;
    }
  if (gyre_fused_n_results (value) > 1)
    return;

  local_part (self, value, &local, offsets);
  self->buffers[value->id] = new_buffer (self, gyre_shape_n_elements (&local)
                                                 * gyre_dtype_size (value->dtype));
}

static void
write_input (Run              *self,
             const GyreTensor *input,
             const GyreRef    *ref)
{
  GyreShape local;
  gint64 offsets[GYRE_MAX_RANK], n;
  g_autofree guint8 *bytes = NULL;

  local_part (self, input, &local, offsets);
  n = gyre_shape_n_elements (&local);
  bytes = g_malloc0 (4 * n + 4);
  for (gint64 i = 0; i < n; i++)
    put_element (input->dtype, bytes, i,
                 ref->data[global_index (&input->shape, &local, offsets, i)]);
  transfer (self, write_bytes, self->buffers[input->id], bytes,
            n * gyre_dtype_size (input->dtype));
}

static void
read_output (Run              *self,
             const GyreTensor *output,
             GyreRef          *ref)
{
  gboolean partial = self->program->specs[output->id].partial != 0;
  GyreShape local;
  gint64 offsets[GYRE_MAX_RANK], n;
  g_autofree guint8 *bytes = NULL;

  local_part (self, output, &local, offsets);
  n = gyre_shape_n_elements (&local);
  bytes = g_malloc0 (4 * n + 4);
  transfer (self, read_bytes, self->buffers[output->id], bytes,
            n * gyre_dtype_size (output->dtype));
  for (gint64 i = 0; i < n; i++)
    {
      double *to = &ref->data[global_index (&output->shape, &local, offsets, i)];

      *to = get_element (output->dtype, bytes, i) + (partial ? *to : 0);
    }
}

/* Commands */

typedef struct
{
  Run              *run;
  const GyreLaunch *launch;
  GyreKernel       *kernel;
  GyreKernelArg     args[64];
} Launching;

static gboolean
launch_kernel (gpointer   data,
               GError   **error)
{
  Launching *self = data;
  const GyreLaunch *launch = self->launch;

  return gyre_device_launch (self->run->device, self->kernel, self->args, launch->n_args,
                             launch->dims, launch->global,
                             launch->local[0] > 0 ? launch->local : NULL, NULL, 0, NULL, error)
         && gyre_check_wait (self->run->device, error);
}

static void
run_launch (Run              *self,
            const GyreLaunch *launch,
            GyreBuffer      **temps)
{
  GError *error = NULL;
  Launching data = { self, launch };
  g_autofree char *source = launch->source != NULL
                            ? g_strdup (launch->source)
                            : gyre_kernel_source_load (launch->resource, &error);

  gyre_assert_no_error (error);
  data.kernel = gyre_device_get_kernel (self->device, source, launch->options, launch->kernel,
                                        &error);
  gyre_assert_no_error (error);

  ck_assert_uint_le (launch->n_args, G_N_ELEMENTS (data.args));
  for (guint i = 0; i < launch->n_args; i++)
    {
      const GyreCommandArg *arg = &launch->args[i];

      if (arg->kind == GYRE_COMMAND_ARG_VALUE)
        data.args[i] = GYRE_BUFFER_ARG (self->buffers[arg->value]);
      else if (arg->kind == GYRE_COMMAND_ARG_TEMP)
        data.args[i] = GYRE_BUFFER_ARG (temps[arg->value]);
      else if (arg->kind == GYRE_COMMAND_ARG_INT)
        data.args[i] = GYRE_I32_ARG (arg->i);
      else
        data.args[i] = GYRE_F32_ARG (arg->f);
    }

  error = gyre_check_on_executor (launch_kernel, &data);
  gyre_assert_no_error (error);
  self->n_launches++;
}

static void
run_commands (Run *self)
{
  GArray *commands = self->lower.commands, *sizes = self->lower.temps;
  g_autofree GyreBuffer **temps = g_new0 (GyreBuffer *, sizes->len + 1);

  for (guint i = 0; i < sizes->len; i++)
    temps[i] = new_buffer (self, g_array_index (sizes, gsize, i));
  for (guint i = 0; i < commands->len; i++)
    {
      const GyreCommand *command = &g_array_index (commands, GyreCommand, i);

      ck_assert_msg (command->kind == GYRE_COMMAND_LAUNCH, "%s isn't a launch",
                     command->node->prim->name);
      run_launch (self, &command->launch, temps);
    }
  for (guint i = 0; i < sizes->len; i++)
    gyre_buffer_unref (temps[i]);
  g_array_set_size (commands, 0);
  g_array_set_size (sizes, 0);
}

static void
run_node (Run              *self,
          const GyreTensor *node)
{
  GError *error = NULL;

  if (node->prim == &gyre_prim_input || node->prim->flags & GYRE_PRIM_VIEW)
    return;

  ck_assert_msg (node->prim->lower != NULL, "%s can't be lowered", node->prim->name);
  ck_assert_msg (node->prim->lower (&self->lower, node, &error), "%s: %s", node->prim->name,
                 error != NULL ? error->message : "no error");
  run_commands (self);
}

static void
run_member (Run           *self,
            const GyreRef *inputs,
            GyreRef       *outputs)
{
  const GyreGraph *graph = self->program->graph;

  self->buffers = g_new0 (GyreBuffer *, graph->nodes->len + 1);
  for (guint i = 0; i < graph->nodes->len; i++)
    make_buffer (self, g_ptr_array_index (graph->nodes, i));
  for (guint i = 0; i < graph->inputs->len; i++)
    write_input (self, g_ptr_array_index (graph->inputs, i), &inputs[i]);
  for (guint i = 0; i < graph->nodes->len; i++)
    run_node (self, g_ptr_array_index (graph->nodes, i));
  for (guint i = 0; i < graph->outputs->len; i++)
    read_output (self, g_ptr_array_index (graph->outputs, i), &outputs[i]);

  for (guint i = 0; i < graph->nodes->len; i++)
    g_clear_pointer (&self->buffers[i], gyre_buffer_unref);
  g_free (self->buffers);
}

guint
gyre_check_run_program (GyreProgram   *program,
                        GyreDevice    *device,
                        const GyreRef *inputs,
                        GyreRef       *outputs)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  GyreTarget target = {
    gyre_device_get_kind (device) == GYRE_DEVICE_CPU,
    gyre_device_get_max_work_group (device),
    gyre_device_get_local_memory (device),
    gyre_device_get_compute_units (device),
  };
  Run self = { program, device };

  for (guint i = 0; i < program->graph->outputs->len; i++)
    {
      const GyreTensor *output = g_ptr_array_index (program->graph->outputs, i);

      outputs[i].dtype = output->dtype;
      outputs[i].shape = output->shape;
      outputs[i].data = g_new0 (double, gyre_shape_n_elements (&output->shape) + 1);
    }

  for (guint m = 0; m < gyre_mesh_spec_n_devices (&program->mesh); m++)
    {
      self.member = m;
      self.lower = (GyreLower) {
        program->graph, &program->mesh, program->specs, m, &target, arena,
        g_array_new (FALSE, TRUE, sizeof (GyreCommand)), g_array_new (FALSE, TRUE, sizeof (gsize)),
      };
      run_member (&self, inputs, outputs);
      g_array_unref (self.lower.commands);
      g_array_unref (self.lower.temps);
    }

  return self.n_launches;
}
