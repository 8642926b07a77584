/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-affine.h"

void
affine_add_properties (GyreLayerClass *klass,
                       gsize           offset,
                       double          epsilon,
                       gboolean        has_bias)
{
  gyre_layer_class_add_double (klass, "epsilon", "Added to the variance",
                               offset + G_STRUCT_OFFSET (Affine, epsilon), 0,
                               G_MAXDOUBLE, epsilon);
  gyre_layer_class_add_boolean (klass, "use-scale",
                                "Whether each feature is multiplied by a parameter",
                                offset + G_STRUCT_OFFSET (Affine, use_scale), TRUE);
  gyre_layer_class_add_init (klass, "scale-init", "How that parameter begins",
                             offset + G_STRUCT_OFFSET (Affine, scale_init), "ones");
  if (!has_bias)
    return;

  gyre_layer_class_add_boolean (klass, "use-bias",
                                "Whether a parameter is added to each feature",
                                offset + G_STRUCT_OFFSET (Affine, use_bias), TRUE);
  gyre_layer_class_add_init (klass, "bias-init", "How that parameter begins",
                             offset + G_STRUCT_OFFSET (Affine, bias_init), "zeros");
}

GyreTensor *
affine_apply (const Affine *self,
              GyreScope    *scope,
              GyreTensor   *y)
{
  GyreShape shape = GYRE_SHAPE (gyre_tensor_dim (y, -1));

  if (self->use_scale)
    y = gyre_mul (y, gyre_scope_param (scope, "scale", shape,
                                       &(GyreInit){ .text = self->scale_init }));
  if (self->use_bias)
    y = gyre_add (y, gyre_scope_param (scope, "bias", shape,
                                       &(GyreInit){ .text = self->bias_init }));

  return y;
}
