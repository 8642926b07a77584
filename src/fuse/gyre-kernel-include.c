/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-kernel-include-private.h"

#include <gio/gio.h>
#include <string.h>

#include <gyre/gyre-error.h>

/* The name in a line #include "NAME", or NULL. */
static char *
included_name (const char *line)
{
  static const char directive[] = "#include \"";
  const char *end;

  if (!g_str_has_prefix (line, directive))
    return NULL;

  line += strlen (directive);
  end = strchr (line, '"');

  return end != NULL ? g_strndup (line, end - line) : NULL;
}

static gboolean
append_line (GString     *out,
             const char  *line,
             GHashTable  *included,
             GError     **error)
{
  g_autofree char *name = included_name (line);

  if (name != NULL)
    return gyre_kernel_include (out, name, included, error);

  g_string_append (out, line);
  g_string_append_c (out, '\n');

  return TRUE;
}

gboolean
gyre_kernel_include (GString     *out,
                     const char  *header,
                     GHashTable  *included,
                     GError     **error)
{
  g_autofree char *path = header[0] == '/' ? g_strdup (header)
                                           : g_strconcat ("/org/gyre/cl/", header, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_hash_table_add (included, g_strdup (header)))
    return TRUE;

  bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  if (bytes == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_BUILD,
                   "a generated kernel includes %s, which is not among the resources",
                   path);
      return FALSE;
    }

  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (!append_line (out, lines[i], included, error))
      return FALSE;

  return TRUE;
}
