/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-device.h>

G_BEGIN_DECLS

/* The log of a run, JSON Lines: first an object that says what runs and on what plan,
 * then one a step and one an epoch. Floats have nine significant digits whatever the
 * locale. */
typedef struct _GyreRunLog GyreRunLog;

/* What was measured and chosen: a run that is given the same repeats the same bits. */
typedef struct
{
  guint     n_devices;   /* in the mesh */
  double   *shares;      /* one a device, that sum to 1 */
  guint     n_benched;
  char    **benched;     /* "index name", of devices that were opened and left out */
  gboolean *used;        /* by device as opened: it is in the mesh */
  guint     n_opened;
} GyreRunPlan;

void         gyre_run_plan_clear     (GyreRunPlan *self);
/* From the first line of a log; n_opened devices must match what it was made with. */
gboolean     gyre_run_plan_read      (GyreRunPlan *self,
                                      const char  *path,
                                      GPtrArray   *devices,
                                      GError     **error);
/* The same from the line itself, of which origin tells where it stood. */
gboolean     gyre_run_plan_parse     (GyreRunPlan *self,
                                      const char  *line,
                                      const char  *origin,
                                      GPtrArray   *devices,
                                      GError     **error);

typedef struct
{
  GPtrArray         *devices;     /* as opened */
  const GyreRunPlan *plan;
  const char        *mesh;
  const char        *mode;
  const char        *data;
  const char        *model;
  const char        *optimizer;
  const char        *loss;
  gint64             batch_size;
  gint64             epochs;
  guint64            seed;
  gint64             accumulate;
  double             validation;
  const char        *augment;      /* NULL or "none": it isn't logged */
} GyreRunHeader;

/* path NULL: a log that writes nothing. */
GyreRunLog  *gyre_run_log_new        (const char *path, GError **error);
void         gyre_run_log_free       (GyreRunLog *self);
void         gyre_run_log_header     (GyreRunLog *self, const GyreRunHeader *header);
/* Goes on with the log of a run that was stopped: its lines so far (NULL: they weren't
 * kept), its header with the epochs of now, and another header where the run is another,
 * such as on other devices. kept_epochs: those of the header in text. */
void         gyre_run_log_resume     (GyreRunLog *self, const char *text,
                                      GyreRunHeader *header, gint64 kept_epochs);
/* Keeps what is written from now on in memory as well; and what that is. */
void         gyre_run_log_keep_text  (GyreRunLog *self);
const char  *gyre_run_log_get_text   (const GyreRunLog *self);
/* The header that holds now. */
char        *gyre_run_log_dup_header (const GyreRunLog *self);
void         gyre_run_log_step       (GyreRunLog *self, gint64 step, gint64 epoch,
                                      double loss);
/* validation_accuracy: NULL where no data are held back */
void         gyre_run_log_epoch      (GyreRunLog *self, gint64 epoch, double mean_loss,
                                      double test_accuracy,
                                      const double *validation_accuracy, double seconds);
/* FALSE: something could not be written (disk full). */
gboolean     gyre_run_log_check      (GyreRunLog *self, GError **error);
gboolean     gyre_run_log_close      (GyreRunLog *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreRunLog, gyre_run_log_free)

G_END_DECLS
