/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-buffer-private.h"

#include <gyre/gyre-error.h>

#include "device/gyre-device-object-private.h"
#include "device/gyre-executor-private.h"

/* What stands for a buffer of no bytes: one element of the widest type. */
#define DUMMY_SIZE 16

struct _GyreBuffer
{
  gint         refs;     /* atomic */
  cl_mem       mem;
  gsize        size;
  gsize        counted;  /* in the bytes that live */
  guint64      serial;
  GyreDevice  *device;
  GyreBuffer  *parent;
};

static GMutex stats_lock;
static GyreBufferStats stats;

static guint64
count_created (gsize bytes)
{
  guint64 serial;

  g_mutex_lock (&stats_lock);
  stats.bytes += bytes;
  stats.objects++;
  serial = ++stats.created;
  g_mutex_unlock (&stats_lock);
  return serial;
}

static void
count_released (gsize bytes)
{
  g_mutex_lock (&stats_lock);
  stats.bytes -= bytes;
  stats.objects--;
  g_mutex_unlock (&stats_lock);
}

static GyreBuffer *
wrap (GyreDevice *device,
      GyreBuffer *parent,
      cl_mem      mem,
      gsize       size)
{
  GyreBuffer *self = g_new0 (GyreBuffer, 1);

  self->refs = 1;
  self->mem = mem;
  self->size = size;
  self->counted = parent != NULL ? 0 : size;
  self->serial = count_created (self->counted);
  self->device = g_object_ref (device);
  self->parent = parent != NULL ? gyre_buffer_ref (parent) : NULL;
  return self;
}

static gboolean
check_size (GyreDevice  *device,
            gsize        size,
            GError     **error)
{
  const GyreDeviceInfo *info = device->info;

  if (size <= info->max_allocation)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY,
               "a buffer of %" G_GSIZE_FORMAT " bytes is more than %s allows in one "
               "(%" G_GUINT64_FORMAT " bytes); use a smaller batch, or more devices",
               size, info->name, info->max_allocation);
  return FALSE;
}

static GyreBuffer *
create (GyreDevice    *device,
        cl_mem_flags   flags,
        gsize          size,
        GError       **error)
{
  cl_int status;
  cl_mem mem;

  if (!gyre_device_check_alive (device, error) || !check_size (device, size, error))
    return NULL;

  mem = clCreateBuffer (device->context->object, flags, MAX (size, DUMMY_SIZE), NULL,
                        &status);
  if (!gyre_cl_check (status, error, "clCreateBuffer of %" G_GSIZE_FORMAT " bytes on %s",
                      size, device->info->name))
    return NULL;

  return wrap (device, NULL, mem, size);
}

GyreBuffer *
gyre_buffer_new (GyreDevice  *device,
                 gsize        size,
                 GError     **error)
{
  return create (device, CL_MEM_READ_WRITE, size, error);
}

GyreBuffer *
gyre_buffer_new_pinned (GyreDevice  *device,
                        gsize        size,
                        GError     **error)
{
  return create (device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, error);
}

static gboolean
check_region (GyreBuffer  *parent,
              gsize        offset,
              gsize        size,
              GError     **error)
{
  gsize align = parent->device->align;

  if (parent->parent != NULL)
    g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                         "a sub-buffer of a sub-buffer; take it of the whole buffer");
  else if (offset > parent->size || size > parent->size - offset)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                 "a sub-buffer of %" G_GSIZE_FORMAT " bytes at %" G_GSIZE_FORMAT
                 " does not fit into a buffer of %" G_GSIZE_FORMAT " bytes",
                 size, offset, parent->size);
  else if (offset % align != 0)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                 "a sub-buffer at %" G_GSIZE_FORMAT ": %s wants multiples of %"
                 G_GSIZE_FORMAT " bytes", offset, parent->device->info->name, align);
  else
    return TRUE;
  return FALSE;
}

GyreBuffer *
gyre_buffer_new_sub (GyreBuffer  *parent,
                     gsize        offset,
                     gsize        size,
                     GError     **error)
{
  cl_buffer_region region = { offset, size };
  cl_int status;
  cl_mem mem;

  if (!gyre_device_check_alive (parent->device, error) ||
      !check_region (parent, offset, size, error))
    return NULL;
  if (size == 0)
    return create (parent->device, CL_MEM_READ_WRITE, 0, error);

  mem = clCreateSubBuffer (parent->mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
                           &status);
  if (!gyre_cl_check (status, error, "clCreateSubBuffer of %" G_GSIZE_FORMAT
                      " bytes at %" G_GSIZE_FORMAT " on %s", size, offset,
                      parent->device->info->name))
    return NULL;

  return wrap (parent->device, parent, mem, size);
}

GyreBuffer *
gyre_buffer_ref (GyreBuffer *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

static void
release (gpointer data)
{
  GyreBuffer *self = data;

  /* A dead device's memory is leaked. */
  if (gyre_device_get_lost (self->device) == NULL)
    clReleaseMemObject (self->mem);
  count_released (self->counted);
  g_clear_pointer (&self->parent, gyre_buffer_unref);
  g_object_unref (self->device);
  g_free (self);
}

void
gyre_buffer_unref (GyreBuffer *self)
{
  if (self != NULL && g_atomic_int_dec_and_test (&self->refs))
    gyre_executor_post (release, self);
}

cl_mem
gyre_buffer_get_mem (GyreBuffer *self)
{
  return self->mem;
}

gsize
gyre_buffer_get_size (GyreBuffer *self)
{
  return self->size;
}

GyreDevice *
gyre_buffer_get_device (GyreBuffer *self)
{
  return self->device;
}

guint64
gyre_buffer_get_serial (GyreBuffer *self)
{
  return self->serial;
}

GyreBufferStats
gyre_buffer_get_stats (void)
{
  GyreBufferStats now;

  if (!gyre_executor_is_current ())
    gyre_executor_drain ();
  g_mutex_lock (&stats_lock);
  now = stats;
  g_mutex_unlock (&stats_lock);
  return now;
}
