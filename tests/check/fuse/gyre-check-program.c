/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"

#include "device/gyre-check-device.h"
#include "fft/gyre-fft-private.h"
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
  gyre_spec_local_shape (&self->program->specs[value->id], &self->program->mesh,
                         &value->shape, self->member, local, offsets);
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

  return gyre_device_write (self->run->device, self->buffer, 0, self->size, self->bytes,
                            NULL, 0, NULL, error) &&
         gyre_check_wait (self->run->device, error);
}

static gboolean
read_bytes (gpointer   data,
            GError   **error)
{
  Transfer *self = data;

  return gyre_device_read (self->run->device, self->buffer, 0, self->size, self->bytes,
                           NULL, 0, NULL, error) &&
         gyre_check_wait (self->run->device, error);
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
write_value (Run              *self,
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
read_value (Run              *self,
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
                             launch->local[0] > 0 ? launch->local : NULL, NULL, 0, NULL,
                             error) &&
         gyre_check_wait (self->run->device, error);
}

static void
run_launch (Run               *self,
            const GyreLaunch  *launch,
            GyreBuffer       **temps)
{
  GError *error = NULL;
  Launching data = { self, launch };
  g_autofree char *source = launch->source != NULL
                            ? g_strdup (launch->source)
                            : gyre_kernel_source_load (launch->resource, &error);

  gyre_assert_no_error (error);
  data.kernel = gyre_device_get_kernel (self->device, source, launch->options,
                                        launch->kernel, &error);
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

static float *
fetch (Run        *self,
       GyreBuffer *buffer,
       gsize      *size)
{
  float *numbers;

  *size = gyre_buffer_get_size (buffer);
  numbers = g_malloc0 (*size + 4);
  transfer (self, read_bytes, buffer, numbers, *size);

  return numbers;
}

/* On the host, as plainly as can be: how products are made is tested elsewhere. */
static void
run_gemm (Run             *self,
          const GyreGemm  *gemm,
          GyreBuffer     **temps)
{
  GyreBuffer *in_c = (gemm->temps & GYRE_GEMM_TEMP_C ? temps : self->buffers)[gemm->c];
  gsize size_a, size_b, size_c;
  g_autofree float *a = fetch (
      self, (gemm->temps & GYRE_GEMM_TEMP_A ? temps : self->buffers)[gemm->a], &size_a);
  g_autofree float *b = fetch (
      self, (gemm->temps & GYRE_GEMM_TEMP_B ? temps : self->buffers)[gemm->b], &size_b);
  g_autofree float *c = fetch (self, in_c, &size_c);

  for (gint64 z = 0; z < gemm->batch; z++)
    for (gint64 i = 0; i < gemm->m; i++)
      for (gint64 j = 0; j < gemm->n; j++)
        {
          float *to = &c[gemm->first_c + z * gemm->stride_c + i * gemm->ldc + j];
          double sum = 0;

          for (gint64 k = 0; k < gemm->k; k++)
            sum += (double) a[gemm->first_a + z * gemm->stride_a
                              + (gemm->trans_a ? k * gemm->lda + i : i * gemm->lda + k)]
                   * b[gemm->first_b + z * gemm->stride_b
                       + (gemm->trans_b ? j * gemm->ldb + k : k * gemm->ldb + j)];
          *to = gemm->alpha * (float) sum + (gemm->beta != 0 ? gemm->beta * *to : 0);
        }
  transfer (self, write_bytes, in_c, c, size_c);
}

typedef struct
{
  Run     *run;
  GyreFft  fft;
} Transform;

static gboolean
transform (gpointer   data,
           GError   **error)
{
  Transform *self = data;

  return gyre_fft_prepare (self->run->device, &self->fft, error) &&
         gyre_fft_enqueue (self->run->device, &self->fft, NULL, error) &&
         gyre_check_wait (self->run->device, error);
}

static GyreBuffer *
find_end (Run                   *self,
          const GyreCommandArg  *arg,
          GyreBuffer           **temps)
{
  return arg->kind == GYRE_COMMAND_ARG_TEMP ? temps[arg->value]
                                            : self->buffers[arg->value];
}

/* By whoever serves it */
static void
run_fft (Run              *self,
         const GyreFftOp  *fft,
         GyreBuffer      **temps)
{
  Transform data = { self, { { fft->backward, fft->rows, fft->n, fft->batch },
                             find_end (self, &fft->from, temps),
                             find_end (self, &fft->to, temps) } };
  GError *error = gyre_check_on_executor (transform, &data);

  gyre_assert_no_error (error);
}

static void
run_fill (Run   *self,
          guint  value,
          float  pattern)
{
  gsize size;
  g_autofree float *numbers = fetch (self, self->buffers[value], &size);

  for (gsize i = 0; i < size / sizeof (float); i++)
    numbers[i] = pattern;
  transfer (self, write_bytes, self->buffers[value], numbers, size);
}

static void
run_command (Run                *self,
             const GyreCommand  *command,
             GyreBuffer        **temps)
{
  if (command->kind == GYRE_COMMAND_LAUNCH)
    run_launch (self, &command->launch, temps);
  else if (command->kind == GYRE_COMMAND_GEMM)
    run_gemm (self, &command->gemm, temps);
  else if (command->kind == GYRE_COMMAND_FFT)
    run_fft (self, &command->fft, temps);
  else if (command->kind == GYRE_COMMAND_FILL)
    run_fill (self, command->fill.value, command->fill.pattern);
  else
    ck_abort_msg ("%s gives a command that is not expected here",
                  command->node->prim->name);
}

static void
run_commands (Run *self)
{
  GArray *commands = self->lower.commands, *sizes = self->lower.temps;
  g_autofree GyreBuffer **temps = g_new0 (GyreBuffer *, sizes->len + 1);

  for (guint i = 0; i < sizes->len; i++)
    temps[i] = new_buffer (self, g_array_index (sizes, gsize, i));
  for (guint i = 0; i < commands->len; i++)
    run_command (self, &g_array_index (commands, GyreCommand, i), temps);
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
  ck_assert_msg (node->prim->lower (&self->lower, node, &error), "%s: %s",
                 node->prim->name, error != NULL ? error->message : "no error");
  run_commands (self);
}

/* Whatever it is: the whole value from how the operand lies, and from that how the result
 * lies. */
static void
run_collective (Run              *members,
                guint             n_members,
                const GyreTensor *node)
{
  GyreRef whole = { node->dtype, node->shape };

  whole.data = g_new0 (double, gyre_shape_n_elements (&node->shape) + 1);
  for (guint m = 0; m < n_members; m++)
    read_value (&members[m], node->operands[0], &whole);
  for (guint m = 0; m < n_members; m++)
    write_value (&members[m], node, &whole);
  g_free (whole.data);
}

static void
run_nodes (Run   *members,
           guint  n_members)
{
  const GPtrArray *nodes = members[0].program->graph->nodes;

  for (guint i = 0; i < nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (nodes, i);

      if (node->prim->flags & GYRE_PRIM_COLLECTIVE)
        run_collective (members, n_members, node);
      else
        for (guint m = 0; m < n_members; m++)
          run_node (&members[m], node);
    }
}

static void
begin_member (Run              *self,
              GyreProgram      *program,
              GyreDevice       *device,
              guint             member,
              const GyreTarget *target,
              GyreArena        *arena)
{
  const GPtrArray *nodes = program->graph->nodes;

  *self = (Run) { program, device, member };
  self->lower = (GyreLower){
    program->graph,
    &program->mesh,
    program->specs,
    member,
    target,
    arena,
    g_array_new (FALSE, TRUE, sizeof (GyreCommand)),
    g_array_new (FALSE, TRUE, sizeof (gsize)),
  };
  self->buffers = g_new0 (GyreBuffer *, nodes->len + 1);
  for (guint i = 0; i < nodes->len; i++)
    make_buffer (self, g_ptr_array_index (nodes, i));
}

static void
end_member (Run *self)
{
  for (guint i = 0; i < self->program->graph->nodes->len; i++)
    g_clear_pointer (&self->buffers[i], gyre_buffer_unref);
  g_free (self->buffers);
  g_array_unref (self->lower.commands);
  g_array_unref (self->lower.temps);
}

guint
gyre_check_run_program (GyreProgram   *program,
                        GyreDevice    *device,
                        const GyreRef *inputs,
                        GyreRef       *outputs)
{
  GyreTarget target = {
    gyre_device_get_kind (device) == GYRE_DEVICE_CPU,
    gyre_device_get_max_work_group (device),
    gyre_device_get_local_memory (device),
    gyre_device_get_compute_units (device),
  };

  return gyre_check_run_program_as (program, device, &target, inputs, outputs);
}

guint
gyre_check_run_program_as (GyreProgram      *program,
                           GyreDevice       *device,
                           const GyreTarget *target,
                           const GyreRef    *inputs,
                           GyreRef          *outputs)
{
  const GyreGraph *graph = program->graph;
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  guint n_members = gyre_mesh_spec_n_devices (&program->mesh), n_launches = 0;
  g_autofree Run *members = g_new0 (Run, n_members);

  for (guint m = 0; m < n_members; m++)
    {
      begin_member (&members[m], program, device, m, target, arena);
      for (guint i = 0; i < graph->inputs->len; i++)
        write_value (&members[m], g_ptr_array_index (graph->inputs, i), &inputs[i]);
    }
  run_nodes (members, n_members);

  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const GyreTensor *output = g_ptr_array_index (graph->outputs, i);

      outputs[i] = (GyreRef) { output->dtype, output->shape };
      outputs[i].data = g_new0 (double, gyre_shape_n_elements (&output->shape) + 1);
      for (guint m = 0; m < n_members; m++)
        read_value (&members[m], output, &outputs[i]);
    }
  for (guint m = 0; m < n_members; m++)
    {
      n_launches += members[m].n_launches;
      end_member (&members[m]);
    }

  return n_launches;
}
