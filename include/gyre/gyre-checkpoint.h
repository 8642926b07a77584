/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-array.h>
#include <gyre/gyre-tree.h>

G_BEGIN_DECLS

/* A checkpoint is FOLDER/checkpoint.safetensors: the leaves of a tree by their paths, and
 * texts.  An entry "params" is left out of paths, so that a train state's parameters
 * stand under their own names, "dense_0/kernel". */

GYRE_API gboolean    gyre_checkpoint_save          (GyreTree    *tree,
                                                    const char  *folder,
                                                    GHashTable  *metadata,
                                                    GError     **error);
GYRE_API GyreTree   *gyre_checkpoint_load          (GyreTree    *like,
                                                    const char  *folder,
                                                    GError     **error);
GYRE_API GHashTable *gyre_checkpoint_load_metadata (const char  *folder,
                                                    GError     **error);

G_END_DECLS
