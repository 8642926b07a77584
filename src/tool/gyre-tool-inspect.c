/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <string.h>

#include <gyre/gyre-layer.h>
#include <gyre/gyre-optimizer.h>

#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"
#include "plugin/gyre-plugin-private.h"

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
print_type (GType type, const char *word, const char *name, const char *plugin)
{
  GObjectClass           *klass = g_type_class_ref (type);
  guint                   n;
  g_autofree GParamSpec **list  = g_object_class_list_properties (klass, &n);

  g_print ("%s %s\n  %s, type %s\n\nproperties\n", word, name,
           plugin ? plugin : "part of the library", g_type_name (type));
  for (guint i = 0; i < n; i++)
    print_property (list[i]);
  if (n == 0)
    g_print ("  none\n");
  g_type_class_unref (klass);
}

/* --- lists --- */

static void
print_names (GType base, char **names, const char *title)
{
  g_print ("%s\n", title);
  for (char **name = names; *name; name++)
    {
      const char *plugin = gyre_registry_get_plugin (base, *name);

      g_print ("  %-24s %s\n", *name, plugin ? plugin : "(the library)");
    }
}

static void
print_faults (void)
{
  GPtrArray *plugins = gyre_plugin_list ();

  for (guint i = 0; i < plugins->len; i++)
    {
      const GyrePluginRecord *record = g_ptr_array_index (plugins, i);

      if (record->error)
        g_print ("can't be used: %s: %s\n", record->path, record->error);
    }
}

static void
print_clashes (void)
{
  g_auto (GStrv) clashes = gyre_plugin_list_clashes ();

  for (char **clash = clashes; *clash; clash++)
    g_print ("%s\n", *clash);
}

static int
list_all (void)
{
  g_auto (GStrv) layers     = gyre_layer_type_list ();
  g_auto (GStrv) optimizers = gyre_optimizer_type_list ();

  print_names (GYRE_TYPE_LAYER, layers, "layers");
  print_names (GYRE_TYPE_OPTIMIZER, optimizers, "optimizers");
  print_faults ();
  print_clashes ();
  return GYRE_TOOL_OK;
}

static int
inspect_name (const char *name)
{
  g_autoptr (GError) error = NULL;
  GType              type  = gyre_layer_type_find (name, &error);
  g_autofree char   *module = NULL;
  const char        *plugin;

  if (type != G_TYPE_INVALID)
    {
      plugin = gyre_registry_get_plugin (GYRE_TYPE_LAYER, name);
      module = plugin ? g_strconcat ("plugin ", plugin, NULL) : NULL;
      print_type (type, "layer", name, module);
      return GYRE_TOOL_OK;
    }
  type = gyre_optimizer_type_find (name, NULL);
  if (type == G_TYPE_INVALID)
    return gyre_tool_fail ("inspect", GYRE_TOOL_USAGE, error);
  plugin = gyre_registry_get_plugin (GYRE_TYPE_OPTIMIZER, name);
  module = plugin ? g_strconcat ("plugin ", plugin, NULL) : NULL;
  print_type (type, "optimizer", name, module);
  return GYRE_TOOL_OK;
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
          "Without a name: lists layers and optimizers, and modules that can't "
          "be used.\nWith one: its properties, their ranges and defaults.\n"
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
  return argc == 2 ? inspect_name (argv[1]) : list_all ();
}
