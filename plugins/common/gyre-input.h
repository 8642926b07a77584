/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* Whether a layer can take its input: the dtype, and a rank of at least rank (exactly, if
 * exact).  If not, the error is kept and the layer returns what input_fail () gives. */
gboolean    input_is   (GyreTensor *x, GyreDtype dtype, int rank, gboolean exact);
/* takes: "f32[…, in]" */
GyreTensor *input_fail (GyreScope *scope, GyreTensor *x, const char *takes);

G_END_DECLS
