/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-window.h"

#define GYRE_TYPE_GLOBAL_AVG_POOL2D (gyre_global_avg_pool2d_get_type ())
G_DECLARE_FINAL_TYPE (GyreGlobalAvgPool2d, gyre_global_avg_pool2d, GYRE,
                      GLOBAL_AVG_POOL2D, GyreLayer)

struct _GyreGlobalAvgPool2d
{
  GyreLayer parent_instance;
};

GYRE_DEFINE_LAYER (GyreGlobalAvgPool2d, gyre_global_avg_pool2d)

/* The mean of each channel; x: f32[n, h, w, c] → f32[n, c] */
static GyreTensor *
gyre_global_avg_pool2d_apply (GyreLayer  *layer,
                              GyreScope  *scope,
                              GyreTensor *x)
{
  if (!gyre_window_takes (scope, x, 4))
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it can't be applied");

  return gyre_mean_dims (x, (const int[]){ 1, 2 }, 2, FALSE);
}

static void
gyre_global_avg_pool2d_class_init (GyreGlobalAvgPool2dClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = gyre_global_avg_pool2d_apply;
}

static void
gyre_global_avg_pool2d_init (GyreGlobalAvgPool2d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_global_avg_pool2d_add (plugin, "global-avg-pool2d");
}

GYRE_PLUGIN_DEFINE (global_avg_pool2d,
                    GYRE_VERSION_STRING,
                    "Apache-2.0",
                    plugin_init,
                    "Gyre")
