/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

/* How a hop is laid out on a device: CPUs take long runs in work-groups of one, others
 * a short vector an item. */
typedef struct
{
  guint width;   /* elements of a vector */
  guint run;     /* vectors of a work-item */
  guint local;
} Layout;

static const Layout cpu_layout = { 16, 1024, 1 };
static const Layout gpu_layout = { 4, 1, 64 };

static const char *const kernel_names[GYRE_N_HOP_KINDS] = {
  [GYRE_HOP_REDUCE] = "gyre_collective_reduce",
  [GYRE_HOP_COPY] = "gyre_collective_copy",
  [GYRE_HOP_REDUCE_COLUMN] = "gyre_collective_reduce_column",
  [GYRE_HOP_ALL_REDUCE_COLUMN] = "gyre_collective_all_reduce_column",
  [GYRE_HOP_COPY_COLUMN] = "gyre_collective_copy_column",
};

const char *
gyre_hop_kind_kernel_name (GyreHopKind kind)
{
  return kernel_names[kind];
}

static const Layout *
layout_of (GyreDevice *device)
{
  return gyre_device_get_kind (device) == GYRE_DEVICE_GPU ? &gpu_layout : &cpu_layout;
}

/* Sums of integers are modulo 2³², with a sign or without; and no kernel of sums needs
 * to be built twice for them. */
static const char *
type_name (const GyreCollective *self)
{
  if (self->dtype == GYRE_F32)
    return "float";
  return self->op == GYRE_REDUCE_SUM || self->dtype == GYRE_U32 ? "uint" : "int";
}

gboolean
gyre_collective_load_kernel (GyreCollective  *self,
                             guint            member,
                             GyreHopKind      kind,
                             GError         **error)
{
  GyreDevice *device = self->devices[member];
  g_autofree char *source = gyre_kernel_source_load ("collective.cl", error);
  g_autofree char *options = NULL;
  GyreKernel *kernel;

  if (source == NULL)
    return FALSE;

  options = g_strdup_printf ("-DGYRE_TYPE=%s -DGYRE_WIDTH=%u -DGYRE_OP=%d",
                             type_name (self), layout_of (device)->width, self->op);
  kernel = gyre_device_get_kernel (device, source, options, kernel_names[kind], error);
  self->kernels[member * GYRE_N_HOP_KINDS + kind] = kernel;
  return kernel != NULL;
}

gboolean
gyre_collective_launch (GyreCollective  *self,
                        guint            member,
                        GyreHopKind      kind,
                        GyreKernelArg   *args,
                        guint            n_args,
                        gsize            length,
                        const cl_event  *wait,
                        guint            n_wait,
                        cl_event        *event,
                        GError         **error)
{
  GyreDevice *device = self->devices[member];
  GyreKernel *kernel = self->kernels[member * GYRE_N_HOP_KINDS + kind];
  const Layout *layout = layout_of (device);
  gsize part = (gsize) layout->width * layout->run;
  gsize local = MIN (layout->local, gyre_kernel_get_max_work_group (kernel));
  gsize global = (length + part - 1) / part;

  if (length == 0)
    return gyre_device_marker (device, wait, n_wait, event, error);

  global = (global + local - 1) / local * local;
  args[n_args++] = GYRE_U64_ARG (length);
  args[n_args++] = GYRE_U32_ARG (layout->run);
  if (kind >= GYRE_HOP_REDUCE_COLUMN)
    args[n_args++] = GYRE_U32_ARG (self->n);
  return gyre_device_launch (device, kernel, args, n_args, 1, &global, &local, wait,
                             n_wait, event, error);
}

/* Events. */

void
gyre_collective_clear_event (cl_event *event)
{
  if (*event != NULL)
    clReleaseEvent (*event);
  *event = NULL;
}

void
gyre_collective_turn_events (GyreCollective *self)
{
  for (guint i = 0; i < self->n; i++)
    {
      gyre_collective_clear_event (&self->last[i]);
      self->last[i] = self->fresh[i];
      self->fresh[i] = NULL;
    }
  gyre_hazards_turn (self->hazards);
}

gboolean
gyre_collective_mark_all (GyreCollective  *self,
                          GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    {
      gyre_collective_clear_event (&self->last[i]);
      if (!gyre_device_marker (self->devices[i], NULL, 0, &self->last[i], error))
        return FALSE;
      gyre_hazards_command (self->hazards, i);
    }
  gyre_hazards_turn (self->hazards);
  return TRUE;
}

gboolean
gyre_collective_wait_for (GyreCollective  *self,
                          guint            member,
                          const guint     *others,
                          guint            n_others,
                          GError         **error)
{
  guint n = 0;

  gyre_hazards_command (self->hazards, member);
  for (guint i = 0; i < n_others; i++)
    {
      if (self->last[others[i]] != NULL)
        self->wait[n++] = self->last[others[i]];
      gyre_hazards_wait (self->hazards, member, others[i]);
    }
  return n == 0 || gyre_device_marker (self->devices[member], self->wait, n, NULL, error);
}

gboolean
gyre_collective_flush_all (GyreCollective  *self,
                           GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!gyre_device_flush (self->devices[i], error))
      return FALSE;

  return TRUE;
}

gboolean
gyre_collective_wait_event (cl_event      event,
                            const char   *what,
                            GyreDevice   *device,
                            GError      **error)
{
  return gyre_cl_check (gyre_executor_wait_event (event), error, "%s on %s", what,
                        gyre_device_get_name (device));
}

gboolean
gyre_collective_map_pinned (GyreDevice  *device,
                            GyreBuffer  *pinned,
                            gpointer    *host,
                            GError     **error)
{
  cl_event event = NULL;
  gboolean good;

  *host = gyre_device_map (device, pinned, CL_MAP_READ | CL_MAP_WRITE, 0,
                           gyre_buffer_get_size (pinned), NULL, 0, &event, error);
  good = *host != NULL && gyre_device_flush (device, error) &&
         gyre_collective_wait_event (event, "clEnqueueMapBuffer of pinned memory",
                                     device, error);
  gyre_collective_clear_event (&event);
  return good;
}
