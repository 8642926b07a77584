/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* Types by the name that lines use, for each base class: layers, optimizers.  Types of
 * modules that are not loaded yet are known by name alone: src/plugin sets a loader. */

/* Makes known what modules there are (name NULL), or loads the one that has a type. */
typedef void (*GyreRegistryLoader) (GType       base,
                                    const char *name);

void        gyre_registry_set_loader (GyreRegistryLoader loader);
/* Added to messages about unknown names: which modules can't be used.  NULL: nothing. */
void        gyre_registry_set_note   (const char *note);
/* What the loader works on is under the registry's lock; a thread may take it again. */
void        gyre_registry_lock       (void);
void        gyre_registry_unlock     (void);
/* plugin: the module's name; NULL: the library itself.  Error: the name is taken. */
gboolean    gyre_registry_add        (GType base, const char *name, GType type,
                                      const char *plugin, GError **error);
/* A name whose type will come with a module. */
void        gyre_registry_promise    (GType base, const char *name, const char *plugin);
/* what is the word for messages: "layer" */
GType       gyre_registry_find       (GType base, const char *what, const char *name,
                                      GError **error);
/* Sorted; g_strfreev () */
char      **gyre_registry_list       (GType base);
const char *gyre_registry_get_name   (GType type);
const char *gyre_registry_get_plugin (GType base, const char *name);

G_END_DECLS
