/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-device.h>
#include <gyre/gyre-types.h>

G_BEGIN_DECLS

#define GYRE_TYPE_MESH (gyre_mesh_get_type ())

/**
 * GyreMesh:
 *
 * Devices laid out on named axes, row-major.  Along an axis the devices have shares:
 * weights by which a dimension that the axis splits is cut at integer boundaries.
 */
GYRE_API
G_DECLARE_FINAL_TYPE (GyreMesh, gyre_mesh, GYRE, MESH, GObject)

/* layout: "data=*" (all devices), "data=2,model=2"; devices: array of GyreDevice, or NULL
 * for those of GYRE_DEVICES / all. */
GYRE_API GyreMesh   *gyre_mesh_new           (const char *layout, GPtrArray *devices,
                                              GError **error);
/* devices: a string such as "all" or "pocl*4", or NULL for those of GYRE_DEVICES / all */
GYRE_API GyreMesh   *gyre_mesh_open          (const char *layout, const char *devices,
                                              GError **error);
GYRE_API guint       gyre_mesh_get_n_devices (GyreMesh *self);
GYRE_API GyreDevice *gyre_mesh_get_device    (GyreMesh *self, guint i);
GYRE_API guint       gyre_mesh_get_n_axes    (GyreMesh *self);
GYRE_API const char *gyre_mesh_get_axis_name (GyreMesh *self, guint axis);
GYRE_API guint       gyre_mesh_get_axis_size (GyreMesh *self, guint axis);
/* weights: one a member of the axis, 0 or more, not all 0; they take effect at the next
 * run of a step: nothing is traced or compiled. NULL: equal. */
GYRE_API gboolean    gyre_mesh_set_shares    (GyreMesh *self, const char *axis,
                                              const double *weights, GError **error);
/* NULL: equal */
GYRE_API const double *gyre_mesh_get_shares  (GyreMesh *self, guint axis);
/* Rows of each member for an extent: largest remainder, ties to the lower rank. */
GYRE_API void        gyre_mesh_cut           (GyreMesh *self, guint axis, gint64 extent,
                                              gint64 *bounds);
GYRE_API char       *gyre_mesh_to_string     (GyreMesh *self);

/**
 * GyreSharding:
 *
 * Boxed, immutable: a mesh and a partition spec: which dimension of an array is split
 * over which mesh axes.  "" is replicated; "data" splits dimension 0; ",model" dimension
 * 1; "data+model" dimension 0 over both; "[data]" stacks: one copy a device with a
 * leading device dimension (pmap).
 */
#define GYRE_TYPE_SHARDING (gyre_sharding_get_type ())
GYRE_API GType         gyre_sharding_get_type  (void);
GYRE_API GyreSharding *gyre_sharding_new       (GyreMesh *mesh, const char *spec,
                                                GError **error);
GYRE_API GyreSharding *gyre_sharding_ref       (GyreSharding *self);
GYRE_API void          gyre_sharding_unref     (GyreSharding *self);
GYRE_API GyreMesh     *gyre_sharding_get_mesh  (GyreSharding *self);
GYRE_API char         *gyre_sharding_to_string (GyreSharding *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreSharding, gyre_sharding_unref)

G_END_DECLS
