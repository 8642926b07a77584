/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-loss.h>

G_BEGIN_DECLS

/* Registers the losses of the library. */
void gyre_loss_ensure_types (void);

G_END_DECLS
