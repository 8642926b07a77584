/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-report.h>

#include "train/gyre-prediction-private.h"

G_BEGIN_DECLS

/* How many of the worst test images are shown. */
#define GYRE_REPORT_N_WORST 24
/* With more classes than that nobody looks at all pairs. */
#define GYRE_REPORT_MAX_CLASSES 1000

typedef struct
{
  gint64 n_steps;      /* at the end of the epoch */
  double accuracy;     /* of the test split */
} GyreReportEpoch;

struct _GyreReport
{
  GObject parent_instance;

  GyreDataset    *dataset;
  GyreMesh       *mesh;         /* of the step of gyre_report_test (), or NULL */
  GyreStep       *test;
  char           *folder;       /* of the pictures, or NULL */
  gint64          first_step;   /* of the losses */
  GArray         *losses;       /* float */
  GQueue          unread;       /* GyreArray: losses that may not be known yet */
  GArray         *epochs;       /* GyreReportEpoch */

  gint64          n_classes;
  gint64 *counts; /* [label][predicted], other classes last; NULL: too many */
  gint64         *n_of;         /* by label */
  gint64         *right_of;
  gint64          n_tested;
  gint64          n_right;
  double          loss;         /* their sum */
  GyrePrediction  worst[GYRE_REPORT_N_WORST];   /* the largest loss first */
  guint           n_worst;
};

/* A step whose loss is known; NaN is shown as a gap. */
void     gyre_report_add_step       (GyreReport *self, double loss);
/* Reads all losses but the last so many. */
gboolean gyre_report_read_losses    (GyreReport *self, guint keep, GError **error);
/* One row of counts has a column more, of what the dataset has no class for. */
gint64   gyre_report_get_count      (const GyreReport *self, gint64 label,
                                     gint64 predicted);
void     gyre_report_add_prediction (GyreReport *self, const GyrePrediction *prediction);
/* Notes an epoch that ended after so many steps. */
void     gyre_report_add_epoch      (GyreReport *self, gint64 n_steps, double accuracy);

/* The confusion matrix alone: gyre-report-text.c. */
char    *gyre_report_matrix_text    (const GyreReport *self);
/* All that the pictures show, as JSON Lines: gyre-report-json.c. */
char    *gyre_report_to_json        (const GyreReport *self);

/* Whether pictures can be made, in this folder, which is made: gyre-report-write.c. */
gboolean gyre_report_check_folder   (const char *folder, GError **error);

/* One picture each, a PNG (transfer full): gyre-report-curve.c, -matrix.c, -worst.c. */
GBytes  *gyre_report_draw_curve     (const GyreReport *self);
GBytes  *gyre_report_draw_matrix    (const GyreReport *self);
GBytes  *gyre_report_draw_worst     (const GyreReport *self);

G_END_DECLS
