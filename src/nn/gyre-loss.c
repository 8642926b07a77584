/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-loss-private.h"

#include "ir/gyre-graph-private.h"
#include "nn/gyre-line-private.h"
#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

/**
 * GyreLoss:
 *
 * What training makes small, by a name for --loss.  A type says the terms of a prediction
 * and a target; the property "reduction", which all have, says what becomes of them.
 */
typedef struct
{
  GyreReduction reduction;
} GyreLossPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GyreLoss, gyre_loss, G_TYPE_OBJECT)

GType
gyre_reduction_get_type (void)
{
  static const GEnumValue values[] = {
    { GYRE_REDUCTION_MEAN, "GYRE_REDUCTION_MEAN", "mean" },
    { GYRE_REDUCTION_SUM, "GYRE_REDUCTION_SUM", "sum" },
    { GYRE_REDUCTION_NONE, "GYRE_REDUCTION_NONE", "none" },
    { 0, NULL, NULL }
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GyreReduction", values));

  return type;
}

static void
gyre_loss_get_property (GObject    *object,
                        guint       id,
                        GValue     *value,
                        GParamSpec *pspec)
{
  g_value_set_enum (value, gyre_loss_get_reduction (GYRE_LOSS (object)));
}

static void
gyre_loss_set_property (GObject      *object,
                        guint         id,
                        const GValue *value,
                        GParamSpec   *pspec)
{
  GyreLossPrivate *priv = gyre_loss_get_instance_private (GYRE_LOSS (object));

  priv->reduction = g_value_get_enum (value);
}

static void
gyre_loss_class_init (GyreLossClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  gyre_property_class_init (object_class);
  object_class->get_property = gyre_loss_get_property;
  object_class->set_property = gyre_loss_set_property;
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_enum ("reduction", NULL, "What becomes of the terms",
                         GYRE_TYPE_REDUCTION, GYRE_REDUCTION_MEAN,
                         G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
}

static void
gyre_loss_init (GyreLoss *self)
{
}

/**
 * gyre_loss_parse:
 * @line: "mse", "huber delta=2 reduction=sum"
 * @error: %GYRE_ERROR_SYNTAX, %GYRE_ERROR_UNKNOWN or %GYRE_ERROR_INVALID; with the column
 *
 * Makes a loss of a text, written as a layer in a model line is.
 *
 * Returns: (transfer full): a new loss, or %NULL
 */
GyreLoss *
gyre_loss_parse (const char  *line,
                 GError     **error)
{
  g_autoptr (GPtrArray) items = NULL;
  const GyreLineItem *item;
  GType type;

  g_return_val_if_fail (line != NULL, NULL);

  items = gyre_line_parse (line, "loss", error);
  if (items == NULL)
    return NULL;
  item = g_ptr_array_index (items, 0);
  if (items->len > 1 || item->children != NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                   "loss: it is one name with its properties, as 'huber delta=2'");
      return NULL;
    }

  type = gyre_loss_type_find (item->name, error);
  if (type != 0)
    return (GyreLoss *) gyre_line_make_object (item, type, line, "loss", error);

  gyre_line_prefix_error (error, line, "loss", item->position);
  return NULL;
}

/**
 * gyre_loss_to_string:
 * @self: a loss
 *
 * Returns: (transfer full): a line of which gyre_loss_parse() makes the same
 */
char *
gyre_loss_to_string (GyreLoss *self)
{
  GString *line;

  g_return_val_if_fail (GYRE_IS_LOSS (self), NULL);

  line = g_string_new (NULL);
  gyre_line_print_object (line, G_OBJECT (self), gyre_loss_get_type_name (self));

  return g_string_free (line, FALSE);
}

/**
 * gyre_loss_get_type_name:
 * @self: a loss
 *
 * Returns: its type's name in lines, such as "mse"
 */
const char *
gyre_loss_get_type_name (GyreLoss *self)
{
  g_return_val_if_fail (GYRE_IS_LOSS (self), NULL);

  return gyre_registry_get_name (G_OBJECT_TYPE (self));
}

/**
 * gyre_loss_get_reduction:
 * @self: a loss
 *
 * Returns: what becomes of its terms
 */
GyreReduction
gyre_loss_get_reduction (GyreLoss *self)
{
  GyreLossPrivate *priv;

  g_return_val_if_fail (GYRE_IS_LOSS (self), GYRE_REDUCTION_MEAN);

  priv = gyre_loss_get_instance_private (self);
  return priv->reduction;
}

/* i32 labels as ones and zeros in the shape of the prediction */
static GyreTensor *
fit_target (const GyreLossClass *klass,
            GyreTensor          *prediction,
            GyreTensor          *target)
{
  GyreShape shape = gyre_tensor_get_shape (prediction);

  if (klass->target == GYRE_LOSS_TARGET_LABELS ||
      gyre_tensor_get_dtype (target) != GYRE_I32)
    return target;

  if (shape.rank == gyre_tensor_get_rank (target) + 1)
    return gyre_one_hot (target, shape.dims[shape.rank - 1]);

  return gyre_convert (target, GYRE_F32);
}

static GyreTensor *
check_terms (GyreLoss   *self,
             GyreTensor *prediction,
             GyreTensor *terms)
{
  GyreShape is = gyre_tensor_get_shape (terms);
  g_autofree char *text = NULL;

  if (terms->poison || prediction->poison
      || (gyre_tensor_get_dtype (terms) == GYRE_F32
          && (gyre_tensor_get_rank (prediction) == 0
              || (is.rank > 0 && is.dims[0] == gyre_tensor_dim (prediction, 0)))))
    return terms;

  text = gyre_shape_to_string (&is);
  return gyre_graph_fail (
      terms->graph,
      g_error_new (GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "loss \"%s\": its terms are %s%s, they must be f32[b, …] with a row "
                   "for each of the %" G_GINT64_FORMAT " of the batch",
                   gyre_loss_get_type_name (self),
                   gyre_dtype_name (gyre_tensor_get_dtype (terms)), text,
                   gyre_tensor_dim (prediction, 0)));
}

/**
 * gyre_loss_get_terms: (skip)
 * @self: a loss
 * @prediction: f32[b, …]
 * @target: f32 of the same shape, or labels i32[…]
 *
 * Traces the terms of a loss, before they are reduced.
 *
 * Returns: (transfer none): f32[b, …]
 */
GyreTensor *
gyre_loss_get_terms (GyreLoss   *self,
                     GyreTensor *prediction,
                     GyreTensor *target)
{
  GyreLossClass *klass;

  g_return_val_if_fail (GYRE_IS_LOSS (self), prediction);
  g_return_val_if_fail (prediction != NULL && target != NULL, prediction);

  if (prediction->poison || target->poison)
    return prediction->poison ? prediction : target;

  klass = GYRE_LOSS_GET_CLASS (self);
  g_return_val_if_fail (klass->terms != NULL, prediction);

  target = fit_target (klass, prediction, target);
  return check_terms (self, prediction, klass->terms (self, prediction, target));
}

static GyreTensor *
keep (GyreTensor *x)
{
  return x;
}

static GyreTensor *(*const reductions[]) (GyreTensor *x) = {
  [GYRE_REDUCTION_MEAN] = gyre_mean,
  [GYRE_REDUCTION_SUM] = gyre_sum,
  [GYRE_REDUCTION_NONE] = keep,
};

/**
 * gyre_loss_apply: (skip)
 * @self: a loss
 * @prediction: f32[b, …]; logits f32[…, n] for one that takes labels
 * @target: f32 of the same shape, or labels i32[…]; labels become ones and zeros where
 *   the loss takes values
 *
 * Traces a loss. A mean is the sum of all terms divided once by their global count: a
 * batch that is cut among devices in unequal shares has the same loss.
 *
 * Returns: (transfer none): f32[], or with %GYRE_REDUCTION_NONE f32 with a number a term
 */
GyreTensor *
gyre_loss_apply (GyreLoss   *self,
                 GyreTensor *prediction,
                 GyreTensor *target)
{
  GyreTensor *terms;

  g_return_val_if_fail (GYRE_IS_LOSS (self), prediction);

  terms = gyre_loss_get_terms (self, prediction, target);
  if (terms->poison)
    return terms;

  return reductions[gyre_loss_get_reduction (self)](terms);
}

/**
 * gyre_loss_type_find:
 * @name: a name in lines, such as "mse"
 * @error: %GYRE_ERROR_UNKNOWN, with the nearest name there is; %GYRE_ERROR_PLUGIN
 *
 * Returns: the type, whose plugin is loaded now if it is of one; 0 on error
 */
GType
gyre_loss_type_find (const char  *name,
                     GError     **error)
{
  g_return_val_if_fail (name != NULL, 0);

  gyre_loss_ensure_types ();
  return gyre_registry_find (GYRE_TYPE_LOSS, "loss", name, error);
}

/**
 * gyre_loss_list:
 *
 * Returns: (transfer full): the names of all losses, those of plugins that are not loaded
 *   among them, sorted
 */
char **
gyre_loss_list (void)
{
  gyre_loss_ensure_types ();
  return gyre_registry_list (GYRE_TYPE_LOSS);
}
