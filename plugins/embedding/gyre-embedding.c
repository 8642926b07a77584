/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-input.h"

#include <math.h>

#define GYRE_TYPE_EMBEDDING (gyre_embedding_get_type ())
G_DECLARE_FINAL_TYPE (GyreEmbedding, gyre_embedding, GYRE, EMBEDDING, GyreLayer)

struct _GyreEmbedding
{
  GyreLayer parent_instance;
  gint64    num_embeddings;
  gint64    features;
  char     *embedding_init;
};

GYRE_DEFINE_LAYER (GyreEmbedding, gyre_embedding)

/* y[…] = embedding[x[…]], a row each;  x: i32[…]; embedding: f32[num-embeddings,
 * features], at first normal of variance 1 / features.  A number that is out of range
 * takes the nearest row.  Gradient: added up row by row, in order. */
static GyreTensor *
gyre_embedding_apply (GyreLayer  *layer,
                      GyreScope  *scope,
                      GyreTensor *x)
{
  GyreEmbedding *self = GYRE_EMBEDDING (layer);
  GyreInit init = { GYRE_INIT_NORMAL, sqrt (1.0 / (double) self->features),
                    self->embedding_init };

  if (!input_is (x, GYRE_I32, 0, FALSE))
    return input_fail (scope, x, "i32[…], numbers of rows");

  return gyre_gather_rows (
      gyre_scope_param (scope, "embedding",
                        GYRE_SHAPE (self->num_embeddings, self->features), &init),
      x);
}

static void
gyre_embedding_class_init (GyreEmbeddingClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_embedding_apply;
  gyre_layer_class_add_int (layer_class, "num-embeddings", "How many rows there are",
                            G_STRUCT_OFFSET (GyreEmbedding, num_embeddings), 1,
                            G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "num-embeddings");
  gyre_layer_class_add_int (layer_class, "features", "How many numbers a row has",
                            G_STRUCT_OFFSET (GyreEmbedding, features), 1, G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_init (layer_class, "embedding-init",
                             "How the rows begin; normal of variance 1 / features if it "
                             "isn't given",
                             G_STRUCT_OFFSET (GyreEmbedding, embedding_init), NULL);
}

static void
gyre_embedding_init (GyreEmbedding *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_embedding_add (plugin, "embedding");
}

GYRE_PLUGIN_DEFINE (embedding, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
