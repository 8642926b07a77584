/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <string.h>

#include <gyre/gyre-layer.h>
#include <gyre/gyre-optimizer.h>

#include "base/gyre-text-private.h"
#include "nn/gyre-property-private.h"

/* --- values and ranges, from introspection --- */

static char *
number_range (GParamSpec *pspec)
{
  if (G_IS_PARAM_SPEC_INT64 (pspec))
    return g_strdup_printf ("integer, %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                            G_PARAM_SPEC_INT64 (pspec)->minimum,
                            G_PARAM_SPEC_INT64 (pspec)->maximum);
  if (G_IS_PARAM_SPEC_INT (pspec))
    return g_strdup_printf ("integer, %d to %d", G_PARAM_SPEC_INT (pspec)->minimum,
                            G_PARAM_SPEC_INT (pspec)->maximum);
  if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    {
      char low[G_ASCII_DTOSTR_BUF_SIZE], high[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (low, sizeof low, "%g", G_PARAM_SPEC_DOUBLE (pspec)->minimum);
      g_ascii_formatd (high, sizeof high, "%g", G_PARAM_SPEC_DOUBLE (pspec)->maximum);
      return g_strdup_printf ("number, %s to %s", low, high);
    }
  return NULL;
}

static char *
enum_range (GParamSpec *pspec)
{
  GString    *text  = g_string_new ("one of ");
  GEnumClass *klass = G_PARAM_SPEC_ENUM (pspec)->enum_class;

  for (guint i = 0; i < klass->n_values; i++)
    g_string_append_printf (text, "%s%s", i ? ", " : "", klass->values[i].value_nick);
  return g_string_free (text, FALSE);
}

static char *
describe_range (GParamSpec *pspec)
{
  char *range = number_range (pspec);

  if (range)
    return range;
  if (G_IS_PARAM_SPEC_ENUM (pspec))
    return enum_range (pspec);
  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    return g_strdup ("boolean, true or false");
  if (G_IS_PARAM_SPEC_STRING (pspec))
    return g_strdup ("text");
  return g_strdup (g_type_name (pspec->value_type));
}

static char *
describe_default (GParamSpec *pspec)
{
  const GValue *value = g_param_spec_get_default_value (pspec);
  char          text[G_ASCII_DTOSTR_BUF_SIZE];

  if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    return g_strdup (
        g_ascii_formatd (text, sizeof text, "%g", g_value_get_double (value)));
  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    return g_strdup (g_value_get_boolean (value) ? "true" : "false");
  if (G_IS_PARAM_SPEC_ENUM (pspec))
    return g_strdup (g_enum_get_value (G_PARAM_SPEC_ENUM (pspec)->enum_class,
                                       g_value_get_enum (value))->value_nick);
  if (G_IS_PARAM_SPEC_STRING (pspec))
    return g_strdup_printf ("\"%s\"",
                            g_value_get_string (value) ? g_value_get_string (value) : "");
  return g_strdup_value_contents (value);
}

static void
print_property (GParamSpec *pspec)
{
  g_autofree char *range   = describe_range (pspec);
  g_autofree char *initial = describe_default (pspec);
  const char      *blurb   = g_param_spec_get_blurb (pspec);
  gboolean         given   = gyre_property_is_required (pspec);

  g_print ("  %-18s %s\n  %-18s %s; %s%s\n", pspec->name, blurb ? blurb : "", "", range,
           given ? "has to be given" : "default ", given ? "" : initial);
}

static void
print_properties (GType type)
{
  GObjectClass           *klass = g_type_class_ref (type);
  guint                   n, n_shown = 0;
  g_autofree GParamSpec **list  = g_object_class_list_properties (klass, &n);

  g_print ("\nproperties\n");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *initial = gyre_property_print_default (list[i]);

      /* not to be given in a line */
      if (!initial)
        continue;
      print_property (list[i]);
      n_shown++;
    }
  if (n_shown == 0)
    g_print ("  none\n");
  g_type_class_unref (klass);
}

void
gyre_tool_print_module (const GyrePluginRecord *record)
{
  g_print ("plugin %s %s, %s, %s\n", record->name, record->version, record->licence,
           record->origin ? record->origin : "origin not told");
}

/* Where it is from: the library, or the module that has its name first. */
static void
print_origin (guint kind, const char *name, GPtrArray *owners)
{
  const GyrePluginRecord *winner = NULL;

  for (guint i = 0; i < owners->len; i++)
    {
      g_autofree char *other =
          gyre_plugin_find_winner (owners->pdata[i], kind, name);

      if (!other)
        winner = owners->pdata[i];
    }
  if (!winner)
    g_print ("  part of the library, %s\n", GYRE_VERSION_STRING);
  else
    {
      g_print ("  ");
      gyre_tool_print_module (winner);
      g_print ("  %s\n", winner->path);
    }
  for (guint i = 0; i < owners->len; i++)
    if (owners->pdata[i] != winner)
      g_print ("  it comes first and hides that of %s\n",
               ((const GyrePluginRecord *) owners->pdata[i])->path);
}

static gboolean
is_listed (guint kind, const char *name)
{
  g_auto (GStrv) names = gyre_plugin_kinds[kind].list ();

  return g_strv_contains ((const char *const *) names, name);
}

static gboolean
print_kind (guint kind, const char *name, GError **error)
{
  GType                 type   = gyre_plugin_kinds[kind].find (name, error);
  g_autoptr (GPtrArray) owners = NULL;

  if (type == G_TYPE_INVALID)
    return FALSE;
  owners = gyre_plugin_list_owners (kind, name);
  g_print ("%s %s\n  type %s\n", gyre_plugin_kinds[kind].word, name, g_type_name (type));
  print_origin (kind, name, owners);
  print_properties (type);
  return TRUE;
}

static void
set_unknown (const char *name, GError **error)
{
  g_autoptr (GStrvBuilder) all  = g_strv_builder_new ();
  g_auto (GStrv)           list = NULL;
  g_autofree char         *near = NULL;

  for (guint kind = 0; kind < GYRE_PLUGIN_N_KINDS; kind++)
    {
      g_auto (GStrv) names = gyre_plugin_kinds[kind].list ();

      g_strv_builder_addv (all, (const char **) names);
    }
  list = g_strv_builder_end (all);
  near = gyre_text_suggest (name, (const char *const *) list);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN,
               "nothing has the name \"%s\"%s%s%s; 'gyre inspect' lists what there is",
               name, near ? ": did you mean \"" : "", near ? near : "",
               near ? "\"?" : "");
}

/* A name of any kind, or of several. */
static int
inspect_name (const char *name)
{
  g_autoptr (GError) error = NULL;
  guint              n     = 0;

  for (guint kind = 0; kind < GYRE_PLUGIN_N_KINDS; kind++)
    {
      if (!is_listed (kind, name))
        continue;
      g_print ("%s", n++ > 0 ? "\n" : "");
      if (!print_kind (kind, name, &error))
        return gyre_tool_fail ("inspect", GYRE_TOOL_FAILED, error);
    }
  if (n > 0 || gyre_tool_list_module (name))
    return GYRE_TOOL_OK;
  set_unknown (name, &error);
  return gyre_tool_fail ("inspect", GYRE_TOOL_USAGE, error);
}

/* A name alone is described; anything more is a model line. */
static gboolean
is_line (const char *text)
{
  return strpbrk (text, " \t\n!=(@") != NULL;
}

int
gyre_tool_inspect (int    argc,
                   char **argv)
{
  g_autofree char   *data       = NULL;
  g_autofree char   *input      = NULL;
  gint               batch_size = 1;
  g_autoptr (GError) error      = NULL;
  const GOptionEntry entries[]  = {
    { "data", 0, 0, G_OPTION_ARG_STRING, &data, "A model line: what it takes", "DATA" },
    { "input", 0, 0, G_OPTION_ARG_STRING, &input,
      "A model line: the sizes of a sample, such as 28,28,1", "SIZES" },
    { "batch-size", 0, 0, G_OPTION_ARG_INT, &batch_size, "A model line; default 1", "N" },
    G_OPTION_ENTRY_NULL
  };

  if (!gyre_tool_parse (
          "Without a name: lists what a line can name, by plugin and kind, with "
          "properties, and\nmodules that can't be used.\n"
          "With one: its plugin, licence and origin, its properties, their ranges and "
          "defaults.\n"
          "With a model line: what each of its layers makes, and what it costs.",
          entries, &argc, &argv, "[NAME | 'MODEL LINE']", &error))
    return gyre_tool_fail ("inspect", GYRE_TOOL_USAGE, error);
  if (batch_size < 1)
    {
      g_set_error (&error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "--batch-size %d: it takes 1 or more", batch_size);
      return gyre_tool_fail ("inspect", GYRE_TOOL_USAGE, error);
    }
  if (argc > 2)
    {
      g_set_error (&error, GYRE_ERROR, GYRE_ERROR_INVALID, "unexpected argument '%s'",
                   argv[2]);
      return gyre_tool_fail ("inspect", GYRE_TOOL_USAGE, error);
    }
  if (argc == 2 && (input != NULL || data != NULL || is_line (argv[1])))
    return gyre_tool_survey (argv[1], data, input, batch_size);
  return argc == 2 ? inspect_name (argv[1]) : gyre_tool_list ();
}
