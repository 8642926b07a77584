/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* Built for an interface that is yet to come. */

static void
plugin_init (GyrePlugin *plugin)
{
  g_error ("nobody should call this");
}

extern GYRE_PLUGIN_EXPORT const GyrePluginDescriptor gyre_plugin_test_other_api;
const GyrePluginDescriptor gyre_plugin_test_other_api = {
  GYRE_PLUGIN_API + 1, "test_other_api", "1.0", "Apache-2.0", plugin_init
};
