/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-affine.h"
#include "common/gyre-input.h"

#define GYRE_TYPE_RMS_NORM (gyre_rms_norm_get_type ())
G_DECLARE_FINAL_TYPE (GyreRmsNorm, gyre_rms_norm, GYRE, RMS_NORM, GyreLayer)

struct _GyreRmsNorm
{
  GyreLayer parent_instance;
  Affine    affine;
};

GYRE_DEFINE_LAYER (GyreRmsNorm, gyre_rms_norm)

/* y = x / √(mean (x²) + ε) · scale over the last dimension (Zhang and Sennrich, 2019);
 * x: f32[…, c]; scale: f32[c].  Rows may be split among devices in any way. */
static GyreTensor *
gyre_rms_norm_apply (GyreLayer  *layer,
                     GyreScope  *scope,
                     GyreTensor *x)
{
  GyreRmsNorm *self = GYRE_RMS_NORM (layer);
  GyreTensor *square;

  if (!input_is (x, GYRE_F32, 1, FALSE))
    return input_fail (scope, x, "f32[…, c]");

  square = gyre_mean_axis (gyre_square (x), -1, TRUE);
  x = gyre_mul (x, gyre_rsqrt (gyre_add_scalar (square, self->affine.epsilon)));

  return affine_apply (&self->affine, scope, x);
}

static void
gyre_rms_norm_class_init (GyreRmsNormClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = gyre_rms_norm_apply;
  affine_add_properties (GYRE_LAYER_CLASS (klass), G_STRUCT_OFFSET (GyreRmsNorm, affine),
                         1e-6, FALSE);
}

static void
gyre_rms_norm_init (GyreRmsNorm *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_rms_norm_add (plugin, "rms-norm");
}

GYRE_PLUGIN_DEFINE (rms_norm, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
