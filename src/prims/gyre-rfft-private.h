/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prims/gyre-prims-private.h"

G_BEGIN_DECLS

/* Transforms of the last one or two dimensions.  A complex number is [re, im], in a last
 * dimension of its own: one f32 array, so that what is done element by element joins
 * kernels as ever, and no sharding splits it.
 *
 *   rfft   f32[…, (rows,) n] → f32[…, (rows,) n / 2 + 1, 2]
 *   irfft  its inverse; n is an attribute, since n / 2 + 1 doesn't tell it
 *
 * Each is the other's gradient, but for how often a frequency stands for itself and its
 * mirror image. */
typedef struct
{
  gint64 dims;    /* 1 or 2 */
  gint64 n;       /* of irfft; 0 of rfft */
} GyreRfftAttrs;

extern const GyrePrim gyre_prim_rfft;
extern const GyrePrim gyre_prim_irfft;

void gyre_rfft_reference  (const GyreTensor *node, const GyreRef *in, GyreRef *out);
void gyre_irfft_reference (const GyreTensor *node, const GyreRef *in, GyreRef *out);

G_END_DECLS
