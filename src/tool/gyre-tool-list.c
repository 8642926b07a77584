/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <string.h>

#include "nn/gyre-registry-private.h"

/* gyre inspect without a name: what lines can name, by plugin and kind, with properties.
 * Nothing is loaded for it. */

static void
print_name (const char *name, char **properties, const char *hidden_by)
{
  g_autofree char *joined = g_strjoinv (" ", properties);
  g_autofree char *line   = g_strdup_printf ("    %-24s %s", name, joined);

  g_print ("%s\n", g_strchomp (line));
  if (hidden_by)
    g_print ("    %-24s hidden by that of %s\n", "", hidden_by);
}

static void
print_library_kind (guint kind)
{
  const GyrePluginKind *row   = &gyre_plugin_kinds[kind];
  GType                 base  = row->get_type ();
  g_auto (GStrv)        names = row->list ();

  g_print ("  %s\n", row->plural);
  for (char **name = names; *name; name++)
    {
      g_auto (GStrv) properties = NULL;

      if (gyre_registry_get_module (base, *name).path)
        continue;
      properties = gyre_plugin_list_properties (row->find (*name, NULL));
      print_name (*name, properties, NULL);
    }
}

static void
print_record_kind (const GyrePluginRecord *record, guint kind)
{
  char **names = record->names[kind];

  if (!names || !names[0])
    return;
  g_print ("  %s\n", gyre_plugin_kinds[kind].plural);
  for (guint i = 0; names[i]; i++)
    {
      g_auto (GStrv)   list   = gyre_plugin_record_list_properties (record, kind, i);
      g_autofree char *winner = gyre_plugin_find_winner (record, kind, names[i]);

      print_name (names[i], list, winner);
    }
}

static void
print_record (const GyrePluginRecord *record)
{
  gyre_tool_print_module (record);
  for (guint kind = 0; kind < GYRE_PLUGIN_N_KINDS; kind++)
    print_record_kind (record, kind);
  if (record->primitives && record->primitives[0])
    g_print ("  primitives\n");
  for (char **name = record->primitives; name && *name; name++)
    g_print ("    %s\n", *name);
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

int
gyre_tool_list (void)
{
  GPtrArray *plugins;

  gyre_plugin_retry ();
  plugins = gyre_plugin_list ();
  g_print ("the library %s\n", GYRE_VERSION_STRING);
  for (guint kind = 0; kind < GYRE_PLUGIN_N_KINDS; kind++)
    print_library_kind (kind);
  for (guint i = 0; i < plugins->len; i++)
    if (!((const GyrePluginRecord *) plugins->pdata[i])->error)
      print_record (plugins->pdata[i]);
  print_faults ();
  print_clashes ();
  return GYRE_TOOL_OK;
}

/* A plugin's name is that of its symbol: words with '_' between them, or with '-'. */
static gboolean
is_named (const GyrePluginRecord *record, const char *name)
{
  g_autofree char *own   = g_strdelimit (g_strdup (record->name), "_", '-');
  g_autofree char *asked = g_strdelimit (g_strdup (name), "_", '-');

  return g_str_equal (own, asked);
}

gboolean
gyre_tool_list_module (const char *name)
{
  GPtrArray *plugins = gyre_plugin_list ();

  for (guint i = 0; i < plugins->len; i++)
    {
      const GyrePluginRecord *record = g_ptr_array_index (plugins, i);

      if (record->error || !is_named (record, name))
        continue;
      print_record (record);
      g_print ("  %s\n", record->path);
      return TRUE;
    }
  return FALSE;
}
