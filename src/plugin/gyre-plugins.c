/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include "nn/gyre-registry-private.h"

#include <gmodule.h>
#include <string.h>

static GPtrArray *hidden;       /* of char *: files that another of their name hides */
static GPtrArray *records;      /* of GyrePluginRecord; NULL: not looked for yet.
                                   The registry's lock guards it. */

static char *
get_cache_file (void)
{
  return g_build_filename (g_get_user_cache_dir (), "gyre", "plugins.ini", NULL);
}

static GKeyFile *
read_cache (void)
{
  g_autofree char *file = get_cache_file ();
  GKeyFile *cache = g_key_file_new ();

  g_key_file_load_from_file (cache, file, G_KEY_FILE_NONE, NULL);

  return cache;
}

/* Modules that are gone leave the cache; one that can't be written is no error: the
 * modules are looked at again. */
static void
write_cache (GKeyFile *cache)
{
  g_autofree char *file = get_cache_file ();
  g_autofree char *folder = g_path_get_dirname (file);
  g_auto (GStrv) groups = g_key_file_get_groups (cache, NULL);

  for (guint i = 0; groups[i] != NULL; i++)
    {
      g_autofree char *path = g_uri_unescape_string (groups[i], NULL);

      if (path == NULL || !g_file_test (path, G_FILE_TEST_EXISTS))
        g_key_file_remove_group (cache, groups[i], NULL);
    }
  if (g_mkdir_with_parents (folder, 0755) == 0)
    g_key_file_save_to_file (cache, file, NULL);
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_modules (const char *folder)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "lib") && g_str_has_suffix (name, "." G_MODULE_SUFFIX))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);

  return names;
}

static GyrePluginRecord *
find_file (GPtrArray  *among,
           const char *name)
{
  for (guint i = 0; i < among->len; i++)
    {
      GyrePluginRecord *record = g_ptr_array_index (among, i);
      g_autofree char *base = g_path_get_basename (record->path);

      if (g_str_equal (base, name))
        return record;
    }

  return NULL;
}

static void
promise_names (char      **names,
               GType       base,
               const char *plugin)
{
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    gyre_registry_promise (base, names[i], plugin);
}

static void
add_record (GyrePluginRecord *record)
{
  g_ptr_array_add (records, record);
  if (record->error != NULL)
    return;

  promise_names (record->layers, GYRE_TYPE_LAYER, record->name);
  promise_names (record->optimizers, GYRE_TYPE_OPTIMIZER, record->name);
}

/* A file in an earlier folder hides one of the same name in a later one. */
static gboolean
scan_folder (const char *folder,
             GKeyFile   *cache)
{
  g_autoptr (GPtrArray) names = list_modules (folder);
  gboolean is_new = FALSE;

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (find_file (records, name) == NULL)
        add_record (gyre_plugin_record_get (cache, path, &is_new));
      else
        g_ptr_array_add (hidden, g_steal_pointer (&path));
    }

  return is_new;
}

/* What a name that isn't known may be due to. */
static void
note_errors (void)
{
  g_autoptr (GString) note = g_string_new (NULL);

  for (guint i = 0; i < records->len; i++)
    {
      GyrePluginRecord *record = g_ptr_array_index (records, i);

      if (record->error != NULL)
        g_string_append_printf (note, "%s%s: %s",
                                note->len > 0 ? "; " : " (modules that can't be used: ",
                                record->path, record->error);
    }
  if (note->len > 0)
    g_string_append_c (note, ')');
  gyre_registry_set_note (note->len > 0 ? note->str : NULL);
}

static void
ensure_scanned (void)
{
  g_autoptr (GKeyFile) cache = NULL;
  g_auto (GStrv) folders = NULL;
  gboolean is_new = FALSE;

  if (records != NULL)
    return;

  records = g_ptr_array_new_with_free_func (gyre_plugin_record_free);
  g_clear_pointer (&hidden, g_ptr_array_unref);
  hidden = g_ptr_array_new_with_free_func (g_free);
  cache = read_cache ();
  folders = gyre_plugin_path_get ();
  for (guint i = 0; folders[i] != NULL; i++)
    is_new |= scan_folder (folders[i], cache);
  if (is_new)
    write_cache (cache);
  note_errors ();
}

static gboolean
has_name (const GyrePluginRecord *record,
          GType                   base,
          const char             *name)
{
  char **names = base == GYRE_TYPE_LAYER ? record->layers : record->optimizers;

  return names != NULL && g_strv_contains ((const char *const *) names, name);
}

static void
load_record (GyrePluginRecord *record)
{
  g_autoptr (GError) error = NULL;

  record->plugin = gyre_plugin_new (record->path);
  if (!gyre_plugin_load (record->plugin, &error))
    record->error = g_strdup (error->message);
}

/* Called by the registry for a name that has no type yet. */
static void
load_for (GType       base,
          const char *name)
{
  ensure_scanned ();
  for (guint i = 0; name != NULL && i < records->len; i++)
    {
      GyrePluginRecord *record = g_ptr_array_index (records, i);

      if (record->error == NULL && record->plugin == NULL &&
          has_name (record, base, name))
        {
          load_record (record);
          return;
        }
    }
}

GPtrArray *
gyre_plugin_list (void)
{
  gyre_registry_lock ();
  ensure_scanned ();
  gyre_registry_unlock ();

  return records;
}

/* The first module that has a name wins it. */
static void
add_name_clashes (GPtrArray              *clashes,
                  const GyrePluginRecord *record,
                  GType                   base,
                  char                  **names)
{
  for (guint n = 0; names != NULL && names[n] != NULL; n++)
    for (guint i = 0; i < records->len && records->pdata[i] != record; i++)
      {
        const GyrePluginRecord *before = records->pdata[i];

        if (before->error == NULL && has_name (before, base, names[n]))
          {
            g_ptr_array_add (clashes, g_strdup_printf ("\"%s\" is that of %s, which wins "
                                                       "over %s", names[n], before->path,
                                                       record->path));
            break;
          }
      }
}

char **
gyre_plugin_list_clashes (void)
{
  GPtrArray *clashes = g_ptr_array_new ();

  gyre_registry_lock ();
  ensure_scanned ();
  for (guint i = 0; i < hidden->len; i++)
    {
      const char *path = hidden->pdata[i];
      g_autofree char *base = g_path_get_basename (path);

      g_ptr_array_add (clashes, g_strdup_printf ("%s wins over %s",
                                                 find_file (records, base)->path, path));
    }
  for (guint i = 0; i < records->len; i++)
    {
      const GyrePluginRecord *record = records->pdata[i];

      add_name_clashes (clashes, record, GYRE_TYPE_LAYER, record->layers);
      add_name_clashes (clashes, record, GYRE_TYPE_OPTIMIZER, record->optimizers);
    }
  gyre_registry_unlock ();
  g_ptr_array_add (clashes, NULL);

  return (char **) g_ptr_array_free (clashes, FALSE);
}

/* A record whose plugin is loaded is found again by its file. */
void
gyre_plugin_rescan (void)
{
  g_autoptr (GPtrArray) old = NULL;

  gyre_registry_lock ();
  old = g_steal_pointer (&records);
  ensure_scanned ();
  for (guint i = 0; old != NULL && i < old->len; i++)
    {
      GyrePluginRecord *before = g_ptr_array_index (old, i);
      g_autofree char *base = g_path_get_basename (before->path);
      GyrePluginRecord *now = find_file (records, base);

      if (now != NULL)
        now->plugin = before->plugin;
    }
  gyre_registry_unlock ();
}

/* The registry is below this folder: this tells it where more types come from. */
__attribute__ ((constructor)) static void
set_loader (void)
{
  gyre_registry_set_loader (load_for);
}
