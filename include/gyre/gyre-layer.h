/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-array.h>
#include <gyre/gyre-initializer.h>
#include <gyre/gyre-loss.h>
#include <gyre/gyre-ops.h>
#include <gyre/gyre-tree.h>

G_BEGIN_DECLS

/* Where a layer declares what it needs: parameters, model state, random keys. While a
 * model is initialised a declaration notes what is to be made; in a step it finds the
 * numbers. Paths follow the layers: "dense_0/kernel". */

GYRE_API GyreTensor *gyre_scope_param       (GyreScope      *scope,
                                             const char     *name,
                                             GyreShape       shape,
                                             const GyreInit *init);
/* Model state such as running statistics: read, and in training set to its next value. */
GYRE_API GyreTensor *gyre_scope_state       (GyreScope      *scope,
                                             const char     *name,
                                             GyreShape       shape,
                                             const GyreInit *init);
GYRE_API void        gyre_scope_set_state   (GyreScope      *scope,
                                             const char     *name,
                                             GyreTensor     *value);
/* The random key of this layer: fold_in (key of the step, crc32 (layer path)), u32[2]. */
GYRE_API GyreTensor *gyre_scope_key         (GyreScope      *scope);
GYRE_API gboolean    gyre_scope_is_training (GyreScope      *scope);
GYRE_API const char *gyre_scope_get_path    (GyreScope      *scope);
/* What a layer returns when it can't take its input. */
GYRE_API GyreTensor *gyre_scope_fail        (GyreScope      *scope,
                                             GyreError       code,
                                             const char     *format,
                                             ...) G_GNUC_PRINTF (3, 4);

#define GYRE_TYPE_LAYER (gyre_layer_get_type ())
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreLayer, gyre_layer, GYRE, LAYER, GObject)

/**
 * GyreLayerClass:
 * @apply: what the layer computes; called to trace
 * @children: containers: (transfer none): the layers inside, or %NULL
 * @add_child: containers: takes a reference of a layer of the chain in the parentheses of
 *   a model line, residual ( … ), from the first to the last
 */
struct _GyreLayerClass
{
  GObjectClass parent_class;

  GyreTensor *(*apply)     (GyreLayer  *self,
                            GyreScope  *scope,
                            GyreTensor *x);
  GPtrArray  *(*children)  (GyreLayer  *self);
  void        (*add_child) (GyreLayer  *self,
                            GyreLayer  *child);

  gpointer padding[8];
};

/* Applies a layer in a scope of its own: "dense_0" for the first dense layer here. */
GYRE_API GyreTensor *gyre_layer_apply         (GyreLayer  *self,
                                               GyreScope  *scope,
                                               GyreTensor *x);
/* The one that name=… gave it, or NULL. */
GYRE_API const char *gyre_layer_get_name      (GyreLayer  *self);
/* "dense", "max-pool2d": the name in model lines */
GYRE_API const char *gyre_layer_get_type_name (GyreLayer  *self);
/* Types by name; the plugin that has it is loaded. */
GYRE_API GType       gyre_layer_type_find     (const char *name,
                                               GError    **error);
GYRE_API char      **gyre_layer_type_list     (void);

/* Property helpers for class_init: declared once, they give parsing, ranges, defaults and
 * docs.  The offset is that of a gint64, double, gboolean, int or char * member. */
GYRE_API void gyre_layer_class_add_int     (GyreLayerClass *klass,
                                            const char     *name,
                                            const char     *blurb,
                                            gsize           offset,
                                            gint64          minimum,
                                            gint64          maximum,
                                            gint64          value);
GYRE_API void gyre_layer_class_add_double  (GyreLayerClass *klass,
                                            const char     *name,
                                            const char     *blurb,
                                            gsize           offset,
                                            double          minimum,
                                            double          maximum,
                                            double          value);
GYRE_API void gyre_layer_class_add_boolean (GyreLayerClass *klass,
                                            const char     *name,
                                            const char     *blurb,
                                            gsize           offset,
                                            gboolean        value);
GYRE_API void gyre_layer_class_add_enum    (GyreLayerClass *klass,
                                            const char     *name,
                                            const char     *blurb,
                                            gsize           offset,
                                            GType           type,
                                            int             value);
/* "3,3": a char * member, that gyre_layer_parse_ints () reads; or one of a few words */
GYRE_API void gyre_layer_class_add_ints    (GyreLayerClass    *klass,
                                            const char        *name,
                                            const char        *blurb,
                                            gsize              offset,
                                            guint              n_max,
                                            gint64             minimum,
                                            gint64             maximum,
                                            const char *const *words,
                                            const char        *value);
GYRE_API guint gyre_layer_parse_ints       (const char *text,
                                            gint64     *values,
                                            guint       n_max);
GYRE_API void gyre_layer_class_add_string  (GyreLayerClass *klass,
                                            const char     *name,
                                            const char     *blurb,
                                            gsize           offset,
                                            const char     *value);
/* An initializer by name, "he-normal" or "normal(stddev=0.1)": a char * member, that the
 * layer gives to gyre_scope_param () as the text of a GyreInit. */
GYRE_API void gyre_layer_class_add_init    (GyreLayerClass *klass,
                                            const char     *name,
                                            const char     *blurb,
                                            gsize           offset,
                                            const char     *value);
/* A model line has to give this property. */
GYRE_API void gyre_layer_class_require     (GyreLayerClass *klass,
                                            const char     *name);

/* Layers one after the other: the core's own container, and what a model line becomes. */
GYRE_API GyreLayer *gyre_sequential_new (GyreLayer *first,
                                         ...) G_GNUC_NULL_TERMINATED;

/* "flatten ! dense features=512 ! relu": an error points at the column. */
GYRE_API GyreLayer *gyre_model_parse     (const char *line,
                                          GError    **error);
GYRE_API char      *gyre_model_to_string (GyreLayer  *model);

GYRE_API GyreTree   *gyre_model_init  (GyreLayer  *model,
                                       GyreShape   input_shape,
                                       GyreDtype   input_dtype,
                                       GyreKey     key,
                                       GError    **error);
/* Inside a traced function.  key may be NULL where nothing is random. */
GYRE_API GyreTensor *gyre_model_apply (GyreLayer  *model,
                                       GyreTree   *params,
                                       GyreTree   *state,
                                       GyreTensor *x,
                                       gboolean    training,
                                       GyreTensor *key,
                                       GyreTree  **state_out);

/* Where labels enter: the first that is out of range, by row. */
GYRE_API gboolean    gyre_labels_check                     (GyreArray  *labels,
                                                            gint64      n_classes,
                                                            GError    **error);

G_END_DECLS
