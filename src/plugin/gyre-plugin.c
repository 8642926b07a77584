/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include "nn/gyre-property-private.h"
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
G_DEFINE_FINAL_TYPE (GyrePlugin, gyre_plugin, G_TYPE_TYPE_MODULE)

void
gyre_plugin_fail (GyrePlugin *self,
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
      gyre_plugin_fail (self, "%s", g_module_error ());
      return FALSE;
    }
  g_module_make_resident (self->module);
  if (!g_module_symbol (self->module, symbol, &found) || found == NULL)
    {
      gyre_plugin_fail (self,
            "it has no symbol %s: is it made by GYRE_PLUGIN_DEFINE, with the name of "
            "its file?",
            symbol);
      return FALSE;
    }

  self->descriptor = found;
  return TRUE;
}

static gboolean
check_descriptor (GyrePlugin *self)
{
  const GyrePluginDescriptor *descriptor = self->descriptor;

  if (descriptor->name != NULL && descriptor->version != NULL
      && descriptor->licence != NULL && descriptor->init != NULL
      && g_utf8_validate (descriptor->name, -1, NULL))
    return TRUE;

  gyre_plugin_fail (self, "its descriptor lacks a name, a version, a licence or an init "
                          "function");
  return FALSE;
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
      gyre_plugin_fail (self,
            "it was built for version %u of the plugin interface, this is %d: build it "
            "again",
            self->descriptor->api, GYRE_PLUGIN_API);
      return FALSE;
    }

  if (!check_descriptor (self))
    return FALSE;

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
  for (guint i = 0; i < GYRE_PLUGIN_N_KINDS; i++)
    {
      self->names[i] = g_ptr_array_new_with_free_func (g_free);
      self->types[i] = g_ptr_array_new ();
    }
  self->primitives = g_ptr_array_new_with_free_func (g_free);
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
  for (guint i = 0; i < GYRE_PLUGIN_N_KINDS; i++)
    gyre_plugin_kinds[i].find (gyre_plugin_kinds[i].own, NULL);
  if (self->error == NULL && g_type_module_use (G_TYPE_MODULE (self)))
    return TRUE;

  gyre_plugin_fail (self, "its types can't be registered");
  g_propagate_error (error, g_error_copy (self->error));
  return FALSE;
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

static char *
print_property (GParamSpec *pspec)
{
  g_autofree char *value = NULL;

  if (gyre_property_is_required (pspec))
    return g_strconcat (pspec->name, "=...", NULL);

  value = gyre_property_print_default (pspec);
  return value != NULL ? g_strdup_printf ("%s=%s", pspec->name, value) : NULL;
}

char **
gyre_plugin_list_properties (GType type)
{
  GObjectClass *klass = g_type_class_ref (type);
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (klass, &n);
  GPtrArray *texts = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    {
      char *text = print_property (pspecs[i]);

      if (text != NULL)
        g_ptr_array_add (texts, text);
    }
  g_ptr_array_add (texts, NULL);
  g_type_class_unref (klass);

  return (char **) g_ptr_array_free (texts, FALSE);
}

/* For each name, beside the list of them */
static void
set_properties (GyrePlugin *self,
                GKeyFile   *keys,
                guint       kind)
{
  g_autofree char *key = g_strconcat (gyre_plugin_kinds[kind].plural, "-properties",
                                      NULL);
  GPtrArray *types = self->types[kind];
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < types->len; i++)
    {
      g_auto (GStrv) list =
          gyre_plugin_list_properties (GPOINTER_TO_SIZE (types->pdata[i]));

      g_ptr_array_add (all, g_strjoinv ("\n", list));
    }
  set_list (keys, key, all);
}

GKeyFile *
gyre_plugin_get_keys (GyrePlugin *self)
{
  GKeyFile *keys = g_key_file_new ();

  g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "name", self->descriptor->name);
  g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "version", self->descriptor->version);
  g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "licence", self->descriptor->licence);
  if (self->descriptor->origin != NULL)
    g_key_file_set_string (keys, GYRE_PLUGIN_GROUP, "origin", self->descriptor->origin);
  for (guint i = 0; i < GYRE_PLUGIN_N_KINDS; i++)
    {
      set_list (keys, gyre_plugin_kinds[i].plural, self->names[i]);
      set_properties (self, keys, i);
    }
  set_list (keys, "primitives", self->primitives);

  return keys;
}

/* A class that can't be made crashes here, and an object, too. */
static void
make_objects (GyrePlugin *self)
{
  for (guint kind = 0; kind < GYRE_PLUGIN_N_KINDS; kind++)
    for (guint i = 0; i < self->types[kind]->len; i++)
      g_object_unref (
          g_object_new (GPOINTER_TO_SIZE (self->types[kind]->pdata[i]), NULL));
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
 *   origin, and lists of names: layers, optimizers and so on
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

  make_objects (self);
  keys = gyre_plugin_get_keys (self);

  return g_key_file_to_data (keys, NULL, NULL);
}
