/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prims/gyre-prims-private.h"

G_BEGIN_DECLS

/* The mask of the dimensions given, all for NULL and 0; a bit past the rank, which the
 * infer rule refuses, where one isn't the operand's. */
guint32     gyre_reduce_mask (const GyreTensor *x, const int *dims, int n_dims);
/* The reduced dimensions of y put back with extent 1. */
GyreTensor *gyre_reduce_keep (const GyreTensor *x, GyreTensor *y, guint32 mask);

G_END_DECLS
