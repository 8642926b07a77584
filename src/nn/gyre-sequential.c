/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-sequential-private.h"

#include <stdarg.h>

struct _GyreSequential
{
  GyreLayer  parent_instance;
  GPtrArray *layers;
};

G_DEFINE_FINAL_TYPE (GyreSequential, gyre_sequential, GYRE_TYPE_LAYER)

static GyreTensor *
gyre_sequential_apply (GyreLayer  *layer,
                       GyreScope  *scope,
                       GyreTensor *x)
{
  GyreSequential *self = GYRE_SEQUENTIAL (layer);

  for (guint i = 0; i < self->layers->len; i++)
    x = gyre_layer_apply (g_ptr_array_index (self->layers, i), scope, x);

  return x;
}

static GPtrArray *
gyre_sequential_children (GyreLayer *layer)
{
  return GYRE_SEQUENTIAL (layer)->layers;
}

static void
gyre_sequential_add_child (GyreLayer *layer,
                           GyreLayer *child)
{
  g_ptr_array_add (GYRE_SEQUENTIAL (layer)->layers, g_object_ref (child));
}

static void
gyre_sequential_finalize (GObject *object)
{
  g_ptr_array_unref (GYRE_SEQUENTIAL (object)->layers);

  G_OBJECT_CLASS (gyre_sequential_parent_class)->finalize (object);
}

static void
gyre_sequential_class_init (GyreSequentialClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gyre_sequential_finalize;
  layer_class->apply = gyre_sequential_apply;
  layer_class->children = gyre_sequential_children;
  layer_class->add_child = gyre_sequential_add_child;
}

static void
gyre_sequential_init (GyreSequential *self)
{
  self->layers = g_ptr_array_new_with_free_func (g_object_unref);
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
    gyre_sequential_add_child (self, layer);
  va_end (args);

  return self;
}
