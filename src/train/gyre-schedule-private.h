/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-optimizer.h>

G_BEGIN_DECLS

/* The schedules of the library are rows of a table, as the optimizers are. */

typedef struct
{
  GyreSchedule parent_instance;

  double       init_value;
  double       peak_value;
  double       end_value;
  double       decay_rate;
  double       alpha;
  double       exponent;
  gint64       transition_steps;
  gint64       transition_begin;
  gint64       warmup_steps;
  gint64       decay_steps;
  gboolean     staircase;
  char        *boundaries;
} GyreCurve;

typedef struct
{
  const char *name;
  const char *type_name;
  void      (*add_properties) (GObjectClass *klass);
  /* count: f32[] */
  GyreTensor *(*value)        (const GyreCurve *self, GyreTensor *count);
  /* Optional: what the ranges of single properties don't say. */
  gboolean  (*check)          (const GyreCurve *self, GError **error);
} GyreCurveRow;

extern const GyreCurveRow gyre_curve_rows[];
extern const guint        gyre_curve_n_rows;

G_END_DECLS
