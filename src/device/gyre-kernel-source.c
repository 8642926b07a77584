/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-kernel-private.h"

#include <gio/gio.h>
#include <string.h>

#include <gyre/gyre-error.h>

#define CORE_FOLDER "/org/gyre/cl/"

/* Deeper than this, files include each other. */
#define MAX_DEPTH 16

typedef struct
{
  GString    *text;
  GHashTable *included;   /* full paths */
} Expansion;

static gboolean expand (Expansion   *expansion,
                        const char  *path,
                        guint        depth,
                        GError     **error);

static char *
full_path (const char *name)
{
  return name[0] == '/' ? g_strdup (name) : g_strconcat (CORE_FOLDER, name, NULL);
}

/* The name in a line #include "NAME", or NULL. */
static char *
included_name (const char *line)
{
  const char *end;

  line += strspn (line, " \t");
  if (!g_str_has_prefix (line, "#include"))
    return NULL;
  line += strlen ("#include");
  line += strspn (line, " \t");
  if (*line != '"' || (end = strchr (line + 1, '"')) == NULL)
    return NULL;
  return g_strndup (line + 1, end - line - 1);
}

static gboolean
resource_exists (const char *path)
{
  return g_resources_get_info (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL, NULL, NULL);
}

/* Beside the file that includes it, else in the core's folder. */
static char *
find_included (const char *name,
               const char *from)
{
  g_autofree char *folder = g_path_get_dirname (from);
  char *beside = g_strconcat (folder, "/", name, NULL);

  if (resource_exists (beside))
    return beside;
  g_free (beside);
  return full_path (name);
}

static gboolean
include (Expansion   *expansion,
         const char  *name,
         const char  *from,
         guint        depth,
         GError     **error)
{
  char *path = find_included (name, from);

  if (g_hash_table_contains (expansion->included, path))
    {
      g_free (path);
      return TRUE;
    }
  g_hash_table_add (expansion->included, path);
  if (expand (expansion, path, depth + 1, error))
    return TRUE;

  g_prefix_error (error, "included from %s: ", from);
  return FALSE;
}

static gboolean
expand (Expansion   *expansion,
        const char  *path,
        guint        depth,
        GError     **error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_auto (GStrv) lines = NULL;
  g_autofree char *text = NULL;
  gsize size;

  if (depth < MAX_DEPTH)
    bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  if (bytes == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_BUILD,
                   "there is no kernel file %s among the resources", path);
      return FALSE;
    }

  text = g_strndup (g_bytes_get_data (bytes, &size), g_bytes_get_size (bytes));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autofree char *name = included_name (lines[i]);

      if (name == NULL)
        g_string_append_printf (expansion->text, "%s\n", lines[i]);
      else if (!include (expansion, name, path, depth, error))
        return FALSE;
    }
  return TRUE;
}

char *
gyre_kernel_source_load (const char  *name,
                         GError     **error)
{
  g_autofree char *path = full_path (name);
  Expansion expansion = {
    g_string_new (NULL),
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
  };
  gboolean done = expand (&expansion, path, 0, error);

  g_hash_table_unref (expansion.included);
  return g_string_free (expansion.text, !done);
}
