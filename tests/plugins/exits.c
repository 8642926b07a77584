/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

#include <stdlib.h>
#include <unistd.h>

/* Prints what it isn't, leaves a process running that holds what it had open, and ends
 * the program that loads it. */

static void
plugin_init (GyrePlugin *plugin)
{
  g_print ("[plugin]\nname=liar\nversion=1\nlicence=none\n");
  if (fork () == 0)
    sleep (600);
  exit (0);
}

GYRE_PLUGIN_DEFINE (test_exits, "1.0", "Apache-2.0", plugin_init)
