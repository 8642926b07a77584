/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-transfer-private.h"

/* The driver's way to say that no event is waited for. */
#define WAIT_LIST (n_wait > 0 ? wait : NULL)

gboolean
gyre_device_marker (GyreDevice      *device,
                    const cl_event  *wait,
                    guint            n_wait,
                    cl_event        *event,
                    GError         **error)
{
  cl_command_queue queue = gyre_device_get_queue (device);

  return gyre_device_check_alive (device, error) &&
         gyre_cl_check (clEnqueueMarkerWithWaitList (queue, n_wait, WAIT_LIST, event),
                        error, "clEnqueueMarkerWithWaitList on %s",
                        gyre_device_get_name (device));
}

/* In place of a command of no bytes: what comes later still waits for the events. */
static gboolean
enqueue_nothing (GyreDevice      *device,
                 const cl_event  *wait,
                 guint            n_wait,
                 cl_event        *event,
                 GError         **error)
{
  if (n_wait == 0 && event == NULL)
    return TRUE;
  return gyre_device_marker (device, wait, n_wait, event, error);
}

gboolean
gyre_device_write (GyreDevice      *device,
                   GyreBuffer      *buffer,
                   gsize            offset,
                   gsize            size,
                   gconstpointer    data,
                   const cl_event  *wait,
                   guint            n_wait,
                   cl_event        *event,
                   GError         **error)
{
  cl_int status;

  if (!gyre_device_check_alive (device, error))
    return FALSE;
  if (size == 0)
    return enqueue_nothing (device, wait, n_wait, event, error);

  status = clEnqueueWriteBuffer (gyre_device_get_queue (device),
                                 gyre_buffer_get_mem (buffer), CL_FALSE, offset, size,
                                 data, n_wait, WAIT_LIST, event);
  return gyre_cl_check (status, error, "clEnqueueWriteBuffer of %" G_GSIZE_FORMAT
                        " bytes on %s", size, gyre_device_get_name (device));
}

gboolean
gyre_device_read (GyreDevice      *device,
                  GyreBuffer      *buffer,
                  gsize            offset,
                  gsize            size,
                  gpointer         data,
                  const cl_event  *wait,
                  guint            n_wait,
                  cl_event        *event,
                  GError         **error)
{
  cl_int status;

  if (!gyre_device_check_alive (device, error))
    return FALSE;
  if (size == 0)
    return enqueue_nothing (device, wait, n_wait, event, error);

  status = clEnqueueReadBuffer (gyre_device_get_queue (device),
                                gyre_buffer_get_mem (buffer), CL_FALSE, offset, size,
                                data, n_wait, WAIT_LIST, event);
  return gyre_cl_check (status, error, "clEnqueueReadBuffer of %" G_GSIZE_FORMAT
                        " bytes on %s", size, gyre_device_get_name (device));
}

gboolean
gyre_device_copy (GyreDevice      *device,
                  GyreBuffer      *source,
                  gsize            source_offset,
                  GyreBuffer      *target,
                  gsize            target_offset,
                  gsize            size,
                  const cl_event  *wait,
                  guint            n_wait,
                  cl_event        *event,
                  GError         **error)
{
  cl_int status;

  if (!gyre_device_check_alive (device, error))
    return FALSE;
  if (size == 0)
    return enqueue_nothing (device, wait, n_wait, event, error);

  status = clEnqueueCopyBuffer (gyre_device_get_queue (device),
                                gyre_buffer_get_mem (source),
                                gyre_buffer_get_mem (target), source_offset,
                                target_offset, size, n_wait, WAIT_LIST, event);
  return gyre_cl_check (status, error, "clEnqueueCopyBuffer of %" G_GSIZE_FORMAT
                        " bytes on %s", size, gyre_device_get_name (device));
}

gboolean
gyre_device_fill (GyreDevice      *device,
                  GyreBuffer      *buffer,
                  gsize            offset,
                  gsize            size,
                  guint32          pattern,
                  const cl_event  *wait,
                  guint            n_wait,
                  cl_event        *event,
                  GError         **error)
{
  guint8 byte = pattern & 0xff;
  gboolean words = offset % sizeof pattern == 0 && size % sizeof pattern == 0;
  cl_int status;

  if (!gyre_device_check_alive (device, error))
    return FALSE;
  if (size == 0)
    return enqueue_nothing (device, wait, n_wait, event, error);

  status = clEnqueueFillBuffer (gyre_device_get_queue (device),
                                gyre_buffer_get_mem (buffer),
                                words ? (gconstpointer) &pattern : &byte,
                                words ? sizeof pattern : sizeof byte, offset, size,
                                n_wait, WAIT_LIST, event);
  return gyre_cl_check (status, error, "clEnqueueFillBuffer of %" G_GSIZE_FORMAT
                        " bytes on %s", size, gyre_device_get_name (device));
}

gpointer
gyre_device_map (GyreDevice      *device,
                 GyreBuffer      *buffer,
                 cl_map_flags     flags,
                 gsize            offset,
                 gsize            size,
                 const cl_event  *wait,
                 guint            n_wait,
                 cl_event        *event,
                 GError         **error)
{
  cl_int status;
  gpointer pointer;

  if (!gyre_device_check_alive (device, error))
    return NULL;
  /* A pointer is due even to nothing. */
  pointer = clEnqueueMapBuffer (gyre_device_get_queue (device),
                                gyre_buffer_get_mem (buffer), CL_FALSE, flags, offset,
                                MAX (size, 1), n_wait, WAIT_LIST, event, &status);
  if (!gyre_cl_check (status, error, "clEnqueueMapBuffer of %" G_GSIZE_FORMAT
                      " bytes on %s", size, gyre_device_get_name (device)))
    return NULL;

  return pointer;
}

gboolean
gyre_device_unmap (GyreDevice      *device,
                   GyreBuffer      *buffer,
                   gpointer         pointer,
                   const cl_event  *wait,
                   guint            n_wait,
                   cl_event        *event,
                   GError         **error)
{
  cl_int status;

  if (!gyre_device_check_alive (device, error))
    return FALSE;

  status = clEnqueueUnmapMemObject (gyre_device_get_queue (device),
                                    gyre_buffer_get_mem (buffer), pointer, n_wait,
                                    WAIT_LIST, event);
  return gyre_cl_check (status, error, "clEnqueueUnmapMemObject on %s",
                        gyre_device_get_name (device));
}
