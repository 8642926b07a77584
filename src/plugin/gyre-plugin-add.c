/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-plugin-private.h"

#include "nn/gyre-registry-private.h"

#include <gio/gio.h>

const GyrePluginKind gyre_plugin_kinds[GYRE_PLUGIN_N_KINDS] = {
  { gyre_layer_get_type, "layer", "layers", "sequential", gyre_layer_type_find,
    gyre_layer_type_list },
  { gyre_optimizer_get_type, "optimizer", "optimizers", "chain", gyre_optimizer_type_find,
    gyre_optimizer_type_list },
  { gyre_schedule_get_type, "schedule", "schedules", "constant", gyre_schedule_type_find,
    gyre_schedule_type_list },
  { gyre_initializer_get_type, "initializer", "initializers", "zeros",
    gyre_initializer_type_find, gyre_initializer_type_list },
  { gyre_loss_get_type, "loss", "losses", "mse", gyre_loss_type_find, gyre_loss_list },
  { gyre_data_format_get_type, "data format", "data-formats", "digits",
    gyre_data_format_type_find, gyre_data_format_type_list },
};

static guint
find_kind (GType base)
{
  guint i = 0;

  while (gyre_plugin_kinds[i].get_type () != base)
    i++;

  return i;
}

/* The name of a type may be that of a type of another module, which is no matter to
 * anybody: then it is made one of this module's own. */
static char *
make_type_name (GyrePlugin *self,
                const char *name)
{
  GType type = g_type_from_name (name);
  g_autofree char *own = NULL;

  if (type == 0 || g_type_get_plugin (type) == G_TYPE_PLUGIN (self))
    return g_strdup (name);

  own = g_strdup_printf ("%s+%s", name, self->descriptor->name);
  for (guint i = 2; g_type_from_name (own) != 0; i++)
    {
      g_free (own);
      own = g_strdup_printf ("%s+%s+%u", name, self->descriptor->name, i);
    }

  return g_steal_pointer (&own);
}

static gboolean
check_name (GyrePlugin *self,
            guint       kind,
            const char *name)
{
  if (g_ptr_array_find_with_equal_func (self->names[kind], name, g_str_equal, NULL))
    {
      gyre_plugin_fail (self, "it adds the %s \"%s\" twice",
                        gyre_plugin_kinds[kind].word, name);
      return FALSE;
    }
  if (g_regex_match_simple ("^[a-z][a-z0-9]*(-[a-z0-9]+)*$", name, 0, 0))
    return TRUE;

  gyre_plugin_fail (self,
                    "the name of its %s \"%s\" is none for lines: it takes words of a-z "
                    "and 0-9 with '-' between them",
                    gyre_plugin_kinds[kind].word, name);
  return FALSE;
}

static GType
add_type (GyrePlugin      *self,
          GType            base,
          const char      *name,
          const char      *type_name,
          const GTypeInfo *info)
{
  const GyreRegistryModule module = { gyre_plugin_get_name (self), self->path };
  guint kind = find_kind (base);
  g_autofree char *own = make_type_name (self, type_name);
  GType type = g_type_module_register_type (G_TYPE_MODULE (self), base, own, info, 0);

  if (type == 0)
    {
      gyre_plugin_fail (self, "the type %s of its \"%s\" can't be registered", own, name);
      return 0;
    }
  if (!check_name (self, kind, name))
    return type;

  gyre_registry_add (base, name, type, &module);
  g_ptr_array_add (self->names[kind], g_strdup (name));
  g_ptr_array_add (self->types[kind], GSIZE_TO_POINTER (type));

  return type;
}

/**
 * gyre_plugin_add_layer: (skip)
 * @self: the plugin, in its init
 * @name: the layer's name in model lines
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers a layer; GYRE_DEFINE_LAYER() makes a function that calls it. Where another
 * has the name, the first wins it: the library itself, then modules by the order of
 * their folders. A name that isn't of words of a-z and 0-9 with '-' between them keeps
 * the plugin from loading.
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

  return add_type (self, GYRE_TYPE_LAYER, name, type_name, info);
}

/**
 * gyre_plugin_add_optimizer: (skip)
 * @self: the plugin, in its init
 * @name: the optimizer's name in lines
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers an optimizer; GYRE_DEFINE_OPTIMIZER() makes a function that calls it. Where
 * another has the name, the first wins it: the library itself, then modules by the
 * order of their folders. A name that isn't of words of a-z and 0-9 with '-' between
 * them keeps the plugin from loading.
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

  return add_type (self, GYRE_TYPE_OPTIMIZER, name, type_name, info);
}

/**
 * gyre_plugin_add_schedule: (skip)
 * @self: the plugin, in its init
 * @name: the schedule's name in lines
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers a schedule; GYRE_DEFINE_SCHEDULE() makes a function that calls it. Where
 * another has the name, the first wins it: the library itself, then modules by the
 * order of their folders. A name that isn't of words of a-z and 0-9 with '-' between
 * them keeps the plugin from loading.
 *
 * Returns: the type
 */
GType
gyre_plugin_add_schedule (GyrePlugin      *self,
                          const char      *name,
                          const char      *type_name,
                          const GTypeInfo *info)
{
  g_return_val_if_fail (GYRE_IS_PLUGIN (self) && name != NULL && type_name != NULL, 0);

  return add_type (self, GYRE_TYPE_SCHEDULE, name, type_name, info);
}

/**
 * gyre_plugin_add_initializer: (skip)
 * @self: the plugin, in its init
 * @name: the initializer's name in lines
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers an initializer; GYRE_DEFINE_INITIALIZER() makes a function that calls it.
 * Where another has the name, the first wins it: the library itself, then modules by
 * the order of their folders. A name that isn't of words of a-z and 0-9 with '-'
 * between them keeps the plugin from loading.
 *
 * Returns: the type
 */
GType
gyre_plugin_add_initializer (GyrePlugin      *self,
                             const char      *name,
                             const char      *type_name,
                             const GTypeInfo *info)
{
  g_return_val_if_fail (GYRE_IS_PLUGIN (self) && name != NULL && type_name != NULL, 0);

  return add_type (self, GYRE_TYPE_INITIALIZER, name, type_name, info);
}

/**
 * gyre_plugin_add_loss: (skip)
 * @self: the plugin, in its init
 * @name: the loss's name in lines
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers a loss; GYRE_DEFINE_LOSS() makes a function that calls it. Where another
 * has the name, the first wins it: the library itself, then modules by the order of
 * their folders. A name that isn't of words of a-z and 0-9 with '-' between them keeps
 * the plugin from loading.
 *
 * Returns: the type
 */
GType
gyre_plugin_add_loss (GyrePlugin      *self,
                      const char      *name,
                      const char      *type_name,
                      const GTypeInfo *info)
{
  g_return_val_if_fail (GYRE_IS_PLUGIN (self) && name != NULL && type_name != NULL, 0);

  return add_type (self, GYRE_TYPE_LOSS, name, type_name, info);
}

/**
 * gyre_plugin_add_data_format: (skip)
 * @self: the plugin, in its init
 * @name: the format's name in `--data NAME:PATH`
 * @type_name: the name of its GType
 * @info: its class and instances
 *
 * Registers a data format; GYRE_DEFINE_DATA_FORMAT() makes a function that calls it.
 * Where another has the name, the first wins it: the library itself, then modules by
 * the order of their folders. A name that isn't of words of a-z and 0-9 with '-'
 * between them keeps the plugin from loading.
 *
 * Returns: the type
 */
GType
gyre_plugin_add_data_format (GyrePlugin      *self,
                             const char      *name,
                             const char      *type_name,
                             const GTypeInfo *info)
{
  g_return_val_if_fail (GYRE_IS_PLUGIN (self) && name != NULL && type_name != NULL, 0);

  return add_type (self, GYRE_TYPE_DATA_FORMAT, name, type_name, info);
}

static const char *
find_fault (const GyrePluginPrim *prim)
{
  if (prim->name == NULL || prim->kernel == NULL || prim->resource == NULL)
    return "it needs a name, a kernel and a resource";
  if (prim->infer == NULL)
    return "it has no infer rule";
  if (prim->n_operands < 1 || prim->n_operands > GYRE_PLUGIN_MAX_OPERANDS)
    return "it needs 1 to 8 operands";
  if (!g_resources_get_info (prim->resource, 0, NULL, NULL, NULL))
    return "its resource is none of the module's";

  return NULL;
}

/**
 * gyre_plugin_add_prim: (skip)
 * @self: the plugin, in its init
 * @prim: a primitive of its own, static
 *
 * Tells of a primitive, which gyre inspect then lists. Layers can use one without; but
 * this finds here, not in a step, what is missing in it: a rule, or the file of its
 * kernel among the resources. Such a plugin does not load.
 */
void
gyre_plugin_add_prim (GyrePlugin           *self,
                      const GyrePluginPrim *prim)
{
  const char *fault;

  g_return_if_fail (GYRE_IS_PLUGIN (self) && prim != NULL);

  fault = find_fault (prim);
  if (fault != NULL)
    gyre_plugin_fail (self, "its primitive \"%s\" (kernel %s in %s): %s",
                      prim->name != NULL ? prim->name : "",
                      prim->kernel != NULL ? prim->kernel : "",
                      prim->resource != NULL ? prim->resource : "", fault);
  else
    g_ptr_array_add (self->primitives, g_strdup (prim->name));
}
