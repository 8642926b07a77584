/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The one header that a plugin includes: all of <gyre/gyre.h>, and what only
 * plugins need. */

#include <gyre/gyre.h>

#define GYRE_INSIDE

#undef GYRE_INSIDE
