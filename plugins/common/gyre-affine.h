/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* What the normalisations share: y scale + bias along the last dimension, each where it
 * is used. */
typedef struct
{
  double   epsilon;
  gboolean use_scale;
  gboolean use_bias;
  char    *scale_init;
  char    *bias_init;
} Affine;

/* The offset is that of the struct in the instance.  has_bias: whether there is such a
 * property at all. */
void        affine_add_properties (GyreLayerClass *klass, gsize offset, double epsilon,
                                   gboolean has_bias);
GyreTensor *affine_apply          (const Affine *self, GyreScope *scope, GyreTensor *y);

G_END_DECLS
