/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include <glib/gstdio.h>
#include <sys/wait.h>

#define HELPER "gyre-plugin-scan"

static const char *const helper_folders[] = { ".", "../src", "../../src", NULL };

void
gyre_plugin_record_free (gpointer data)
{
  GyrePluginRecord *self = data;

  g_free (self->path);
  g_free (self->name);
  g_free (self->version);
  g_free (self->licence);
  g_strfreev (self->layers);
  g_strfreev (self->optimizers);
  g_free (self->error);
  g_free (self);
}

static GyrePluginRecord *
record_new (GKeyFile   *keys,
            const char *group,
            const char *path)
{
  GyrePluginRecord *self = g_new0 (GyrePluginRecord, 1);

  self->path = g_strdup (path);
  self->name = g_key_file_get_string (keys, group, "name", NULL);
  self->version = g_key_file_get_string (keys, group, "version", NULL);
  self->licence = g_key_file_get_string (keys, group, "licence", NULL);
  self->layers = g_key_file_get_string_list (keys, group, "layers", NULL, NULL);
  self->optimizers = g_key_file_get_string_list (keys, group, "optimizers", NULL, NULL);
  self->error = g_key_file_get_string (keys, group, "error", NULL);
  if (self->name == NULL && self->error == NULL)
    self->error = g_strdup ("it does not say what it is");

  return self;
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

/* How the helper ended, in words; NULL: well. */
static char *
describe_end (int   status,
              char *said)
{
  g_strstrip (said);
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGALRM)
    return g_strdup ("it hung while it was loaded");
  if (WIFSIGNALED (status))
    return g_strdup_printf ("it crashed while it was loaded (%s)",
                            g_strsignal (WTERMSIG (status)));
  if (status != 0)
    return g_strdup (said[0] != '\0' ? said : "it ended the program that loaded it");

  return NULL;
}

/* What the helper says of a module: the last part of its text, whatever the module itself
 * prints before.  FALSE: there is no helper, which may change. */
static gboolean
scan_file (GKeyFile   *keys,
           const char *path)
{
  g_autofree char *helper = find_helper ();
  const char *argv[] = { helper, path, NULL };
  g_autoptr (GError) why = NULL;
  g_autofree char *out = NULL;
  g_autofree char *said = NULL;
  g_autofree char *end = NULL;
  const char *start;
  int status;

  if (!g_spawn_sync (NULL, (char **) argv, NULL, 0, NULL, NULL, &out, &said, &status,
                     &why))
    {
      end = g_strdup_printf ("it can't be looked at: %s", why->message);
      g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "error", end);
      return FALSE;
    }

  end = describe_end (status, said);
  if (end != NULL)
    {
      g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "error", end);
      /* 127: the helper itself could not be started, as without the library */
      return !WIFEXITED (status) || WEXITSTATUS (status) != 127;
    }
  start = g_strrstr (out, "[" GYRE_PLUGIN_GROUP "]");
  if (start != NULL)
    g_key_file_load_from_data (keys, start, G_MAXSIZE, 0, NULL);

  return TRUE;
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

GyrePluginRecord *
gyre_plugin_record_get (GKeyFile   *cache,
                        const char *path,
                        gboolean   *is_new)
{
  g_autofree char *group = g_uri_escape_string (path, "/", FALSE);
  g_autofree char *stamp = make_stamp (path);
  g_autofree char *known = g_key_file_get_string (cache, group, "stamp", NULL);
  g_autoptr (GKeyFile) keys = NULL;
  gboolean is_sure;

  if (g_strcmp0 (stamp, known) == 0)
    return record_new (cache, group, path);

  keys = g_key_file_new ();
  is_sure = scan_file (keys, path);
  g_key_file_remove_group (cache, group, NULL);
  copy_group (keys, cache, group);
  if (is_sure)
    g_key_file_set_string (cache, group, "stamp", stamp);
  *is_new = TRUE;

  return record_new (cache, group, path);
}
