/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The one header that a plugin includes: all of <gyre/gyre.h>, and what only
 * plugins need. */

#include <gyre/gyre.h>

#define GYRE_INSIDE

#include <gyre/gyre-plugin-prim.h>

G_BEGIN_DECLS

/* Changes when a plugin that was built before can't be loaded any more. */
#define GYRE_PLUGIN_API 2

#define GYRE_TYPE_PLUGIN (gyre_plugin_get_type ())
GYRE_API
G_DECLARE_FINAL_TYPE (GyrePlugin, gyre_plugin, GYRE, PLUGIN, GTypeModule)

/**
 * GyrePluginDescriptor:
 * @api: %GYRE_PLUGIN_API
 * @name: as in the file's name, libgyre-NAME.so, with underscores
 * @version: of the plugin, any text
 * @licence: an SPDX expression
 * @init: adds what the plugin has; called once, when it is loaded
 * @origin: (nullable): where it comes from: a person, a project, an address
 *
 * What a plugin shows: GYRE_PLUGIN_DEFINE() makes it.
 */
typedef struct
{
  guint       api;
  const char *name;
  const char *version;
  const char *licence;
  void      (*init) (GyrePlugin *plugin);
  const char *origin;
} GyrePluginDescriptor;

/**
 * GYRE_PLUGIN_DEFINE:
 * @plugin_name: the name of its file, libgyre-NAME.so, with underscores: rms_norm
 * @plugin_version: its version, "1.0"
 * @plugin_licence: an SPDX expression, "Apache-2.0"
 * @...: void plugin_init (GyrePlugin *), which adds what the plugin has; and then, if one
 *   likes, its origin: "https://example.org/swish2"
 *
 * Makes a module a plugin.
 */
#define GYRE_PLUGIN_DEFINE(plugin_name, plugin_version, plugin_licence, ...)      \
  extern GYRE_PLUGIN_EXPORT const GyrePluginDescriptor gyre_plugin_##plugin_name; \
  const GyrePluginDescriptor gyre_plugin_##plugin_name = {                        \
    GYRE_PLUGIN_API, #plugin_name, plugin_version, plugin_licence, __VA_ARGS__    \
  };

/**
 * GYRE_DEFINE_LAYER:
 * @TypeName: the type, GyreRmsNorm
 * @type_name: its prefix, gyre_rms_norm
 *
 * As G_DEFINE_TYPE(), for a layer of a plugin. plugin_init calls
 * type_name_add (plugin, "rms-norm") with the name for model lines.
 */
#define GYRE_DEFINE_LAYER(TypeName, type_name) \
  GYRE_DEFINE_PLUGIN_TYPE (TypeName, type_name, gyre_plugin_add_layer)

/**
 * GYRE_DEFINE_OPTIMIZER:
 * @TypeName: the type
 * @type_name: its prefix
 *
 * As GYRE_DEFINE_LAYER(), for an optimizer.
 */
#define GYRE_DEFINE_OPTIMIZER(TypeName, type_name) \
  GYRE_DEFINE_PLUGIN_TYPE (TypeName, type_name, gyre_plugin_add_optimizer)

/**
 * GYRE_DEFINE_SCHEDULE:
 * @TypeName: the type
 * @type_name: its prefix
 *
 * As GYRE_DEFINE_LAYER(), for a schedule of a learning rate.
 */
#define GYRE_DEFINE_SCHEDULE(TypeName, type_name) \
  GYRE_DEFINE_PLUGIN_TYPE (TypeName, type_name, gyre_plugin_add_schedule)

/**
 * GYRE_DEFINE_INITIALIZER:
 * @TypeName: the type
 * @type_name: its prefix
 *
 * As GYRE_DEFINE_LAYER(), for an initializer of parameters.
 */
#define GYRE_DEFINE_INITIALIZER(TypeName, type_name) \
  GYRE_DEFINE_PLUGIN_TYPE (TypeName, type_name, gyre_plugin_add_initializer)

/**
 * GYRE_DEFINE_LOSS:
 * @TypeName: the type
 * @type_name: its prefix
 *
 * As GYRE_DEFINE_LAYER(), for a loss.
 */
#define GYRE_DEFINE_LOSS(TypeName, type_name) \
  GYRE_DEFINE_PLUGIN_TYPE (TypeName, type_name, gyre_plugin_add_loss)

/**
 * GYRE_DEFINE_DATA_FORMAT:
 * @TypeName: the type
 * @type_name: its prefix
 *
 * As GYRE_DEFINE_LAYER(), for a data format.
 */
#define GYRE_DEFINE_DATA_FORMAT(TypeName, type_name) \
  GYRE_DEFINE_PLUGIN_TYPE (TypeName, type_name, gyre_plugin_add_data_format)

#define GYRE_DEFINE_PLUGIN_TYPE(TypeName, type_name, add)                          \
  static void     type_name##_init (TypeName *self);                               \
  static void     type_name##_class_init (TypeName##Class *klass);                 \
  static gpointer type_name##_parent_class G_GNUC_UNUSED;                          \
  static GType    type_name##_type;                                                \
                                                                                   \
  static void                                                                      \
  type_name##_class_intern_init (gpointer klass, gpointer data)                    \
  {                                                                                \
    type_name##_parent_class = g_type_class_peek_parent (klass);                   \
    type_name##_class_init (klass);                                                \
  }                                                                                \
                                                                                   \
  static void                                                                      \
  type_name##_instance_init (GTypeInstance *self, gpointer klass)                  \
  {                                                                                \
    type_name##_init ((TypeName *) self);                                          \
  }                                                                                \
                                                                                   \
  G_GNUC_UNUSED GType                                                              \
  type_name##_get_type (void)                                                      \
  {                                                                                \
    return type_name##_type;                                                       \
  }                                                                                \
                                                                                   \
  static void                                                                      \
  type_name##_add (GyrePlugin *plugin, const char *name)                           \
  {                                                                                \
    const GTypeInfo info = {                                                       \
      .class_size = sizeof (TypeName##Class),                                      \
      .class_init = type_name##_class_intern_init,                                 \
      .instance_size = sizeof (TypeName),                                          \
      .instance_init = type_name##_instance_init                                   \
    };                                                                             \
                                                                                   \
    type_name##_type = add (plugin, name, #TypeName, &info);                       \
  }

/* What those macros call: registers a type under a name for lines. */
GYRE_API GType       gyre_plugin_add_layer       (GyrePlugin           *self,
                                                  const char           *name,
                                                  const char           *type_name,
                                                  const GTypeInfo      *info);
GYRE_API GType       gyre_plugin_add_optimizer   (GyrePlugin           *self,
                                                  const char           *name,
                                                  const char           *type_name,
                                                  const GTypeInfo      *info);
GYRE_API GType       gyre_plugin_add_schedule    (GyrePlugin           *self,
                                                  const char           *name,
                                                  const char           *type_name,
                                                  const GTypeInfo      *info);
GYRE_API GType       gyre_plugin_add_initializer (GyrePlugin           *self,
                                                  const char           *name,
                                                  const char           *type_name,
                                                  const GTypeInfo      *info);
GYRE_API GType       gyre_plugin_add_loss        (GyrePlugin           *self,
                                                  const char           *name,
                                                  const char           *type_name,
                                                  const GTypeInfo      *info);
GYRE_API GType       gyre_plugin_add_data_format (GyrePlugin           *self,
                                                  const char           *name,
                                                  const char           *type_name,
                                                  const GTypeInfo      *info);
/* Optional: a primitive is listed by gyre inspect, and looked through when the plugin is
 * loaded. */
GYRE_API void        gyre_plugin_add_prim        (GyrePlugin           *self,
                                                  const GyrePluginPrim *prim);
GYRE_API const char *gyre_plugin_get_name      (GyrePlugin      *self);
/* What a module file holds, as text; for a program that can afford a crash. */
GYRE_API char       *gyre_plugin_describe      (const char      *path,
                                                GError         **error);

G_END_DECLS

#undef GYRE_INSIDE
