/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

#define GYRE_TYPE_DROPOUT (gyre_dropout_get_type ())
G_DECLARE_FINAL_TYPE (GyreDropout, gyre_dropout, GYRE, DROPOUT, GyreLayer)

struct _GyreDropout
{
  GyreLayer parent_instance;
  double    rate;
};

GYRE_DEFINE_LAYER (GyreDropout, gyre_dropout)

/* In training y = x / (1 - rate) where bernoulli (the layer's key, 1 - rate) is true,
 * else 0; otherwise y = x (Srivastava et al., 2014).  The mask is drawn in the global
 * shape. */
static GyreTensor *
gyre_dropout_apply (GyreLayer  *layer,
                    GyreScope  *scope,
                    GyreTensor *x)
{
  GyreDropout *self = GYRE_DROPOUT (layer);
  double keep = 1 - self->rate;
  GyreTensor *zeros, *mask;

  if (self->rate == 0 || !gyre_scope_is_training (scope))
    return x;

  zeros = gyre_full_like (x, 0);
  if (keep == 0)
    return zeros;

  mask = gyre_random_bernoulli (gyre_scope_key (scope), gyre_tensor_get_shape (x), keep);
  return gyre_select (mask, gyre_div (x, gyre_full_like (x, keep)), zeros);
}

static void
gyre_dropout_class_init (GyreDropoutClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_dropout_apply;
  gyre_layer_class_add_double (layer_class, "rate",
                               "The part of the elements that is dropped",
                               G_STRUCT_OFFSET (GyreDropout, rate), 0, 1, 0.5);
}

static void
gyre_dropout_init (GyreDropout *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_dropout_add (plugin, "dropout");
}

GYRE_PLUGIN_DEFINE (dropout, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
