/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

#define GYRE_TYPE_DENSE (gyre_dense_get_type ())
G_DECLARE_FINAL_TYPE (GyreDense, gyre_dense, GYRE, DENSE, GyreLayer)

struct _GyreDense
{
  GyreLayer parent_instance;
  gint64    features;
  gboolean  use_bias;
  char     *kernel_init;
  char     *bias_init;
};

GYRE_DEFINE_LAYER (GyreDense, gyre_dense)

/* Leading dimensions are rows of one product. */
static GyreTensor *
multiply (GyreTensor *x,
          GyreTensor *kernel,
          gint64      features)
{
  GyreShape shape = gyre_tensor_get_shape (x);
  gint64 in = gyre_tensor_dim (x, -1);
  gint64 rows = 1;

  if (shape.rank <= 2)
    return gyre_matmul (x, kernel);

  for (int i = 0; i < shape.rank - 1; i++)
    rows *= shape.dims[i];
  shape.dims[shape.rank - 1] = features;
  x = gyre_reshape (x, GYRE_SHAPE (rows, in));

  return gyre_reshape (gyre_matmul (x, kernel), shape);
}

/* y = x · kernel + bias;  x: f32[…, in]; kernel: f32[in, features]; bias:
 * f32[features] */
static GyreTensor *
gyre_dense_apply (GyreLayer  *layer,
                  GyreScope  *scope,
                  GyreTensor *x)
{
  GyreDense *self = GYRE_DENSE (layer);
  GyreTensor *kernel, *bias, *y;

  if (gyre_tensor_get_rank (x) < 1 || gyre_tensor_get_dtype (x) != GYRE_F32)
    {
      GyreShape shape = gyre_tensor_get_shape (x);
      g_autofree char *text = gyre_shape_to_string (&shape);

      return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it takes f32[…, in], not %s%s",
                              gyre_dtype_name (gyre_tensor_get_dtype (x)), text);
    }

  kernel = gyre_scope_param (scope, "kernel",
                             GYRE_SHAPE (gyre_tensor_dim (x, -1), self->features),
                             &(GyreInit){ .text = self->kernel_init });
  y = multiply (x, kernel, self->features);
  if (!self->use_bias)
    return y;

  bias = gyre_scope_param (scope, "bias", GYRE_SHAPE (self->features),
                           &(GyreInit){ .text = self->bias_init });
  return gyre_add (y, bias);
}

static void
gyre_dense_class_init (GyreDenseClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_dense_apply;
  gyre_layer_class_add_int (layer_class, "features",
                            "How many numbers come out for each row",
                            G_STRUCT_OFFSET (GyreDense, features), 1, G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_boolean (layer_class, "use-bias", "Whether a bias is added",
                                G_STRUCT_OFFSET (GyreDense, use_bias), TRUE);
  gyre_layer_class_add_init (layer_class, "kernel-init", "How the kernel begins",
                             G_STRUCT_OFFSET (GyreDense, kernel_init), "lecun-normal");
  gyre_layer_class_add_init (layer_class, "bias-init", "How the bias begins",
                             G_STRUCT_OFFSET (GyreDense, bias_init), "zeros");
}

static void
gyre_dense_init (GyreDense *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_dense_add (plugin, "dense");
}

GYRE_PLUGIN_DEFINE (dense, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
