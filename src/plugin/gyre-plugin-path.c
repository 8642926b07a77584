/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include <dlfcn.h>

/* From the library (or a program of the tests) to the plugins of a build tree. */
static const char *const build_folders[] = {
  "../plugins", "../../plugins", NULL
};

/* From the library to those that are installed with it */
static const char *const installed_folders[] = { "gyre-1.0", NULL };

char *
gyre_plugin_find_beside (const char *const *folders,
                         const char        *name)
{
  Dl_info info;
  g_autofree char *here = NULL;

  if (!dladdr ((gpointer) gyre_plugin_find_beside, &info) || info.dli_fname == NULL)
    return NULL;

  here = g_path_get_dirname (info.dli_fname);
  for (gsize i = 0; folders[i] != NULL; i++)
    {
      char *path = g_build_filename (here, folders[i], name, NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return path;
      g_free (path);
    }

  return NULL;
}

/* Meson leaves a folder of its own beside the plugins of a build tree. */
static char *
find_build_tree (void)
{
  g_autofree char *marker = gyre_plugin_find_beside (build_folders, "../meson-info");
  g_autofree char *folder = NULL;

  if (marker == NULL)
    return NULL;

  folder = g_path_get_dirname (marker);
  return g_path_get_dirname (folder);
}

static void
add_folder (GPtrArray *folders,
            char      *folder)
{
  g_autofree char *absolute =
      folder != NULL ? g_canonicalize_filename (folder, NULL) : NULL;

  g_free (folder);
  if (absolute == NULL || !g_file_test (absolute, G_FILE_TEST_IS_DIR))
    return;
  if (!g_ptr_array_find_with_equal_func (folders, absolute, g_str_equal, NULL))
    g_ptr_array_add (folders, g_steal_pointer (&absolute));
}

char **
gyre_plugin_path_get (void)
{
  GPtrArray *folders = g_ptr_array_new ();
  const char *variable = g_getenv ("GYRE_PLUGIN_PATH");
  g_auto (GStrv) listed = g_strsplit (variable != NULL ? variable : "",
                                      G_SEARCHPATH_SEPARATOR_S, -1);

  for (guint i = 0; listed[i] != NULL; i++)
    if (listed[i][0] != '\0')
      add_folder (folders, g_strdup (listed[i]));
  add_folder (folders, find_build_tree ());
  add_folder (folders,
              g_build_filename (g_get_user_data_dir (), "gyre-1.0", "plugins", NULL));
  add_folder (folders, gyre_plugin_find_beside (installed_folders, "plugins"));
  add_folder (folders, g_strdup (GYRE_PLUGIN_DIR));
  g_ptr_array_add (folders, NULL);

  return (char **) g_ptr_array_free (folders, FALSE);
}
