/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The one header that a program includes. */

#define GYRE_INSIDE

#include <gyre/gyre-macros.h>
#include <gyre/gyre-version.h>

#undef GYRE_INSIDE
