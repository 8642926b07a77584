/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-window.h"

#define GYRE_TYPE_CONV_TRANSPOSE2D (gyre_conv_transpose2d_get_type ())
G_DECLARE_FINAL_TYPE (GyreConvTranspose2d, gyre_conv_transpose2d, GYRE, CONV_TRANSPOSE2D,
                      GyreLayer)

struct _GyreConvTranspose2d
{
  GyreLayer parent_instance;
  gint64    features;
  char     *kernel_size;
  char     *strides;
  char     *padding;
  char     *kernel_dilation;
  gboolean  use_bias;
  char     *kernel_init;
  char     *bias_init;
};

GYRE_DEFINE_LAYER (GyreConvTranspose2d, gyre_conv_transpose2d)

/* Numbers are those of the convolution whose image has zeros between its elements. */
static gboolean
get_padding (GyreConvTranspose2d *self,
             GyreScope           *scope,
             GyreTensor          *x,
             const gint64        *size,
             const gint64        *strides,
             const gint64        *dilation,
             gint64              *padding)
{
  gboolean same = g_ascii_strcasecmp (self->padding, "SAME") == 0;

  if (!same && g_ascii_strcasecmp (self->padding, "VALID") != 0)
    return gyre_window_get_padding (scope, self->padding, x, size, strides, dilation,
                                    padding);

  for (int i = 0; i < 2; i++)
    gyre_padding_transposed (size[i], strides[i], dilation[i], same, padding + 2 * i);
  return TRUE;
}

/* y = the convolution of x, with strides - 1 zeros between its elements, and the kernel,
 * which is not turned, + bias; x: f32[n, h, w, c]; kernel: f32[kh, kw, c, features] */
static GyreTensor *
gyre_conv_transpose2d_apply (GyreLayer  *layer,
                             GyreScope  *scope,
                             GyreTensor *x)
{
  GyreConvTranspose2d *self = GYRE_CONV_TRANSPOSE2D (layer);
  gint64 size[2], strides[2], dilation[2], padding[4];
  GyreTensor *kernel, *bias, *y;

  if (!gyre_window_takes (scope, x, 4)
      || !gyre_window_get_pair (scope, "kernel-size", self->kernel_size, NULL, size)
      || !gyre_window_get_pair (scope, "strides", self->strides, NULL, strides)
      || !gyre_window_get_pair (scope, "kernel-dilation", self->kernel_dilation, NULL,
                                dilation)
      || !get_padding (self, scope, x, size, strides, dilation, padding))
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it can't be applied");

  kernel = gyre_scope_param (scope, "kernel",
                             GYRE_SHAPE (size[0], size[1], gyre_tensor_dim (x, -1),
                                         self->features),
                             &(GyreInit){ .text = self->kernel_init });
  y = gyre_conv_dilated (x, kernel, NULL, padding, dilation, strides, 1);
  if (!self->use_bias)
    return y;

  bias = gyre_scope_param (scope, "bias", GYRE_SHAPE (self->features),
                           &(GyreInit){ .text = self->bias_init });
  return gyre_add (y, bias);
}

static void
gyre_conv_transpose2d_class_init (GyreConvTranspose2dClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_conv_transpose2d_apply;
  gyre_layer_class_add_int (layer_class, "features", "How many channels come out",
                            G_STRUCT_OFFSET (GyreConvTranspose2d, features), 1,
                            G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_ints (layer_class, "kernel-size", "Height and width of the kernel",
                             G_STRUCT_OFFSET (GyreConvTranspose2d, kernel_size), 2, 1,
                             G_MAXINT32, NULL, "3,3");
  gyre_layer_class_add_ints (layer_class, "strides",
                             "How many results there are for each element, along the "
                             "height and the width",
                             G_STRUCT_OFFSET (GyreConvTranspose2d, strides), 2, 1,
                             G_MAXINT32, NULL, "1,1");
  gyre_window_add_padding (layer_class, G_STRUCT_OFFSET (GyreConvTranspose2d, padding),
                           "SAME");
  gyre_layer_class_add_ints (layer_class, "kernel-dilation",
                             "Steps from tap to tap of the kernel",
                             G_STRUCT_OFFSET (GyreConvTranspose2d, kernel_dilation), 2, 1,
                             G_MAXINT32, NULL, "1,1");
  gyre_layer_class_add_boolean (layer_class, "use-bias", "Whether a bias is added",
                                G_STRUCT_OFFSET (GyreConvTranspose2d, use_bias), TRUE);
  gyre_layer_class_add_init (layer_class, "kernel-init", "How the kernel begins",
                             G_STRUCT_OFFSET (GyreConvTranspose2d, kernel_init),
                             "lecun-normal");
  gyre_layer_class_add_init (layer_class, "bias-init", "How the bias begins",
                             G_STRUCT_OFFSET (GyreConvTranspose2d, bias_init), "zeros");
}

static void
gyre_conv_transpose2d_init (GyreConvTranspose2d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_conv_transpose2d_add (plugin, "conv-transpose2d");
}

GYRE_PLUGIN_DEFINE (conv_transpose2d,
                    GYRE_VERSION_STRING,
                    "Apache-2.0",
                    plugin_init,
                    "Gyre")
