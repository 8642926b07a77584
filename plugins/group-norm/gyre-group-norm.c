/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-affine.h"
#include "common/gyre-input.h"

#define GYRE_TYPE_GROUP_NORM (gyre_group_norm_get_type ())
G_DECLARE_FINAL_TYPE (GyreGroupNorm, gyre_group_norm, GYRE, GROUP_NORM, GyreLayer)

struct _GyreGroupNorm
{
  GyreLayer parent_instance;
  gint64    num_groups;
  Affine    affine;
};

GYRE_DEFINE_LAYER (GyreGroupNorm, gyre_group_norm)

/* f32[b, p, g, c / g] with g groups: mean 0 and variance 1 over p and the last */
static GyreTensor *
normalise (const GyreGroupNorm *self,
           GyreTensor          *x)
{
  static const int dims[] = { 1, 3 };
  GyreTensor *variance;

  x = gyre_sub (x, gyre_mean_dims (x, dims, 2, TRUE));
  variance = gyre_mean_dims (gyre_square (x), dims, 2, TRUE);

  return gyre_mul (x, gyre_rsqrt (gyre_add_scalar (variance, self->affine.epsilon)));
}

/* As layer-norm, with the statistics of each sample and group of c / num-groups features
 * (Wu and He, 2018);  x: f32[b, …, c]; scale, bias: f32[c].  Samples may be split among
 * devices in any way. */
static GyreTensor *
gyre_group_norm_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  GyreGroupNorm *self = GYRE_GROUP_NORM (layer);
  GyreShape shape = gyre_tensor_get_shape (x);
  gint64 features, places = 1;

  if (!input_is (x, GYRE_F32, 2, FALSE))
    return input_fail (scope, x, "f32[b, …, c]");

  features = gyre_tensor_dim (x, -1);
  if (features % self->num_groups != 0)
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                            "%" G_GINT64_FORMAT " features can't be cut into %"
                            G_GINT64_FORMAT " equal groups: give num-groups=, a divisor",
                            features, self->num_groups);

  for (int i = 1; i < shape.rank - 1; i++)
    places *= shape.dims[i];
  x = gyre_reshape (x, GYRE_SHAPE (shape.dims[0], places, self->num_groups,
                                   features / self->num_groups));
  x = gyre_reshape (normalise (self, x), shape);

  return affine_apply (&self->affine, scope, x);
}

static void
gyre_group_norm_class_init (GyreGroupNormClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_group_norm_apply;
  gyre_layer_class_add_int (layer_class, "num-groups", "How many groups of features",
                            G_STRUCT_OFFSET (GyreGroupNorm, num_groups), 1, G_MAXINT32,
                            32);
  affine_add_properties (layer_class, G_STRUCT_OFFSET (GyreGroupNorm, affine), 1e-6,
                         TRUE);
}

static void
gyre_group_norm_init (GyreGroupNorm *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_group_norm_add (plugin, "group-norm");
}

GYRE_PLUGIN_DEFINE (group_norm, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
