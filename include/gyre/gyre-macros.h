/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <glib-object.h>

/* What libgyre shows: all else is hidden (-fvisibility=hidden). */
#define GYRE_API __attribute__ ((visibility ("default")))

/* What a plugin shows: its descriptor, and nothing else. */
#define GYRE_PLUGIN_EXPORT __attribute__ ((visibility ("default")))
