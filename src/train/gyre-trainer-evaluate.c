/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

gboolean
gyre_trainer_evaluate (GyreTrainer         *self,
                       GyreLoader          *loader,
                       GyrePredictionFunc   func,
                       gpointer             data,
                       GError             **error)
{
  gint64    index = 0;
  GyreTree *batch;

  gyre_loader_rewind (loader);
  while ((batch = gyre_loader_next (loader)))
    {
      g_autoptr (GyreTree) held    = batch;
      g_autoptr (GyreTree) results =
          gyre_step_run (self->eval, error, GYRE_NODE_ENTRY ("state", self->state),
                         GYRE_TREE_ENTRY ("batch", held), NULL);

      if (!results ||
          !gyre_prediction_foreach (gyre_tree_get_array (results, "logits"),
                                    gyre_tree_get_array (held, "label"), index, func,
                                    data, error))
        return FALSE;
      index += gyre_trainer_batch_rows (held);
    }
  return TRUE;
}

static void
add_to_report (const GyrePrediction *prediction, gpointer data)
{
  gyre_report_add_prediction (data, prediction);
}

static void
count_right (const GyrePrediction *prediction, gpointer data)
{
  gint64 *counts = data;

  counts[0] += prediction->predicted == prediction->label;
  counts[1]++;
}

gboolean
gyre_trainer_measure (GyreTrainer  *self,
                      GError      **error)
{
  gint64 counts[2] = { 0, 0 };

  gyre_report_start_test (self->report);
  if (!gyre_trainer_evaluate (self, self->test, add_to_report, self->report, error))
    return FALSE;
  self->test_accuracy = gyre_report_get_accuracy (self->report);
  if (!self->validation)
    return TRUE;
  if (!gyre_trainer_evaluate (self, self->validation, count_right, counts, error))
    return FALSE;
  self->validation_accuracy = (double) counts[0] / (double) MAX (counts[1], 1);
  return TRUE;
}
