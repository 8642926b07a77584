/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* Element-wise functions, and softmax: a row of the table is a layer.  All share one
 * struct; a row says which of its members are properties. */
typedef struct
{
  GyreLayer parent_instance;
  double    alpha;
  double    negative_slope;
  gboolean  approximate;
  gint64    axis;
} GyreActivation;

typedef struct
{
  const char *name;
  const char *type_name;
  GyreTensor *(*apply)         (const GyreActivation *self, GyreTensor *x);
  void        (*add_properties) (GyreLayerClass *klass);   /* or NULL */
} Row;

/* max (x, 0); its gradient at 0 is 0 */
static GyreTensor *
relu (const GyreActivation *self,
      GyreTensor           *x)
{
  GyreTensor *zeros = gyre_full_like (x, 0);

  return gyre_select (gyre_greater (x, zeros), x, zeros);
}

/* x, or slope x below 0 */
static GyreTensor *
leaky_relu (const GyreActivation *self,
            GyreTensor           *x)
{
  GyreTensor *is_positive = gyre_greater_equal (x, gyre_full_like (x, 0));

  return gyre_select (is_positive, x, gyre_mul_scalar (x, self->negative_slope));
}

static void
leaky_relu_properties (GyreLayerClass *klass)
{
  gyre_layer_class_add_double (klass, "negative-slope", "The slope below 0",
                               G_STRUCT_OFFSET (GyreActivation, negative_slope),
                               -G_MAXDOUBLE, G_MAXDOUBLE, 0.01);
}

/* x, or alpha (e^x - 1) below 0 (Clevert et al., 2016); no large x reaches expm1 */
static GyreTensor *
elu (const GyreActivation *self,
     GyreTensor           *x)
{
  GyreTensor *zeros = gyre_full_like (x, 0);
  GyreTensor *is_positive = gyre_greater (x, zeros);
  GyreTensor *below = gyre_select (is_positive, zeros, x);

  return gyre_select (is_positive, x, gyre_mul_scalar (gyre_expm1 (below), self->alpha));
}

static void
elu_properties (GyreLayerClass *klass)
{
  gyre_layer_class_add_double (klass, "alpha", "What it tends to below 0, negated",
                               G_STRUCT_OFFSET (GyreActivation, alpha), -G_MAXDOUBLE,
                               G_MAXDOUBLE, 1);
}

/* x Φ(x) (Hendrycks and Gimpel, 2016) by tanh, or by erf */
static GyreTensor *
gelu (const GyreActivation *self,
      GyreTensor           *x)
{
  GyreTensor *cube, *inner;

  if (!self->approximate)
    {
      inner = gyre_erf (gyre_mul_scalar (x, G_SQRT2 / 2));
      return gyre_mul (gyre_mul_scalar (x, 0.5), gyre_add_scalar (inner, 1));
    }

  cube = gyre_mul (x, gyre_square (x));
  inner = gyre_mul_scalar (gyre_add (x, gyre_mul_scalar (cube, 0.044715)),
                           0.79788456080286535588 /* sqrt (2 / pi) */);

  return gyre_mul (x, gyre_mul_scalar (gyre_add_scalar (gyre_tanh (inner), 1), 0.5));
}

static void
gelu_properties (GyreLayerClass *klass)
{
  gyre_layer_class_add_boolean (klass, "approximate", "Whether tanh stands for erf",
                                G_STRUCT_OFFSET (GyreActivation, approximate), TRUE);
}

/* x cut to -1 … 1 */
static GyreTensor *
hard_tanh (const GyreActivation *self,
           GyreTensor           *x)
{
  GyreTensor *one = gyre_full_like (x, 1);
  GyreTensor *low = gyre_select (gyre_less (x, gyre_neg (one)), gyre_neg (one), x);

  return gyre_select (gyre_greater (x, one), one, low);
}

/* log (1 + e^x) = max (x, 0) + log (1 + e^-|x|) */
static GyreTensor *
softplus (const GyreActivation *self,
          GyreTensor           *x)
{
  GyreTensor *rest = gyre_log1p (gyre_exp (gyre_neg (gyre_abs (x))));

  return gyre_add (gyre_max (x, gyre_full_like (x, 0)), rest);
}

/* x tanh (softplus (x)) (Misra, 2019) */
static GyreTensor *
mish (const GyreActivation *self,
      GyreTensor           *x)
{
  return gyre_mul (x, gyre_tanh (softplus (self, x)));
}

/* 1 / (1 + e^-x) */
static GyreTensor *
sigmoid (const GyreActivation *self,
         GyreTensor           *x)
{
  return gyre_logistic (x);
}

/* x sigmoid (x) */
static GyreTensor *
silu (const GyreActivation *self,
      GyreTensor           *x)
{
  return gyre_mul (x, gyre_logistic (x));
}

static GyreTensor *
tanh_ (const GyreActivation *self,
       GyreTensor           *x)
{
  return gyre_tanh (x);
}

static int
get_axis (const GyreActivation *self,
          GyreTensor           *x)
{
  return (int) CLAMP (self->axis, -gyre_tensor_get_rank (x),
                      gyre_tensor_get_rank (x) - 1);
}

/* e^x / sum e^x along an axis */
static GyreTensor *
softmax (const GyreActivation *self,
         GyreTensor           *x)
{
  return gyre_softmax (x, get_axis (self, x));
}

/* x - log (sum e^x) along an axis */
static GyreTensor *
log_softmax (const GyreActivation *self,
             GyreTensor           *x)
{
  return gyre_log_softmax (x, get_axis (self, x));
}

static void
softmax_properties (GyreLayerClass *klass)
{
  gyre_layer_class_add_int (
      klass, "axis", "The dimension that is summed over, -1: the last",
      G_STRUCT_OFFSET (GyreActivation, axis), -GYRE_MAX_RANK, GYRE_MAX_RANK - 1, -1);
}

static const Row rows[] = {
  { "elu", "GyreElu", elu, elu_properties },
  { "gelu", "GyreGelu", gelu, gelu_properties },
  { "hard-tanh", "GyreHardTanh", hard_tanh, NULL },
  { "leaky-relu", "GyreLeakyRelu", leaky_relu, leaky_relu_properties },
  { "log-softmax", "GyreLogSoftmax", log_softmax, softmax_properties },
  { "mish", "GyreMish", mish, NULL },
  { "relu", "GyreRelu", relu, NULL },
  { "sigmoid", "GyreSigmoid", sigmoid, NULL },
  { "silu", "GyreSilu", silu, NULL },
  { "softmax", "GyreSoftmax", softmax, softmax_properties },
  { "softplus", "GyreSoftplus", softplus, NULL },
  { "tanh", "GyreTanh", tanh_, NULL },
};

static GType types[G_N_ELEMENTS (rows)];

static const Row *
get_row (GyreLayer *layer)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (types[i] == G_OBJECT_TYPE (layer))
      return &rows[i];

  return NULL;
}

static GyreTensor *
gyre_activation_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  if (gyre_tensor_get_dtype (x) != GYRE_F32)
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it takes f32, not %s",
                            gyre_dtype_name (gyre_tensor_get_dtype (x)));

  return get_row (layer)->apply ((GyreActivation *) layer, x);
}

static void
gyre_activation_class_init (gpointer klass,
                            gpointer data)
{
  const Row *row = data;

  GYRE_LAYER_CLASS (klass)->apply = gyre_activation_apply;
  if (row->add_properties != NULL)
    row->add_properties (klass);
}

static void
plugin_init (GyrePlugin *plugin)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const GTypeInfo info = {
        .class_size = sizeof (GyreLayerClass),
        .class_init = gyre_activation_class_init,
        .class_data = &rows[i],
        .instance_size = sizeof (GyreActivation)
      };

      types[i] = gyre_plugin_add_layer (plugin, rows[i].name, rows[i].type_name, &info);
    }
}

GYRE_PLUGIN_DEFINE (activation, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
