/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-affine.h"
#include "common/gyre-input.h"

#define GYRE_TYPE_LAYER_NORM (gyre_layer_norm_get_type ())
G_DECLARE_FINAL_TYPE (GyreLayerNorm, gyre_layer_norm, GYRE, LAYER_NORM, GyreLayer)

struct _GyreLayerNorm
{
  GyreLayer parent_instance;
  Affine    affine;
};

GYRE_DEFINE_LAYER (GyreLayerNorm, gyre_layer_norm)

/* y = (x - m) / √(v + ε) · scale + bias with the mean m and the variance v of the last
 * dimension (Ba et al., 2016);  x: f32[…, c]; scale, bias: f32[c].  Rows may be split
 * among devices in any way. */
static GyreTensor *
gyre_layer_norm_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  GyreLayerNorm *self = GYRE_LAYER_NORM (layer);
  GyreTensor *variance;

  if (!input_is (x, GYRE_F32, 1, FALSE))
    return input_fail (scope, x, "f32[…, c]");

  x = gyre_sub (x, gyre_mean_axis (x, -1, TRUE));
  variance = gyre_mean_axis (gyre_square (x), -1, TRUE);
  x = gyre_mul (x, gyre_rsqrt (gyre_add_scalar (variance, self->affine.epsilon)));

  return affine_apply (&self->affine, scope, x);
}

static void
gyre_layer_norm_class_init (GyreLayerNormClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = gyre_layer_norm_apply;
  affine_add_properties (GYRE_LAYER_CLASS (klass),
                         G_STRUCT_OFFSET (GyreLayerNorm, affine), 1e-6, TRUE);
}

static void
gyre_layer_norm_init (GyreLayerNorm *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_layer_norm_add (plugin, "layer-norm");
}

GYRE_PLUGIN_DEFINE (layer_norm, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
