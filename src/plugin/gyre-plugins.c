/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include "nn/gyre-registry-private.h"

#include <gmodule.h>
#include <string.h>

static gboolean retry;          /* whether to look again at what can't be used */
static GPtrArray *hidden;       /* of char *: files that another of their name hides */
static GPtrArray *records;      /* of GyrePluginRecord; NULL: not looked for yet.
                                   The registry's lock guards it. */

static char *
get_cache_file (void)
{
  return g_build_filename (g_get_user_cache_dir (), "gyre", "plugins.ini", NULL);
}

/* The file ends in a sum over all before: what is damaged or cut short is as nothing. */
#define SUM "\n#sum "

static char *
make_sum (const char *text,
          gsize       length)
{
  return g_compute_checksum_for_data (G_CHECKSUM_MD5, (const guchar *) text, length);
}

static GKeyFile *
read_cache (void)
{
  g_autofree char *file = get_cache_file ();
  g_autofree char *text = NULL;
  g_autofree char *sum = NULL;
  GKeyFile *cache = g_key_file_new ();
  const char *end;

  if (!g_file_get_contents (file, &text, NULL, NULL))
    return cache;
  end = g_strrstr (text, SUM);
  if (end == NULL)
    return cache;
  sum = make_sum (text, (gsize) (end - text));
  if (!g_str_equal (sum, end + strlen (SUM)))
    return cache;

  g_key_file_load_from_data (cache, text, (gsize) (end - text), G_KEY_FILE_NONE, NULL);
  return cache;
}

static void
save_cache (GKeyFile   *cache,
            const char *file)
{
  gsize length;
  g_autofree char *text = g_key_file_to_data (cache, &length, NULL);
  g_autofree char *sum = make_sum (text, length);
  g_autofree char *whole = g_strconcat (text, SUM, sum, NULL);

  g_file_set_contents (file, whole, -1, NULL);
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
    save_cache (cache, file);
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
promise_names (const GyrePluginRecord *record)
{
  const GyreRegistryModule module = { record->name, record->path };

  for (guint kind = 0; record->error == NULL && kind < GYRE_PLUGIN_N_KINDS; kind++)
    for (char **name = record->names[kind]; name != NULL && *name != NULL; name++)
      gyre_registry_promise (gyre_plugin_kinds[kind].get_type (), *name, &module);
}

static void
add_record (GyrePluginRecord *record)
{
  g_ptr_array_add (records, record);
  promise_names (record);
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
        add_record (gyre_plugin_record_get (cache, path, retry, &is_new));
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
  for (guint i = 0; i < GYRE_PLUGIN_N_KINDS; i++)
    gyre_plugin_kinds[i].find (gyre_plugin_kinds[i].own, NULL);
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
          guint                   kind,
          const char             *name)
{
  return record->error == NULL && record->names[kind] != NULL
         && g_strv_contains ((const char *const *) record->names[kind], name);
}

/* The file may have been replaced since it was looked at, by one that crashes, or has
 * something else. */
static void
load_record (GyrePluginRecord *record,
             guint             kind,
             const char       *name)
{
  g_autoptr (GError) error = NULL;

  gyre_plugin_record_refresh (record);
  if (record->error == NULL && !has_name (record, kind, name))
    record->error = g_strdup_printf ("it has no %s \"%s\" any more",
                                     gyre_plugin_kinds[kind].word, name);
  if (record->error == NULL)
    {
      record->plugin = gyre_plugin_new (record->path);
      if (!gyre_plugin_load (record->plugin, &error))
        record->error = g_strdup (error->message);
    }
  if (record->error != NULL)
    note_errors ();
}

/* Called by the registry for a name that has no type yet. */
static void
load_for (GType       base,
          const char *name)
{
  guint kind = 0;

  ensure_scanned ();
  while (kind < GYRE_PLUGIN_N_KINDS && gyre_plugin_kinds[kind].get_type () != base)
    kind++;
  for (guint i = 0; name != NULL && kind < GYRE_PLUGIN_N_KINDS && i < records->len; i++)
    {
      GyrePluginRecord *record = g_ptr_array_index (records, i);

      if (record->plugin == NULL && has_name (record, kind, name))
        {
          load_record (record, kind, name);
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

char *
gyre_plugin_find_winner (const GyrePluginRecord *record,
                         guint                   kind,
                         const char             *name)
{
  GyreRegistryModule module =
      gyre_registry_get_module (gyre_plugin_kinds[kind].get_type (), name);

  if (g_strcmp0 (module.path, record->path) == 0)
    return NULL;

  return module.path == NULL ? g_strdup ("the library") : g_strdup (module.path);
}

GPtrArray *
gyre_plugin_list_owners (guint       kind,
                         const char *name)
{
  GPtrArray *owners = g_ptr_array_new ();
  GPtrArray *all = gyre_plugin_list ();

  for (guint i = 0; i < all->len; i++)
    if (has_name (all->pdata[i], kind, name))
      g_ptr_array_add (owners, all->pdata[i]);

  return owners;
}

static void
add_name_clashes (GPtrArray              *clashes,
                  const GyrePluginRecord *record,
                  guint                   kind)
{
  for (char **name = record->names[kind]; name != NULL && *name != NULL; name++)
    {
      g_autofree char *winner = gyre_plugin_find_winner (record, kind, *name);

      if (winner != NULL)
        g_ptr_array_add (clashes,
                         g_strdup_printf ("%s \"%s\": that of %s hides that of %s",
                                          gyre_plugin_kinds[kind].word, *name, winner,
                                          record->path));
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
    for (guint kind = 0; kind < GYRE_PLUGIN_N_KINDS; kind++)
      add_name_clashes (clashes, records->pdata[i], kind);
  gyre_registry_unlock ();
  g_ptr_array_add (clashes, NULL);

  return (char **) g_ptr_array_free (clashes, FALSE);
}

void
gyre_plugin_retry (void)
{
  retry = TRUE;
}

/* A record whose plugin is loaded is found again by its file. */
void
gyre_plugin_rescan (void)
{
  g_autoptr (GPtrArray) old = NULL;

  gyre_registry_lock ();
  old = g_steal_pointer (&records);
  gyre_registry_forget ();
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
