/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <json-glib/json-glib.h>

#include <gyre/gyre.h>

#include "data/gyre-safetensors-private.h"

/* The layers of tests/data/layers, for the tests that run them: a row a file. */

typedef struct
{
  const char *file;
  const char *line;      /* of the layer, or the name of a loss */
  const char *path;      /* of its parameters */
  double      tolerance; /* of the largest magnitude; 2e-5 where exponentials or the
                          * terms of a transform are summed */
} LayerCase;

static const LayerCase layers[] = {
  { "activation.elu", "elu", "", 1e-5 },
  { "activation.gelu_exact", "gelu approximate=false", "", 1e-5 },
  { "activation.gelu_tanh", "gelu", "", 1e-5 },
  { "activation.hard_tanh", "hard-tanh", "", 1e-5 },
  { "activation.leaky_relu", "leaky-relu", "", 1e-5 },
  { "activation.log_softmax", "log-softmax", "", 2e-5 },
  { "activation.mish", "mish", "", 1e-5 },
  { "activation.relu", "relu", "", 1e-5 },
  { "activation.sigmoid", "sigmoid", "", 1e-5 },
  { "activation.silu", "silu", "", 1e-5 },
  { "activation.softmax", "softmax", "", 2e-5 },
  { "activation.softplus", "softplus", "", 1e-5 },
  { "activation.tanh", "tanh", "", 1e-5 },
  { "attention.causal", "attention num-heads=3 causal=true", "attention_0", 2e-5 },
  { "attention.full", "attention num-heads=3", "attention_0", 2e-5 },
  { "batch_norm.conv_eval", "batch-norm momentum=0.9", "batch_norm_0", 1e-5 },
  { "batch_norm.conv_train", "batch-norm momentum=0.9", "batch_norm_0", 1e-5 },
  { "batch_norm.dense_eval", "batch-norm momentum=0.9", "batch_norm_0", 1e-5 },
  { "batch_norm.dense_train", "batch-norm momentum=0.9", "batch_norm_0", 1e-5 },
  { "dense.bias", "dense features=7", "dense_0", 1e-5 },
  { "dense.nobias", "dense features=3 use-bias=false", "dense_0", 1e-5 },
  { "dense.rank3", "dense features=6", "dense_0", 1e-5 },
  { "dropout.half", "dropout rate=0.5", "", 1e-5 },
  { "dropout.tenth", "dropout rate=0.1", "", 1e-5 },
  { "embedding", "embedding num-embeddings=11 features=5", "embedding_0", 1e-5 },
  { "group_norm", "group-norm num-groups=3", "group_norm_0", 1e-5 },
  { "gru", "gru features=4", "gru_0", 1e-5 },
  { "layer_norm", "layer-norm", "layer_norm_0", 1e-5 },
  { "lstm", "lstm features=4", "lstm_0", 1e-5 },
  { "rms_norm", "rms-norm", "rms_norm_0", 1e-5 },
  { "spectral_conv1d", "spectral-conv1d features=4 modes=5", "spectral_conv1d_0", 2e-5 },
  { "spectral_conv2d", "spectral-conv2d features=2 modes=3,4", "spectral_conv2d_0",
    2e-5 },
};

static inline JsonObject *
layer_case_attributes (JsonParser      *parser,
                       GyreSafetensors *file)
{
  ck_assert (json_parser_load_from_data (
      parser, gyre_safetensors_get_meta (file, "attributes"), -1, NULL));

  return json_node_get_object (json_parser_get_root (parser));
}

/* The attribute "key" of the file, as it is: [0, 7] */
static inline gboolean
layer_case_key (GyreSafetensors *file,
                GyreKey         *key)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *attributes = layer_case_attributes (parser, file);
  JsonArray *words;

  if (!json_object_has_member (attributes, "key"))
    return FALSE;

  words = json_object_get_array_member (attributes, "key");
  key->words[0] = (guint32) json_array_get_int_element (words, 0);
  key->words[1] = (guint32) json_array_get_int_element (words, 1);
  return TRUE;
}

/* Its attribute "training": true unless told */
static inline gboolean
layer_case_is_training (GyreSafetensors *file)
{
  g_autoptr (JsonParser) parser = json_parser_new ();

  return json_object_get_boolean_member_with_default (
      layer_case_attributes (parser, file), "training", TRUE);
}

/* What the arrays of a file are called: "state/mean" is one of "state/" */
static inline GPtrArray *
layer_case_names (GyreSafetensors *file,
                  const char      *prefix)
{
  const char *const *all = gyre_safetensors_get_names (file);
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; all[i] != NULL; i++)
    if (g_str_has_prefix (all[i], prefix))
      g_ptr_array_add (names, (char *) all[i] + strlen (prefix));

  return names;
}
