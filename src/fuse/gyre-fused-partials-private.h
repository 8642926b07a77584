/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fuse/gyre-kernel-writer-private.h"

G_BEGIN_DECLS

/* Whether what a measuring writer has written, for a single result, should be two kernels
 * since it is one long reduction; then the window is set for the second. */
gboolean         gyre_fused_partials_find (const GyreKernelWriter *writer,
                                           GyreKernelWindow       *window);
/* The first kernel, in the arena of the fusion's body. */
GyreFusedKernel *gyre_fused_partials_make (const GyreFusion        *fusion,
                                           const GyreKernelWindow  *window,
                                           gboolean                 cpu,
                                           GError                 **error);

G_END_DECLS
