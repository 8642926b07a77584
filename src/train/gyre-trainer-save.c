/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include <string.h>

#include "data/gyre-dataset-private.h"

/* What a run needs to go on as if it had never stopped: the state, the key of the next
 * step, where it is in the data, the sums of the epoch so far, the plan, and the log. */

/* A file's header may not be endless: a longer log is not kept. */
#define MAX_LOG (16 << 20)

/* {step, params, opt_state, model_state, key}, one copy. */
static GyreTree *
make_tree (GyreTrainer *self, GyreTree *state, GError **error)
{
  gboolean              stacked = self->config.mode == GYRE_MODE_PMAP && self->mesh;
  g_autoptr (GyreTree)  whole   = stacked ? gyre_unreplicate (state, error)
                                          : gyre_tree_ref (state);
  g_autoptr (GyreArray) key     = gyre_array_new_key (self->key);
  GyreTree             *tree;

  if (!whole)
    return NULL;
  tree = gyre_tree_new_dict ();
  for (guint i = 0; i < gyre_tree_get_n (whole); i++)
    gyre_tree_set (tree, gyre_tree_get_nth_name (whole, i), gyre_tree_get_nth (whole, i));
  gyre_tree_set_array (tree, "key", key);
  return tree;
}

static char *
image_text (GyreTrainer *self)
{
  GyreShape shape = gyre_dataset_get_image_shape (self->dataset);

  return gyre_shape_to_string (&shape);
}

static GHashTable *
make_metadata (GyreTrainer *self)
{
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const char *log   = gyre_run_log_get_text (self->log);
  g_autofree char *sum  = gyre_dataset_fingerprint (self->dataset);
  g_autofree char *plan = gyre_run_log_dup_header (self->log);
  g_autofree char *image = image_text (self);

  gyre_trainer_keep_text (table, "format", "gyre-train-1");
  gyre_trainer_keep_settings (self, table);
  gyre_trainer_keep_text (table, "data_fingerprint", sum);
  gyre_trainer_keep_text (table, "image", image);
  gyre_trainer_keep_text (table, "plan", plan);
  gyre_trainer_keep_int (table, "steps", self->n_steps);
  gyre_trainer_keep_int (table, "epoch", self->epoch_index);
  gyre_trainer_keep_int (table, "batch", self->epoch_batches);
  gyre_trainer_keep_int (table, "epoch_samples", self->epoch_samples);
  gyre_trainer_keep_double (table, "epoch_loss", self->loss_sum);
  if (strlen (log) <= MAX_LOG)
    gyre_trainer_keep_text (table, "log", log);
  return table;
}

gboolean
gyre_trainer_save (GyreTrainer  *self,
                   GError      **error)
{
  g_autoptr (GHashTable) metadata = NULL;
  g_autoptr (GyreTree)   state    = NULL;
  g_autoptr (GyreTree)   tree     = NULL;

  if (!self->config.save)
    return TRUE;
  state    = gyre_node_flatten (GYRE_NODE (self->state));
  metadata = make_metadata (self);
  if ((tree = make_tree (self, state, error)) &&
      gyre_checkpoint_save (tree, self->config.save, metadata, error))
    {
      self->saved_at = self->n_steps;
      return TRUE;
    }
  g_prefix_error (error, "--save ");
  return FALSE;
}

/* --- going on --- */

/* Other data of the model's shape will do where nothing is trained. */
static gboolean
check_image (GyreTrainer *self, GError **error)
{
  g_autofree char *is  = image_text (self);
  const char      *was = gyre_trainer_kept (self, "image", error);

  if (!was || g_str_equal (is, was))
    return was != NULL;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "--data %s: it has images of %s, and the model in %s is for %s",
               gyre_dataset_get_name (self->dataset), is, self->config.resume, was);
  return FALSE;
}

gboolean
gyre_trainer_check_data (GyreTrainer  *self,
                         GError      **error)
{
  g_autofree char *is = NULL;
  const char      *was;

  if (!self->kept)
    return TRUE;
  if (self->config.evaluate)
    return check_image (self, error);
  if (!(was = gyre_trainer_kept (self, "data_fingerprint", error)))
    return FALSE;
  is = gyre_dataset_fingerprint (self->dataset);
  if (g_str_equal (is, was))
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "--data %s: the checkpoint in %s was made on other data: '%s' (%s there, "
               "%s here)", gyre_dataset_get_name (self->dataset), self->config.resume,
               (const char *) g_hash_table_lookup (self->kept, "data"), was, is);
  return FALSE;
}

static gboolean
take_key (GyreTrainer *self, GyreTree *tree, GError **error)
{
  g_autoptr (GBytes) bytes = gyre_array_get (gyre_tree_get_array (tree, "key"), error);

  if (!bytes)
    return FALSE;
  memcpy (self->key.words, g_bytes_get_data (bytes, NULL), sizeof self->key.words);
  return TRUE;
}

/* An epoch's last batch may be short. */
static gboolean
check_batch (const GyreTrainer *self, GError **error)
{
  gint64 size = self->config.batch_size;
  gint64 all  = (self->n_train + size - 1) / size;

  if (self->config.evaluate || self->epoch_batches <= all)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: 'batch' of the checkpoint: %" G_GINT64_FORMAT
               " batches into an epoch "
               "of %" G_GINT64_FORMAT,
               self->config.resume, self->epoch_batches, all);
  return FALSE;
}

static gboolean
take_position (GyreTrainer *self, GError **error)
{
  if (!gyre_trainer_kept_int (self, "steps", &self->n_steps, error) ||
      !gyre_trainer_kept_int (self, "epoch", &self->epoch_index, error) ||
      !gyre_trainer_kept_int (self, "batch", &self->epoch_batches, error) ||
      !gyre_trainer_kept_int (self, "epoch_samples", &self->epoch_samples, error) ||
      !gyre_trainer_kept_double (self, "epoch_loss", &self->loss_sum, error) ||
      !check_batch (self, error))
    return FALSE;
  self->resumed_at = self->n_steps;
  self->n_known    = self->n_steps;
  self->saved_at   = self->n_steps;
  return TRUE;
}

gboolean
gyre_trainer_restore (GyreTrainer  *self,
                      GError      **error)
{
  g_autofree char     *model = gyre_model_to_string (self->model);
  g_autofree char     *loss  = gyre_loss_to_string (self->criterion);
  g_autoptr (GyreTree) state = NULL;
  g_autoptr (GyreTree) like  = NULL;
  g_autoptr (GyreTree) tree  = NULL;
  GyreNode            *node;

  if (!self->kept)
    return TRUE;
  if (!gyre_trainer_check_kept (self, "model", model, error) ||
      (!self->config.evaluate && g_hash_table_contains (self->kept, "loss") &&
       !gyre_trainer_check_kept (self, "loss", loss, error)))
    return FALSE;
  state = gyre_node_flatten (GYRE_NODE (self->state));
  like  = make_tree (self, state, error);
  if (!like || !(tree = gyre_checkpoint_load (like, self->config.resume, error)) ||
      !take_key (self, tree, error) || !take_position (self, error))
    return FALSE;
  node = gyre_node_unflatten (GYRE_NODE (self->state), tree);
  g_object_unref (self->state);
  self->state = GYRE_TRAIN_STATE (node);
  return TRUE;
}

/* The plan of the checkpoint, where the devices are the same. */
gboolean
gyre_trainer_take_kept_plan (GyreTrainer *self)
{
  g_autoptr (GError) error  = NULL;
  const char        *header;
  GyreRunPlan        plan   = { 0 };

  if (!self->kept || !(header = g_hash_table_lookup (self->kept, "plan")))
    return FALSE;
  if (gyre_run_plan_parse (&plan, header, self->config.resume, self->devices, &error))
    {
      gyre_run_plan_clear (&self->plan);
      self->plan = plan;
      return TRUE;
    }
  gyre_run_plan_clear (&plan);
  gyre_trainer_note (self, "the devices are others than those of the checkpoint: the "
                     "numbers go on, their last bits may differ");
  return FALSE;
}
