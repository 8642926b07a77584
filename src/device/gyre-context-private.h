/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-inventory-private.h"

G_BEGIN_DECLS

/* A cl_context and what its devices share.  Kept for as long as the process lives, as
 * are sub-devices: opening the same again gives the same. */
typedef struct
{
  cl_context      object;
  cl_platform_id  platform;
  GArray         *ids;        /* of cl_device_id */
  GMutex          lock;       /* of the programs */
  GHashTable     *programs;   /* key text → GyreClProgram */
} GyreContext;

/* A context in which all of these devices (of one platform) are. */
GyreContext *gyre_context_get      (cl_platform_id       platform,
                                    const cl_device_id  *ids,
                                    guint                n_ids,
                                    GError             **error);
/* Splits a device into n parts of compute units as equal as they can be. */
gboolean     gyre_sub_devices_get  (const GyreInventoryEntry  *entry,
                                    guint                      n,
                                    cl_device_id              *parts,
                                    GError                   **error);

G_END_DECLS
