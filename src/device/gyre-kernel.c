/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-kernel-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

#include "device/gyre-program-private.h"
#include "device/gyre-transfer-private.h"

/* What was set last, to be compared with. */
typedef struct
{
  gboolean      is_set;
  GyreKernelArg arg;
  guint64       serial;   /* a buffer's: its address may come again */
} SetArg;

struct _GyreKernel
{
  char      *name;
  cl_kernel  object;
  gsize      max_work_group;
  guint      n_args;
  SetArg    *set;
};

static gint n_created;
static gint n_launched;

/* Sizes of values, by kind; buffers and local memory are not set by value. */
static const gsize value_sizes[] = {
  [GYRE_ARG_BUFFER] = 0,
  [GYRE_ARG_I32] = 4,
  [GYRE_ARG_U32] = 4,
  [GYRE_ARG_F32] = 4,
  [GYRE_ARG_I64] = 8,
  [GYRE_ARG_U64] = 8,
  [GYRE_ARG_LOCAL] = 0,
};

static void
kernel_free (gpointer data)
{
  GyreKernel *self = data;

  g_free (self->name);
  g_free (self->set);
  g_free (self);
}

static gsize
ask_max_work_group (cl_kernel    object,
                    cl_device_id id)
{
  gsize size = 0;

  clGetKernelWorkGroupInfo (object, id, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size,
                            NULL);
  return MAX (size, 1);
}

static GyreKernel *
create_kernel (GyreDevice  *device,
               cl_program   program,
               const char  *name,
               GError     **error)
{
  GyreKernel *self;
  cl_kernel object;
  cl_uint n_args = 0;
  cl_int status;

  object = clCreateKernel (program, name, &status);
  if (!gyre_cl_check (status, error, "clCreateKernel of %s on %s", name,
                      device->info->name))
    return NULL;

  clGetKernelInfo (object, CL_KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL);
  self = g_new0 (GyreKernel, 1);
  self->name = g_strdup (name);
  self->object = object;
  self->n_args = n_args;
  self->set = g_new0 (SetArg, MAX (n_args, 1));
  self->max_work_group = ask_max_work_group (object, device->id);
  g_atomic_int_inc (&n_created);
  return self;
}

/* For the table in memory, which is asked for each product: the texts themselves, since a
 * digest of them costs more than the look-up. */
static char *
kernel_key (const char *source,
            const char *options,
            const char *name)
{
  return g_strjoin ("\n", name, options != NULL ? options : "", source, NULL);
}

static GyreKernel *
find_kernel (GyreDevice *device,
             const char *key)
{
  GyreKernel *found = NULL;

  g_mutex_lock (&device->lock);
  if (device->kernels != NULL)
    found = g_hash_table_lookup (device->kernels, key);
  g_mutex_unlock (&device->lock);
  return found;
}

/* Another thread may have been faster: the first one stays. */
static GyreKernel *
keep_kernel (GyreDevice *device,
             char       *key,
             GyreKernel *kernel)
{
  GyreKernel *first;

  g_mutex_lock (&device->lock);
  if (device->kernels == NULL)
    device->kernels =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, kernel_free);
  first = g_hash_table_lookup (device->kernels, key);
  if (first == NULL)
    g_hash_table_insert (device->kernels, g_strdup (key), kernel);
  g_mutex_unlock (&device->lock);

  if (first != NULL)
    {
      clReleaseKernel (kernel->object);
      kernel_free (kernel);
    }
  return first != NULL ? first : kernel;
}

GyreKernel *
gyre_device_get_kernel (GyreDevice  *device,
                        const char  *source,
                        const char  *options,
                        const char  *name,
                        GError     **error)
{
  g_autofree char *key = kernel_key (source, options, name);
  GyreKernel *kernel = find_kernel (device, key);
  cl_program program;

  if (kernel != NULL)
    return kernel;
  if (!gyre_device_check_alive (device, error))
    return NULL;

  program = gyre_device_get_program (device, source, options, error);
  if (program == NULL)
    {
      g_prefix_error (error, "kernel %s: ", name);
      return NULL;
    }
  kernel = create_kernel (device, program, name, error);
  return kernel != NULL ? keep_kernel (device, key, kernel) : NULL;
}

void
gyre_kernels_release (GHashTable *kernels)
{
  GHashTableIter iter;
  gpointer kernel;

  if (kernels == NULL)
    return;

  g_hash_table_iter_init (&iter, kernels);
  while (g_hash_table_iter_next (&iter, NULL, &kernel))
    clReleaseKernel (((GyreKernel *) kernel)->object);
  g_hash_table_unref (kernels);
}

const char *
gyre_kernel_get_name (const GyreKernel *self)
{
  return self->name;
}

cl_kernel
gyre_kernel_get_object (const GyreKernel *self)
{
  return self->object;
}

gsize
gyre_kernel_get_max_work_group (const GyreKernel *self)
{
  return self->max_work_group;
}

GyreKernelStats
gyre_kernel_get_stats (void)
{
  GyreKernelStats stats = { 0 };

  gyre_programs_count (&stats.programs_built, &stats.programs_loaded);
  stats.kernels_created = g_atomic_int_get (&n_created);
  stats.launches = g_atomic_int_get (&n_launched);
  return stats;
}

/* Launching. */

static guint64
arg_serial (const GyreKernelArg *arg)
{
  if (arg->kind != GYRE_ARG_BUFFER || arg->value.buffer == NULL)
    return 0;
  return gyre_buffer_get_serial (arg->value.buffer);
}

static gboolean
is_as_set (const SetArg        *set,
           const GyreKernelArg *arg)
{
  if (!set->is_set || set->arg.kind != arg->kind)
    return FALSE;
  if (arg->kind == GYRE_ARG_BUFFER)
    return set->serial == arg_serial (arg);
  if (arg->kind == GYRE_ARG_LOCAL)
    return set->arg.value.local == arg->value.local;
  return memcmp (&set->arg.value, &arg->value, value_sizes[arg->kind]) == 0;
}

static cl_int
set_arg (GyreKernel          *self,
         guint                i,
         const GyreKernelArg *arg)
{
  cl_mem mem;

  if (arg->kind == GYRE_ARG_LOCAL)
    return clSetKernelArg (self->object, i, arg->value.local, NULL);
  if (arg->kind != GYRE_ARG_BUFFER)
    return clSetKernelArg (self->object, i, value_sizes[arg->kind], &arg->value);

  mem = arg->value.buffer != NULL ? gyre_buffer_get_mem (arg->value.buffer) : NULL;
  return clSetKernelArg (self->object, i, sizeof mem, &mem);
}

static gboolean
set_args (GyreDevice           *device,
          GyreKernel           *self,
          const GyreKernelArg  *args,
          GError              **error)
{
  for (guint i = 0; i < self->n_args; i++)
    {
      SetArg *set = &self->set[i];
      cl_int status;

      if (is_as_set (set, &args[i]))
        continue;
      status = set_arg (self, i, &args[i]);
      set->is_set = status == CL_SUCCESS;
      set->arg = args[i];
      set->serial = arg_serial (&args[i]);
      if (!gyre_cl_check (status, error, "clSetKernelArg %u of %s on %s", i, self->name,
                          gyre_device_get_name (device)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_empty (guint        dims,
          const gsize *global)
{
  for (guint i = 0; i < dims; i++)
    if (global[i] == 0)
      return TRUE;

  return FALSE;
}

gboolean
gyre_device_launch (GyreDevice           *device,
                    GyreKernel           *kernel,
                    const GyreKernelArg  *args,
                    guint                 n_args,
                    guint                 dims,
                    const gsize          *global,
                    const gsize          *local,
                    const cl_event       *wait,
                    guint                 n_wait,
                    cl_event             *event,
                    GError              **error)
{
  cl_int status;

  if (!gyre_device_check_alive (device, error))
    return FALSE;
  if (is_empty (dims, global))
    return (n_wait == 0 && event == NULL) ||
           gyre_device_marker (device, wait, n_wait, event, error);
  if (n_args != kernel->n_args)
    return gyre_cl_check (CL_INVALID_KERNEL_ARGS, error,
                          "kernel %s on %s takes %u arguments, not %u", kernel->name,
                          gyre_device_get_name (device), kernel->n_args, n_args);
  if (!set_args (device, kernel, args, error))
    return FALSE;

  status = clEnqueueNDRangeKernel (gyre_device_get_queue (device), kernel->object, dims,
                                   NULL, global, local, n_wait,
                                   n_wait > 0 ? wait : NULL, event);
  g_atomic_int_inc (&n_launched);
  return gyre_cl_check (status, error, "clEnqueueNDRangeKernel of %s on %s, global "
                        "%" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
                        ", local %" G_GSIZE_FORMAT, kernel->name,
                        gyre_device_get_name (device), global[0],
                        dims > 1 ? global[1] : 1, dims > 2 ? global[2] : 1,
                        local != NULL ? local[0] : 0);
}
