/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-device-object-private.h"

G_BEGIN_DECLS

/* Named by its contents: the binary of a program is kept under the user's cache folder.
 * NULL: no binary there, or none of use. */
GBytes    *gyre_binary_cache_load  (const char *key);
void       gyre_binary_cache_save  (const char *key,
                                    GBytes     *binary);

/* Of these texts, one after the other, as hexadecimal; NULL ends them. */
char      *gyre_cache_key          (const char *first,
                                    ...) G_GNUC_NULL_TERMINATED;
/* The environment that drivers heed, a line each: a part of every key. */
char      *gyre_cache_environment  (void);
/* A file or folder under the user's cache folder of Gyre. */
char      *gyre_cache_path         (const char *folder,
                                    const char *name);

/* Any thread.  A built program, shared by the devices of the context that have the id
 * in common, and kept as long as the context. */
cl_program gyre_device_get_program (GyreDevice  *device,
                                    const char  *source,
                                    const char  *options,
                                    GError     **error);

void       gyre_programs_count     (guint       *built,
                                    guint       *loaded);

G_END_DECLS
