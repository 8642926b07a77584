/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-device-private.h"

G_BEGIN_DECLS

/* Memory of a context (a cl_mem), made for one device and seen by all of its context.
 * Reference counted, on any thread; the memory is released on the executor thread. */
typedef struct _GyreBuffer GyreBuffer;

/* Size 0 is allowed: a small dummy stands for it. */
GyreBuffer *gyre_buffer_new        (GyreDevice  *device,
                                    gsize        size,
                                    GError     **error);
/* Memory that the host maps without a copy, for staging; pinned where that is. */
GyreBuffer *gyre_buffer_new_pinned (GyreDevice  *device,
                                    gsize        size,
                                    GError     **error);
/* A part of the parent, which it keeps alive; the offset is a multiple of
 * gyre_device_get_align ().  A part of a part is refused. */
GyreBuffer *gyre_buffer_new_sub    (GyreBuffer  *parent,
                                    gsize        offset,
                                    gsize        size,
                                    GError     **error);
GyreBuffer *gyre_buffer_ref        (GyreBuffer *self);
void        gyre_buffer_unref      (GyreBuffer *self);

cl_mem      gyre_buffer_get_mem    (GyreBuffer *self);
gsize       gyre_buffer_get_size   (GyreBuffer *self);
GyreDevice *gyre_buffer_get_device (GyreBuffer *self);
/* Never the same for two buffers of a process. */
guint64     gyre_buffer_get_serial (GyreBuffer *self);

/* What lives now, sub-buffers counted as objects of no bytes. */
typedef struct
{
  guint64 bytes;
  guint   objects;
  guint64 created;   /* since the process began */
} GyreBufferStats;

/* Waits for the executor to have released what was given up before. */
GyreBufferStats gyre_buffer_get_stats (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreBuffer, gyre_buffer_unref)

G_END_DECLS
