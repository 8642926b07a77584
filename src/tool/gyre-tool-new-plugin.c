/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include <gyre/gyre-layer.h>

/* A template among the resources, and the file that it becomes. */
static const struct
{
  const char *template;
  const char *file;
} files[] = {
  { "README.md.in", "README.md" },
  { "meson.build.in", "meson.build" },
  { "plugin.h.in", "@name@.h" },
  { "plugin.c.in", "@name@.c" },
  { "plugin-kernel.c.in", "@name@-kernel.c" },
  { "plugin.cl.in", "@name@.cl" },
  { "plugin.gresource.xml.in", "@name@.gresource.xml" },
  { "test-plugin.c.in", "test-@name@.c" },
};

/* Longer ones don't fit into the names of files. */
#define MAX_NAME 64

/* Why a name is none for a project: NULL if it is. */
static char *
find_fault (const char *name)
{
  g_auto (GStrv) layers = gyre_layer_type_list ();
  g_autofree char *kernel = g_strconcat (name, "-kernel", NULL);

  if (!g_regex_match_simple ("^[a-z][a-z0-9]*(-[a-z0-9]+)*$", name,
                             G_REGEX_DOLLAR_ENDONLY, 0))
    return g_strdup ("it takes words of a-z and 0-9 with '-' between them, such as "
                     "swish2");
  if (strlen (name) > MAX_NAME)
    return g_strdup_printf ("it has %" G_GSIZE_FORMAT " characters, more than %d",
                            strlen (name), MAX_NAME);
  if (g_str_equal (name, "gyre") || g_str_has_prefix (name, "gyre-"))
    return g_strdup ("names of the library itself begin with gyre: take a prefix of your "
                     "own");
  if (g_strv_contains ((const char *const *) layers, name))
    return g_strdup_printf ("there is a layer '%s' already: take another name", name);
  if (g_strv_contains ((const char *const *) layers, kernel))
    return g_strdup_printf ("there is a layer '%s' already, which the project would have "
                            "too: take another name", kernel);

  return NULL;
}

static gboolean
check_name (const char  *name,
            GError     **error)
{
  g_autofree char *fault = find_fault (name);
  g_autofree char *shown = g_strescape (name, NULL);

  if (fault == NULL)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "the name '%s': %s", shown, fault);
  return FALSE;
}

/* rms-norm: RmsNorm */
static char *
make_type_name (const char *name)
{
  GString *type = g_string_new (NULL);
  gboolean is_start = TRUE;

  for (const char *at = name; *at != '\0'; at++)
    {
      if (*at != '-')
        g_string_append_c (type, is_start ? g_ascii_toupper (*at) : *at);
      is_start = *at == '-';
    }

  return g_string_free (type, FALSE);
}

static char *
expand (const char *text,
        const char *name)
{
  g_autofree char *ident = g_strdelimit (g_strdup (name), "-", '_');
  g_autofree char *type = make_type_name (name);
  g_autofree char *macro = g_ascii_strup (ident, -1);
  GString *result = g_string_new (text);

  g_string_replace (result, "@name@", name, 0);
  g_string_replace (result, "@ident@", ident, 0);
  g_string_replace (result, "@Type@", type, 0);
  g_string_replace (result, "@MACRO@", macro, 0);

  return g_string_free (result, FALSE);
}

static gboolean
write_file (gsize        i,
            const char  *folder,
            const char  *name,
            GError     **error)
{
  g_autofree char *path = g_strconcat ("/org/gyre/tool/plugin/", files[i].template, NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, 0, error);
  g_autofree char *template = NULL;
  g_autofree char *text = NULL;
  g_autofree char *base = NULL;
  g_autofree char *file = NULL;

  if (bytes == NULL)
    return FALSE;

  template = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  text = expand (template, name);
  base = expand (files[i].file, name);
  file = g_build_filename (folder, base, NULL);

  return g_file_set_contents (file, text, -1, error);
}

/* A folder that is there would be written over. */
static gboolean
make_folder (const char  *folder,
             GError     **error)
{
  g_autofree char *parent = g_path_get_dirname (folder);

  if (g_mkdir_with_parents (parent, 0777) == 0 && g_mkdir (folder, 0777) == 0)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: %s", folder, g_strerror (errno));
  return FALSE;
}

static int
write_plugin (const char *name,
              const char *parent)
{
  g_autofree char *folder = g_build_filename (parent, name, NULL);
  g_autofree char *shown = g_strdup (g_str_equal (parent, ".") ? name : folder);
  g_autoptr (GError) error = NULL;

  if (!make_folder (shown, &error))
    return gyre_tool_fail ("new-plugin", GYRE_TOOL_FAILED, error);
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    if (!write_file (i, shown, name, &error))
      return gyre_tool_fail ("new-plugin", GYRE_TOOL_FAILED, error);

  g_print ("%s: the layers '%s' (composed) and '%s-kernel' (with a kernel of its own)\n"
           "next: cd %s && meson setup b && ninja -C b test\n",
           shown, name, name, shown);
  return GYRE_TOOL_OK;
}

int
gyre_tool_new_plugin (int    argc,
                      char **argv)
{
  g_autofree char *directory = NULL;
  g_autoptr (GError) error = NULL;
  const GOptionEntry entries[] = {
    { "directory", 0, 0, G_OPTION_ARG_FILENAME, &directory,
      "Where its folder is made; default .", "FOLDER" },
    G_OPTION_ENTRY_NULL
  };

  if (!gyre_tool_parse ("Writes a project of a plugin in a folder NAME: two layers, a "
                        "kernel and a test.",
                        entries, &argc, &argv, "NAME", &error))
    return gyre_tool_fail ("new-plugin", GYRE_TOOL_USAGE, error);
  if (argc != 2)
    {
      g_set_error (&error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "give one name, such as swish2");
      return gyre_tool_fail ("new-plugin", GYRE_TOOL_USAGE, error);
    }
  if (!check_name (argv[1], &error))
    return gyre_tool_fail ("new-plugin", GYRE_TOOL_USAGE, error);

  return write_plugin (argv[1], directory != NULL ? directory : ".");
}
