/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-layer.h>

G_BEGIN_DECLS

/* What holds a chain of layers: the base class of the core's containers. */
#define GYRE_TYPE_CONTAINER (gyre_container_get_type ())
G_DECLARE_DERIVABLE_TYPE (GyreContainer, gyre_container, GYRE, CONTAINER, GyreLayer)

struct _GyreContainerClass
{
  GyreLayerClass parent_class;
};

/* Applies the layers inside, the first to the last, in this very scope. */
GyreTensor *gyre_container_apply_chain (GyreContainer *self, GyreScope *scope,
                                        GyreTensor *x);

#define GYRE_TYPE_RESIDUAL (gyre_residual_get_type ())
G_DECLARE_FINAL_TYPE (GyreResidual, gyre_residual, GYRE, RESIDUAL, GyreContainer)

#define GYRE_TYPE_REPEAT (gyre_repeat_get_type ())
G_DECLARE_FINAL_TYPE (GyreRepeat, gyre_repeat, GYRE, REPEAT, GyreContainer)

G_END_DECLS
