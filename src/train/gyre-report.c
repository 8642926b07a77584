/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-report-private.h"

#include <math.h>
#include <string.h>

#include "data/gyre-dataset-private.h"

/* So many steps are under way. */
#define READ_BEHIND 2

G_DEFINE_FINAL_TYPE (GyreReport, gyre_report, G_TYPE_OBJECT)

static void
gyre_report_finalize (GObject *object)
{
  GyreReport *self = GYRE_REPORT (object);

  g_clear_object (&self->dataset);
  g_clear_object (&self->test);
  g_clear_object (&self->mesh);
  g_queue_clear_full (&self->unread, (GDestroyNotify) gyre_array_unref);
  g_array_unref (self->losses);
  g_array_unref (self->epochs);
  g_free (self->folder);
  g_free (self->counts);
  g_free (self->n_of);
  g_free (self->right_of);
  G_OBJECT_CLASS (gyre_report_parent_class)->finalize (object);
}

static void
gyre_report_class_init (GyreReportClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gyre_report_finalize;
}

static void
gyre_report_init (GyreReport *self)
{
  self->losses = g_array_new (FALSE, FALSE, sizeof (float));
  g_queue_init (&self->unread);
  self->epochs = g_array_new (FALSE, FALSE, sizeof (GyreReportEpoch));
}

/**
 * gyre_report_new:
 * @dataset: what is trained and tested on
 * @folder: (nullable): where gyre_report_write() puts pictures; it is made; %NULL: none
 * @error: return location for an error
 *
 * Makes a report of nothing yet.  A folder that can't be written, or a library that was
 * built without cairo and so has no pictures, is told here, before anything is trained.
 *
 * Returns: (transfer full): the report, or %NULL
 */
GyreReport *
gyre_report_new (GyreDataset  *dataset,
                 const char   *folder,
                 GError      **error)
{
  GyreReport *self;
  gsize       n;

  g_return_val_if_fail (GYRE_IS_DATASET (dataset), NULL);
  if (folder && !gyre_report_check_folder (folder, error))
    return NULL;
  self            = g_object_new (GYRE_TYPE_REPORT, NULL);
  self->dataset   = g_object_ref (dataset);
  self->folder    = g_strdup (folder);
  self->n_classes = gyre_dataset_get_n_classes (dataset);
  n               = (gsize) self->n_classes;
  self->n_of      = g_new0 (gint64, n);
  self->right_of  = g_new0 (gint64, n);
  if (self->n_classes <= GYRE_REPORT_MAX_CLASSES)
    self->counts = g_new0 (gint64, n * (n + 1));
  return self;
}

void
gyre_report_add_step (GyreReport *self,
                      double      loss)
{
  float value = (float) loss;

  g_array_append_val (self->losses, value);
}

gboolean
gyre_report_read_losses (GyreReport  *self,
                         guint        keep,
                         GError     **error)
{
  while (g_queue_get_length (&self->unread) > keep)
    {
      g_autoptr (GyreArray) loss = g_queue_pop_head (&self->unread);
      double                value;

      if (!gyre_array_get_scalar (loss, &value, error))
        return FALSE;
      gyre_report_add_step (self, value);
    }
  return TRUE;
}

/**
 * gyre_report_add_loss:
 * @self: a report
 * @loss: f32[], what a training step gave
 * @error: return location for an error
 *
 * Adds a training step.  Its loss is read two steps later, when it is known: the devices
 * don't wait.
 *
 * Returns: %TRUE; %FALSE with the error of the step that gives a loss
 */
gboolean
gyre_report_add_loss (GyreReport  *self,
                      GyreArray   *loss,
                      GError     **error)
{
  g_return_val_if_fail (GYRE_IS_REPORT (self) && loss != NULL, FALSE);
  g_queue_push_tail (&self->unread, gyre_array_ref (loss));
  return gyre_report_read_losses (self, READ_BEHIND, error);
}

/**
 * gyre_report_start_test:
 * @self: a report
 *
 * Forgets what was tested before: the report tells of one pass over the test split.
 */
void
gyre_report_start_test (GyreReport *self)
{
  gsize n;

  g_return_if_fail (GYRE_IS_REPORT (self));
  n = (gsize) self->n_classes;
  if (self->counts)
    memset (self->counts, 0, n * (n + 1) * sizeof (gint64));
  memset (self->n_of, 0, n * sizeof (gint64));
  memset (self->right_of, 0, n * sizeof (gint64));
  self->n_tested = self->n_right = 0;
  self->loss     = 0.0;
  self->n_worst  = 0;
}

/* A loss that is no number is the worst of all. */
static gboolean
is_worse (double a, double b)
{
  return isnan (a) ? !isnan (b) : a > b;
}

/* Of equals the first one stands first. */
static void
keep_worst (GyreReport *self, const GyrePrediction *one)
{
  guint at = self->n_worst;

  while (at > 0 && is_worse (one->loss, self->worst[at - 1].loss))
    at--;
  if (at == GYRE_REPORT_N_WORST)
    return;
  self->n_worst = MIN (self->n_worst + 1, GYRE_REPORT_N_WORST);
  memmove (&self->worst[at + 1], &self->worst[at],
           (self->n_worst - at - 1) * sizeof *self->worst);
  self->worst[at] = *one;
}

void
gyre_report_add_prediction (GyreReport           *self,
                            const GyrePrediction *one)
{
  gint64 column = MIN (one->predicted, self->n_classes);
  gint64 right  = one->predicted == one->label;

  g_return_if_fail (one->label >= 0 && one->label < self->n_classes);
  if (self->counts)
    self->counts[one->label * (self->n_classes + 1) + column]++;
  self->n_of[one->label]++;
  self->right_of[one->label] += right;
  self->n_tested++;
  self->n_right += right;
  self->loss    += one->loss;
  keep_worst (self, one);
}

static void
add_prediction (const GyrePrediction *prediction, gpointer data)
{
  gyre_report_add_prediction (data, prediction);
}

/**
 * gyre_report_add_test:
 * @self: a report
 * @logits: f32[b, classes], what the model says of the next b samples of the test split
 * @labels: i32[b], what they are
 * @error: return location for an error
 *
 * Adds a batch of the test split; batches come in the split's order.  Waits for logits.
 *
 * Returns: %TRUE; %FALSE with %GYRE_ERROR_SHAPE or %GYRE_ERROR_DATA where the two don't
 *   fit, or with the error of the step that gives the logits
 */
gboolean
gyre_report_add_test (GyreReport  *self,
                      GyreArray   *logits,
                      GyreArray   *labels,
                      GError     **error)
{
  g_return_val_if_fail (GYRE_IS_REPORT (self), FALSE);
  return gyre_prediction_foreach (logits, labels, self->n_tested, add_prediction, self,
                                  error);
}

void
gyre_report_add_epoch (GyreReport *self,
                       gint64      n_steps,
                       double      accuracy)
{
  GyreReportEpoch epoch = { n_steps, accuracy };

  g_array_append_val (self->epochs, epoch);
}

/**
 * gyre_report_end_epoch:
 * @self: a report
 *
 * Notes that an epoch ends here, with the accuracy of what was tested last.
 */
void
gyre_report_end_epoch (GyreReport *self)
{
  g_return_if_fail (GYRE_IS_REPORT (self));
  gyre_report_add_epoch (self, self->first_step + self->losses->len,
                         gyre_report_get_accuracy (self));
}

/**
 * gyre_report_get_mean_loss:
 * @self: a report
 *
 * Returns: the mean loss of the steps of the epoch that ended last; NaN of none
 */
double
gyre_report_get_mean_loss (GyreReport *self)
{
  guint  n, first = 0, end;
  double sum      = 0.0;

  g_return_val_if_fail (GYRE_IS_REPORT (self), NAN);
  n   = self->epochs->len;
  end = self->losses->len;
  if (n >= 1)
    end = (guint) (g_array_index (self->epochs, GyreReportEpoch, n - 1).n_steps -
                   self->first_step);
  if (n >= 2)
    first = (guint) (g_array_index (self->epochs, GyreReportEpoch, n - 2).n_steps -
                     self->first_step);
  for (guint i = first; i < end; i++)
    sum += (double) g_array_index (self->losses, float, i);
  return sum / (double) (end - first);
}

/**
 * gyre_report_get_accuracy:
 * @self: a report
 *
 * Returns: the part of the tested samples that is right; 0 of none
 */
double
gyre_report_get_accuracy (GyreReport *self)
{
  g_return_val_if_fail (GYRE_IS_REPORT (self), 0.0);
  return self->n_tested ? (double) self->n_right / (double) self->n_tested : 0.0;
}

/**
 * gyre_report_get_recall:
 * @self: a report
 * @label: a class
 *
 * Returns: the part of the tested samples of this class that is right; NaN of none
 */
double
gyre_report_get_recall (GyreReport *self,
                        gint64      label)
{
  g_return_val_if_fail (GYRE_IS_REPORT (self), NAN);
  g_return_val_if_fail (label >= 0 && label < self->n_classes, NAN);
  return self->n_of[label] ? (double) self->right_of[label] / (double) self->n_of[label]
                           : NAN;
}

gint64
gyre_report_get_count (const GyreReport *self,
                       gint64            label,
                       gint64            predicted)
{
  return self->counts[label * (self->n_classes + 1) + predicted];
}
