/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-context-private.h"
#include "device/gyre-device-private.h"

G_BEGIN_DECLS

/* The inside of a device, for src/device alone. */
struct _GyreDevice
{
  GObject           parent_instance;

  GyreDeviceInfo   *info;
  GyreContext      *context;
  cl_device_id      id;
  cl_command_queue  queue;
  double            share;
  guint             index;
  gsize             align;
  gsize             max_work_group;

  GMutex            lock;       /* of the kernels */
  GHashTable       *kernels;    /* key text → GyreKernel */
  GError           *lost;       /* atomic; set once */

  gint64            idle_since; /* monotonic, µs; executor thread */
  gint64            busy;       /* µs, under the lock */
};

typedef struct
{
  GyreContext  *context;
  cl_device_id  id;
  double        share;
  guint         index;
} GyreDeviceOptions;

GyreDevice *gyre_device_new (const GyreDeviceOptions  *options,
                             GError                  **error);

/* On the executor thread, when its device goes. */
void gyre_kernels_release (GHashTable *kernels);

G_END_DECLS
