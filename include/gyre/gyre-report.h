/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-dataset.h>
#include <gyre/gyre-optimizer.h>

G_BEGIN_DECLS

#define GYRE_TYPE_REPORT (gyre_report_get_type ())

/**
 * GyreReport:
 *
 * What a run of training came to: the loss by step, the test accuracy by epoch, which
 * classes are taken for which, and the test images that were judged worst.  As a text,
 * and as pictures in a folder.
 */
GYRE_API
G_DECLARE_FINAL_TYPE (GyreReport, gyre_report, GYRE, REPORT, GObject)

GYRE_API
GyreReport *gyre_report_new (GyreDataset  *dataset,
                             const char   *folder,
                             GError      **error);
GYRE_API
gboolean gyre_report_add_loss (GyreReport  *self,
                               GyreArray   *loss,
                               GError     **error);
GYRE_API
void gyre_report_start_test (GyreReport *self);
GYRE_API
gboolean gyre_report_add_test (GyreReport  *self,
                               GyreArray   *logits,
                               GyreArray   *labels,
                               GError     **error);
GYRE_API
void gyre_report_end_epoch (GyreReport *self);
GYRE_API
gboolean gyre_report_test (GyreReport      *self,
                           GyreTrainState  *state,
                           GyreMesh        *mesh,
                           gint64           batch_size,
                           GError         **error);
GYRE_API
double gyre_report_get_mean_loss (GyreReport *self);
GYRE_API
double gyre_report_get_accuracy (GyreReport *self);
GYRE_API
double gyre_report_get_recall (GyreReport *self,
                               gint64      label);
GYRE_API
char *gyre_report_to_text (GyreReport *self);
GYRE_API
gboolean gyre_report_write (GyreReport  *self,
                            GError     **error);

G_END_DECLS
