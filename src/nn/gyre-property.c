/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-property-private.h"

#include <gyre/gyre-error.h>

#define MEMBER(type, object, pspec) G_STRUCT_MEMBER (type, object, (pspec)->param_id)

static GQuark
required_quark (void)
{
  return g_quark_from_static_string ("gyre-property-required");
}

static void
get_property (GObject    *object,
              guint       id,
              GValue     *value,
              GParamSpec *pspec)
{
  if (G_IS_PARAM_SPEC_INT64 (pspec))
    g_value_set_int64 (value, MEMBER (gint64, object, pspec));
  else if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    g_value_set_double (value, MEMBER (double, object, pspec));
  else if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    g_value_set_boolean (value, MEMBER (gboolean, object, pspec));
  else if (G_IS_PARAM_SPEC_ENUM (pspec))
    g_value_set_enum (value, MEMBER (int, object, pspec));
  else if (G_IS_PARAM_SPEC_STRING (pspec))
    g_value_set_string (value, MEMBER (char *, object, pspec));
  else if (G_IS_PARAM_SPEC_OBJECT (pspec))
    g_value_set_object (value, MEMBER (gpointer, object, pspec));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
set_property (GObject      *object,
              guint         id,
              const GValue *value,
              GParamSpec   *pspec)
{
  if (G_IS_PARAM_SPEC_INT64 (pspec))
    MEMBER (gint64, object, pspec) = g_value_get_int64 (value);
  else if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    MEMBER (double, object, pspec) = g_value_get_double (value);
  else if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    MEMBER (gboolean, object, pspec) = g_value_get_boolean (value);
  else if (G_IS_PARAM_SPEC_ENUM (pspec))
    MEMBER (int, object, pspec) = g_value_get_enum (value);
  else if (G_IS_PARAM_SPEC_STRING (pspec))
    {
      g_free (MEMBER (char *, object, pspec));
      MEMBER (char *, object, pspec) = g_value_dup_string (value);
    }
  else if (G_IS_PARAM_SPEC_OBJECT (pspec))
    g_set_object (&MEMBER (GObject *, object, pspec), g_value_get_object (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

/* A subclass may have properties of its own making, with other ids. */
static gboolean
is_member (GParamSpec *pspec)
{
  GObjectClass *owner = g_type_class_peek (pspec->owner_type);

  return owner->set_property == set_property;
}

void
gyre_property_finalize (GObject *object)
{
  guint n;
  g_autofree GParamSpec **pspecs =
    g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++)
    {
      if (!is_member (pspecs[i]))
        continue;
      if (G_IS_PARAM_SPEC_STRING (pspecs[i]))
        g_clear_pointer (&MEMBER (char *, object, pspecs[i]), g_free);
      else if (G_IS_PARAM_SPEC_OBJECT (pspecs[i]))
        g_clear_object (&MEMBER (GObject *, object, pspecs[i]));
    }

  G_OBJECT_CLASS (g_type_class_peek_static (G_TYPE_OBJECT))->finalize (object);
}

/* For the base class right below GObject. */
void
gyre_property_class_init (GObjectClass *klass)
{
  klass->finalize = gyre_property_finalize;
}

/* The functions of a class's own properties are not inherited. */
static void
install (GObjectClass *klass,
         gsize         offset,
         GParamSpec   *pspec)
{
  klass->get_property = get_property;
  klass->set_property = set_property;
  g_object_class_install_property (klass, (guint) offset, pspec);
}

#define FLAGS (G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS)

/**
 * gyre_property_add_int: (skip)
 * @klass: a class, in its class_init
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its member in the instance, by G_STRUCT_OFFSET()
 * @minimum: the least value
 * @maximum: the largest value
 * @value: its default
 *
 * Gives a class a property that is an integer, a gint64.
 */
void
gyre_property_add_int (GObjectClass *klass,
                       const char   *name,
                       const char   *blurb,
                       gsize         offset,
                       gint64        minimum,
                       gint64        maximum,
                       gint64        value)
{
  install (klass, offset,
           g_param_spec_int64 (name, NULL, blurb, minimum, maximum, value, FLAGS));
}

/**
 * gyre_property_add_double: (skip)
 * @klass: a class, in its class_init
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its member in the instance, by G_STRUCT_OFFSET()
 * @minimum: the least value
 * @maximum: the largest value
 * @value: its default
 *
 * Gives a class a property that is a number, a double.
 */
void
gyre_property_add_double (GObjectClass *klass,
                          const char   *name,
                          const char   *blurb,
                          gsize         offset,
                          double        minimum,
                          double        maximum,
                          double        value)
{
  install (klass, offset,
           g_param_spec_double (name, NULL, blurb, minimum, maximum, value, FLAGS));
}

/**
 * gyre_property_add_boolean: (skip)
 * @klass: a class, in its class_init
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its member in the instance, by G_STRUCT_OFFSET()
 * @value: its default
 *
 * Gives a class a property that is true or false, a gboolean.
 */
void
gyre_property_add_boolean (GObjectClass *klass,
                           const char   *name,
                           const char   *blurb,
                           gsize         offset,
                           gboolean      value)
{
  install (klass, offset,
           g_param_spec_boolean (name, NULL, blurb, value, FLAGS));
}

/**
 * gyre_property_add_enum: (skip)
 * @klass: a class, in its class_init
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its member in the instance, by G_STRUCT_OFFSET()
 * @type: a registered enumeration, whose nicks are the values in lines
 * @value: its default
 *
 * Gives a class a property that is one of a few named values, an int.
 */
void
gyre_property_add_enum (GObjectClass *klass,
                        const char   *name,
                        const char   *blurb,
                        gsize         offset,
                        GType         type,
                        int           value)
{
  install (klass, offset,
           g_param_spec_enum (name, NULL, blurb, type, value, FLAGS));
}

/**
 * gyre_property_add_string: (skip)
 * @klass: a class, in its class_init
 * @name: the property, in kebab case
 * @blurb: what it is, in a few words
 * @offset: of its member in the instance, by G_STRUCT_OFFSET()
 * @value: (nullable): its default
 *
 * Gives a class a property that is text, a char * that is freed with the object.
 */
void
gyre_property_add_string (GObjectClass *klass,
                          const char   *name,
                          const char   *blurb,
                          gsize         offset,
                          const char   *value)
{
  install (klass, offset,
           g_param_spec_string (name, NULL, blurb, value, FLAGS));
}

void
gyre_property_add_object (GObjectClass *klass,
                          const char   *name,
                          const char   *blurb,
                          gsize         offset,
                          GType         type)
{
  install (klass, offset,
           g_param_spec_object (name, NULL, blurb, type,
                                G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
}

/**
 * gyre_property_require: (skip)
 * @klass: a class, in its class_init
 * @name: a property that was added
 *
 * Says that a line has to give this property: there is no sensible default.
 */
void
gyre_property_require (GObjectClass *klass,
                       const char   *name)
{
  GParamSpec *pspec = g_object_class_find_property (klass, name);

  g_return_if_fail (pspec != NULL);

  g_param_spec_set_qdata (pspec, required_quark (), GINT_TO_POINTER (TRUE));
}

gboolean
gyre_property_is_required (GParamSpec *pspec)
{
  return g_param_spec_get_qdata (pspec, required_quark ()) != NULL;
}

static GQuark
init_quark (void)
{
  return g_quark_from_static_string ("gyre-property-init");
}

void
gyre_property_add_init (GObjectClass *klass,
                        const char   *name,
                        const char   *blurb,
                        gsize         offset,
                        const char   *value)
{
  gyre_property_add_string (klass, name, blurb, offset, value);
  g_param_spec_set_qdata (g_object_class_find_property (klass, name), init_quark (),
                          GINT_TO_POINTER (TRUE));
}

gboolean
gyre_property_is_init (GParamSpec *pspec)
{
  return g_param_spec_get_qdata (pspec, init_quark ()) != NULL;
}
