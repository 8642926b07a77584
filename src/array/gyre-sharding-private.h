/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "array/gyre-mesh-private.h"

G_BEGIN_DECLS

/* How an array of this shape lies under the sharding.  Of a stacked one ("[data]") the
 * shape has the leading device dimension, which the axis splits one by one. */
gboolean gyre_sharding_resolve    (GyreSharding     *self,
                                   const GyreShape  *shape,
                                   GyreSpec         *spec,
                                   GError          **error);
gboolean gyre_sharding_is_stacked (GyreSharding     *self);
/* Whether an array of this dtype can lie in summands, if the sharding says so. */
gboolean gyre_sharding_check_dtype (GyreSharding     *self,
                                    GyreDtype         dtype,
                                    GError          **error);
/* Whether each member can have a part of each dimension that is split. */
gboolean gyre_sharding_check_parts (GyreSharding     *self,
                                    const GyreShape  *shape,
                                    GError          **error);

G_END_DECLS
