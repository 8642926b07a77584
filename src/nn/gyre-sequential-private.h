/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "nn/gyre-container-private.h"

G_BEGIN_DECLS

#define GYRE_TYPE_SEQUENTIAL (gyre_sequential_get_type ())
G_DECLARE_FINAL_TYPE (GyreSequential, gyre_sequential, GYRE, SEQUENTIAL, GyreContainer)

G_END_DECLS
