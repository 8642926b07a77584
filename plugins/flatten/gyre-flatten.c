/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

#define GYRE_TYPE_FLATTEN (gyre_flatten_get_type ())
G_DECLARE_FINAL_TYPE (GyreFlatten, gyre_flatten, GYRE, FLATTEN, GyreLayer)

struct _GyreFlatten
{
  GyreLayer parent_instance;
};

GYRE_DEFINE_LAYER (GyreFlatten, gyre_flatten)

/* x: [b, …] of any dtype → [b, n], the numbers in their order */
static GyreTensor *
gyre_flatten_apply (GyreLayer  *layer,
                    GyreScope  *scope,
                    GyreTensor *x)
{
  GyreShape shape = gyre_tensor_get_shape (x);
  gint64 n = 1;

  if (shape.rank < 1)
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                            "it takes [b, …], not a single number");

  for (int i = 1; i < shape.rank; i++)
    n *= shape.dims[i];

  return gyre_reshape (x, GYRE_SHAPE (shape.dims[0], n));
}

static void
gyre_flatten_class_init (GyreFlattenClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = gyre_flatten_apply;
}

static void
gyre_flatten_init (GyreFlatten *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_flatten_add (plugin, "flatten");
}

GYRE_PLUGIN_DEFINE (flatten, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
