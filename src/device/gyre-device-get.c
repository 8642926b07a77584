/* SPDX-License-Identifier: Apache-2.0 */

/* What a device says of itself. */
#include "device/gyre-device-object-private.h"

/**
 * gyre_device_get_name:
 * @self: a device
 *
 * Gets its name.
 *
 * Returns: (transfer none): the name
 */
const char *
gyre_device_get_name (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), NULL);

  return self->info->name;
}

/**
 * gyre_device_get_vendor:
 * @self: a device
 *
 * Gets its vendor.
 *
 * Returns: (transfer none): the vendor
 */
const char *
gyre_device_get_vendor (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), NULL);

  return self->info->vendor;
}

/**
 * gyre_device_get_platform:
 * @self: a device
 *
 * Gets the name of its platform.
 *
 * Returns: (transfer none): the platform's name
 */
const char *
gyre_device_get_platform (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), NULL);

  return self->info->platform;
}

/**
 * gyre_device_get_driver_version:
 * @self: a device
 *
 * Gets the version of its driver.
 *
 * Returns: (transfer none): the version
 */
const char *
gyre_device_get_driver_version (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), NULL);

  return self->info->driver_version;
}

/**
 * gyre_device_get_kind:
 * @self: a device
 *
 * Gets whether it is a CPU, a GPU or an accelerator.
 *
 * Returns: the kind
 */
GyreDeviceKind
gyre_device_get_kind (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), GYRE_DEVICE_OTHER);

  return self->info->kind;
}

/**
 * gyre_device_get_compute_units:
 * @self: a device
 *
 * Gets the number of its compute units.
 *
 * Returns: the number
 */
guint
gyre_device_get_compute_units (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), 0);

  return self->info->compute_units;
}

/**
 * gyre_device_get_memory:
 * @self: a device
 *
 * Gets its global memory.
 *
 * Returns: bytes
 */
guint64
gyre_device_get_memory (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), 0);

  return self->info->memory;
}

/**
 * gyre_device_get_max_allocation:
 * @self: a device
 *
 * Gets the size of the largest buffer that it allows.
 *
 * Returns: bytes
 */
guint64
gyre_device_get_max_allocation (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), 0);

  return self->info->max_allocation;
}

/**
 * gyre_device_get_local_memory:
 * @self: a device
 *
 * Gets the local memory of a work-group.
 *
 * Returns: bytes
 */
guint64
gyre_device_get_local_memory (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), 0);

  return self->info->local_memory;
}

/**
 * gyre_device_get_has_compiler:
 * @self: a device
 *
 * Gets whether it compiles kernels from source; an FPGA does not.
 *
 * Returns: %TRUE if it does
 */
gboolean
gyre_device_get_has_compiler (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), FALSE);

  return self->info->has_compiler;
}

/**
 * gyre_device_get_unified_memory:
 * @self: a device
 *
 * Gets whether it shares the host's memory.
 *
 * Returns: %TRUE if it does
 */
gboolean
gyre_device_get_unified_memory (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), FALSE);

  return self->info->unified_memory;
}

/**
 * gyre_device_get_share:
 * @self: a device
 *
 * Gets the share of the batch that its device string fixed.
 *
 * Returns: 0 to 1, or -1 where none was fixed
 */
double
gyre_device_get_share (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), -1);

  return self->share;
}

/* On the executor thread: what was enqueued at start is complete now. */
void
gyre_device_add_busy (GyreDevice *self,
                      gint64      start)
{
  gint64 now = g_get_monotonic_time ();

  g_mutex_lock (&self->lock);
  self->busy += now - MAX (start, self->idle_since);
  g_mutex_unlock (&self->lock);
  self->idle_since = now;
}

/**
 * gyre_device_get_busy:
 * @self: a device
 *
 * How long the device had commands of a step to run, whatever they waited for: time with
 * nothing enqueued doesn't count.
 *
 * Returns: seconds since it was opened
 */
double
gyre_device_get_busy (GyreDevice *self)
{
  gint64 busy;

  g_return_val_if_fail (GYRE_IS_DEVICE (self), 0);

  g_mutex_lock (&self->lock);
  busy = self->busy;
  g_mutex_unlock (&self->lock);

  return (double) busy / 1e6;
}

/**
 * gyre_device_get_index:
 * @self: a device
 *
 * Gets its place among the devices that were opened with it.
 *
 * Returns: 0 for the first
 */
guint
gyre_device_get_index (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), 0);

  return self->index;
}

/**
 * gyre_device_is_lost:
 * @self: a device
 *
 * Whether the device has failed for good.  What it held is gone.
 *
 * Returns: %TRUE if it is lost
 */
gboolean
gyre_device_is_lost (GyreDevice *self)
{
  g_return_val_if_fail (GYRE_IS_DEVICE (self), TRUE);

  return gyre_device_get_lost (self) != NULL;
}
