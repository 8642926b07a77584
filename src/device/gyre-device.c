/* SPDX-License-Identifier: Apache-2.0 */

/**
 * GyreDevice:
 *
 * An OpenCL device and its one command queue, which is in order.  Devices are opened
 * with gyre_devices_open (); those of one platform share a context.
 *
 * Devices are immutable and may be used from any thread.
 */
#include "device/gyre-device-object-private.h"

#include "device/gyre-executor-private.h"

enum
{
  PROP_0,
  PROP_NAME,
  PROP_VENDOR,
  PROP_PLATFORM,
  PROP_DRIVER_VERSION,
  PROP_TYPE,
  PROP_COMPUTE_UNITS,
  PROP_MEMORY,
  PROP_MAX_ALLOCATION,
  PROP_LOCAL_MEMORY,
  PROP_HAS_COMPILER,
  PROP_UNIFIED_MEMORY,
  PROP_SHARE,
  PROP_INDEX,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (GyreDevice, gyre_device, G_TYPE_OBJECT)

/* What must be released on the executor thread, after the device. */
typedef struct
{
  cl_command_queue  queue;
  GHashTable       *kernels;
} Remains;

static void
release_remains (gpointer data)
{
  Remains *remains = data;

  gyre_kernels_release (remains->kernels);
  if (remains->queue != NULL)
    clReleaseCommandQueue (remains->queue);
  g_free (remains);
}

static void
gyre_device_finalize (GObject *object)
{
  GyreDevice *self = GYRE_DEVICE (object);

  if (self->lost == NULL)
    {
      Remains *remains = g_new (Remains, 1);

      remains->queue = self->queue;
      remains->kernels = self->kernels;
      gyre_executor_post (release_remains, remains);
    }
  g_clear_error (&self->lost);
  gyre_device_info_free (self->info);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gyre_device_parent_class)->finalize (object);
}

static void
gyre_device_get_property (GObject    *object,
                          guint       id,
                          GValue     *value,
                          GParamSpec *pspec)
{
  GyreDevice *self = GYRE_DEVICE (object);

  switch (id)
    {
    case PROP_NAME:
      g_value_set_string (value, self->info->name);
      break;
    case PROP_VENDOR:
      g_value_set_string (value, self->info->vendor);
      break;
    case PROP_PLATFORM:
      g_value_set_string (value, self->info->platform);
      break;
    case PROP_DRIVER_VERSION:
      g_value_set_string (value, self->info->driver_version);
      break;
    case PROP_TYPE:
      g_value_set_enum (value, self->info->kind);
      break;
    case PROP_COMPUTE_UNITS:
      g_value_set_uint (value, self->info->compute_units);
      break;
    case PROP_MEMORY:
      g_value_set_uint64 (value, self->info->memory);
      break;
    case PROP_MAX_ALLOCATION:
      g_value_set_uint64 (value, self->info->max_allocation);
      break;
    case PROP_LOCAL_MEMORY:
      g_value_set_uint64 (value, self->info->local_memory);
      break;
    case PROP_HAS_COMPILER:
      g_value_set_boolean (value, self->info->has_compiler);
      break;
    case PROP_UNIFIED_MEMORY:
      g_value_set_boolean (value, self->info->unified_memory);
      break;
    case PROP_SHARE:
      g_value_set_double (value, self->share);
      break;
    case PROP_INDEX:
      g_value_set_uint (value, self->index);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

#define READABLE (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

static void
install_string (guint       id,
                const char *name,
                const char *blurb)
{
  props[id] = g_param_spec_string (name, NULL, blurb, NULL, READABLE);
}

static void
install_bytes (guint       id,
               const char *name,
               const char *blurb)
{
  props[id] = g_param_spec_uint64 (name, NULL, blurb, 0, G_MAXUINT64, 0, READABLE);
}

static void
install_flag (guint       id,
              const char *name,
              const char *blurb)
{
  props[id] = g_param_spec_boolean (name, NULL, blurb, FALSE, READABLE);
}

static void
gyre_device_class_init (GyreDeviceClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->finalize = gyre_device_finalize;
  object_class->get_property = gyre_device_get_property;

  install_string (PROP_NAME, "name", "The device's name");
  install_string (PROP_VENDOR, "vendor", "The device's vendor");
  install_string (PROP_PLATFORM, "platform", "The platform's name");
  install_string (PROP_DRIVER_VERSION, "driver-version", "The driver's version");
  props[PROP_TYPE] = g_param_spec_enum ("type", NULL, "CPU, GPU or accelerator",
                                        GYRE_TYPE_DEVICE_KIND, GYRE_DEVICE_OTHER,
                                        READABLE);
  props[PROP_COMPUTE_UNITS] = g_param_spec_uint ("compute-units", NULL,
                                                 "Number of compute units",
                                                 0, G_MAXUINT, 0, READABLE);
  install_bytes (PROP_MEMORY, "memory", "Global memory in bytes");
  install_bytes (PROP_MAX_ALLOCATION, "max-allocation", "The largest buffer in bytes");
  install_bytes (PROP_LOCAL_MEMORY, "local-memory", "A work-group's memory in bytes");
  install_flag (PROP_HAS_COMPILER, "has-compiler", "Whether it compiles from source");
  install_flag (PROP_UNIFIED_MEMORY, "unified-memory",
                "Whether it shares the host's memory");
  props[PROP_SHARE] = g_param_spec_double ("share", NULL,
                                           "Its fixed share of the batch, or -1",
                                           -1, 1, -1, READABLE);
  props[PROP_INDEX] = g_param_spec_uint ("index", NULL,
                                         "Its place among those opened with it",
                                         0, G_MAXUINT, 0, READABLE);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
gyre_device_init (GyreDevice *self)
{
  g_mutex_init (&self->lock);
  self->share = -1;
}

static gsize
ask_align (cl_device_id id)
{
  gsize bits = gyre_cl_get_device_number (id, CL_DEVICE_MEM_BASE_ADDR_ALIGN);

  /* At least that of the widest vector type. */
  return MAX (bits / 8, 128);
}

GyreDevice *
gyre_device_new (const GyreDeviceOptions  *options,
                 GError                  **error)
{
  g_autoptr (GyreDevice) self = g_object_new (GYRE_TYPE_DEVICE, NULL);
  cl_int status;

  self->context = options->context;
  self->id = options->id;
  self->share = options->share;
  self->index = options->index;
  self->info = gyre_device_info_new (options->context->platform, options->id);
  self->info->admitted = TRUE;
  self->align = ask_align (self->id);
  self->max_work_group =
    gyre_cl_get_device_number (self->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  self->queue = clCreateCommandQueue (self->context->object, self->id, 0, &status);
  if (!gyre_cl_check (status, error, "clCreateCommandQueue on %s", self->info->name))
    return NULL;

  return g_steal_pointer (&self);
}

cl_device_id
gyre_device_get_id (GyreDevice *self)
{
  return self->id;
}

cl_context
gyre_device_get_context (GyreDevice *self)
{
  return self->context->object;
}

cl_command_queue
gyre_device_get_queue (GyreDevice *self)
{
  return self->queue;
}

gsize
gyre_device_get_align (GyreDevice *self)
{
  return self->align;
}

gsize
gyre_device_get_max_work_group (GyreDevice *self)
{
  return self->max_work_group;
}

gboolean
gyre_devices_share_context (GyreDevice *a,
                            GyreDevice *b)
{
  return a->context == b->context;
}

char *
gyre_device_describe (GyreDevice *self)
{
  g_autofree char *memory = g_format_size_full (self->info->memory,
                                                G_FORMAT_SIZE_IEC_UNITS);

  return g_strdup_printf ("%s (%s, %s, %u compute unit%s, %s)", self->info->name,
                          self->info->platform, gyre_device_kind_name (self->info->kind),
                          self->info->compute_units,
                          self->info->compute_units == 1 ? "" : "s", memory);
}

gboolean
gyre_device_flush (GyreDevice  *self,
                   GError     **error)
{
  return gyre_device_check_alive (self, error) &&
         gyre_cl_check (clFlush (self->queue), error, "clFlush on %s", self->info->name);
}

void
gyre_device_set_lost (GyreDevice   *self,
                      const GError *reason)
{
  GError *copy = g_error_copy (reason);

  if (!g_atomic_pointer_compare_and_exchange (&self->lost, NULL, copy))
    g_error_free (copy);
}

const GError *
gyre_device_get_lost (GyreDevice *self)
{
  return g_atomic_pointer_get (&self->lost);
}

gboolean
gyre_device_check_alive (GyreDevice  *self,
                         GError     **error)
{
  const GError *reason = gyre_device_get_lost (self);

  if (G_LIKELY (reason == NULL))
    return TRUE;

  g_set_error (error, reason->domain, reason->code, "%s is lost: %s", self->info->name,
               reason->message);
  return FALSE;
}
