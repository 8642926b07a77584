/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gyre/gyre-version.h>

#include "base/gyre-text-private.h"
#include "device/gyre-drivers-private.h"

static const GyreToolCommand commands[] = {
  { "devices", "list the OpenCL devices of this machine", gyre_tool_devices },
  { "train", "train a model", gyre_tool_train },
  { "evaluate", "measure a trained model on test data", gyre_tool_evaluate },
  { "predict", "classify test data with a trained model", gyre_tool_predict },
  { "inspect", "describe layers, optimizers, losses… and their properties",
    gyre_tool_inspect },
  { "new-plugin", "write the project of a plugin", gyre_tool_new_plugin },
  { "bench", "measure: bench all-reduce", gyre_tool_bench },
};

int
gyre_tool_fail (const char   *command,
                int           status,
                const GError *error)
{
  g_autofree char *line = g_strdup (error->message);

  g_strchomp (line);
  g_printerr ("gyre %s: %s\n", command, line);
  return status;
}

int
gyre_tool_status_of (const GError *error)
{
  static const GyreError usage[] = {
    GYRE_ERROR_INVALID, GYRE_ERROR_SHAPE, GYRE_ERROR_SHARDING, GYRE_ERROR_SYNTAX,
    GYRE_ERROR_TREE, GYRE_ERROR_UNKNOWN,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (usage); i++)
    if (g_error_matches (error, GYRE_ERROR, usage[i]))
      return GYRE_TOOL_USAGE;
  return GYRE_TOOL_FAILED;
}

gboolean
gyre_tool_parse_count (const char  *option,
                       const char  *text,
                       gint64       min,
                       gint64      *value,
                       GError     **error)
{
  if (!text || gyre_text_parse_int (text, min, G_MAXINT32, value, error))
    return TRUE;
  g_prefix_error (error, "%s %s: ", option, text);
  return FALSE;
}

gboolean
gyre_tool_parse (const char           *summary,
                 const GOptionEntry   *entries,
                 int                  *argc,
                 char               ***argv,
                 const char           *rest,
                 GError              **error)
{
  g_autofree char *name = g_strconcat ("gyre ", (*argv)[0], NULL);
  g_autoptr (GOptionContext) context = g_option_context_new (rest);

  g_set_prgname (name);   /* what the usage line begins with */
  g_option_context_set_summary (context, summary);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, error))
    {
      if (error && g_error_matches (*error, G_CONVERT_ERROR,
                                    G_CONVERT_ERROR_ILLEGAL_SEQUENCE))
        g_prefix_error_literal (error, "an option's value is no text in the character "
                                       "set of the locale: ");
      return FALSE;
    }
  if (rest || *argc == 1)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "unexpected argument '%s'",
               (*argv)[1]);
  return FALSE;
}

static void
print_usage (void)
{
  g_print ("Usage: gyre COMMAND [OPTION…]\n\n");
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    g_print ("  %-10s %s\n", commands[i].name, commands[i].help);
  g_print ("\nMore about one: gyre COMMAND --help\n");
}

static int
unknown_command (const char *name)
{
  const char      *names[G_N_ELEMENTS (commands) + 1] = { NULL };
  g_autofree char *near = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i] = commands[i].name;
  near = gyre_text_suggest (name, names);
  g_printerr ("gyre: no command '%s'%s%s%s; 'gyre --help' lists them\n", name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return GYRE_TOOL_USAGE;
}

/* A file that is opened while 0, 1 or 2 is free would get what is meant for the
 * screen. */
static void
occupy_standard_files (void)
{
  for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
    if (fcntl (i, F_GETFD) == -1 && open ("/dev/null", O_RDWR) == -1)
      return;
}

/* A warning of the library is one line, as errors are. */
static void
show_warning (const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
  g_printerr ("%s: warning: %s\n", g_get_prgname (), text);
}

/* What was printed has to have arrived. */
static int
finish_output (const char *command, int status)
{
  gboolean flushed = fflush (stdout) == 0;

  if (flushed && !ferror (stdout))
    return status;
  g_printerr ("gyre %s: the output can't be written: %s\n", command,
              flushed ? "a write failed" : g_strerror (errno));
  return status == GYRE_TOOL_OK ? GYRE_TOOL_FAILED : status;
}

int
gyre_tool_main (int    argc,
                char **argv)
{
  occupy_standard_files ();
  gyre_drivers_set_environment ();
  setlocale (LC_ALL, "");
  g_set_prgname ("gyre");
  g_log_set_handler (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, show_warning, NULL);
  if (argc < 2)
    {
      print_usage ();
      return GYRE_TOOL_USAGE;
    }
  if (g_str_equal (argv[1], "--help") || g_str_equal (argv[1], "-h") ||
      g_str_equal (argv[1], "help"))
    {
      print_usage ();
      return GYRE_TOOL_OK;
    }
  if (g_str_equal (argv[1], "--version"))
    {
      g_print ("gyre %d.%d.%d\n", GYRE_MAJOR_VERSION, GYRE_MINOR_VERSION,
               GYRE_MICRO_VERSION);
      return GYRE_TOOL_OK;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (argv[1], commands[i].name))
      return finish_output (commands[i].name, commands[i].run (argc - 1, argv + 1));
  return unknown_command (argv[1]);
}
