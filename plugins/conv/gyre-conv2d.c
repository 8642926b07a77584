/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-window.h"

#define GYRE_TYPE_CONV2D (gyre_conv2d_get_type ())
G_DECLARE_FINAL_TYPE (GyreConv2d, gyre_conv2d, GYRE, CONV2D, GyreLayer)

struct _GyreConv2d
{
  GyreLayer parent_instance;
  gint64    features;
  char     *kernel_size;
  char     *strides;
  char     *padding;
  char     *kernel_dilation;
  gint64    feature_group_count;
  gboolean  use_bias;
  char     *kernel_init;
  char     *bias_init;
};

GYRE_DEFINE_LAYER (GyreConv2d, gyre_conv2d)

static gboolean
check_groups (GyreConv2d *self,
              GyreScope  *scope,
              gint64      channels)
{
  gint64 groups = self->feature_group_count;

  if (channels % groups == 0 && self->features % groups == 0)
    return TRUE;

  gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                   "feature-group-count=%" G_GINT64_FORMAT " must divide both the %"
                   G_GINT64_FORMAT " channels of the image and features=%"
                   G_GINT64_FORMAT, groups, channels, self->features);
  return FALSE;
}

/* y[n, p, q, o] = Σ x[n, p·s + i·d - low, …, c] kernel[i, j, c, o] + bias[o];
 * x: f32[n, h, w, c]; kernel: f32[kh, kw, c / groups, features]; bias: f32[features] */
static GyreTensor *
gyre_conv2d_apply (GyreLayer  *layer,
                   GyreScope  *scope,
                   GyreTensor *x)
{
  GyreConv2d *self = GYRE_CONV2D (layer);
  gint64 channels = gyre_tensor_dim (x, -1), groups = self->feature_group_count;
  gint64 size[2], strides[2], dilation[2], padding[4];
  GyreTensor *kernel, *bias, *y;

  if (!gyre_window_takes (scope, x, 4) || !check_groups (self, scope, channels)
      || !gyre_window_get_pair (scope, "kernel-size", self->kernel_size, NULL, size)
      || !gyre_window_get_pair (scope, "strides", self->strides, NULL, strides)
      || !gyre_window_get_pair (scope, "kernel-dilation", self->kernel_dilation, NULL,
                                dilation)
      || !gyre_window_get_padding (scope, self->padding, x, size, strides, dilation,
                                   padding))
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it can't be applied");

  kernel = gyre_scope_param (scope, "kernel",
                             GYRE_SHAPE (size[0], size[1], channels / groups,
                                         self->features),
                             &(GyreInit){ .text = self->kernel_init });
  y = gyre_conv (x, kernel, strides, padding, dilation, groups);
  if (!self->use_bias)
    return y;

  bias = gyre_scope_param (scope, "bias", GYRE_SHAPE (self->features),
                           &(GyreInit){ .text = self->bias_init });
  return gyre_add (y, bias);
}

static void
gyre_conv2d_class_init (GyreConv2dClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_conv2d_apply;
  gyre_layer_class_add_int (layer_class, "features", "How many channels come out",
                            G_STRUCT_OFFSET (GyreConv2d, features), 1, G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_ints (layer_class, "kernel-size", "Height and width of the kernel",
                             G_STRUCT_OFFSET (GyreConv2d, kernel_size), 2, 1, G_MAXINT32,
                             NULL, "3,3");
  gyre_layer_class_add_ints (layer_class, "strides", "Steps from result to result",
                             G_STRUCT_OFFSET (GyreConv2d, strides), 2, 1, G_MAXINT32,
                             NULL, "1,1");
  gyre_window_add_padding (layer_class, G_STRUCT_OFFSET (GyreConv2d, padding), "SAME");
  gyre_layer_class_add_ints (layer_class, "kernel-dilation",
                             "Steps from tap to tap of the kernel",
                             G_STRUCT_OFFSET (GyreConv2d, kernel_dilation), 2, 1,
                             G_MAXINT32, NULL, "1,1");
  gyre_layer_class_add_int (layer_class, "feature-group-count",
                            "In how many parts channels and features are cut; each part "
                            "of the features sees its part of the channels alone",
                            G_STRUCT_OFFSET (GyreConv2d, feature_group_count), 1,
                            G_MAXINT32, 1);
  gyre_layer_class_add_boolean (layer_class, "use-bias", "Whether a bias is added",
                                G_STRUCT_OFFSET (GyreConv2d, use_bias), TRUE);
  gyre_layer_class_add_init (layer_class, "kernel-init", "How the kernel begins",
                             G_STRUCT_OFFSET (GyreConv2d, kernel_init), "lecun-normal");
  gyre_layer_class_add_init (layer_class, "bias-init", "How the bias begins",
                             G_STRUCT_OFFSET (GyreConv2d, bias_init), "zeros");
}

static void
gyre_conv2d_init (GyreConv2d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_conv2d_add (plugin, "conv2d");
}

GYRE_PLUGIN_DEFINE (conv2d, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
