/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-sequential-private.h"

#include <stdarg.h>

struct _GyreSequential
{
  GyreContainer parent_instance;
};

G_DEFINE_FINAL_TYPE (GyreSequential, gyre_sequential, GYRE_TYPE_CONTAINER)

static GyreTensor *
gyre_sequential_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  return gyre_container_apply_chain (GYRE_CONTAINER (layer), scope, x);
}

static void
gyre_sequential_class_init (GyreSequentialClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = gyre_sequential_apply;
}

static void
gyre_sequential_init (GyreSequential *self)
{
}

/**
 * gyre_sequential_new: (skip)
 * @first: (nullable): a layer
 * @...: more layers, then %NULL
 *
 * Layers one after the other; it takes references of them. At a model's top it adds
 * nothing to the paths of parameters.
 *
 * Returns: (transfer full): a new layer
 */
GyreLayer *
gyre_sequential_new (GyreLayer *first,
                     ...)
{
  GyreLayer *self = g_object_new (GYRE_TYPE_SEQUENTIAL, NULL);
  va_list args;

  va_start (args, first);
  for (GyreLayer *layer = first; layer != NULL; layer = va_arg (args, GyreLayer *))
    GYRE_LAYER_GET_CLASS (self)->add_child (self, layer);
  va_end (args);

  return self;
}
