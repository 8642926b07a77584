/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-layer.h>

#include "ir/gyre-graph-private.h"
#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"
#include "nn/gyre-scope-private.h"
#include "nn/gyre-sequential-private.h"

/**
 * GyreLayer:
 *
 * A type of layer: properties that are set once, and a function that is called to trace
 * what the layer computes.  Parameters belong to the scope that it is applied in, not to
 * the object.
 */
typedef struct
{
  char *name;
} GyreLayerPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GyreLayer, gyre_layer, G_TYPE_OBJECT)

static void
gyre_layer_get_property (GObject    *object,
                         guint       id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  g_value_set_string (value, gyre_layer_get_name (GYRE_LAYER (object)));
}

static void
gyre_layer_set_property (GObject      *object,
                         guint         id,
                         const GValue *value,
                         GParamSpec   *pspec)
{
  GyreLayerPrivate *priv = gyre_layer_get_instance_private (GYRE_LAYER (object));

  g_free (priv->name);
  priv->name = g_value_dup_string (value);
}

static void
gyre_layer_finalize (GObject *object)
{
  GyreLayerPrivate *priv = gyre_layer_get_instance_private (GYRE_LAYER (object));

  g_clear_pointer (&priv->name, g_free);
  gyre_property_finalize (object);
}

static void
gyre_layer_class_init (GyreLayerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = gyre_layer_get_property;
  object_class->set_property = gyre_layer_set_property;
  object_class->finalize = gyre_layer_finalize;
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_string ("name", NULL,
                           "Its place in the paths of parameters, else its type and "
                           "number", NULL, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
}

static void
gyre_layer_init (GyreLayer *self)
{
}

/**
 * gyre_layer_apply: (skip)
 * @self: a layer
 * @scope: where its parent was applied
 * @x: its input
 *
 * Traces @self in a scope of its own below @scope, named by its type and number among
 * the layers of that type there: "dense_0". A layer that is applied a second time in one
 * scope has the parameters that it had the first time.
 *
 * Returns: (transfer none): what the layer computes; after an error a poison tensor
 */
GyreTensor *
gyre_layer_apply (GyreLayer  *self,
                  GyreScope  *scope,
                  GyreTensor *x)
{
  GyreScope *child;
  GyreApplied *applied;
  const char *path;
  GyreTensor *y;

  g_return_val_if_fail (GYRE_IS_LAYER (self), x);
  g_return_val_if_fail (scope != NULL && x != NULL, x);
  g_return_val_if_fail (GYRE_LAYER_GET_CLASS (self)->apply != NULL, x);

  if (x->poison)
    return x;

  child = gyre_scope_enter (scope, self, gyre_layer_get_type_name (self));
  applied = gyre_scope_note_applied (child);
  path = x->graph->path;
  x->graph->path = gyre_scope_get_path (child);
  y = GYRE_LAYER_GET_CLASS (self)->apply (self, child, x);
  x->graph->path = path;
  if (applied != NULL)
    applied->y = y;

  return y;
}

/**
 * gyre_layer_get_name:
 * @self: a layer
 *
 * Returns: (nullable): the name that it was given by its property "name"; it stands in
 *   the paths of its parameters instead of "dense_0"
 */
const char *
gyre_layer_get_name (GyreLayer *self)
{
  GyreLayerPrivate *priv;

  g_return_val_if_fail (GYRE_IS_LAYER (self), NULL);

  priv = gyre_layer_get_instance_private (self);
  return priv->name;
}

/**
 * gyre_layer_get_type_name:
 * @self: a layer
 *
 * Returns: its type's name in model lines, such as "max-pool2d"
 */
const char *
gyre_layer_get_type_name (GyreLayer *self)
{
  g_return_val_if_fail (GYRE_IS_LAYER (self), NULL);

  return gyre_registry_get_name (G_OBJECT_TYPE (self));
}

static void
ensure_types (void)
{
  static gsize done = 0;

  if (g_once_init_enter (&done))
    {
      gyre_registry_add (GYRE_TYPE_LAYER, "repeat", GYRE_TYPE_REPEAT, NULL);
      gyre_registry_add (GYRE_TYPE_LAYER, "residual", GYRE_TYPE_RESIDUAL, NULL);
      gyre_registry_add (GYRE_TYPE_LAYER, "sequential", GYRE_TYPE_SEQUENTIAL, NULL);
      g_once_init_leave (&done, 1);
    }
}

/**
 * gyre_layer_type_find:
 * @name: a name in model lines, such as "dense"
 * @error: %GYRE_ERROR_UNKNOWN, with the nearest name there is; %GYRE_ERROR_PLUGIN if the
 *   plugin that has it does not load
 *
 * Returns: the type, whose plugin is loaded now; 0 on error
 */
GType
gyre_layer_type_find (const char  *name,
                      GError     **error)
{
  g_return_val_if_fail (name != NULL, 0);

  ensure_types ();
  return gyre_registry_find (GYRE_TYPE_LAYER, "layer", name, error);
}

/**
 * gyre_layer_type_list:
 *
 * Returns: (transfer full): the names of all layers, those of plugins that are not loaded
 *   among them, sorted
 */
char **
gyre_layer_type_list (void)
{
  ensure_types ();
  return gyre_registry_list (GYRE_TYPE_LAYER);
}

/**
 * gyre_layer_class_add_int:
 * @klass: a class of layers
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its gint64 in the instance, by G_STRUCT_OFFSET()
 * @minimum: the least value
 * @maximum: the largest value
 * @value: its default
 *
 * Gives layers an integer property; for class_init.
 */
void
gyre_layer_class_add_int (GyreLayerClass *klass,
                          const char     *name,
                          const char     *blurb,
                          gsize           offset,
                          gint64          minimum,
                          gint64          maximum,
                          gint64          value)
{
  gyre_property_add_int (G_OBJECT_CLASS (klass), name, blurb, offset, minimum, maximum,
                         value);
}

/**
 * gyre_layer_class_add_double:
 * @klass: a class of layers
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its double in the instance
 * @minimum: the least value
 * @maximum: the largest value
 * @value: its default
 *
 * Gives layers a property that is a number; for class_init.
 */
void
gyre_layer_class_add_double (GyreLayerClass *klass,
                             const char     *name,
                             const char     *blurb,
                             gsize           offset,
                             double          minimum,
                             double          maximum,
                             double          value)
{
  gyre_property_add_double (G_OBJECT_CLASS (klass), name, blurb, offset, minimum, maximum,
                            value);
}

/**
 * gyre_layer_class_add_boolean:
 * @klass: a class of layers
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its gboolean in the instance
 * @value: its default
 *
 * Gives layers a property that is true or false; for class_init.
 */
void
gyre_layer_class_add_boolean (GyreLayerClass *klass,
                              const char     *name,
                              const char     *blurb,
                              gsize           offset,
                              gboolean        value)
{
  gyre_property_add_boolean (G_OBJECT_CLASS (klass), name, blurb, offset, value);
}

/**
 * gyre_layer_class_add_enum:
 * @klass: a class of layers
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its int in the instance
 * @type: a registered enumeration, whose nicks are the values in model lines
 * @value: its default
 *
 * Gives layers a property with a few named values; for class_init.
 */
void
gyre_layer_class_add_enum (GyreLayerClass *klass,
                           const char     *name,
                           const char     *blurb,
                           gsize           offset,
                           GType           type,
                           int             value)
{
  gyre_property_add_enum (G_OBJECT_CLASS (klass), name, blurb, offset, type, value);
}

/**
 * gyre_layer_class_add_string:
 * @klass: a class of layers
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its char * in the instance, which is freed with it
 * @value: (nullable): its default
 *
 * Gives layers a property that is text; for class_init.
 */
void
gyre_layer_class_add_string (GyreLayerClass *klass,
                             const char     *name,
                             const char     *blurb,
                             gsize           offset,
                             const char     *value)
{
  gyre_property_add_string (G_OBJECT_CLASS (klass), name, blurb, offset, value);
}

/**
 * gyre_layer_class_add_ints:
 * @klass: a class of layers
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its char * in the instance, which is freed with it
 * @n_max: how many integers there may be
 * @minimum: the least value of each
 * @maximum: the largest
 * @words: (array zero-terminated=1) (nullable): static: what may stand there instead,
 *   such as "SAME"
 * @value: (nullable): its default
 *
 * Gives layers a property that is a few integers, "3,3"; for class_init. The member is
 * the text, which gyre_layer_parse_ints() reads.
 */
void
gyre_layer_class_add_ints (GyreLayerClass    *klass,
                           const char        *name,
                           const char        *blurb,
                           gsize              offset,
                           guint              n_max,
                           gint64             minimum,
                           gint64             maximum,
                           const char *const *words,
                           const char        *value)
{
  gyre_property_add_ints (G_OBJECT_CLASS (klass), name, blurb, offset, n_max, minimum,
                          maximum, words, value);
}

/**
 * gyre_layer_class_add_init:
 * @klass: a class of layers
 * @name: the property, in kebab case: "kernel-init"
 * @blurb: what it is, in a few words
 * @offset: of its char * in the instance, which is freed with it
 * @value: (nullable): its default, "lecun-normal"; %NULL: the layer has a way of its own
 *
 * Gives layers a property that is an initializer, "he-normal" or "normal(stddev=0.1)", of
 * the library or of a plugin; for class_init. The member is the text, for a #GyreInit:
 * (GyreInit){ .text = self->kernel_init }.
 */
void
gyre_layer_class_add_init (GyreLayerClass *klass,
                           const char     *name,
                           const char     *blurb,
                           gsize           offset,
                           const char     *value)
{
  gyre_property_add_init (G_OBJECT_CLASS (klass), name, blurb, offset, value);
}

/**
 * gyre_layer_class_require:
 * @klass: a class of layers
 * @name: a property that was added
 *
 * Says that a model line has to give this property: there is no sensible default.
 */
void
gyre_layer_class_require (GyreLayerClass *klass,
                          const char     *name)
{
  gyre_property_require (G_OBJECT_CLASS (klass), name);
}
