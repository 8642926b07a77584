/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include <math.h>

/* A loss is read when the step after the next has been enqueued: by then it is known, and
 * the devices never wait for the host. */
#define READ_BEHIND 2

typedef struct
{
  gint64    step;
  gint64    epoch;
  gint64    rows;
  GyreTree *results;
} PendingStep;

static volatile gint stop_asked;

void
gyre_trainer_stop (void)
{
  g_atomic_int_set (&stop_asked, 1);
}

void
gyre_trainer_note (GyreTrainer *self,
                   const char  *format,
                   ...)
{
  g_autofree char *text = NULL;
  va_list          args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (self->callbacks.note)
    self->callbacks.note (text, self->data);
}

static void
pending_free (gpointer data)
{
  PendingStep *pending = data;

  gyre_tree_unref (pending->results);
  g_free (pending);
}

/* --- setting up --- */

/* One number has to come out. */
static GyreLoss *
make_criterion (GyreTrainer *self, GError **error)
{
  g_autoptr (GyreLoss) loss = gyre_loss_parse (self->config.loss, error);

  if (!loss || gyre_loss_get_reduction (loss) != GYRE_REDUCTION_NONE)
    return g_steal_pointer (&loss);
  g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                       "loss: reduction=none leaves a number a term, of which there is "
                       "no gradient: training takes mean or sum");
  return NULL;
}

static gboolean
open_model (GyreTrainer *self, GError **error)
{
  GyreShape image = gyre_dataset_get_image_shape (self->dataset);

  return (self->model = gyre_model_parse (self->config.model, error)) &&
         (self->optimizer = gyre_optimizer_parse (self->config.optimizer, error)) &&
         (self->criterion = make_criterion (self, error)) &&
         (self->state = gyre_train_state_new (self->model, self->optimizer,
                                              GYRE_SHAPE (1, image.dims[0], image.dims[1],
                                                          image.dims[2]),
                                              GYRE_F32, (guint64) self->config.seed,
                                              error)) &&
         gyre_trainer_restore (self, error);
}

static gboolean
open_devices (GyreTrainer *self, GError **error)
{
  self->devices = gyre_devices_open (self->config.devices, error);
  return self->devices != NULL;
}

static gboolean
make_mesh (GyreTrainer *self, GError **error)
{
  self->members = g_ptr_array_new ();
  self->busy    = g_new0 (double, self->devices->len);
  for (guint i = 0; i < self->devices->len; i++)
    if (self->plan.used[i])
      g_ptr_array_add (self->members, g_ptr_array_index (self->devices, i));
  return (self->mesh = gyre_mesh_new ("data=*", self->members, error)) &&
         gyre_mesh_set_shares (self->mesh, "data", self->plan.shares, error);
}

static gboolean
make_steps (GyreTrainer *self, GError **error)
{
  GyreMode mode = self->config.mode;

  if (mode == GYRE_MODE_PMAP)
    {
      GyreTrainState *stacked =
          gyre_train_state_replicate (self->state, self->mesh, error);

      if (!stacked)
        return FALSE;
      g_object_unref (self->state);
      self->state = stacked;
    }
  if (self->config.accumulate > 1 && !gyre_trainer_make_adder (self, error))
    return FALSE;
  return (self->step || (self->step = gyre_trainer_make_step (self, self->mesh, mode,
                                                              error))) &&
         (self->eval = gyre_trainer_make_eval (self, self->mesh, mode, error));
}

static void
log_header (GyreTrainer *self)
{
  g_autofree char *mesh      = gyre_mesh_to_string (self->mesh);
  g_autofree char *model     = gyre_model_to_string (self->model);
  g_autofree char *optimizer = gyre_optimizer_to_string (self->optimizer);
  g_autofree char *loss      = gyre_loss_to_string (self->criterion);
  gint64           epochs    = 0;
  GyreRunHeader header = {
    self->devices,
    &self->plan,
    mesh,
    gyre_trainer_mode_name (self->config.mode),
    gyre_dataset_get_name (self->dataset),
    model,
    optimizer,
    loss,
    self->config.batch_size,
    self->config.epochs,
    (guint64) self->config.seed,
    self->config.accumulate,
    self->config.validation,
    self->config.augment,
  };

  if (!self->kept)
    gyre_run_log_header (self->log, &header);
  else if (gyre_trainer_kept_int (self, "epochs", &epochs, NULL))
    gyre_run_log_resume (self->log, g_hash_table_lookup (self->kept, "log"), &header,
                         epochs);
}

GyreTrainer *
gyre_trainer_new (const GyreTrainerConfig     *config,
                  const GyreTrainerCallbacks  *callbacks,
                  gpointer                     data,
                  GError                     **error)
{
  g_autoptr (GyreTrainer) self = g_new0 (GyreTrainer, 1);
  GyreKey                 key;

  self->config    = *config;
  self->callbacks = *callbacks;
  self->data      = data;
  self->saved_at  = -1;
  g_queue_init (&self->pending);
  if (!gyre_trainer_take_settings (self, error))
    return NULL;
  self->key = gyre_key_new (42 + (guint64) self->config.seed);
  if (!gyre_trainer_open_data (self, error) || !open_model (self, error) ||
      !gyre_trainer_open_report (self, error) || !open_devices (self, error))
    return NULL;
  key = self->key;
  if (!gyre_trainer_plan (self, error) || !make_mesh (self, error) ||
      !make_steps (self, error) ||
      !(self->log = gyre_run_log_new (config->log, error)))
    return NULL;
  /* measuring drew keys as well */
  self->key = key;
  if (self->config.save)
    gyre_run_log_keep_text (self->log);
  log_header (self);
  return g_steal_pointer (&self);
}

void
gyre_trainer_free (GyreTrainer *self)
{
  if (!self)
    return;
  g_queue_clear_full (&self->pending, pending_free);
  g_clear_object (&self->step);
  g_clear_object (&self->adder);
  g_clear_pointer (&self->sums, gyre_tree_unref);
  g_clear_object (&self->validation);
  g_clear_object (&self->eval);
  g_clear_object (&self->state);
  g_clear_object (&self->mesh);
  g_clear_object (&self->optimizer);
  g_clear_object (&self->criterion);
  g_clear_object (&self->model);
  g_clear_object (&self->train);
  g_clear_object (&self->test);
  g_clear_object (&self->report);
  g_clear_object (&self->dataset);
  g_clear_pointer (&self->members, g_ptr_array_unref);
  g_clear_pointer (&self->devices, g_ptr_array_unref);
  g_clear_pointer (&self->log, gyre_run_log_free);
  g_clear_pointer (&self->kept, g_hash_table_unref);
  g_clear_pointer (&self->nan_places, g_ptr_array_unref);
  gyre_run_plan_clear (&self->plan);
  g_free (self->busy);
  g_free (self->augment);
  g_free (self);
}

/* --- training --- */

/* Once: what follows is NaN as well. */
static void
note_nan (GyreTrainer *self, gint64 step)
{
  if (!isnan (self->loss) || self->noted_nan)
    return;
  self->noted_nan = TRUE;
  gyre_trainer_note (self, "the loss of step %" G_GINT64_FORMAT " is NaN; --check-nan "
                     "says where it arises", step);
}

static gboolean
read_oldest (GyreTrainer *self, GError **error)
{
  PendingStep *pending = g_queue_pop_head (&self->pending);
  gboolean     ok      = gyre_trainer_read (pending->results, "loss", &self->loss, error);

  if (ok)
    {
      self->n_known         = pending->step + 1;
      self->loss_sum       += gyre_trainer_is_mean (self)
                                  ? self->loss * (double) pending->rows : self->loss;
      self->epoch_samples  += pending->rows;
      note_nan (self, pending->step);
      gyre_report_add_step (self->report, self->loss);
      gyre_run_log_step (self->log, pending->step, pending->epoch, self->loss);
      if (self->callbacks.progress)
        self->callbacks.progress (self, self->data);
    }
  else
    g_prefix_error (error, "step %" G_GINT64_FORMAT ": ", pending->step);
  pending_free (pending);
  return ok && gyre_run_log_check (self->log, error);
}

static gboolean
read_losses (GyreTrainer *self, guint keep, GError **error)
{
  while (g_queue_get_length (&self->pending) > keep)
    if (!read_oldest (self, error))
      return FALSE;
  return TRUE;
}

/* The batches of one update, up to the end of the epoch. */
static GPtrArray *
next_batches (GyreTrainer *self)
{
  GPtrArray *batches =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_tree_unref);

  while (batches->len < self->config.accumulate)
    {
      GyreTree *batch = gyre_loader_next (self->train);

      if (!batch)
        break;
      self->epoch_batches++;
      g_ptr_array_add (batches, batch);
    }
  return batches;
}

static gint64
rows_of (GPtrArray *batches)
{
  gint64 rows = 0;

  for (guint i = 0; i < batches->len; i++)
    rows += gyre_trainer_batch_rows (g_ptr_array_index (batches, i));
  return rows;
}

static gboolean
train_batches (GyreTrainer *self, GPtrArray *batches, GError **error)
{
  PendingStep *pending;
  GyreTree    *results =
      self->adder ? gyre_trainer_accumulate (self, batches, rows_of (batches), error)
                  : gyre_trainer_call_step (self, self->step, self->mesh,
                                            self->config.mode, &self->state,
                                            g_ptr_array_index (batches, 0), error);

  if (!results)
    {
      g_prefix_error (error, "step %" G_GINT64_FORMAT ": ", self->n_steps);
      return FALSE;
    }
  pending          = g_new0 (PendingStep, 1);
  pending->step    = self->n_steps++;
  pending->epoch   = self->epoch_index;
  pending->rows    = rows_of (batches);
  /* the state isn't held, so that the next step may take its buffers */
  pending->results = gyre_tree_build (
      GYRE_ARRAY_ENTRY ("loss", gyre_tree_get_array (results, "loss")), NULL);
  gyre_tree_unref (results);
  g_queue_push_tail (&self->pending, pending);
  return read_losses (self, READ_BEHIND, error);
}

static gboolean
is_at_end (const GyreTrainer *self)
{
  return self->stopped ||
         (self->config.steps >= 0 && self->n_steps >= self->config.steps);
}

/* A run that goes on may be amid an epoch. */
static void
start_epoch (GyreTrainer *self)
{
  gyre_loader_shuffle (self->train, gyre_key_new ((guint64) self->config.seed),
                       (guint) self->epoch_index);
  gyre_loader_skip (self->train, self->epoch_batches);
  self->epoch_start = g_get_monotonic_time ();
}

static void
end_epoch (GyreTrainer *self)
{
  self->epoch_index++;
  self->epoch_batches = 0;
  self->epoch_samples = 0;
  self->loss_sum      = 0.0;
}

static gboolean
save_if_due (GyreTrainer *self, GError **error)
{
  if (self->config.save_every <= 0 || self->n_steps % self->config.save_every != 0)
    return TRUE;
  return read_losses (self, 0, error) && gyre_trainer_save (self, error);
}

static gboolean
train_epoch (GyreTrainer *self, GError **error)
{
  start_epoch (self);
  while (!is_at_end (self))
    {
      g_autoptr (GPtrArray) batches = next_batches (self);

      if (batches->len == 0)
        break;
      if (!train_batches (self, batches, error) || !save_if_due (self, error))
        return FALSE;
      self->stopped = g_atomic_int_get (&stop_asked) != 0;
    }
  if (!read_losses (self, 0, error))
    return FALSE;
  self->mean_loss =
      self->epoch_samples ? self->loss_sum / (double) self->epoch_samples : 0.0;
  self->seconds   = (double) (g_get_monotonic_time () - self->epoch_start) / 1e6;
  return TRUE;
}

/* Adds what the members have been busy since, or takes it off: sign is 1 or -1. */
static void
count_busy (GyreTrainer *self, double sign)
{
  for (guint i = 0; i < self->members->len; i++)
    self->busy[i] += sign * gyre_device_get_busy (g_ptr_array_index (self->members, i));
}

static gboolean
finish_epoch (GyreTrainer *self, GError **error)
{
  if (!gyre_trainer_measure (self, error))
    return FALSE;
  gyre_report_end_epoch (self->report);
  gyre_run_log_epoch (self->log, self->epoch_index, self->mean_loss, self->test_accuracy,
                      self->validation ? &self->validation_accuracy : NULL,
                      self->seconds);
  if (self->callbacks.epoch)
    self->callbacks.epoch (self, self->data);
  return TRUE;
}

/* Before the line of an epoch that may be cut short: it is written anew. */
static gboolean
save_at_end (GyreTrainer *self, GError **error)
{
  return !(self->stopped || is_at_end (self)) || self->saved_at == self->n_steps ||
         gyre_trainer_save (self, error);
}

static gboolean
train_epochs (GyreTrainer *self, GError **error)
{
  while (self->epoch_index < self->config.epochs)
    {
      count_busy (self, -1.0);
      if (!train_epoch (self, error) || !save_at_end (self, error))
        return FALSE;
      count_busy (self, 1.0);
      if (self->stopped)
        break;
      if (!finish_epoch (self, error))
        return FALSE;
      if (is_at_end (self))
        break;
      end_epoch (self);
      if ((self->config.save_every <= 0 || self->epoch_index == self->config.epochs) &&
          !gyre_trainer_save (self, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
gyre_trainer_run (GyreTrainer  *self,
                  GError      **error)
{
  gboolean nothing_left = self->epoch_index >= self->config.epochs;

  if (nothing_left)
    gyre_trainer_note (self, "nothing is left to do: the checkpoint has all %"
                       G_GINT64_FORMAT " epochs; --epochs gives it more",
                       self->config.epochs);
  return (nothing_left ? gyre_trainer_measure (self, error)
                       : train_epochs (self, error)) &&
         gyre_step_wait (self->step, error) && gyre_run_log_close (self->log, error);
}
