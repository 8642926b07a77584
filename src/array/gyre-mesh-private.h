/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-mesh.h>

#include "array/gyre-pool-private.h"
#include "ir/gyre-spec-private.h"

G_BEGIN_DECLS

/* The abstract mesh, with the shares of now; its weights are the mesh's own until the
 * next gyre_mesh_set_shares (), and axes are automatic. */
void      gyre_mesh_get_spec    (GyreMesh     *self,
                                 GyreMeshSpec *spec);
/* Changes whenever the shares do. */
guint     gyre_mesh_get_version (GyreMesh     *self);
/* -1: no such axis */
int       gyre_mesh_find_axis   (GyreMesh     *self,
                                 const char   *name);
GyrePool *gyre_mesh_get_pool    (GyreMesh     *self);

/* "data=2,model=*": names and sizes for n devices. */
gboolean  gyre_mesh_parse_layout (const char  *layout,
                                  guint        n_devices,
                                  guint       *n_axes,
                                  GyreAxis    *axes,
                                  GError     **error);

G_END_DECLS
