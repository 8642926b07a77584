/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* The graph that the partitioner makes, each value with its spec; and what moves values
 * from one sharding to another. */
typedef struct
{
  GyreGraph          *graph;
  const GyreMeshSpec *mesh;
  GArray             *specs;      /* GyreSpec, by node id */
  /* what was moved already, by value, primitive, attributes */
  GHashTable         *reshards;
} GyreSpecBuilder;

void        gyre_spec_builder_init    (GyreSpecBuilder *self,
                                       GyreGraph       *graph,
                                       const GyreMeshSpec *mesh);
void        gyre_spec_builder_clear   (GyreSpecBuilder *self);
/* Says how the nodes emitted since the last call lie. */
void        gyre_spec_builder_put     (GyreSpecBuilder *self,
                                       const GyreSpec  *spec);
/* The same for a flat spec: vectors of size elements have it, other nodes are whole. */
void        gyre_spec_builder_put_flat (GyreSpecBuilder *self,
                                        const GyreSpec  *spec,
                                        gint64           size);
const GyreSpec *gyre_spec_builder_get (const GyreSpecBuilder *self,
                                       const GyreTensor      *value);
/* The value in the sharding wanted: the same tensor where it lies so already. */
GyreTensor *gyre_spec_builder_move    (GyreSpecBuilder *self,
                                       GyreTensor      *value,
                                       const GyreSpec  *want);
/* The value as a vector, row-major; splits must be none. */
GyreTensor *gyre_spec_builder_flatten (GyreSpecBuilder *self,
                                       GyreTensor      *value);
/* A vector back in its shape; a flat spec stays. */
GyreTensor *gyre_spec_builder_unflatten (GyreSpecBuilder *self,
                                         GyreTensor      *value,
                                         const GyreShape *shape);

G_END_DECLS
