/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* A layer and an optimizer of somebody else. */

#define TEST_TYPE_RMS_NORM (test_rms_norm_get_type ())
G_DECLARE_FINAL_TYPE (TestRmsNorm, test_rms_norm, TEST, RMS_NORM, GyreLayer)

struct _TestRmsNorm
{
  GyreLayer parent_instance;
  double    epsilon;
  char     *note;
};

GYRE_DEFINE_LAYER (TestRmsNorm, test_rms_norm)

/* y = x / sqrt (mean (x²) + epsilon) · scale;  x, y: f32[…, d]; scale: f32[d] */
static GyreTensor *
test_rms_norm_apply (GyreLayer  *layer,
                     GyreScope  *scope,
                     GyreTensor *x)
{
  TestRmsNorm *self = TEST_RMS_NORM (layer);
  gint64 d = gyre_tensor_dim (x, -1);
  GyreTensor *scale = gyre_scope_param (scope, "scale", GYRE_SHAPE (d), &gyre_init_ones);
  GyreTensor *power = gyre_mean_axis (gyre_square (x), -1, TRUE);
  GyreTensor *rstd = gyre_rsqrt (gyre_add_scalar (power, self->epsilon));

  return gyre_mul (gyre_mul (x, rstd), scale);
}

static void
test_rms_norm_class_init (TestRmsNormClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = test_rms_norm_apply;
  gyre_layer_class_add_double (layer_class, "epsilon", "Added to the mean square",
                               G_STRUCT_OFFSET (TestRmsNorm, epsilon), 0, 1, 1e-6);
  gyre_layer_class_add_string (layer_class, "note", "Whatever one likes",
                               G_STRUCT_OFFSET (TestRmsNorm, note), NULL);
}

static void
test_rms_norm_init (TestRmsNorm *self)
{
}

#define TEST_TYPE_HALVE (test_halve_get_type ())
G_DECLARE_FINAL_TYPE (TestHalve, test_halve, TEST, HALVE, GyreOptimizer)

struct _TestHalve
{
  GyreOptimizer parent_instance;
};

GYRE_DEFINE_OPTIMIZER (TestHalve, test_halve)

static GyreTree *
test_halve_init_state (GyreOptimizer *self,
                       GyreTree      *params)
{
  return gyre_tree_new_dict ();
}

static void
test_halve_class_init (TestHalveClass *klass)
{
  GYRE_OPTIMIZER_CLASS (klass)->init = test_halve_init_state;
}

static void
test_halve_init (TestHalve *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  test_rms_norm_add (plugin, "test-rms-norm");
  test_halve_add (plugin, "test-halve");
}

GYRE_PLUGIN_DEFINE (test_good, "3.1", "MIT", plugin_init)
