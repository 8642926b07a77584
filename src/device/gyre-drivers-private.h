/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* For programs, not for libgyre itself: sets those environment variables of drivers
 * (unless they are set) without which a driver computes wrong results on this machine.
 * Called first thing in main (), before any OpenCL call and any thread. */
void gyre_drivers_set_environment (void);

G_END_DECLS
