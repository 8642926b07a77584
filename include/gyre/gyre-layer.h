/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-ops.h>
#include <gyre/gyre-tree.h>

G_BEGIN_DECLS

/* Where a layer declares what it needs: parameters, model state, random keys. While a
 * model is initialised a declaration makes the numbers; in a step it finds them. Paths
 * follow the layers: "dense_0/kernel". */

typedef enum
{
  GYRE_INIT_ZEROS,
  GYRE_INIT_ONES,
  GYRE_INIT_CONSTANT,
  GYRE_INIT_NORMAL,
  GYRE_INIT_UNIFORM,
  GYRE_INIT_TRUNCATED_NORMAL,
  GYRE_INIT_LECUN_NORMAL,
  GYRE_INIT_LECUN_UNIFORM,
  GYRE_INIT_GLOROT_NORMAL,
  GYRE_INIT_GLOROT_UNIFORM,
  GYRE_INIT_HE_NORMAL,
  GYRE_INIT_HE_UNIFORM
} GyreInitKind;

typedef struct
{
  GyreInitKind kind;
  double       scale;     /* CONSTANT: the value; NORMAL: the deviation; UNIFORM: the limit */
} GyreInit;

GYRE_API extern const GyreInit gyre_init_zeros;
GYRE_API extern const GyreInit gyre_init_ones;
GYRE_API extern const GyreInit gyre_init_lecun_normal;

GYRE_API GyreTensor *gyre_scope_param    (GyreScope *scope, const char *name,
                                          GyreShape shape, const GyreInit *init);
/* Model state such as running statistics: read, and set to its next value (in
 * training). */
GYRE_API GyreTensor *gyre_scope_state    (GyreScope *scope, const char *name,
                                          GyreShape shape, const GyreInit *init);
GYRE_API void        gyre_scope_set_state (GyreScope *scope, const char *name,
                                           GyreTensor *value);
/* The random key of this layer: fold_in (key of the step, crc32 (layer path)), u32[2]. */
GYRE_API GyreTensor *gyre_scope_key      (GyreScope *scope);
GYRE_API gboolean    gyre_scope_is_training (GyreScope *scope);
GYRE_API const char *gyre_scope_get_path (GyreScope *scope);

#define GYRE_TYPE_LAYER (gyre_layer_get_type ())
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreLayer, gyre_layer, GYRE, LAYER, GObject)

/**
 * GyreLayerClass:
 * @apply: what the layer computes; called to trace
 * @children: containers: (transfer none): the layers inside, or %NULL
 */
struct _GyreLayerClass
{
  GObjectClass parent_class;

  const char *type_name;   /* "dense", "max-pool2d": set when it is registered */

  GyreTensor *(*apply)    (GyreLayer *self, GyreScope *scope, GyreTensor *x);
  GPtrArray  *(*children) (GyreLayer *self);
  /* The textual arguments in parentheses, for containers: residual ( … ) */
  void        (*add_child) (GyreLayer *self, GyreLayer *child);

  gpointer padding[8];
};

/* Applies a layer in a scope of its own: "dense_0" for the first dense layer here. */
GYRE_API GyreTensor *gyre_layer_apply (GyreLayer *self, GyreScope *scope, GyreTensor *x);

/* Property helpers for class_init: declared once, they give parsing, ranges, defaults,
 * docs. */
GYRE_API void gyre_layer_class_add_int     (GyreLayerClass *klass, const char *name,
                                            const char *blurb, gsize offset,
                                            gint64 minimum, gint64 maximum, gint64 value);
GYRE_API void gyre_layer_class_add_double  (GyreLayerClass *klass, const char *name,
                                            const char *blurb, gsize offset,
                                            double minimum, double maximum, double value);
GYRE_API void gyre_layer_class_add_boolean (GyreLayerClass *klass, const char *name,
                                            const char *blurb, gsize offset,
                                            gboolean value);
GYRE_API void gyre_layer_class_add_enum    (GyreLayerClass *klass, const char *name,
                                            const char *blurb, gsize offset, GType type,
                                            int value);
GYRE_API void gyre_layer_class_add_string  (GyreLayerClass *klass, const char *name,
                                            const char *blurb, gsize offset,
                                            const char *value);

/* "flatten ! dense features=512 ! relu": an error points at the column. */
GYRE_API GyreLayer *gyre_model_parse (const char *line, GError **error);
GYRE_API char      *gyre_model_to_string (GyreLayer *model);

/* Parameters and model state, initialised on the host from seed by tracing the model on
 * arrays of x's shapes: {"params": {…}, "state": {…}} of host arrays. */
GYRE_API GyreTree  *gyre_model_init (GyreLayer *model, GyreShape input_shape,
                                     GyreDtype input_dtype, GyreKey key, GError **error);
/* Inside a traced function.  key may be NULL where nothing is random. state_out
 * (optional): the model state after. */
GYRE_API GyreTensor *gyre_model_apply (GyreLayer *model, GyreTree *params,
                                       GyreTree *state, GyreTensor *x, gboolean training,
                                       GyreTensor *key, GyreTree **state_out);

/* Losses: means over the leading dimensions of all samples, f32[] */
GYRE_API GyreTensor *gyre_softmax_cross_entropy (GyreTensor *logits, GyreTensor *labels);
/* by sample: f32[b] */
GYRE_API GyreTensor *gyre_softmax_cross_entropy_per_sample (GyreTensor *logits,
                                                            GyreTensor *labels);
GYRE_API GyreTensor *gyre_mse                   (GyreTensor *prediction,
                                                 GyreTensor *target);
/* f32[]: how many arg-max of logits equal the label */
GYRE_API GyreTensor *gyre_count_correct         (GyreTensor *logits, GyreTensor *labels);

G_END_DECLS
