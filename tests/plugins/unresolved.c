/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

/* Calls a function that is nowhere. */

void test_function_that_is_nowhere (void);

static void
plugin_init (GyrePlugin *plugin)
{
  test_function_that_is_nowhere ();
}

GYRE_PLUGIN_DEFINE (test_unresolved, "1.0", "Apache-2.0", plugin_init)
