/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Functions of cl/random.clh on the host: the polynomial in double, and the rest as it
 * is. They are apart from the builders, which have the same names. */
double gyre_erf_inv_double (double x);
float  gyre_uniform_float  (guint32 bits, float low, float span);

G_END_DECLS
