/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The polynomial of cl/random.clh, in double. */
double gyre_erf_inv_double (double x);

G_END_DECLS
