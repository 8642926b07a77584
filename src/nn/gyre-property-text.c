/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-property-private.h"

#include "base/gyre-text-private.h"

#include <gyre/gyre-error.h>
#include <gyre/gyre-initializer.h>

#include <string.h>

/* A kind of property as text: a row each. */
typedef struct
{
  gboolean (*is)       (GParamSpec *pspec);
  char    *(*describe) (GParamSpec *pspec);
  gboolean (*parse) (GParamSpec *pspec, const char *text, GValue *value, GError **error);
  char    *(*print)    (const GValue *value);
} Kind;

static gboolean
is_int (GParamSpec *pspec)
{
  return G_IS_PARAM_SPEC_INT64 (pspec);
}

static char *
describe_int (GParamSpec *pspec)
{
  GParamSpecInt64 *range = G_PARAM_SPEC_INT64 (pspec);

  return g_strdup_printf ("an integer from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                          range->minimum, range->maximum);
}

static gboolean
parse_int (GParamSpec  *pspec,
           const char  *text,
           GValue      *value,
           GError     **error)
{
  GParamSpecInt64 *range = G_PARAM_SPEC_INT64 (pspec);
  gint64 number;

  if (!gyre_text_parse_int (text, range->minimum, range->maximum, &number, error))
    return FALSE;

  g_value_set_int64 (value, number);
  return TRUE;
}

static char *
print_int (const GValue *value)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT, g_value_get_int64 (value));
}

static gboolean
is_double (GParamSpec *pspec)
{
  return G_IS_PARAM_SPEC_DOUBLE (pspec);
}

/* The largest number stands for no limit. */
static char *
print_limit (double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%g", value));
}

static char *
describe_double (GParamSpec *pspec)
{
  GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (pspec);
  g_autofree char *minimum = print_limit (range->minimum);
  g_autofree char *maximum = print_limit (range->maximum);

  if (range->minimum <= -G_MAXDOUBLE && range->maximum >= G_MAXDOUBLE)
    return g_strdup ("a number");
  if (range->maximum >= G_MAXDOUBLE)
    return g_strdup_printf ("a number from %s", minimum);

  return g_strdup_printf ("a number from %s to %s", minimum, maximum);
}

static gboolean
parse_double (GParamSpec  *pspec,
              const char  *text,
              GValue      *value,
              GError     **error)
{
  GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (pspec);
  double number;

  if (!gyre_text_parse_double (text, &number, error))
    return FALSE;
  if (number < range->minimum || number > range->maximum)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "%s is out of range", text);
      return FALSE;
    }

  g_value_set_double (value, number);
  return TRUE;
}

static char *
print_double (const GValue *value)
{
  char shorter[G_ASCII_DTOSTR_BUF_SIZE], longer[G_ASCII_DTOSTR_BUF_SIZE];
  double number = g_value_get_double (value);

  g_ascii_formatd (shorter, sizeof shorter, "%.9g", number);
  g_ascii_dtostr (longer, sizeof longer, number);

  return g_strdup (g_ascii_strtod (shorter, NULL) == number ? shorter : longer);
}

static gboolean
is_boolean (GParamSpec *pspec)
{
  return G_IS_PARAM_SPEC_BOOLEAN (pspec);
}

static char *
describe_boolean (GParamSpec *pspec)
{
  return g_strdup ("true or false");
}

static gboolean
parse_boolean (GParamSpec  *pspec,
               const char  *text,
               GValue      *value,
               GError     **error)
{
  static const char *const yes[] = { "true", "yes", "1", NULL };
  static const char *const no[] = { "false", "no", "0", NULL };
  g_autofree char *lower = g_ascii_strdown (text, -1);

  if (!g_strv_contains (yes, lower) && !g_strv_contains (no, lower))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "\"%s\" is neither true nor false", text);
      return FALSE;
    }

  g_value_set_boolean (value, g_strv_contains (yes, lower));
  return TRUE;
}

static char *
print_boolean (const GValue *value)
{
  return g_strdup (g_value_get_boolean (value) ? "true" : "false");
}

static gboolean
is_enum (GParamSpec *pspec)
{
  return G_IS_PARAM_SPEC_ENUM (pspec);
}

static char *
describe_enum (GParamSpec *pspec)
{
  GEnumClass *klass = G_PARAM_SPEC_ENUM (pspec)->enum_class;
  GString *text = g_string_new ("one of ");

  for (guint i = 0; i < klass->n_values; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", klass->values[i].value_nick);

  return g_string_free (text, FALSE);
}

static gboolean
parse_enum (GParamSpec  *pspec,
            const char  *text,
            GValue      *value,
            GError     **error)
{
  g_autofree char *lower = g_ascii_strdown (text, -1);
  GEnumValue *found =
      g_enum_get_value_by_nick (G_PARAM_SPEC_ENUM (pspec)->enum_class, lower);

  if (found == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "\"%s\" is none of its values",
                   text);
      return FALSE;
    }

  g_value_set_enum (value, found->value);
  return TRUE;
}

static char *
print_enum (const GValue *value)
{
  GEnumClass *klass = g_type_class_peek (G_VALUE_TYPE (value));

  return g_strdup (g_enum_get_value (klass, g_value_get_enum (value))->value_nick);
}

static gboolean
is_string (GParamSpec *pspec)
{
  return G_IS_PARAM_SPEC_STRING (pspec);
}

static char *
describe_string (GParamSpec *pspec)
{
  return g_strdup ("text");
}

static gboolean
parse_string (GParamSpec  *pspec,
              const char  *text,
              GValue      *value,
              GError     **error)
{
  g_value_set_string (value, text);
  return TRUE;
}

/* In quotes where a line would read it as more than one word. */
static char *
print_string (const GValue *value)
{
  const char *text = g_value_get_string (value);
  g_autofree char *escaped = NULL;

  if (text == NULL)
    text = "";
  if (text[0] != '\0' && strpbrk (text, " \t\n!#()\"'\\=") == NULL)
    return g_strdup (text);

  escaped = g_strescape (text, NULL);
  return g_strdup_printf ("\"%s\"", escaped);
}

static gboolean
parse_ints (GParamSpec  *pspec,
            const char  *text,
            GValue      *value,
            GError     **error)
{
  if (!gyre_property_check_ints (pspec, text, error))
    return FALSE;

  g_value_set_string (value, text);
  return TRUE;
}

/* "normal(stddev=0.1)": what it says is checked where it enters. */
static gboolean
parse_init (GParamSpec  *pspec,
            const char  *text,
            GValue      *value,
            GError     **error)
{
  g_autoptr (GyreInitializer) initializer = gyre_initializer_parse (text, error);
  g_autofree char *own = NULL;

  if (initializer == NULL)
    return FALSE;

  own = gyre_initializer_to_string (initializer);
  g_value_set_string (value, own);
  return TRUE;
}

static char *
describe_init (GParamSpec *pspec)
{
  return g_strdup ("an initializer, such as he-normal or normal(stddev=0.1)");
}

static char *
print_init (const GValue *value)
{
  return g_value_dup_string (value);
}

/* Some are stored as text too: those come first. */
static const Kind kinds[] = {
  { gyre_property_is_ints, gyre_property_describe_ints, parse_ints, print_string },
  { gyre_property_is_init, describe_init, parse_init, print_init },
  { is_int, describe_int, parse_int, print_int },
  { is_double, describe_double, parse_double, print_double },
  { is_boolean, describe_boolean, parse_boolean, print_boolean },
  { is_enum, describe_enum, parse_enum, print_enum },
  { is_string, describe_string, parse_string, print_string },
};

static const Kind *
find_kind (GParamSpec *pspec)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].is (pspec))
      return &kinds[i];

  return NULL;
}

static char **
list_names (GObject *object)
{
  guint n;
  g_autofree GParamSpec **pspecs =
    g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    if (find_kind (pspecs[i]) != NULL)
      g_ptr_array_add (names, g_strdup (pspecs[i]->name));
  g_ptr_array_add (names, NULL);

  return (char **) g_ptr_array_free (names, FALSE);
}

GParamSpec *
gyre_property_find (GObject     *object,
                    const char  *what,
                    const char  *name,
                    GError     **error)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (object), name);
  g_auto (GStrv) names = NULL;
  g_autofree char *near = NULL;
  g_autofree char *list = NULL;

  if (pspec != NULL && find_kind (pspec) != NULL)
    return pspec;

  names = list_names (object);
  near = gyre_text_suggest (name, (const char *const *) names);
  list = g_strjoinv (", ", names);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
               "%s has no property \"%s\"%s%s%s; it has %s", what, name,
               near != NULL ? ": did you mean \"" : "", near != NULL ? near : "",
               near != NULL ? "\"?" : "", names[0] != NULL ? list : "none");

  return NULL;
}

gboolean
gyre_property_set_text (GObject     *object,
                        GParamSpec  *pspec,
                        const char  *text,
                        GError     **error)
{
  const Kind *kind = find_kind (pspec);
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GError) why = NULL;
  g_autofree char *takes = NULL;

  g_return_val_if_fail (kind != NULL, FALSE);

  g_value_init (&value, pspec->value_type);
  if (kind->parse (pspec, text, &value, &why))
    {
      g_object_set_property (object, pspec->name, &value);
      return TRUE;
    }

  takes = kind->describe (pspec);
  if (gyre_property_is_init (pspec))
    g_set_error (error, GYRE_ERROR, why->code, "%s=%s: %s; it takes %s", pspec->name,
                 text, why->message, takes);
  else
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "%s=%s: it takes %s",
                 pspec->name, text, takes);
  return FALSE;
}

char *
gyre_property_get_text (GObject    *object,
                        GParamSpec *pspec)
{
  const Kind *kind = find_kind (pspec);
  g_auto (GValue) value = G_VALUE_INIT;

  if (kind == NULL)
    return NULL;

  g_value_init (&value, pspec->value_type);
  g_object_get_property (object, pspec->name, &value);
  if (!gyre_property_is_required (pspec) && g_param_value_defaults (pspec, &value))
    return NULL;

  return kind->print (&value);
}

char *
gyre_property_describe (GParamSpec *pspec)
{
  const Kind *kind = find_kind (pspec);

  if (kind == NULL)
    return g_strdup (g_type_name (pspec->value_type));

  return kind->describe (pspec);
}

char *
gyre_property_print_default (GParamSpec *pspec)
{
  const Kind *kind = find_kind (pspec);
  const GValue *value = g_param_spec_get_default_value (pspec);
  gboolean is_none = G_VALUE_HOLDS_STRING (value) && g_value_get_string (value) == NULL;

  if (kind == NULL)
    return NULL;

  return is_none ? g_strdup ("") : kind->print (value);
}
