/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-optimizer.h>

G_BEGIN_DECLS

typedef struct
{
  GyreTree      *step;          /* i32[]: how many updates there were */
  GyreTree      *params;
  GyreTree      *opt_state;
  GyreTree      *model_state;
  GyreTree      *fields;        /* the program's own, by name */
  GyreLayer     *model;         /* may be NULL */
  GyreOptimizer *optimizer;
} GyreTrainStatePrivate;

GyreTrainStatePrivate *gyre_train_state_get_private (GyreTrainState *self);

G_END_DECLS
