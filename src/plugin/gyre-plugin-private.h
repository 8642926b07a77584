/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* A module file that was found, and what is in it. */
typedef struct
{
  char       *path;
  char       *name;
  char       *version;
  char       *licence;
  char      **layers;
  char      **optimizers;
  char       *error;       /* why it can't be used; then the rest is NULL, but path */
  GyrePlugin *plugin;      /* NULL: not loaded yet */
} GyrePluginRecord;

/* All modules in the order in which they were found, those that can't be used too; they
 * are looked for on the first call.  (transfer none) (element-type GyrePluginRecord) */
GPtrArray *gyre_plugin_list   (void);
/* A line for each file and each name that is there twice: which wins; g_strfreev () */
char     **gyre_plugin_list_clashes (void);
/* Looks again, as when GYRE_PLUGIN_PATH has changed. What is loaded stays. */
void       gyre_plugin_rescan (void);

GyrePlugin *gyre_plugin_new      (const char *path);
/* Opens the module and lets it add its types; once. */
gboolean    gyre_plugin_load     (GyrePlugin *self, GError **error);
/* Its descriptor and what it added. */
GKeyFile   *gyre_plugin_get_keys (GyrePlugin *self);

/* Folders with modules, the first ones first; g_strfreev () */
char    **gyre_plugin_path_get  (void);
/* A file's record by way of the cache and, where that doesn't know the file as it is now,
 * the helper program. */
GyrePluginRecord *gyre_plugin_record_get  (GKeyFile *cache, const char *path,
                                           gboolean *is_new);
void              gyre_plugin_record_free (gpointer data);
/* A path below the folder of this library, or of the program that it is linked into. */
char             *gyre_plugin_find_beside (const char *const *folders, const char *name);

#define GYRE_PLUGIN_GROUP "plugin"

G_END_DECLS
