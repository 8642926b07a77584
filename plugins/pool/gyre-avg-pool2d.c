/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-window.h"

#define GYRE_TYPE_AVG_POOL2D (gyre_avg_pool2d_get_type ())
G_DECLARE_FINAL_TYPE (GyreAvgPool2d, gyre_avg_pool2d, GYRE, AVG_POOL2D, GyreLayer)

struct _GyreAvgPool2d
{
  GyreLayer parent_instance;
  char     *window;
  char     *strides;
  char     *padding;
  gboolean  count_include_pad;
};

GYRE_DEFINE_LAYER (GyreAvgPool2d, gyre_avg_pool2d)

/* The mean of each window; x: f32[n, h, w, c] */
static GyreTensor *
gyre_avg_pool2d_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  GyreAvgPool2d *self = GYRE_AVG_POOL2D (layer);
  gint64 window[2], strides[2], padding[4];

  if (!gyre_window_takes (scope, x, 4)
      || !gyre_window_get_pair (scope, "window", self->window, NULL, window)
      || !gyre_window_get_pair (scope, "strides", self->strides, window, strides)
      || !gyre_window_get_padding (scope, self->padding, x, window, strides, NULL,
                                   padding))
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it can't be applied");

  return gyre_avg_pool (x, window, strides, padding, self->count_include_pad);
}

static void
gyre_avg_pool2d_class_init (GyreAvgPool2dClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_avg_pool2d_apply;
  gyre_layer_class_add_ints (layer_class, "window", "Height and width of the window",
                             G_STRUCT_OFFSET (GyreAvgPool2d, window), 2, 1, G_MAXINT32,
                             NULL, "2");
  gyre_layer_class_add_ints (layer_class, "strides",
                             "Steps from window to window; unless given, the window's "
                             "size", G_STRUCT_OFFSET (GyreAvgPool2d, strides), 2, 1,
                             G_MAXINT32, NULL, NULL);
  gyre_window_add_padding (layer_class, G_STRUCT_OFFSET (GyreAvgPool2d, padding),
                           "VALID");
  gyre_layer_class_add_boolean (layer_class, "count-include-pad",
                                "Whether what is padded counts, as zeros",
                                G_STRUCT_OFFSET (GyreAvgPool2d, count_include_pad), TRUE);
}

static void
gyre_avg_pool2d_init (GyreAvgPool2d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_avg_pool2d_add (plugin, "avg-pool2d");
}

GYRE_PLUGIN_DEFINE (avg_pool2d, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
