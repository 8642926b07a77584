/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-prediction-private.h"

#include <math.h>

#include <gyre/gyre-error.h>

/* log sum exp of n logits, from the largest. */
static double
log_sum (const float *logits, gint64 n, double largest)
{
  double sum = 0.0;

  for (gint64 i = 0; i < n; i++)
    sum += exp ((double) logits[i] - largest);
  return largest + log (sum);
}

static GyrePrediction
predict (const float *logits, gint64 n, gint32 label, gint64 index)
{
  GyrePrediction prediction = { .index = index, .label = label };
  double         whole;

  for (gint64 i = 1; i < n; i++)
    if (logits[i] > logits[prediction.predicted])
      prediction.predicted = (gint32) i;
  whole = log_sum (logits, n, (double) logits[prediction.predicted]);
  prediction.probability = exp ((double) logits[prediction.predicted] - whole);
  prediction.loss        = whole - (double) logits[label];
  return prediction;
}

static gboolean
check (GyreArray *logits, GyreArray *labels, GError **error)
{
  GyreShape        a = gyre_array_get_shape (logits), b = gyre_array_get_shape (labels);
  g_autofree char *is = NULL, *of = NULL;

  if (gyre_array_get_dtype (logits) == GYRE_F32 &&
      gyre_array_get_dtype (labels) == GYRE_I32 && a.rank >= 2 &&
      a.dims[a.rank - 1] > 0 && gyre_shape_n_elements (&a) ==
                                    gyre_shape_n_elements (&b) * a.dims[a.rank - 1])
    return TRUE;
  is = gyre_array_to_string (logits);
  of = gyre_array_to_string (labels);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
               "logits %s with labels %s: they must be f32[b, classes] and i32[b]", is,
               of);
  return FALSE;
}

gboolean
gyre_prediction_foreach (GyreArray           *logits,
                         GyreArray           *labels,
                         gint64               first,
                         GyrePredictionFunc   func,
                         gpointer             data,
                         GError             **error)
{
  GyreShape          shape   = gyre_array_get_shape (logits);
  gint64             classes = shape.rank ? shape.dims[shape.rank - 1] : 0;
  g_autoptr (GBytes) rows    = NULL;
  g_autoptr (GBytes) right   = NULL;
  const gint32      *label;

  if (!check (logits, labels, error) || !(rows = gyre_array_get (logits, error)) ||
      !(right = gyre_array_get (labels, error)))
    return FALSE;
  label = g_bytes_get_data (right, NULL);
  for (gint64 i = 0; i < gyre_shape_n_elements (&shape) / classes; i++)
    {
      const float   *row = g_bytes_get_data (rows, NULL);
      GyrePrediction one;

      if (label[i] < 0 || label[i] >= classes)
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA,
                       "label %d of sample %" G_GINT64_FORMAT ": the model has %"
                       G_GINT64_FORMAT " classes", label[i], first + i, classes);
          return FALSE;
        }
      one = predict (row + i * classes, classes, label[i], first + i);
      func (&one, data);
    }
  return TRUE;
}
