/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

#include <gmodule.h>

G_BEGIN_DECLS

/* What a plugin may add, each under a name for lines: a row each. */
typedef struct
{
  GType     (*get_type) (void);        /* of the base class */
  const char *word;                    /* "layer" */
  const char *plural;                  /* "layers": in lists, and the key in files */
  const char *own;                     /* one that the library has */
  GType     (*find)     (const char *name, GError **error);
  char    **(*list)     (void);
} GyrePluginKind;

#define GYRE_PLUGIN_N_KINDS 6
extern const GyrePluginKind gyre_plugin_kinds[GYRE_PLUGIN_N_KINDS];

/* A module file that was found, and what is in it. */
typedef struct
{
  char       *path;
  char       *stamp;       /* of the file, as it was looked at */
  char       *name;
  char       *version;
  char       *licence;
  char       *origin;                        /* NULL: it does not say */
  char      **names[GYRE_PLUGIN_N_KINDS];    /* by kind; NULL: none */
  char      **properties[GYRE_PLUGIN_N_KINDS];  /* alike: of each, a line each */
  char      **primitives;
  char       *error;       /* why it can't be used; then the rest is NULL, but path */
  GyrePlugin *plugin;      /* NULL: not loaded yet */
} GyrePluginRecord;

struct _GyrePlugin
{
  GTypeModule                 parent_instance;
  char                       *path;
  GModule                    *module;
  const GyrePluginDescriptor *descriptor;
  GPtrArray                  *names[GYRE_PLUGIN_N_KINDS];
  GPtrArray                  *primitives;
  GPtrArray                  *types[GYRE_PLUGIN_N_KINDS];   /* of names, as pointers */
  GError                     *error;       /* the first */
};

/* All modules in the order in which they were found, those that can't be used too; they
 * are looked for on the first call.  (transfer none) (element-type GyrePluginRecord) */
GPtrArray *gyre_plugin_list   (void);
/* A line for each file and each name that is there twice: which wins; g_strfreev ()  */
char     **gyre_plugin_list_clashes (void);
/* Before the first look: modules that could not be used are looked at anew. */
void       gyre_plugin_retry  (void);
/* Looks again, as when GYRE_PLUGIN_PATH has changed. What is loaded stays. */
void       gyre_plugin_rescan (void);

/* Whether another, that comes first, has a name of a module's: which; free ().  NULL: the
 * module has it. */
char      *gyre_plugin_find_winner (const GyrePluginRecord *record, guint kind,
                                    const char *name);
/* The modules that have a name, in their order. (transfer container) */
GPtrArray *gyre_plugin_list_owners (guint kind, const char *name);

GyrePlugin *gyre_plugin_new      (const char *path);
/* Opens the module and lets it add its types; once. */
gboolean    gyre_plugin_load     (GyrePlugin *self, GError **error);
/* Notes why the plugin can't be used. */
void        gyre_plugin_fail     (GyrePlugin *self, const char *format,
                                  ...) G_GNUC_PRINTF (2, 3);
/* Its descriptor and what it added. */
GKeyFile   *gyre_plugin_get_keys (GyrePlugin *self);

/* Folders with modules, the first ones first; g_strfreev () */
char    **gyre_plugin_path_get  (void);
/* A file's record by way of the cache and, where that doesn't know the file as it is now,
 * the helper program; retry: of what could not be used, too. */
GyrePluginRecord *gyre_plugin_record_get  (GKeyFile *cache, const char *path,
                                           gboolean retry, gboolean *is_new);
/* Looks at it again if the file has changed since. */
void              gyre_plugin_record_refresh (GyrePluginRecord *self);
void              gyre_plugin_record_free (gpointer data);
/* A path below the folder of this library, or of the program that it is linked into. */
char             *gyre_plugin_find_beside (const char *const *folders, const char *name);

/* Of a type that a line can name: "features=..." where it has to be given, else
 * "use-bias=true"; g_strfreev () */
char **gyre_plugin_list_properties (GType type);
/* The same of a module's type, without loading it. */
char **gyre_plugin_record_list_properties (const GyrePluginRecord *self, guint kind,
                                           guint i);

#define GYRE_PLUGIN_GROUP "plugin"

G_END_DECLS
