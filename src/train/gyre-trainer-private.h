/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-checkpoint.h>
#include <gyre/gyre-dataset.h>
#include <gyre/gyre-optimizer.h>
#include <gyre/gyre-step.h>

#include "train/gyre-report-private.h"
#include "train/gyre-run-log-private.h"

G_BEGIN_DECLS

typedef enum
{
  GYRE_MODE_UNSET,
  GYRE_MODE_JIT,
  GYRE_MODE_PMAP
} GyreMode;

/* What `gyre train` is told: NULL, numbers below their least and GYRE_MODE_UNSET are left
 * to the checkpoint that is resumed, or to the defaults. Strings are borrowed. */
typedef struct
{
  const char *data;         /* NULL: the default dataset */
  const char *model;
  const char *optimizer;
  const char *augment;      /* of the training images, "crop=4,flip"; NULL: none */
  const char *loss;
  const char *devices;      /* NULL: GYRE_DEVICES, or all */
  const char *shares;       /* "5:2:1", "equal", or NULL: measured */
  const char *log;
  const char *plan;         /* a log whose plan is taken */
  const char *save;         /* the folder of checkpoints, or NULL */
  const char *report;       /* the folder of pictures, or NULL */
  const char *resume;       /* the folder of the checkpoint to go on from, or NULL */
  GyreMode    mode;
  gint64      epochs;
  gint64      steps;        /* ends after so many; -1: never */
  gint64      batch_size;
  gint64      accumulate;   /* batches of an update */
  gint64      save_every;   /* steps; -1: at the end of each epoch */
  gint64      seed;
  double      validation;   /* the part of the training data held back */
  gboolean    check_nan;    /* say where a NaN arose */
  gboolean    evaluate;     /* trains nothing: any data of the model's shape will do */
} GyreTrainerConfig;

typedef struct _GyreTrainer GyreTrainer;

/* What it reports while it runs. */
typedef struct
{
  /* a line about what was found, chosen or left out */
  void (*note)     (const char *text, gpointer data);
  /* after each step whose loss is known */
  void (*progress) (const GyreTrainer *trainer, gpointer data);
  /* after each epoch */
  void (*epoch)    (const GyreTrainer *trainer, gpointer data);
} GyreTrainerCallbacks;

struct _GyreTrainer
{
  GyreTrainerConfig    config;
  GyreTrainerCallbacks callbacks;
  gpointer             data;

  char           *augment;      /* config.augment, in its one spelling */
  GyreDataset    *dataset;
  GyreLoader     *train;
  GyreLoader     *test;
  GyreLoader     *validation;   /* what is held back of the training data, or NULL */
  gint64          n_train;      /* samples of an epoch */
  GyreLayer      *model;
  GyreOptimizer  *optimizer;
  GyreLoss       *criterion;
  GPtrArray      *devices;      /* as opened */
  GPtrArray      *members;      /* those in the mesh */
  GyreRunPlan     plan;
  GyreMesh       *mesh;
  GyreTrainState *state;
  GyreStep       *step;
  GyreStep       *adder;        /* of batches before an update's last, or NULL */
  GyreTree       *sums;         /* what it has added up */
  GyreStep       *eval;
  GyreKey         key;          /* of dropout and its kin */
  GyreRunLog     *log;
  GyreReport     *report;

  GPtrArray      *nan_places;   /* char *: the values that are looked through */
  GHashTable     *kept;         /* what the resumed checkpoint says, or NULL */
  gint64          resumed_at;   /* step */
  gint64          saved_at;     /* step; -1: nowhere yet */

  gint64          n_steps;      /* enqueued */
  gint64          n_known;      /* whose loss is known */
  gint64          epoch_index;
  gint64          epoch_batches;   /* taken from the loader */
  gint64          epoch_samples;   /* of those whose loss is known */
  double          loss;         /* the last known */
  double          loss_sum;     /* over the samples of this epoch */
  double          mean_loss;
  double          test_accuracy;
  double          validation_accuracy;
  gint64          epoch_start;  /* monotonic, µs */
  double          seconds;      /* of the last epoch */
  double         *busy;         /* by member: seconds in its training steps */
  GQueue          pending;      /* steps whose loss isn't read yet */
  gboolean        noted_nan;
  gboolean        stopped;      /* by gyre_trainer_stop () */
};

GyreTrainer *gyre_trainer_new      (const GyreTrainerConfig    *config,
                                    const GyreTrainerCallbacks *callbacks,
                                    gpointer                    data,
                                    GError                    **error);
void         gyre_trainer_free     (GyreTrainer *self);
/* Trains to the end, or to where it is stopped. */
gboolean     gyre_trainer_run      (GyreTrainer *self, GError **error);
/* From a signal handler or another thread: ends after the running step. */
void         gyre_trainer_stop     (void);
void         gyre_trainer_note     (GyreTrainer *self, const char *format,
                                    ...) G_GNUC_PRINTF (2, 3);

/* --- the traced functions: gyre-trainer-step.c --- */

/* Compiled steps over a mesh: {state, batch, key} → {state, loss}, and {state, batch} →
 * {logits}.  In jit mode the batch is split over the axis "data"; in pmap mode the state
 * is stacked and the batch cut by share. */
GyreStep    *gyre_trainer_make_step (GyreTrainer *self, GyreMesh *mesh, GyreMode mode,
                                     GError **error);
GyreStep    *gyre_trainer_make_eval (GyreTrainer *self, GyreMesh *mesh, GyreMode mode,
                                     GError **error);
/* Runs one step; *state is replaced by the state after. (transfer full): the results */
GyreTree    *gyre_trainer_call_step (GyreTrainer *self, GyreStep *step, GyreMesh *mesh,
                                     GyreMode mode, GyreTrainState **state,
                                     GyreTree *batch, GError **error);
/* A scalar that every device has: its value, from jit or pmap. */
gboolean     gyre_trainer_read      (GyreTree *results, const char *name, double *value,
                                     GError **error);

/* The traced pieces: gradients, loss and model state over all devices' rows, of which
 * pmap mode has a summand a device; those summed over the devices; and the state after an
 * update. */
GyreTree    *gyre_trainer_value_and_grad (GyreTrainer *self, GyreTree *args,
                                          GyreMode mode, GyreTensor **loss,
                                          GyreTree **model_state);
GyreTree    *gyre_trainer_add_up         (GyreTree *grads, GyreMode mode,
                                          GyreTensor **loss);
GyreTree    *gyre_trainer_finish_step    (GyreTree *args, GyreTree *grads,
                                          GyreTensor *loss, GyreTree *model_state);
/* The key of the next update, of a batch of it, for all devices. */
GyreArray   *gyre_trainer_spread_key     (GyreKey key, GyreMesh *mesh, GyreMode mode);

/* Whether losses are means over rows, not sums. */
gboolean     gyre_trainer_is_mean        (const GyreTrainer *self);

/* --- several batches an update: gyre-trainer-accumulate.c --- */

gboolean     gyre_trainer_make_adder     (GyreTrainer *self, GError **error);
/* As gyre_trainer_call_step () for one batch of them all. */
GyreTree    *gyre_trainer_accumulate     (GyreTrainer *self, GPtrArray *batches,
                                          gint64 rows, GError **error);

/* --- --check-nan: gyre-trainer-nan.c --- */

/* While a step is traced: adds "nan" to its results, if the run looks for NaNs. */
GyreTree    *gyre_trainer_watch_nan      (GyreTrainer *self, GyreTree *results);
/* GYRE_ERROR_NAN, which says what made the first. */
gboolean     gyre_trainer_check_nan      (GyreTrainer *self, GyreTree *results,
                                          GError **error);

/* --- data: gyre-trainer-data.c --- */

gboolean     gyre_trainer_open_data      (GyreTrainer *self, GError **error);
gint64       gyre_trainer_batch_rows     (GyreTree *batch);

/* --- what a model says: gyre-trainer-evaluate.c --- */

/* Calls func for each sample that the loader has, once and in order. */
gboolean     gyre_trainer_evaluate  (GyreTrainer *self, GyreLoader *loader,
                                     GyrePredictionFunc func, gpointer data,
                                     GError **error);
/* The accuracies of the test split, for the report as well, and of what is held back. */
gboolean     gyre_trainer_measure   (GyreTrainer *self, GError **error);

/* --- the report: gyre-trainer-report.c --- */

/* Starts it, with what the resumed run has done. */
gboolean     gyre_trainer_open_report (GyreTrainer *self, GError **error);

/* --- what is told, and what a checkpoint keeps of it: gyre-trainer-settings.c --- */

/* Fills the rest of the config, from the checkpoint or by default. */
gboolean     gyre_trainer_take_settings (GyreTrainer *self, GError **error);
void         gyre_trainer_keep_settings (const GyreTrainer *self, GHashTable *table);
const char  *gyre_trainer_mode_name     (GyreMode mode);
/* What was told must be what the checkpoint has. */
gboolean     gyre_trainer_check_kept    (const GyreTrainer *self, const char *name,
                                         const char *told, GError **error);
/* An entry of the checkpoint, and the same as a number. */
const char  *gyre_trainer_kept          (const GyreTrainer *self, const char *name,
                                         GError **error);
gboolean     gyre_trainer_kept_int      (const GyreTrainer *self, const char *name,
                                         gint64 *value, GError **error);
gboolean     gyre_trainer_kept_double   (const GyreTrainer *self, const char *name,
                                         double *value, GError **error);
void         gyre_trainer_keep_text     (GHashTable *table, const char *name,
                                         const char *text);
void         gyre_trainer_keep_int      (GHashTable *table, const char *name,
                                         gint64 value);
void         gyre_trainer_keep_double   (GHashTable *table, const char *name,
                                         double value);

/* --- checkpoints: gyre-trainer-save.c --- */

/* Writes one, if the run has a folder for it; losses have been read up to here. */
gboolean     gyre_trainer_save            (GyreTrainer *self, GError **error);
/* Of the run that is resumed, if one is: whether the data are the same; the state and
 * the place in the data, once the model is there; the shares. */
gboolean     gyre_trainer_check_data      (GyreTrainer *self, GError **error);
gboolean     gyre_trainer_restore         (GyreTrainer *self, GError **error);
gboolean     gyre_trainer_take_kept_plan  (GyreTrainer *self);

/* --- who takes part, and with what share: gyre-trainer-shares.c --- */

/* Fills the plan: from --plan, --shares, the devices' fixed shares, or by measuring. */
gboolean     gyre_trainer_plan      (GyreTrainer *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreTrainer, gyre_trainer_free)

G_END_DECLS
