/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-plugin.h>

#include <signal.h>
#include <sys/resource.h>

/* Crashes when it is loaded, without leaving a core. */

static void
plugin_init (GyrePlugin *plugin)
{
  const struct rlimit none = { 0, 0 };

  setrlimit (RLIMIT_CORE, &none);
  signal (SIGSEGV, SIG_DFL);
  raise (SIGSEGV);
}

GYRE_PLUGIN_DEFINE (test_crash, "1.0", "Apache-2.0", plugin_init)
