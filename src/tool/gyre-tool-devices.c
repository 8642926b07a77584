/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <json-glib/json-glib.h>

#include <gyre/gyre-device.h>

static void
add_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, value);
}

static void
add_int (JsonBuilder *builder, const char *name, guint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, (gint64) value);
}

static void
add_boolean (JsonBuilder *builder, const char *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

static void
add_device (JsonBuilder *builder, const GyreDeviceInfo *info)
{
  json_builder_begin_object (builder);
  add_string (builder, "platform", info->platform);
  add_string (builder, "name", info->name);
  add_string (builder, "vendor", info->vendor);
  add_string (builder, "driver_version", info->driver_version);
  add_string (builder, "type", gyre_device_kind_name (info->kind));
  add_int (builder, "compute_units", info->compute_units);
  add_int (builder, "memory", info->memory);
  add_int (builder, "max_allocation", info->max_allocation);
  add_int (builder, "local_memory", info->local_memory);
  add_boolean (builder, "has_compiler", info->has_compiler);
  add_boolean (builder, "unified_memory", info->unified_memory);
  add_boolean (builder, "admitted", info->admitted);
  if (info->reason)
    add_string (builder, "reason", info->reason);
  json_builder_end_object (builder);
}

static void
print_json (GPtrArray *devices)
{
  g_autoptr (JsonBuilder)   builder   = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode)      root      = NULL;
  g_autofree char          *text      = NULL;

  json_builder_begin_array (builder);
  for (guint i = 0; i < devices->len; i++)
    add_device (builder, g_ptr_array_index (devices, i));
  json_builder_end_array (builder);
  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, NULL);
  g_print ("%s\n", text);
}

static void
print_text (GPtrArray *devices)
{
  for (guint i = 0; i < devices->len; i++)
    {
      const GyreDeviceInfo *info   = g_ptr_array_index (devices, i);
      g_autofree char *memory =
          g_format_size_full (info->memory, G_FORMAT_SIZE_IEC_UNITS);

      g_print ("%s\n  platform  %s\n  type      %s, %u compute units, %s, %s\n"
               "  compiler  %s\n  self-test %s%s\n",
               info->name, info->platform, gyre_device_kind_name (info->kind),
               info->compute_units, memory,
               info->unified_memory ? "memory shared with the host" : "memory of its own",
               info->has_compiler ? "yes" : "no: runs programs that were built ahead",
               info->admitted ? "passed" : "failed: ",
               info->admitted ? "" : info->reason ? info->reason : "no reason known");
    }
}

int
gyre_tool_devices (int    argc,
                   char **argv)
{
  gboolean              json      = FALSE;
  const GOptionEntry    entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GError)    error     = NULL;
  g_autoptr (GPtrArray) devices   = NULL;

  if (!gyre_tool_parse ("Lists every OpenCL device and whether it passed its self-test.",
                        entries, &argc, &argv, NULL, &error))
    return gyre_tool_fail ("devices", GYRE_TOOL_USAGE, error);
  if (!(devices = gyre_devices_list (&error)))
    return gyre_tool_fail ("devices", GYRE_TOOL_FAILED, error);
  if (json)
    print_json (devices);
  else
    print_text (devices);
  return GYRE_TOOL_OK;
}
