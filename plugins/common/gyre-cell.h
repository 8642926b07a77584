/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* What recurrent layers share: gates that are dense layers side by side, and a loop over
 * time that is unrolled when it is traced. */

#define CELL_MAX_GATES 4

typedef struct
{
  const char *name;        /* of the dense layer: its kernel is at NAME/kernel */
  gboolean    has_bias;
} CellGate;

/* f32[…, in] → f32[…, n · features]: all gates in one product */
GyreTensor *cell_gates  (GyreScope *scope, const CellGate *gates, guint n,
                         const GyreInit *init, gint64 features, GyreTensor *x);
/* Gate i of those: f32[b, n · features] → f32[b, features] */
GyreTensor *cell_gate   (GyreTensor *gates, gint64 features, guint i);
/* f32[b, time, c] → f32[b, c] */
GyreTensor *cell_at     (GyreTensor *x, gint64 time);
/* Of f32[b, features] at each time: f32[b, time, features], or the last of them */
GyreTensor *cell_result (GPtrArray *outputs, gboolean sequences);

G_END_DECLS
