/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-buffer-private.h"

G_BEGIN_DECLS

/* Between host and buffers, and among buffers.  All run on the executor thread, none
 * waits: what the host gives or gets must stay until the event is complete.  Offsets
 * and sizes are in bytes; a size of 0 enqueues nothing, and its event is a marker's.
 * wait is a list of n_wait events; event may be NULL. */
gboolean gyre_device_write  (GyreDevice      *device,
                             GyreBuffer      *buffer,
                             gsize            offset,
                             gsize            size,
                             gconstpointer    data,
                             const cl_event  *wait,
                             guint            n_wait,
                             cl_event        *event,
                             GError         **error);
gboolean gyre_device_read   (GyreDevice      *device,
                             GyreBuffer      *buffer,
                             gsize            offset,
                             gsize            size,
                             gpointer         data,
                             const cl_event  *wait,
                             guint            n_wait,
                             cl_event        *event,
                             GError         **error);
gboolean gyre_device_copy   (GyreDevice      *device,
                             GyreBuffer      *source,
                             gsize            source_offset,
                             GyreBuffer      *target,
                             gsize            target_offset,
                             gsize            size,
                             const cl_event  *wait,
                             guint            n_wait,
                             cl_event        *event,
                             GError         **error);
/* Fills with the 32-bit pattern where offset and size are multiples of 4, else with
 * its lowest byte. */
gboolean gyre_device_fill   (GyreDevice      *device,
                             GyreBuffer      *buffer,
                             gsize            offset,
                             gsize            size,
                             guint32          pattern,
                             const cl_event  *wait,
                             guint            n_wait,
                             cl_event        *event,
                             GError         **error);
/* The pointer is valid once the event is complete, until unmap. flags: CL_MAP_READ… */
gpointer gyre_device_map    (GyreDevice      *device,
                             GyreBuffer      *buffer,
                             cl_map_flags     flags,
                             gsize            offset,
                             gsize            size,
                             const cl_event  *wait,
                             guint            n_wait,
                             cl_event        *event,
                             GError         **error);
gboolean gyre_device_unmap  (GyreDevice      *device,
                             GyreBuffer      *buffer,
                             gpointer         pointer,
                             const cl_event  *wait,
                             guint            n_wait,
                             cl_event        *event,
                             GError         **error);
/* An event that is complete when all that was enqueued before it is. */
gboolean gyre_device_marker (GyreDevice      *device,
                             const cl_event  *wait,
                             guint            n_wait,
                             cl_event        *event,
                             GError         **error);

G_END_DECLS
