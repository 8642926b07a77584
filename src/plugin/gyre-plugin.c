/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include "nn/gyre-registry-private.h"

#include <gmodule.h>
#include <string.h>

/**
 * GyrePlugin:
 *
 * A module that adds layers and optimizers.  Modules are looked for in $GYRE_PLUGIN_PATH,
 * the build tree, the user's folder and the system's, in this order; one is loaded when
 * something of it is asked for, and is never unloaded.
 */
struct _GyrePlugin
{
  GTypeModule                 parent_instance;
  char                       *path;
  GModule                    *module;
  const GyrePluginDescriptor *descriptor;
  GPtrArray                  *layers;
  GPtrArray                  *optimizers;
  GError                     *error;
};

G_DEFINE_FINAL_TYPE (GyrePlugin, gyre_plugin, G_TYPE_TYPE_MODULE)

static void
fail (GyrePlugin *self,
      const char *format,
      ...) G_GNUC_PRINTF (2, 3);

static void
fail (GyrePlugin *self,
      const char *format,
      ...)
{
  va_list args;

  if (self->error != NULL)
    return;

  va_start (args, format);
  self->error = g_error_new_valist (GYRE_ERROR, GYRE_ERROR_PLUGIN, format, args);
  va_end (args);
}

/* libgyre-rms-norm.so has gyre_plugin_rms_norm; others need not be called libgyre-. */
static char *
make_symbol (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  char *dot = strrchr (base, '.');
  const char *name = base;

  if (dot != NULL)
    *dot = '\0';
  if (g_str_has_prefix (name, "lib"))
    name += strlen ("lib");
  if (g_str_has_prefix (name, "gyre-"))
    name += strlen ("gyre-");

  return g_strdelimit (g_strconcat ("gyre_plugin_", name, NULL), "-.", '_');
}

static gboolean
open_module (GyrePlugin *self)
{
  g_autofree char *symbol = make_symbol (self->path);
  gpointer found = NULL;

  self->module = g_module_open (self->path, G_MODULE_BIND_LOCAL);
  if (self->module == NULL)
    {
      fail (self, "%s", g_module_error ());
      return FALSE;
    }
  g_module_make_resident (self->module);
  if (!g_module_symbol (self->module, symbol, &found) || found == NULL)
    {
      fail (self,
            "it has no symbol %s: is it made by GYRE_PLUGIN_DEFINE, with the name of "
            "its file?",
            symbol);
      return FALSE;
    }

  self->descriptor = found;
  return TRUE;
}

static gboolean
gyre_plugin_load_module (GTypeModule *module)
{
  GyrePlugin *self = GYRE_PLUGIN (module);

  if (self->module != NULL)
    return self->error == NULL;
  if (!open_module (self))
    return FALSE;

  if (self->descriptor->api != GYRE_PLUGIN_API)
    {
      fail (self,
            "it was built for version %u of the plugin interface, this is %d: build it "
            "again",
            self->descriptor->api, GYRE_PLUGIN_API);
      return FALSE;
    }

  self->descriptor->init (self);
  return self->error == NULL;
}

static void
gyre_plugin_unload_module (GTypeModule *module)
{
}

static void
gyre_plugin_class_init (GyrePluginClass *klass)
{
  GTypeModuleClass *module_class = G_TYPE_MODULE_CLASS (klass);

  module_class->load = gyre_plugin_load_module;
  module_class->unload = gyre_plugin_unload_module;
}

static void
gyre_plugin_init (GyrePlugin *self)
{
  self->layers = g_ptr_array_new_with_free_func (g_free);
  self->optimizers = g_ptr_array_new_with_free_func (g_free);
}

/* A type module lives as long as the program. */
GyrePlugin *
gyre_plugin_new (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  GyrePlugin *self = g_object_new (GYRE_TYPE_PLUGIN, NULL);

  self->path = g_strdup (path);
  g_type_module_set_name (G_TYPE_MODULE (self), name);

  return self;
}

/* The library's own names come first. */
gboolean
gyre_plugin_load (GyrePlugin  *self,
                  GError     **error)
{
  gyre_layer_type_find ("sequential", NULL);
  gyre_optimizer_type_find ("chain", NULL);
  if (self->error == NULL && g_type_module_use (G_TYPE_MODULE (self)))
    return TRUE;

  fail (self, "its types can't be registered");
  g_propagate_error (error, g_error_copy (self->error));
  return FALSE;
}

static GType
add_type (GyrePlugin      *self,
          GType            base,
          GPtrArray       *names,
          const char      *name,
          const char      *type_name,
          const GTypeInfo *info)
{
  GType type = g_type_from_name (type_name);

  if (type != 0 && g_type_get_plugin (type) != G_TYPE_PLUGIN (self))
    {
      fail (self, "another module has the type %s of its \"%s\"", type_name, name);
      return type;
    }

  type = g_type_module_register_type (G_TYPE_MODULE (self), base, type_name, info, 0);
  if (self->error == NULL)
    gyre_registry_add (base, name, type, gyre_plugin_get_name (self), &self->error);
  g_ptr_array_add (names, g_strdup (name));

  return type;
}

/**
 * gyre_plugin_add_layer: (skip)
 * @self: the plugin, in its init
 * @name: the layer's name in model lines
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers a layer; GYRE_DEFINE_LAYER() makes a function that calls it.  If the name or
 * the type is taken, the plugin does not load.
 *
 * Returns: the type
 */
GType
gyre_plugin_add_layer (GyrePlugin      *self,
                       const char      *name,
                       const char      *type_name,
                       const GTypeInfo *info)
{
  g_return_val_if_fail (GYRE_IS_PLUGIN (self) && name != NULL && type_name != NULL, 0);

  return add_type (self, GYRE_TYPE_LAYER, self->layers, name, type_name, info);
}

/**
 * gyre_plugin_add_optimizer: (skip)
 * @self: the plugin, in its init
 * @name: the optimizer's name in lines
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers an optimizer; GYRE_DEFINE_OPTIMIZER() makes a function that calls it.
 *
 * Returns: the type
 */
GType
gyre_plugin_add_optimizer (GyrePlugin      *self,
                           const char      *name,
                           const char      *type_name,
                           const GTypeInfo *info)
{
  g_return_val_if_fail (GYRE_IS_PLUGIN (self) && name != NULL && type_name != NULL, 0);

  return add_type (self, GYRE_TYPE_OPTIMIZER, self->optimizers, name, type_name, info);
}

/**
 * gyre_plugin_get_name:
 * @self: a plugin that is loaded
 *
 * Returns: its name, as in its descriptor
 */
const char *
gyre_plugin_get_name (GyrePlugin *self)
{
  g_return_val_if_fail (GYRE_IS_PLUGIN (self), NULL);

  return self->descriptor != NULL ? self->descriptor->name : NULL;
}

static void
set_list (GKeyFile   *keys,
          const char *key,
          GPtrArray  *names)
{
  g_key_file_set_string_list (keys, GYRE_PLUGIN_GROUP, key,
                              (const char *const *) names->pdata, names->len);
}

GKeyFile *
gyre_plugin_get_keys (GyrePlugin *self)
{
  GKeyFile *keys = g_key_file_new ();

  g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "name", self->descriptor->name);
  g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "version", self->descriptor->version);
  g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "licence", self->descriptor->licence);
  set_list (keys, "layers", self->layers);
  set_list (keys, "optimizers", self->optimizers);

  return keys;
}

/* A class that can't be made crashes here. */
static void
make_classes (GType      base,
              GPtrArray *names)
{
  for (guint i = 0; i < names->len; i++)
    g_type_class_unref (
        g_type_class_ref (gyre_registry_find (base, "type", names->pdata[i], NULL)));
}

/**
 * gyre_plugin_describe:
 * @path: a module
 * @error: %GYRE_ERROR_PLUGIN, with what is wrong with the module
 *
 * Loads a module and tells what it has. A module can crash: the library has this called
 * in a program of its own.
 *
 * Returns: (transfer full): a key file with one group "plugin": name, version, licence,
 *   layers and optimizers
 */
char *
gyre_plugin_describe (const char  *path,
                      GError     **error)
{
  g_autoptr (GKeyFile) keys = NULL;
  GyrePlugin *self;

  g_return_val_if_fail (path != NULL, NULL);

  self = gyre_plugin_new (path);
  if (!gyre_plugin_load (self, error))
    return NULL;

  make_classes (GYRE_TYPE_LAYER, self->layers);
  make_classes (GYRE_TYPE_OPTIMIZER, self->optimizers);
  keys = gyre_plugin_get_keys (self);

  return g_key_file_to_data (keys, NULL, NULL);
}
