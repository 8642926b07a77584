/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-window.h"

#define GYRE_TYPE_MAX_POOL2D (gyre_max_pool2d_get_type ())
G_DECLARE_FINAL_TYPE (GyreMaxPool2d, gyre_max_pool2d, GYRE, MAX_POOL2D, GyreLayer)

struct _GyreMaxPool2d
{
  GyreLayer parent_instance;
  char     *window;
  char     *strides;
  char     *padding;
};

GYRE_DEFINE_LAYER (GyreMaxPool2d, gyre_max_pool2d)

/* The largest of each window; x: f32[n, h, w, c] */
static GyreTensor *
gyre_max_pool2d_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  GyreMaxPool2d *self = GYRE_MAX_POOL2D (layer);
  gint64 window[2], strides[2], padding[4];

  if (!gyre_window_takes (scope, x, 4)
      || !gyre_window_get_pair (scope, "window", self->window, NULL, window)
      || !gyre_window_get_pair (scope, "strides", self->strides, window, strides)
      || !gyre_window_get_padding (scope, self->padding, x, window, strides, NULL,
                                   padding))
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it can't be applied");

  return gyre_max_pool (x, window, strides, padding);
}

static void
gyre_max_pool2d_class_init (GyreMaxPool2dClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_max_pool2d_apply;
  gyre_layer_class_add_ints (layer_class, "window", "Height and width of the window",
                             G_STRUCT_OFFSET (GyreMaxPool2d, window), 2, 1, G_MAXINT32,
                             NULL, "2");
  gyre_layer_class_add_ints (layer_class, "strides",
                             "Steps from window to window; unless given, the window's "
                             "size", G_STRUCT_OFFSET (GyreMaxPool2d, strides), 2, 1,
                             G_MAXINT32, NULL, NULL);
  gyre_window_add_padding (layer_class, G_STRUCT_OFFSET (GyreMaxPool2d, padding),
                           "VALID");
}

static void
gyre_max_pool2d_init (GyreMaxPool2d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_max_pool2d_add (plugin, "max-pool2d");
}

GYRE_PLUGIN_DEFINE (max_pool2d, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
