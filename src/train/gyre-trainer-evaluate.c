/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include <math.h>

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
read_batch (GyreTree            *results,
            GyreTree            *batch,
            gint64              *index,
            GyrePredictionFunc   func,
            gpointer             data,
            GError             **error)
{
  GyreArray         *array  = gyre_tree_get_array (results, "logits");
  g_autoptr (GBytes) logits = gyre_array_get (array, error);
  g_autoptr (GBytes) labels = gyre_array_get (gyre_tree_get_array (batch, "label"), NULL);
  GyreShape          shape  = gyre_array_get_shape (array);
  const float       *row;

  if (!logits)
    return FALSE;
  row = g_bytes_get_data (logits, NULL);
  for (gint64 i = 0; i < shape.dims[0]; i++)
    {
      gint32         label = ((const gint32 *) g_bytes_get_data (labels, NULL))[i];
      GyrePrediction one   = predict (row + i * shape.dims[1], shape.dims[1], label,
                                      (*index)++);

      func (&one, data);
    }
  return TRUE;
}

gboolean
gyre_trainer_evaluate (GyreTrainer         *self,
                       GyrePredictionFunc   func,
                       gpointer             data,
                       GError             **error)
{
  g_autoptr (GyreStep) step  = gyre_trainer_make_predict (self, error);
  gint64               index = 0;
  GyreTree            *batch;

  if (!step)
    return FALSE;
  gyre_loader_rewind (self->test);
  while ((batch = gyre_loader_next (self->test)))
    {
      g_autoptr (GyreTree) held    = batch;
      g_autoptr (GyreTree) results =
          gyre_step_run (step, error, GYRE_NODE_ENTRY ("state", self->state),
                         GYRE_TREE_ENTRY ("batch", held), NULL);

      if (!results || !read_batch (results, held, &index, func, data, error))
        return FALSE;
    }
  return TRUE;
}
