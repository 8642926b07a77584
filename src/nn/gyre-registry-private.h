/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* Types by the name that lines use, for each base class: layers, optimizers….  Types of
 * modules that are not loaded yet are known by name alone: src/plugin sets a loader. */

/* Where a type comes from */
typedef struct
{
  const char *name;     /* the plugin's */
  const char *path;     /* of its file: no two have the same */
} GyreRegistryModule;

/* Makes known what modules there are (name NULL), or loads the one that has a type. */
typedef void (*GyreRegistryLoader) (GType       base,
                                    const char *name);

void        gyre_registry_set_loader (GyreRegistryLoader loader);
/* Added to messages about unknown names: which modules can't be used.  NULL: nothing. */
void        gyre_registry_set_note   (const char *note);
/* What the loader works on is under the registry's lock; a thread may take it again. */
void        gyre_registry_lock       (void);
void        gyre_registry_unlock     (void);
/* A type by a name; module NULL: of the library itself, which comes before any module.
 * FALSE: the name is that of another, that comes first, and isn't found by it. */
gboolean    gyre_registry_add        (GType base, const char *name, GType type,
                                      const GyreRegistryModule *module);
/* A name whose type will come with a module, if it is nobody's yet. */
void        gyre_registry_promise    (GType base, const char *name,
                                      const GyreRegistryModule *module);
/* Takes back the promises that have not been kept. */
void        gyre_registry_forget     (void);
/* what is the word for messages: "layer" */
GType       gyre_registry_find       (GType base, const char *what, const char *name,
                                      GError **error);
/* Sorted; g_strfreev () */
char      **gyre_registry_list       (GType base);
const char *gyre_registry_get_name   (GType type);
/* Whose the name is: name and path are NULL for the library's own, and for nobody's. */
GyreRegistryModule gyre_registry_get_module (GType base, const char *name);

G_END_DECLS
