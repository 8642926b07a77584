/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-container-private.h"

typedef struct
{
  GPtrArray *layers;
} GyreContainerPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GyreContainer, gyre_container, GYRE_TYPE_LAYER)

static GPtrArray *
get_layers (GyreContainer *self)
{
  GyreContainerPrivate *priv = gyre_container_get_instance_private (self);

  return priv->layers;
}

GyreTensor *
gyre_container_apply_chain (GyreContainer *self,
                            GyreScope     *scope,
                            GyreTensor    *x)
{
  GPtrArray *layers = get_layers (self);

  for (guint i = 0; i < layers->len; i++)
    x = gyre_layer_apply (g_ptr_array_index (layers, i), scope, x);

  return x;
}

static GPtrArray *
gyre_container_children (GyreLayer *layer)
{
  return get_layers (GYRE_CONTAINER (layer));
}

static void
gyre_container_add_child (GyreLayer *layer,
                          GyreLayer *child)
{
  g_ptr_array_add (get_layers (GYRE_CONTAINER (layer)), g_object_ref (child));
}

static void
gyre_container_finalize (GObject *object)
{
  g_ptr_array_unref (get_layers (GYRE_CONTAINER (object)));

  G_OBJECT_CLASS (gyre_container_parent_class)->finalize (object);
}

static void
gyre_container_class_init (GyreContainerClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gyre_container_finalize;
  layer_class->children = gyre_container_children;
  layer_class->add_child = gyre_container_add_child;
}

static void
gyre_container_init (GyreContainer *self)
{
  GyreContainerPrivate *priv = gyre_container_get_instance_private (self);

  priv->layers = g_ptr_array_new_with_free_func (g_object_unref);
}
