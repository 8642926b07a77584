/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-window.h"

#define GYRE_TYPE_CONV1D (gyre_conv1d_get_type ())
G_DECLARE_FINAL_TYPE (GyreConv1d, gyre_conv1d, GYRE, CONV1D, GyreLayer)

struct _GyreConv1d
{
  GyreLayer parent_instance;
  gint64    features;
  gint64    kernel_size;
  gint64    strides;
  char     *padding;
  gint64    kernel_dilation;
  gint64    feature_group_count;
  gboolean  use_bias;
  char     *kernel_init;
  char     *bias_init;
};

GYRE_DEFINE_LAYER (GyreConv1d, gyre_conv1d)

/* SAME, VALID, one number for both ends, or low and high */
static gboolean
get_padding (GyreConv1d *self,
             GyreScope  *scope,
             gint64      width,
             gint64     *padding)
{
  guint n = gyre_layer_parse_ints (self->padding, padding + 2, 2);

  padding[0] = padding[1] = 0;
  if (n == 1)
    padding[3] = padding[2];
  else if (n == 0)
    padding[2] = padding[3] = 0;

  if (g_ascii_strcasecmp (self->padding, "SAME") == 0)
    gyre_padding_same (width, self->kernel_size, self->strides, self->kernel_dilation,
                       padding + 2);
  else if (n == 0 && g_ascii_strcasecmp (self->padding, "VALID") != 0)
    {
      gyre_scope_fail (scope, GYRE_ERROR_INVALID,
                       "padding=%s: it takes SAME, VALID, or 1 or 2 integers",
                       self->padding);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_groups (GyreConv1d *self,
              GyreScope  *scope,
              gint64      channels)
{
  gint64 groups = self->feature_group_count;

  if (channels % groups == 0 && self->features % groups == 0)
    return TRUE;

  gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                   "feature-group-count=%" G_GINT64_FORMAT " must divide both the %"
                   G_GINT64_FORMAT " channels and features=%" G_GINT64_FORMAT, groups,
                   channels, self->features);
  return FALSE;
}

/* An image of one row: x: f32[n, w, c]; kernel: f32[kw, c / groups, features] */
static GyreTensor *
convolve (GyreConv1d   *self,
          GyreTensor   *x,
          GyreTensor   *kernel,
          const gint64 *padding)
{
  return gyre_squeeze (gyre_conv (gyre_expand_dims (x, 1), gyre_expand_dims (kernel, 0),
                                  (const gint64[]){ 1, self->strides }, padding,
                                  (const gint64[]){ 1, self->kernel_dilation },
                                  self->feature_group_count),
                       1);
}

/* y[n, p, o] = Σ x[n, p·s + i·d - low, c] kernel[i, c, o] + bias[o] */
static GyreTensor *
gyre_conv1d_apply (GyreLayer  *layer,
                   GyreScope  *scope,
                   GyreTensor *x)
{
  GyreConv1d *self = GYRE_CONV1D (layer);
  gint64 channels = gyre_tensor_dim (x, -1), padding[4];
  GyreTensor *kernel, *bias, *y;

  if (!gyre_window_takes (scope, x, 3) || !check_groups (self, scope, channels)
      || !get_padding (self, scope, gyre_tensor_dim (x, 1), padding))
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it can't be applied");

  kernel = gyre_scope_param (
      scope, "kernel",
      GYRE_SHAPE (self->kernel_size, channels / self->feature_group_count,
                  self->features),
      &(GyreInit){ .text = self->kernel_init });
  y = convolve (self, x, kernel, padding);
  if (!self->use_bias)
    return y;

  bias = gyre_scope_param (scope, "bias", GYRE_SHAPE (self->features),
                           &(GyreInit){ .text = self->bias_init });
  return gyre_add (y, bias);
}

static void
add_int (GyreLayerClass *klass,
         const char     *name,
         const char     *blurb,
         gsize           offset,
         gint64          value)
{
  gyre_layer_class_add_int (klass, name, blurb, offset, 1, G_MAXINT32, value);
}

static void
gyre_conv1d_class_init (GyreConv1dClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_conv1d_apply;
  add_int (layer_class, "features", "How many channels come out",
           G_STRUCT_OFFSET (GyreConv1d, features), 1);
  gyre_layer_class_require (layer_class, "features");
  add_int (layer_class, "kernel-size", "Width of the kernel",
           G_STRUCT_OFFSET (GyreConv1d, kernel_size), 3);
  add_int (layer_class, "strides", "Steps from result to result",
           G_STRUCT_OFFSET (GyreConv1d, strides), 1);
  gyre_layer_class_add_ints (layer_class, "padding",
                             "What is put at the ends: one number for both, or low and "
                             "high", G_STRUCT_OFFSET (GyreConv1d, padding), 2, G_MININT32,
                             G_MAXINT32, gyre_window_paddings, "SAME");
  add_int (layer_class, "kernel-dilation", "Steps from tap to tap of the kernel",
           G_STRUCT_OFFSET (GyreConv1d, kernel_dilation), 1);
  add_int (layer_class, "feature-group-count",
           "In how many parts channels and features are cut; each part of the features "
           "sees its part of the channels alone",
           G_STRUCT_OFFSET (GyreConv1d, feature_group_count), 1);
  gyre_layer_class_add_boolean (layer_class, "use-bias", "Whether a bias is added",
                                G_STRUCT_OFFSET (GyreConv1d, use_bias), TRUE);
  gyre_layer_class_add_init (layer_class, "kernel-init", "How the kernel begins",
                             G_STRUCT_OFFSET (GyreConv1d, kernel_init), "lecun-normal");
  gyre_layer_class_add_init (layer_class, "bias-init", "How the bias begins",
                             G_STRUCT_OFFSET (GyreConv1d, bias_init), "zeros");
}

static void
gyre_conv1d_init (GyreConv1d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_conv1d_add (plugin, "conv1d");
}

GYRE_PLUGIN_DEFINE (conv1d, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
