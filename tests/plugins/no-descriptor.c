/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* Its descriptor is named for another file. */

static void
plugin_init (GyrePlugin *plugin)
{
}

GYRE_PLUGIN_DEFINE (test_something_else, "1.0", "Apache-2.0", plugin_init)
