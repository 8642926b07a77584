/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-ops.h>
#include <gyre/gyre-tree.h>

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* out = x.  The gradient is asked for at its result, so that what else depends on x is
 * held fast.  The simplifier takes it away. */
extern const GyrePrim gyre_prim_identity;

/* Checks that keep an error on the graph and return FALSE; call and what are for it. */
gboolean gyre_autodiff_check_float (GyreTensor *tensor, const char *call,
                                    const char *what, guint i);
gboolean gyre_autodiff_check_like  (GyreTensor *cotangent, GyreTensor *output, guint i);
gboolean gyre_autodiff_check_loss  (GyreTensor *loss, const char *call);

G_END_DECLS
