/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-array.h>

G_BEGIN_DECLS

/* What a model says of one sample. */
typedef struct
{
  gint64 index;         /* in the split */
  gint32 label;
  gint32 predicted;     /* the first of the most probable classes */
  double probability;   /* of that class */
  double loss;          /* the label's cross-entropy */
} GyrePrediction;

typedef void (*GyrePredictionFunc) (const GyrePrediction *prediction, gpointer data);

/* Calls func for each row of logits, f32[b, classes], or of a device's share after the
 * other, f32[n, b / n, classes]; labels: i32[b].  The first row is the split's row
 * `first`. */
gboolean gyre_prediction_foreach (GyreArray *logits, GyreArray *labels, gint64 first,
                                  GyrePredictionFunc func, gpointer data,
                                  GError **error);

G_END_DECLS
