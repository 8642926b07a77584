/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prims/gyre-prims-private.h"

G_BEGIN_DECLS

/* Windows over the height and width of x[n, h, w, c]: window p holds the elements
 * p · stride - low … + window - 1 that there are. */
typedef struct
{
  gint64 window[2];
  gint64 strides[2];
  gint64 padding[2][2];
} GyrePoolAttrs;

extern const GyrePrim gyre_prim_window_sum;
extern const GyrePrim gyre_prim_window_max;
/* x, v → v where x is the first of the largest in its window */
extern const GyrePrim gyre_prim_window_pick;
/* x, y → in x's shape, the sum of y over the windows of which the element is the first of
 * the largest */
extern const GyrePrim gyre_prim_window_scatter;

gboolean gyre_window_scatter_lower     (GyreLower *lower, const GyreTensor *node,
                                        GError **error);

void     gyre_window_sum_reference     (const GyreTensor *node, const GyreRef *in,
                                        GyreRef *out);
void     gyre_window_max_reference     (const GyreTensor *node, const GyreRef *in,
                                        GyreRef *out);
void     gyre_window_pick_reference    (const GyreTensor *node, const GyreRef *in,
                                        GyreRef *out);
void     gyre_window_scatter_reference (const GyreTensor *node, const GyreRef *in,
                                        GyreRef *out);

G_END_DECLS
