/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-layer.h>

G_BEGIN_DECLS

/* What a layer of a model makes of a batch. A container counts itself alone: what is
 * inside it stands in rows of its own. */
typedef struct
{
  char     *path;        /* "residual_0/dense_0" */
  GyreDtype dtype;       /* of its result */
  GyreShape shape;
  gboolean  is_inner;    /* its result is that of a layer inside it */
  gint64    n_params;
  gint64    n_state;     /* running statistics and the like */
  double    flops;       /* of the forward pass */
} GyreLayerSurvey;

/* (element-type GyreLayerSurvey): in the order in which the layers are applied,
 * containers before what is inside. */
GPtrArray *gyre_model_survey (GyreLayer *model, const GyreShape *input, GyreDtype dtype,
                              GError **error);

G_END_DECLS
