/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include "base/gyre-text-private.h"
#include "collective/gyre-collective-private.h"

static int
bench_all_reduce (const char *spec, const char *algorithm, gint64 bytes)
{
  g_autoptr (GError)    error   = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);
  g_autoptr (GString)   report  = g_string_new (NULL);

  if (!devices)
    return gyre_tool_fail ("bench",
                           g_error_matches (error, GYRE_ERROR, GYRE_ERROR_NO_DEVICE)
                               ? GYRE_TOOL_FAILED
                               : GYRE_TOOL_USAGE,
                           error);
  if (!gyre_collective_bench (devices, (gsize) bytes, algorithm, report, &error))
    return gyre_tool_fail ("bench",
                           g_error_matches (error, GYRE_ERROR, GYRE_ERROR_INVALID)
                               ? GYRE_TOOL_USAGE
                               : GYRE_TOOL_FAILED,
                           error);
  g_print ("%s", report->str);
  return GYRE_TOOL_OK;
}

static gboolean
parse_bytes (const char *text, gint64 *bytes, GError **error)
{
  if (!text || gyre_text_parse_int (text, 4, G_GINT64_CONSTANT (1) << 32, bytes, error))
    return TRUE;
  g_prefix_error (error, "--bytes %s: ", text);
  return FALSE;
}

int
gyre_tool_bench (int    argc,
                 char **argv)
{
  g_autofree char   *devices   = NULL;
  g_autofree char   *algorithm = NULL;
  g_autofree char   *size      = NULL;
  gint64             bytes     = 1 << 20;
  const GOptionEntry entries[] = {
    { "devices", 0, 0, G_OPTION_ARG_STRING, &devices, "As 'pocl*4'", "STRING" },
    { "algorithm", 0, 0, G_OPTION_ARG_STRING, &algorithm,
      "ring, direct, host or staged; default auto", "NAME" },
    { "bytes", 0, 0, G_OPTION_ARG_STRING, &size, "Of each device, default 1048576", "N" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GError) error     = NULL;

  if (!gyre_tool_parse (
          "Measures: all-reduce, the sum over all devices of a buffer on each.", entries,
          &argc, &argv, "all-reduce", &error) ||
      !parse_bytes (size, &bytes, &error))
    return gyre_tool_fail ("bench", GYRE_TOOL_USAGE, error);
  if (argc != 2 || !g_str_equal (argv[1], "all-reduce"))
    {
      g_set_error_literal (&error, GYRE_ERROR, GYRE_ERROR_INVALID,
                           "say what to measure: gyre bench all-reduce");
      return gyre_tool_fail ("bench", GYRE_TOOL_USAGE, error);
    }
  return bench_all_reduce (devices, algorithm, bytes);
}
