/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-sizes.h"

#define GYRE_TYPE_RESHAPE_LAYER (gyre_reshape_layer_get_type ())
G_DECLARE_FINAL_TYPE (GyreReshapeLayer, gyre_reshape_layer, GYRE, RESHAPE_LAYER,
                      GyreLayer)

struct _GyreReshapeLayer
{
  GyreLayer parent_instance;
  char     *shape;
};

GYRE_DEFINE_LAYER (GyreReshapeLayer, gyre_reshape_layer)

static gint64
count_sample (const GyreShape *shape)
{
  gint64 n = 1;

  for (int i = 1; i < shape->rank; i++)
    n *= shape->dims[i];

  return n;
}

/* Puts what is left in the place of a -1; whether the extents then hold n numbers. */
static gboolean
fit (GyreShape *shape,
     gint64     n)
{
  gint64 known = 1;
  int rest = -1;

  for (int i = 1; i < shape->rank; i++)
    if (shape->dims[i] > 0)
      known *= shape->dims[i];
    else if (shape->dims[i] == -1 && rest < 0)
      rest = i;
    else
      return FALSE;

  if (rest < 0)
    return known == n;

  shape->dims[rest] = n / known;
  return n % known == 0;
}

/* x: [b, …] of any dtype → [b, shape], the numbers in their order.  Samples may be split
 * among devices in any way. */
static GyreTensor *
gyre_reshape_layer_apply (GyreLayer  *layer,
                          GyreScope  *scope,
                          GyreTensor *x)
{
  GyreReshapeLayer *self = GYRE_RESHAPE_LAYER (layer);
  GyreShape from = gyre_tensor_get_shape (x);
  GyreShape to = { 0 };
  int n = sizes_parse (self->shape, &to.dims[1], GYRE_MAX_RANK - 1);

  to.rank = n + 1;
  to.dims[0] = from.dims[0];
  if (from.rank < 1 || n < 0 || !fit (&to, count_sample (&from)))
    {
      g_autofree char *text = gyre_shape_to_string (&from);

      return gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                              "shape=%s doesn't fit %s: give the extents of one sample, "
                              "one of them -1 for the rest, as in shape=8,-1",
                              self->shape, text);
    }

  return gyre_reshape (x, to);
}

static void
gyre_reshape_layer_class_init (GyreReshapeLayerClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_reshape_layer_apply;
  gyre_layer_class_add_string (layer_class, "shape",
                               "The extents of a sample, one of them -1 for the rest",
                               G_STRUCT_OFFSET (GyreReshapeLayer, shape), "-1");
  gyre_layer_class_require (layer_class, "shape");
}

static void
gyre_reshape_layer_init (GyreReshapeLayer *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_reshape_layer_add (plugin, "reshape");
}

GYRE_PLUGIN_DEFINE (reshape, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
