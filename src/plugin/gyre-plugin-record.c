/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include <errno.h>
#include <glib/gstdio.h>

#define HELPER "gyre-plugin-scan"

/* Of a build tree, and of an installation wherever it was moved */
static const char *const helper_folders[] = {
  ".", "../src", "../../src", "../../libexec/gyre-1.0", "../libexec/gyre-1.0", NULL
};

static void
clear (GyrePluginRecord *self)
{
  g_clear_pointer (&self->stamp, g_free);
  g_clear_pointer (&self->name, g_free);
  g_clear_pointer (&self->version, g_free);
  g_clear_pointer (&self->licence, g_free);
  g_clear_pointer (&self->origin, g_free);
  for (guint i = 0; i < GYRE_PLUGIN_N_KINDS; i++)
    {
      g_clear_pointer (&self->names[i], g_strfreev);
      g_clear_pointer (&self->properties[i], g_strfreev);
    }
  g_clear_pointer (&self->primitives, g_strfreev);
  g_clear_pointer (&self->error, g_free);
}

void
gyre_plugin_record_free (gpointer data)
{
  GyrePluginRecord *self = data;

  clear (self);
  g_free (self->path);
  g_free (self);
}

static void
fill (GyrePluginRecord *self,
      GKeyFile         *keys,
      const char       *group)
{
  self->stamp = g_key_file_get_string (keys, group, "stamp", NULL);
  self->error = g_key_file_get_string (keys, group, "error", NULL);
  if (self->error != NULL)
    return;

  self->name = g_key_file_get_string (keys, group, "name", NULL);
  self->version = g_key_file_get_string (keys, group, "version", NULL);
  self->licence = g_key_file_get_string (keys, group, "licence", NULL);
  self->origin = g_key_file_get_string (keys, group, "origin", NULL);
  for (guint i = 0; i < GYRE_PLUGIN_N_KINDS; i++)
    {
      const char *plural = gyre_plugin_kinds[i].plural;
      g_autofree char *key = g_strconcat (plural, "-properties", NULL);

      self->names[i] = g_key_file_get_string_list (keys, group, plural, NULL, NULL);
      self->properties[i] = g_key_file_get_string_list (keys, group, key, NULL, NULL);
    }
  self->primitives = g_key_file_get_string_list (keys, group, "primitives", NULL, NULL);
  if (self->name == NULL || self->version == NULL || self->licence == NULL)
    self->error = g_strdup ("it does not say what it is");
}

char **
gyre_plugin_record_list_properties (const GyrePluginRecord *self,
                                    guint                   kind,
                                    guint                   i)
{
  char **all = self->properties[kind];

  if (all == NULL || i >= g_strv_length (all) || all[i][0] == '\0')
    return g_new0 (char *, 1);

  return g_strsplit (all[i], "\n", -1);
}

static char *
find_helper (void)
{
  const char *folder = g_getenv ("GYRE_LIBEXEC");
  g_autofree char *named =
      folder != NULL ? g_build_filename (folder, HELPER, NULL) : NULL;
  char *beside;

  if (named != NULL && g_file_test (named, G_FILE_TEST_IS_EXECUTABLE))
    return g_steal_pointer (&named);
  beside = gyre_plugin_find_beside (helper_folders, HELPER);
  if (beside != NULL)
    return beside;

  return g_build_filename (GYRE_LIBEXEC_DIR, HELPER, NULL);
}

static void
set_error (GKeyFile   *keys,
           const char *format,
           const char *why)
{
  g_autofree char *text = g_strdup_printf (format, why);

  g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "error", text);
}

/* What the helper says of a module.  FALSE: it could not say anything, which may change.
 */
static gboolean
run_helper (GKeyFile   *keys,
            const char *path)
{
  g_autofree char *helper = find_helper ();
  const char *argv[] = { helper, path, NULL };
  g_autoptr (GError) why = NULL;
  g_autofree char *out = NULL;
  g_autofree char *said = NULL;

  if (!g_spawn_sync (NULL, (char **) argv, NULL, 0, NULL, NULL, &out, &said, NULL, &why))
    {
      set_error (keys, "it can't be looked at: %s", why->message);
      return FALSE;
    }
  if (g_key_file_load_from_data (keys, out, G_MAXSIZE, 0, NULL)
      && g_key_file_has_group (keys, GYRE_PLUGIN_GROUP))
    return TRUE;

  /* as without the library */
  g_strstrip (said);
  set_error (keys, "it can't be looked at: %s", said[0] != '\0' ? said : helper);
  return FALSE;
}

/* A folder, a socket or a link to nowhere is none, and a pipe would be waited for. */
static gboolean
scan_file (GKeyFile   *keys,
           const char *path)
{
  GStatBuf status;

  if (g_stat (path, &status) != 0)
    {
      set_error (keys, "%s", g_strerror (errno));
      return FALSE;
    }
  if (!S_ISREG (status.st_mode))
    {
      set_error (keys, "it is %s",
                 S_ISDIR (status.st_mode) ? "a folder" : "no regular file");
      return FALSE;
    }

  return run_helper (keys, path);
}

/* What changes when a file does, and with the library. */
static char *
make_stamp (const char *path)
{
  GStatBuf status;

  if (g_stat (path, &status) != 0)
    return g_strdup ("");

  return g_strdup_printf ("%d.%d.%d %d %lld %lld %lld.%09ld", GYRE_MAJOR_VERSION,
                          GYRE_MINOR_VERSION, GYRE_MICRO_VERSION, GYRE_PLUGIN_API,
                          (long long) status.st_ino, (long long) status.st_size,
                          (long long) status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

static void
copy_group (GKeyFile   *from,
            GKeyFile   *to,
            const char *group)
{
  g_auto (GStrv) names = g_key_file_get_keys (from, GYRE_PLUGIN_GROUP, NULL, NULL);

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autofree char *value =
        g_key_file_get_value (from, GYRE_PLUGIN_GROUP, names[i], NULL);

      g_key_file_set_value (to, group, names[i], value);
    }
}

/* What failed may be due to something beside the file, such as a library that it needs;
 * what hung would hang again. */
static gboolean
is_known (GKeyFile   *cache,
          const char *group,
          const char *stamp,
          gboolean    retry)
{
  g_autofree char *known = g_key_file_get_string (cache, group, "stamp", NULL);

  return g_strcmp0 (stamp, known) == 0
         && !(retry && g_key_file_has_key (cache, group, "error", NULL)
              && !g_key_file_has_key (cache, group, "hung", NULL));
}

GyrePluginRecord *
gyre_plugin_record_get (GKeyFile   *cache,
                        const char *path,
                        gboolean    retry,
                        gboolean   *is_new)
{
  GyrePluginRecord *self = g_new0 (GyrePluginRecord, 1);
  g_autofree char *group = g_uri_escape_string (path, "/", FALSE);
  g_autofree char *stamp = make_stamp (path);
  g_autoptr (GKeyFile) keys = NULL;

  self->path = g_strdup (path);
  if (is_known (cache, group, stamp, retry))
    {
      fill (self, cache, group);
      return self;
    }

  keys = g_key_file_new ();
  g_key_file_remove_group (cache, group, NULL);
  if (scan_file (keys, path))
    {
      g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "stamp", stamp);
      copy_group (keys, cache, group);
      *is_new = TRUE;
    }
  fill (self, keys, GYRE_PLUGIN_GROUP);

  return self;
}

void
gyre_plugin_record_refresh (GyrePluginRecord *self)
{
  g_autofree char *stamp = make_stamp (self->path);
  g_autoptr (GKeyFile) keys = NULL;

  if (g_strcmp0 (stamp, self->stamp) == 0)
    return;

  keys = g_key_file_new ();
  if (scan_file (keys, self->path))
    g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "stamp", stamp);
  clear (self);
  fill (self, keys, GYRE_PLUGIN_GROUP);
}
