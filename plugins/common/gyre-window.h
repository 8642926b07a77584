/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* What layers have in common that look at an image through a window. */

/* SAME, VALID */
extern const char *const gyre_window_paddings[];

void     gyre_window_add_padding (GyreLayerClass *klass, gsize offset, const char *value);
/* A pair of the height and the width: one number stands for both; NULL: fallback. */
gboolean gyre_window_get_pair    (GyreScope *scope, const char *name, const char *text,
                                  const gint64 *fallback, gint64 *pair);
/* Whether x is f32[n, h, w, c] (of rank 3: f32[n, w, c]); the error is kept. */
gboolean gyre_window_takes       (GyreScope *scope, GyreTensor *x, int rank);
/* Low and high of the height, then of the width: SAME, VALID, one number for all, two for
 * the height and the width, or four */
gboolean gyre_window_get_padding (GyreScope *scope, const char *text, GyreTensor *x,
                                  const gint64 *window, const gint64 *strides,
                                  const gint64 *dilation, gint64 *padding);

G_END_DECLS
