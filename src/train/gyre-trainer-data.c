/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include <math.h>

/* The last rows of the training data are held back: they are only measured on. */
static gboolean
split_data (GyreTrainer *self, GError **error)
{
  double part   = self->config.validation;
  gint64 n      = gyre_dataset_get_n (self->dataset, GYRE_SPLIT_TRAIN);
  gint64 n_held = (gint64) llround (part * (double) n);

  self->n_train = n - n_held;
  if (part == 0.0)
    return TRUE;
  if (n_held < 1 || self->n_train < 1)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "--validation %g: of %" G_GINT64_FORMAT " images it leaves %"
                   G_GINT64_FORMAT " to train on and %" G_GINT64_FORMAT
                   " to validate with; it must leave some of each", part, n,
                   self->n_train, n_held);
      return FALSE;
    }
  gyre_loader_set_range (self->train, 0, self->n_train);
  if (!(self->validation = gyre_loader_new (self->dataset, GYRE_SPLIT_TRAIN,
                                            self->config.batch_size, error)))
    return FALSE;
  gyre_loader_set_range (self->validation, self->n_train, n_held);
  return TRUE;
}

gboolean
gyre_trainer_open_data (GyreTrainer  *self,
                        GError      **error)
{
  const char *spec = self->config.data;

  if (!(self->dataset = gyre_dataset_open (spec, error)) ||
      !(self->train = gyre_loader_new (self->dataset, GYRE_SPLIT_TRAIN,
                                       self->config.batch_size, error)) ||
      !(self->test = gyre_loader_new (self->dataset, GYRE_SPLIT_TEST,
                                      self->config.batch_size, error)) ||
      !split_data (self, error) ||
      !gyre_loader_set_augment (self->train, self->config.augment,
                                gyre_key_fold_in_path (gyre_key_new (
                                    (guint64) self->config.seed), "augment"), error))
    return FALSE;
  gyre_trainer_note (self, "data: %s%s, %" G_GINT64_FORMAT " images to train on, %"
                     G_GINT64_FORMAT " to test",
                     gyre_dataset_get_name (self->dataset), spec ? "" : " (the default)",
                     self->n_train, gyre_dataset_get_n (self->dataset, GYRE_SPLIT_TEST));
  return gyre_trainer_check_data (self, error);
}

gint64
gyre_trainer_batch_rows (GyreTree *batch)
{
  return gyre_array_get_shape (gyre_tree_get_array (batch, "label")).dims[0];
}
