/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-array.h>

G_BEGIN_DECLS

/* A safetensors file (https://github.com/huggingface/safetensors): u64 little-endian size
 * of a JSON header, the header, row-major little-endian data.  The header is checked
 * whole when the file is opened. */
typedef struct _GyreSafetensors GyreSafetensors;

GyreSafetensors *gyre_safetensors_open (const char *path, GError **error);
void             gyre_safetensors_free (GyreSafetensors *self);

/* In the order of the file; not to be freed. */
const char *const *gyre_safetensors_get_names (const GyreSafetensors *self);
gboolean     gyre_safetensors_has      (const GyreSafetensors *self, const char *name);
/* A host array. F64 and I64 are narrowed (I64 out of range is an error); other dtypes
 * that Gyre doesn't have are an error. */
GyreArray   *gyre_safetensors_get      (const GyreSafetensors *self, const char *name,
                                        GError **error);
/* A string of "__metadata__", or NULL. */
const char  *gyre_safetensors_get_meta (const GyreSafetensors *self, const char *key);
/* All of them; not to be freed. */
GHashTable  *gyre_safetensors_get_all_meta (const GyreSafetensors *self);

/* Writes host or device arrays (waits for them) beside the path, then renames. names and
 * metadata keys must be unique; metadata may be NULL. */
gboolean     gyre_safetensors_write    (const char         *path,
                                        const char *const  *names,
                                        GyreArray *const   *arrays,
                                        guint               n,
                                        GHashTable         *metadata,
                                        GError            **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreSafetensors, gyre_safetensors_free)

G_END_DECLS
