/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include <string.h>

#include "base/gyre-text-private.h"
#include "data/gyre-augment-private.h"

/* What a run is told that a checkpoint keeps.  A run that goes on takes from there what
 * it isn't told, and may not be told otherwise where the numbers or the place in the data
 * depend on it. */

#define DEFAULT_MODEL                                                                    \
  "flatten ! dense features=512 ! relu ! dense features=512 ! relu ! dense features=10"
#define DEFAULT_OPTIMIZER "adam learning-rate=1e-3"
#define DEFAULT_LOSS "softmax-cross-entropy"

typedef struct
{
  const char *name;         /* in the checkpoint; the option has dashes */
  gsize       member;       /* of GyreTrainerConfig: gint64 */
  gint64      least;        /* below: not told */
  gint64      otherwise;
  gboolean    fixed;
} Count;

static const Count counts[] = {
  { "epochs", G_STRUCT_OFFSET (GyreTrainerConfig, epochs), 1, 1, FALSE },
  { "batch_size", G_STRUCT_OFFSET (GyreTrainerConfig, batch_size), 1, 64, TRUE },
  { "accumulate", G_STRUCT_OFFSET (GyreTrainerConfig, accumulate), 1, 1, TRUE },
  { "seed", G_STRUCT_OFFSET (GyreTrainerConfig, seed), 0, 0, TRUE },
};

static const char *const mode_names[] = { "", "jit", "pmap" };

const char *
gyre_trainer_mode_name (GyreMode mode)
{
  return mode_names[mode];
}

const char *
gyre_trainer_kept (const GyreTrainer  *self,
                   const char         *name,
                   GError            **error)
{
  const char *text = g_hash_table_lookup (self->kept, name);

  if (!text)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                 "%s: the checkpoint has no '%s': 'gyre train --save' has not written it",
                 self->config.resume, name);
  return text;
}

gboolean
gyre_trainer_kept_int (const GyreTrainer  *self,
                       const char         *name,
                       gint64             *value,
                       GError            **error)
{
  const char *text = gyre_trainer_kept (self, name, error);

  if (!text)
    return FALSE;
  if (gyre_text_parse_int (text, 0, G_MAXINT64, value, error))
    return TRUE;
  g_prefix_error (error, "%s: '%s' of the checkpoint: ", self->config.resume, name);
  return FALSE;
}

gboolean
gyre_trainer_kept_double (const GyreTrainer  *self,
                          const char         *name,
                          double             *value,
                          GError            **error)
{
  const char *text = gyre_trainer_kept (self, name, error);

  if (!text)
    return FALSE;
  if (gyre_text_parse_double (text, value, error))
    return TRUE;
  g_prefix_error (error, "%s: '%s' of the checkpoint: ", self->config.resume, name);
  return FALSE;
}

gboolean
gyre_trainer_check_kept (const GyreTrainer  *self,
                         const char         *name,
                         const char         *told,
                         GError            **error)
{
  const char      *kept;
  g_autofree char *option = g_strdelimit (g_strdup (name), "_", '-');

  if (!self->kept)
    return TRUE;
  if (!(kept = gyre_trainer_kept (self, name, error)))
    return FALSE;
  if (g_str_equal (kept, told))
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "--%s '%s': the checkpoint in %s was made with '%s'; leave the option out "
               "to go on with it", option, told, self->config.resume, kept);
  return FALSE;
}

/* --- from the checkpoint --- */

static gboolean
take_count (GyreTrainer *self, const Count *count, GError **error)
{
  gint64          *member = G_STRUCT_MEMBER_P (&self->config, count->member);
  g_autofree char *told   = g_strdup_printf ("%" G_GINT64_FORMAT, *member);

  if (*member < count->least)
    return gyre_trainer_kept_int (self, count->name, member, error);
  return !count->fixed || self->config.evaluate ||
         gyre_trainer_check_kept (self, count->name, told, error);
}

static gboolean
take_text (GyreTrainer *self, const char *name, const char **member, GError **error)
{
  return *member || (*member = gyre_trainer_kept (self, name, error));
}

static gboolean
take_validation (GyreTrainer *self, GError **error)
{
  g_autofree char *told = gyre_float_to_string (self->config.validation);

  if (self->config.validation < 0.0)
    return gyre_trainer_kept_double (self, "validation", &self->config.validation, error);
  return gyre_trainer_check_kept (self, "validation", told, error);
}

/* A checkpoint of before there was any augmentation tells of none. */
static gboolean
take_augment (GyreTrainer *self, GError **error)
{
  const char *kept = g_hash_table_lookup (self->kept, "augment");

  if (self->config.evaluate)
    return TRUE;
  if (!kept)
    gyre_trainer_keep_text (self->kept, "augment", "none");
  if (!self->config.augment)
    self->config.augment = gyre_trainer_kept (self, "augment", error);
  return self->config.augment &&
         gyre_trainer_check_kept (self, "augment", self->config.augment, error);
}

static gboolean
take_mode (GyreTrainer *self, GError **error)
{
  const char *kept = gyre_trainer_kept (self, "mode", error);

  if (!kept || self->config.mode != GYRE_MODE_UNSET)
    return kept != NULL;
  for (GyreMode mode = GYRE_MODE_JIT; mode <= GYRE_MODE_PMAP; mode++)
    if (g_str_equal (kept, mode_names[mode]))
      {
        self->config.mode = mode;
        return TRUE;
      }
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: 'mode' of the checkpoint: \"%s\" is neither jit nor pmap",
               self->config.resume, kept);
  return FALSE;
}

static gboolean
take_kept (GyreTrainer *self, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    if (!take_count (self, &counts[i], error))
      return FALSE;
  if (!take_text (self, "data", &self->config.data, error) ||
      !take_text (self, "model", &self->config.model, error) ||
      !take_text (self, "optimizer", &self->config.optimizer, error) ||
      !take_validation (self, error) || !take_augment (self, error))
    return FALSE;
  if (!self->config.loss)
    self->config.loss = g_hash_table_lookup (self->kept, "loss");
  /* runs before there was a choice */
  if (!self->config.loss)
    self->config.loss = DEFAULT_LOSS;
  return take_mode (self, error);
}

/* --- otherwise --- */

static void
take_defaults (GyreTrainerConfig *config)
{
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      gint64 *member = G_STRUCT_MEMBER_P (config, counts[i].member);

      if (*member < counts[i].least)
        *member = counts[i].otherwise;
    }
  if (!config->model)
    config->model = DEFAULT_MODEL;
  if (!config->optimizer)
    config->optimizer = DEFAULT_OPTIMIZER;
  if (!config->augment)
    config->augment = "none";
  if (!config->loss)
    config->loss = DEFAULT_LOSS;
  if (config->validation < 0.0)
    config->validation = 0.0;
  if (config->mode == GYRE_MODE_UNSET)
    config->mode = GYRE_MODE_JIT;
}

/* Spelled as a checkpoint spells it. */
static gboolean
spell_augment (GyreTrainer *self, GError **error)
{
  GyreAugment augment;

  if (!self->config.augment)
    return TRUE;
  if (!gyre_augment_parse (self->config.augment, &augment, error))
    return FALSE;
  self->augment        = gyre_augment_to_string (&augment);
  self->config.augment = self->augment;
  return TRUE;
}

gboolean
gyre_trainer_take_settings (GyreTrainer  *self,
                            GError      **error)
{
  if (!spell_augment (self, error))
    return FALSE;
  if (!self->config.resume)
    {
      take_defaults (&self->config);
      return TRUE;
    }
  self->kept = gyre_checkpoint_load_metadata (self->config.resume, error);
  return self->kept && take_kept (self, error);
}

void
gyre_trainer_keep_text (GHashTable *table,
                        const char *name,
                        const char *text)
{
  g_hash_table_insert (table, g_strdup (name), g_strdup (text));
}

void
gyre_trainer_keep_int (GHashTable *table,
                       const char *name,
                       gint64      value)
{
  g_hash_table_insert (table, g_strdup (name),
                       g_strdup_printf ("%" G_GINT64_FORMAT, value));
}

void
gyre_trainer_keep_double (GHashTable *table,
                          const char *name,
                          double      value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  gyre_trainer_keep_text (table, name, g_ascii_dtostr (text, sizeof text, value));
}

void
gyre_trainer_keep_settings (const GyreTrainer *self,
                            GHashTable        *table)
{
  g_autofree char *model      = gyre_model_to_string (self->model);
  g_autofree char *optimizer  = gyre_optimizer_to_string (self->optimizer);
  g_autofree char *loss       = gyre_loss_to_string (self->criterion);
  g_autofree char *validation = gyre_float_to_string (self->config.validation);

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    gyre_trainer_keep_int (table, counts[i].name,
                           G_STRUCT_MEMBER (gint64, &self->config, counts[i].member));
  gyre_trainer_keep_text (table, "data", gyre_dataset_get_name (self->dataset));
  gyre_trainer_keep_text (table, "model", model);
  gyre_trainer_keep_text (table, "optimizer", optimizer);
  gyre_trainer_keep_text (table, "loss", loss);
  gyre_trainer_keep_text (table, "mode", mode_names[self->config.mode]);
  gyre_trainer_keep_text (table, "validation", validation);
  gyre_trainer_keep_text (table, "augment", self->config.augment);
}
