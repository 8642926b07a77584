/* SPDX-License-Identifier: Apache-2.0 */

/* gyre-plugin-scan FILE: loads a module and prints what it has, or why it can't be used
 * (exit status 1).  A module that crashes or hangs takes only this program with it. */

#include <gyre/gyre-plugin.h>

#include <unistd.h>

#define SECONDS 20

int
main (int    argc,
      char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (argc != 2)
    {
      g_printerr ("usage: gyre-plugin-scan FILE\n");
      return 2;
    }

  alarm (SECONDS);
  text = gyre_plugin_describe (argv[1], &error);
  if (text == NULL)
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  g_print ("%s", text);
  return 0;
}
