/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-input.h"

#include <float.h>
#include <math.h>

#define GYRE_TYPE_ATTENTION (gyre_attention_get_type ())
G_DECLARE_FINAL_TYPE (GyreAttention, gyre_attention, GYRE, ATTENTION, GyreLayer)

struct _GyreAttention
{
  GyreLayer parent_instance;
  gint64    num_heads;
  gint64    qkv_features;
  gint64    out_features;
  gboolean  causal;
  gboolean  use_bias;
};

GYRE_DEFINE_LAYER (GyreAttention, gyre_attention)

/* The deviation of a normal that is cut at two deviations. */
#define TRUNCATED_DEVIATION .87962566103423978

static GyreTensor *
declare (GyreScope      *scope,
         const char     *of,
         const char     *name,
         GyreShape       shape,
         const GyreInit *init)
{
  g_autofree char *path = g_strconcat (of, "/", name, NULL);

  return gyre_scope_param (scope, path, shape, init);
}

/* f32[b, t, in] → f32[b, heads, t, size]: a dense layer whose kernel is f32[in, heads,
 * size] */
static GyreTensor *
project (const GyreAttention *self,
         GyreScope           *scope,
         const char          *name,
         GyreTensor          *x,
         gint64               size)
{
  static const int heads_first[] = { 0, 2, 1, 3 };
  GyreShape shape = gyre_tensor_get_shape (x);
  gint64 in = shape.dims[2];
  GyreInit init = { GYRE_INIT_TRUNCATED_NORMAL,
                    sqrt (1.0 / (double) MAX (in, 1)) / TRUNCATED_DEVIATION };
  GyreTensor *kernel =
    declare (scope, name, "kernel", GYRE_SHAPE (in, self->num_heads, size), &init);

  x = gyre_matmul (x, gyre_reshape (kernel, GYRE_SHAPE (in, self->num_heads * size)));
  x = gyre_reshape (x, GYRE_SHAPE (shape.dims[0], shape.dims[1], self->num_heads, size));
  if (self->use_bias)
    x = gyre_add (x, declare (scope, name, "bias", GYRE_SHAPE (self->num_heads, size),
                              &gyre_init_zeros));

  return gyre_transpose (x, heads_first);
}

/* Scores of what comes later become so low that its weight is zero. */
static GyreTensor *
hide_later (GyreTensor *scores)
{
  gint64 n = gyre_tensor_dim (scores, -1);
  GyreTensor *query = gyre_iota (GYRE_SHAPE (n, n), GYRE_I32, 0);
  GyreTensor *key = gyre_iota (GYRE_SHAPE (n, n), GYRE_I32, 1);
  GyreTensor *seen = gyre_broadcast_to (gyre_greater_equal (query, key),
                                        gyre_tensor_get_shape (scores));

  return gyre_select (seen, scores, gyre_full_like (scores, -FLT_MAX));
}

/* f32[b, heads, t, size] → f32[b, t, out] */
static GyreTensor *
join_heads (const GyreAttention *self,
            GyreScope           *scope,
            GyreTensor          *x,
            gint64               out)
{
  static const int time_first[] = { 0, 2, 1, 3 };
  GyreShape shape = gyre_tensor_get_shape (x);
  gint64 size = shape.dims[3];
  GyreTensor *kernel = declare (scope, "out", "kernel",
                                GYRE_SHAPE (self->num_heads, size, out),
                                &gyre_init_lecun_normal);

  x = gyre_reshape (
      gyre_transpose (x, time_first),
      GYRE_SHAPE (shape.dims[0], shape.dims[2], self->num_heads * size));
  x = gyre_matmul (x, gyre_reshape (kernel, GYRE_SHAPE (self->num_heads * size, out)));
  if (!self->use_bias)
    return x;

  return gyre_add (x, declare (scope, "out", "bias", GYRE_SHAPE (out), &gyre_init_zeros));
}

/* softmax (q kᵀ / √size) v by head, of projections q, k and v of x, and a projection of
 * all heads together (Vaswani et al., 2017);  x: f32[b, t, in] → f32[b, t, out-features];
 * query, key, value: f32[in, heads, size]; out: f32[heads, size, out].  Samples may be
 * split among devices in any way. */
static GyreTensor *
gyre_attention_apply (GyreLayer  *layer,
                      GyreScope  *scope,
                      GyreTensor *x)
{
  GyreAttention *self = GYRE_ATTENTION (layer);
  gint64 in, features, out, size;
  GyreTensor *query, *key, *value, *scores;

  if (!input_is (x, GYRE_F32, 3, TRUE))
    return input_fail (scope, x, "f32[b, time, in]");

  in = gyre_tensor_dim (x, 2);
  features = self->qkv_features > 0 ? self->qkv_features : in;
  out = self->out_features > 0 ? self->out_features : in;
  if (features % self->num_heads != 0)
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                            "%" G_GINT64_FORMAT " features can't be cut into %"
                            G_GINT64_FORMAT " equal heads: give qkv-features=, a "
                            "multiple of num-heads",
                            features, self->num_heads);

  size = features / self->num_heads;
  query = project (self, scope, "query", x, size);
  key = project (self, scope, "key", x, size);
  value = project (self, scope, "value", x, size);
  query = gyre_mul_scalar (query, 1 / sqrt ((double) size));
  scores = gyre_matmul_full (query, FALSE, key, TRUE);
  if (self->causal)
    scores = hide_later (scores);

  return join_heads (self, scope, gyre_matmul (gyre_softmax (scores, -1), value), out);
}

static void
gyre_attention_class_init (GyreAttentionClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_attention_apply;
  gyre_layer_class_add_int (layer_class, "num-heads", "How many heads attend apart",
                            G_STRUCT_OFFSET (GyreAttention, num_heads), 1, G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "num-heads");
  gyre_layer_class_add_int (layer_class, "qkv-features",
                            "Features of all heads together, 0: as many as the input has",
                            G_STRUCT_OFFSET (GyreAttention, qkv_features), 0, G_MAXINT32,
                            0);
  gyre_layer_class_add_int (layer_class, "out-features",
                            "Features of the result, 0: as many as the input has",
                            G_STRUCT_OFFSET (GyreAttention, out_features), 0, G_MAXINT32,
                            0);
  gyre_layer_class_add_boolean (layer_class, "causal",
                                "Whether what comes later is hidden",
                                G_STRUCT_OFFSET (GyreAttention, causal), FALSE);
  gyre_layer_class_add_boolean (layer_class, "use-bias", "Whether biases are added",
                                G_STRUCT_OFFSET (GyreAttention, use_bias), TRUE);
}

static void
gyre_attention_init (GyreAttention *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_attention_add (plugin, "attention");
}

GYRE_PLUGIN_DEFINE (attention, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
