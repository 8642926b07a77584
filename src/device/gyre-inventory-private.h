/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-device.h>

#include "device/gyre-cl-private.h"

G_BEGIN_DECLS

typedef enum
{
  GYRE_VERDICT_UNKNOWN,
  GYRE_VERDICT_ADMITTED,
  GYRE_VERDICT_REFUSED
} GyreVerdict;

/* A device that there is. */
typedef struct
{
  cl_platform_id  platform;
  cl_device_id    id;
  char           *platform_version;
  guint           ordinal;          /* among the devices of its platform and its name */
  gboolean        duplicate;        /* of a platform that was seen before */
  GyreDeviceInfo *info;
  GyreVerdict     verdict;
} GyreInventoryEntry;

GyreDeviceInfo *gyre_device_info_new (cl_platform_id platform,
                                      cl_device_id   id);

void       gyre_inventory_entry_free (GyreInventoryEntry *self);
/* PoCL's driver that runs kernels on the calling thread. */
gboolean   gyre_inventory_entry_is_basic (const GyreInventoryEntry *self);

/* Every device of every platform, in the loader's order; asked once a process. */
GPtrArray *gyre_inventory_get (GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreInventoryEntry, gyre_inventory_entry_free)

G_END_DECLS
