/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* Discrete Fourier transforms of the last dimension to the few frequencies that a layer
 * keeps, and back, as products with matrices of cosines and sines: n times m steps a row,
 * without the frequencies that are dropped; of many frequencies by gyre_rfft (). A
 * complex value is [re, im] in the dimension before the last, [2, m]. */

/* No angle index j k overflows u32. */
#define DFT_MAX_EXTENT 65535

/* Real f32[…, n] → f32[…, 2, m]: frequencies 0 to m - 1, m ≤ n / 2 + 1 */
GyreTensor *dft_real          (GyreTensor *x, gint64 m);
/* Its inverse, all other frequencies 0: f32[…, 2, m] → f32[…, n] */
GyreTensor *dft_real_inverse  (GyreTensor *x, gint64 n);
/* Complex f32[…, 2, n] → f32[…, 2, 2 m]: frequencies 0 to m - 1 and -m to -1 */
GyreTensor *dft_ends          (GyreTensor *x, gint64 m);
/* Its inverse, all other frequencies 0: f32[…, 2, 2 m] → f32[…, 2, n] */
GyreTensor *dft_ends_inverse  (GyreTensor *x, gint64 n);

G_END_DECLS
