/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-device.h>

#include "device/gyre-cl-private.h"

G_BEGIN_DECLS

/* The queue is in order, and of the executor thread alone.  Nothing here is
 * transferred: the device keeps what it gives. */
cl_device_id     gyre_device_get_id             (GyreDevice *self);
cl_context       gyre_device_get_context        (GyreDevice *self);
cl_command_queue gyre_device_get_queue          (GyreDevice *self);

/* Offsets of sub-buffers must be multiples of this many bytes. */
gsize            gyre_device_get_align          (GyreDevice *self);
gsize            gyre_device_get_max_work_group (GyreDevice *self);

/* Whether both are in one context: buffers and events of one are the other's too. */
gboolean         gyre_devices_share_context     (GyreDevice *a,
                                                 GyreDevice *b);
/* One line: name, platform, kind, compute units, memory. */
char            *gyre_device_describe           (GyreDevice *self);

/* On the executor thread. */
gboolean         gyre_device_flush              (GyreDevice  *self,
                                                 GError     **error);

/* On the executor thread: what was enqueued at start (monotonic, µs) is complete now. */
void             gyre_device_add_busy           (GyreDevice *self,
                                                 gint64      start);
/* A dead device: whatever is its own (queue, kernels, buffers) is leaked from now on,
 * never released.  The first reason stays. */
void             gyre_device_set_lost           (GyreDevice   *self,
                                                 const GError *reason);
/* FALSE and the reason, once it is lost: no call is made on it any more. */
gboolean         gyre_device_check_alive        (GyreDevice  *self,
                                                 GError     **error);
/* NULL while it lives. */
const GError    *gyre_device_get_lost           (GyreDevice *self);

G_END_DECLS
