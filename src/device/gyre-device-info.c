/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-inventory-private.h"

static const char *const kind_names[] = { "cpu", "gpu", "accelerator", "other" };

/**
 * gyre_device_kind_name:
 * @kind: a kind of device
 *
 * The word of a kind, as device strings have it: "cpu", "gpu", "accelerator", "other".
 *
 * Returns: (transfer none): the word
 */
const char *
gyre_device_kind_name (GyreDeviceKind kind)
{
  g_return_val_if_fail ((gsize) kind < G_N_ELEMENTS (kind_names), NULL);

  return kind_names[kind];
}

/**
 * gyre_device_kind_get_type:
 *
 * The type of #GyreDeviceKind.
 *
 * Returns: an enumeration type
 */
GType
gyre_device_kind_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GYRE_DEVICE_CPU, "GYRE_DEVICE_CPU", "cpu" },
    { GYRE_DEVICE_GPU, "GYRE_DEVICE_GPU", "gpu" },
    { GYRE_DEVICE_ACCELERATOR, "GYRE_DEVICE_ACCELERATOR", "accelerator" },
    { GYRE_DEVICE_OTHER, "GYRE_DEVICE_OTHER", "other" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GyreDeviceKind", values));

  return type;
}

/**
 * gyre_device_info_get_type:
 *
 * The type of #GyreDeviceInfo.
 *
 * Returns: a boxed type
 */
G_DEFINE_BOXED_TYPE (GyreDeviceInfo,
                     gyre_device_info,
                     gyre_device_info_copy,
                     gyre_device_info_free)

/**
 * gyre_device_info_copy:
 * @self: what is known of a device
 *
 * A copy of @self.
 *
 * Returns: (transfer full): the copy
 */
GyreDeviceInfo *
gyre_device_info_copy (const GyreDeviceInfo *self)
{
  GyreDeviceInfo *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_new (GyreDeviceInfo, 1);
  *copy = *self;
  copy->platform = g_strdup (self->platform);
  copy->name = g_strdup (self->name);
  copy->vendor = g_strdup (self->vendor);
  copy->driver_version = g_strdup (self->driver_version);
  copy->reason = g_strdup (self->reason);
  return copy;
}

/**
 * gyre_device_info_free:
 * @self: (nullable): what is known of a device
 *
 * Frees @self.
 */
void
gyre_device_info_free (GyreDeviceInfo *self)
{
  if (self == NULL)
    return;

  g_free (self->platform);
  g_free (self->name);
  g_free (self->vendor);
  g_free (self->driver_version);
  g_free (self->reason);
  g_free (self);
}

static GyreDeviceKind
kind_from_type (cl_device_type type)
{
  if (type & CL_DEVICE_TYPE_ACCELERATOR)
    return GYRE_DEVICE_ACCELERATOR;
  if (type & CL_DEVICE_TYPE_GPU)
    return GYRE_DEVICE_GPU;
  if (type & CL_DEVICE_TYPE_CPU)
    return GYRE_DEVICE_CPU;
  return GYRE_DEVICE_OTHER;
}

GyreDeviceInfo *
gyre_device_info_new (cl_platform_id platform,
                      cl_device_id   id)
{
  GyreDeviceInfo *self = g_new0 (GyreDeviceInfo, 1);

  self->platform = gyre_cl_get_platform_string (platform, CL_PLATFORM_NAME);
  self->name = gyre_cl_get_device_string (id, CL_DEVICE_NAME);
  self->vendor = gyre_cl_get_device_string (id, CL_DEVICE_VENDOR);
  self->driver_version = gyre_cl_get_device_string (id, CL_DRIVER_VERSION);
  self->kind = kind_from_type (gyre_cl_get_device_number (id, CL_DEVICE_TYPE));
  self->compute_units = gyre_cl_get_device_number (id, CL_DEVICE_MAX_COMPUTE_UNITS);
  self->memory = gyre_cl_get_device_number (id, CL_DEVICE_GLOBAL_MEM_SIZE);
  self->max_allocation = gyre_cl_get_device_number (id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  self->local_memory = gyre_cl_get_device_number (id, CL_DEVICE_LOCAL_MEM_SIZE);
  self->has_compiler = gyre_cl_get_device_number (id, CL_DEVICE_COMPILER_AVAILABLE) != 0;
  self->unified_memory =
    gyre_cl_get_device_number (id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  return self;
}
