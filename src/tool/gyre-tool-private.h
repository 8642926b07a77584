/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "plugin/gyre-plugin-private.h"

G_BEGIN_DECLS

/* Exit statuses. */
enum
{
  GYRE_TOOL_OK        = 0,
  GYRE_TOOL_FAILED    = 1,
  GYRE_TOOL_USAGE     = 2,     /* an option or its value */
  GYRE_TOOL_CANCELLED = 130    /* Ctrl-C */
};

/* A subcommand; argv[0] is its name. */
typedef struct
{
  const char *name;
  const char *help;
  int       (*run) (int argc, char **argv);
} GyreToolCommand;

int gyre_tool_devices (int argc, char **argv);
int gyre_tool_train   (int argc, char **argv);
int gyre_tool_predict (int argc, char **argv);
int gyre_tool_evaluate (int argc, char **argv);
int gyre_tool_inspect (int argc, char **argv);
int gyre_tool_bench   (int argc, char **argv);
int gyre_tool_new_plugin (int argc, char **argv);
/* Everything that lines can name, by plugin and kind. */
int gyre_tool_list (void);
/* What a plugin has, by its name; FALSE: there is none. */
gboolean gyre_tool_list_module (const char *name);
void gyre_tool_print_module (const GyrePluginRecord *record);
/* What each layer of a model makes of a batch; input: "28,28,1", NULL: as data say. */
int gyre_tool_survey (const char *line, const char *data, const char *input,
                      gint64 batch_size);

/* The whole command: what main () calls. */
GYRE_API int gyre_tool_main (int argc, char **argv);

/* Prints "gyre COMMAND: message" on one line, and returns status. */
int gyre_tool_fail (const char *command, int status, const GError *error);
/* Usage for what lies in an option's value, failed for what is of files, devices and the
 * machine. */
int gyre_tool_status_of (const GError *error);
/* Reads a whole number of an option; NULL leaves it. */
gboolean gyre_tool_parse_count (const char *option, const char *text, gint64 min,
                                gint64 *value, GError **error);
/* Reads the options; arguments that are left are an error unless rest is given. */
gboolean gyre_tool_parse (const char *summary, const GOptionEntry *entries, int *argc,
                          char ***argv, const char *rest, GError **error);

G_END_DECLS
