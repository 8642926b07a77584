/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* Another module with a layer that the library has, one that good.c has, even by the name
 * of its type, and one of its own. */

#define TEST_TYPE_RMS_NORM (test_rms_norm_get_type ())
G_DECLARE_FINAL_TYPE (TestRmsNorm, test_rms_norm, TEST, RMS_NORM, GyreLayer)

struct _TestRmsNorm
{
  GyreLayer parent_instance;
};

GYRE_DEFINE_LAYER (TestRmsNorm, test_rms_norm)

static GyreTensor *
test_rms_norm_apply (GyreLayer  *layer,
                     GyreScope  *scope,
                     GyreTensor *x)
{
  return x;
}

static void
test_rms_norm_class_init (TestRmsNormClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = test_rms_norm_apply;
}

static void
test_rms_norm_init (TestRmsNorm *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  test_rms_norm_add (plugin, "sequential");
  test_rms_norm_add (plugin, "test-rms-norm");
  test_rms_norm_add (plugin, "test-own");
}

GYRE_PLUGIN_DEFINE (test_second, "1.0", "Apache-2.0", plugin_init)
