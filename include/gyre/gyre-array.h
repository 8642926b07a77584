/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-mesh.h>
#include <gyre/gyre-tree.h>
#include <gyre/gyre-types.h>

G_BEGIN_DECLS

#define GYRE_TYPE_ARRAY (gyre_array_get_type ())

/**
 * GyreArray:
 *
 * Boxed, immutable numbers: on the host, or on the devices of a mesh with one buffer a
 * shard.  An array that a step gave may still be under way: what reads it waits.  An
 * array that was donated to a step can't be used again (%GYRE_ERROR_DONATED).
 */
GYRE_API GType      gyre_array_get_type     (void);
/* Host arrays, row-major. */
/* copies */
GYRE_API GyreArray *gyre_array_new          (GyreDtype dtype, GyreShape shape,
                                             gconstpointer data);
GYRE_API GyreArray *gyre_array_new_bytes    (GyreDtype dtype, GyreShape shape,
                                             GBytes *bytes, GError **error);
GYRE_API GyreArray *gyre_array_new_scalar   (GyreDtype dtype, double value);
GYRE_API GyreArray *gyre_array_new_full     (GyreDtype dtype, GyreShape shape,
                                             double value);
GYRE_API GyreArray *gyre_array_new_key      (GyreKey key);
GYRE_API GyreArray *gyre_array_new_keys     (GyreKey key, guint n);
GYRE_API GyreArray *gyre_array_new_normal   (GyreKey key, GyreShape shape, float scale);
GYRE_API GyreArray *gyre_array_ref          (GyreArray *self);
GYRE_API void       gyre_array_unref        (GyreArray *self);
GYRE_API GyreDtype  gyre_array_get_dtype    (GyreArray *self);
GYRE_API GyreShape  gyre_array_get_shape    (GyreArray *self);
GYRE_API GyreSharding *gyre_array_get_sharding (GyreArray *self);  /* NULL: on the host */
/* "f32[3, 10]" (transfer full) */
GYRE_API char      *gyre_array_to_string    (GyreArray *self);
GYRE_API gboolean   gyre_array_is_ready     (GyreArray *self);
/* The whole array, row-major; waits. (transfer full) */
GYRE_API GBytes    *gyre_array_get          (GyreArray *self, GError **error);
/* f32, i32, u32, u8 or bool with one element; waits. */
GYRE_API gboolean   gyre_array_get_scalar   (GyreArray *self, double *value,
                                             GError **error);
/* Moves an array (of the host or of any mesh) to a sharding. */
GYRE_API GyreArray *gyre_device_put         (GyreArray *array, GyreSharding *sharding,
                                             GError **error);
GYRE_API GyreTree  *gyre_device_put_tree    (GyreTree *tree, GyreSharding *sharding,
                                             GError **error);
/* Trees with a leading device axis, for gyre_step_pmap (). */
GYRE_API GyreTree  *gyre_replicate          (GyreTree *tree, GyreMesh *mesh,
                                             GError **error);
GYRE_API GyreTree  *gyre_unreplicate        (GyreTree *tree, GError **error);
GYRE_API GyreTree  *gyre_shard_batch        (GyreTree *batch, guint n_devices,
                                             GError **error);
/* Leaves of alike trees joined along a new leading dimension. */
GYRE_API GyreTree  *gyre_stack              (GyreTree *const *trees, guint n_trees,
                                             GError **error);
/* A scalar leaf of a step's result; NaN and a critical if it can't be read. */
GYRE_API double     gyre_tree_get_scalar    (GyreTree *self, const char *path);
/* The mean of a leaf's numbers, such as the devices' losses; likewise. */
GYRE_API double     gyre_tree_get_mean      (GyreTree *self, const char *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreArray, gyre_array_unref)

G_END_DECLS
