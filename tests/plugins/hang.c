/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

#include <signal.h>
#include <unistd.h>

/* Never comes back when it is loaded, and does not care for alarms. */

static void
plugin_init (GyrePlugin *plugin)
{
  signal (SIGALRM, SIG_IGN);
  signal (SIGTERM, SIG_IGN);
  for (;;)
    pause ();
}

GYRE_PLUGIN_DEFINE (test_hang, "1.0", "Apache-2.0", plugin_init)
