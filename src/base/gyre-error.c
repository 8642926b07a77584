/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-error.h>

G_DEFINE_QUARK (gyre-error-quark, gyre_error)
