/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* What spectral layers do with the frequencies that they keep: mixes the features of
 * each by a complex matrix of its own, parameters "real" and "imag" of shape [modes…, in,
 * out].  x: f32[modes, b, 2, in] → f32[modes, b, 2, out] */
GyreTensor *modes_mix (GyreScope *scope, GyreShape modes, gint64 out, GyreTensor *x);

G_END_DECLS
