/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/gyre-text-private.h"
#include "train/gyre-trainer-private.h"

typedef struct
{
  char *data, *devices, *batch_size, *output, *report;
} PredictOptions;

static void
note_nothing (const char *text, gpointer data)
{
  (void) text;
  (void) data;
}

static void
print_prediction (const GyrePrediction *prediction, gpointer data)
{
  g_autofree char *probability = gyre_float_to_string (prediction->probability);

  fprintf (data, "{\"index\":%" G_GINT64_FORMAT ",\"label\":%d,\"predicted\":%d,"
           "\"probability\":%s}\n", prediction->index, prediction->label,
           prediction->predicted, probability);
}

static gboolean
parse_options (const char       *summary,
               gboolean          has_output,
               PredictOptions   *options,
               int              *argc,
               char           ***argv,
               GError          **error)
{
  const GOptionEntry entries[] = {
    { "data", 0, 0, G_OPTION_ARG_FILENAME, &options->data,
      "Whose test split; the checkpoint's own if not given", "DATA" },
    { "devices", 0, 0, G_OPTION_ARG_STRING, &options->devices,
      "As 'all', 'gpu:0'; default $GYRE_DEVICES, or all", "STRING" },
    { "batch-size", 0, 0, G_OPTION_ARG_STRING, &options->batch_size,
      "The checkpoint's if not given", "N" },
    { "output", 0, has_output ? 0 : G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME,
      &options->output, "Write there, not to the screen", "FILE" },
    { "report", 0, has_output ? G_OPTION_FLAG_HIDDEN : 0, G_OPTION_ARG_FILENAME,
      &options->report, "Write pictures there: confusion matrix, worst test images",
      "FOLDER" },
    G_OPTION_ENTRY_NULL,
  };

  if (!gyre_tool_parse (summary, entries, argc, argv, "FOLDER", error))
    return FALSE;
  if (*argc == 2 && (has_output ? !options->report : !options->output))
    return TRUE;
  g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_INVALID, *argc != 2 ?
                       "it takes one folder, where 'gyre train --save' wrote" :
                       has_output ? "--report: 'gyre evaluate' has it"
                                  : "--output: 'gyre predict' has it");
  return FALSE;
}

static void
free_options (PredictOptions *options)
{
  g_free (options->data);
  g_free (options->devices);
  g_free (options->batch_size);
  g_free (options->output);
  g_free (options->report);
}

static FILE *
open_output (const char *path, GError **error)
{
  FILE *file = path ? g_fopen (path, "w") : stdout;

  if (!file)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "--output %s: can't be written: %s",
                 path, g_strerror (errno));
  return file;
}

static gboolean
close_output (const char *path, FILE *file, GError **error)
{
  gboolean ok = fflush (file) == 0 && !ferror (file);

  if (path)
    ok = fclose (file) == 0 && ok;
  if (!ok)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: could not be written whole",
                 path ? path : "standard output");
  return ok;
}

static GyreTrainer *
open_trainer (const char            *folder,
              const PredictOptions  *options,
              GError               **error)
{
  const GyreTrainerCallbacks callbacks = { note_nothing, NULL, NULL };
  GyreTrainerConfig          config    = {
    .data = options->data, .devices = options->devices, .resume = folder,
    .report = options->report, .mode = GYRE_MODE_JIT, .epochs = -1, .steps = -1,
    .batch_size = -1, .accumulate = -1, .save_every = -1, .seed = -1, .validation = -1.0,
    .evaluate = TRUE,
  };

  if (!gyre_tool_parse_count ("--batch-size", options->batch_size, 1, &config.batch_size,
                              error))
    return NULL;
  return gyre_trainer_new (&config, &callbacks, NULL, error);
}

/* Every sample of the test split, once. */
static gboolean
predict (const char            *folder,
         const PredictOptions  *options,
         GError               **error)
{
  g_autoptr (GyreTrainer) trainer = open_trainer (folder, options, error);
  FILE                   *file    = trainer ? open_output (options->output, error) : NULL;
  gboolean                ok;

  if (!file)
    return FALSE;
  ok = gyre_trainer_evaluate (trainer, trainer->test, print_prediction, file, error);
  return close_output (options->output, file, ok ? error : NULL) && ok;
}

static gboolean
evaluate (const char            *folder,
          const PredictOptions  *options,
          GError               **error)
{
  g_autoptr (GyreTrainer) trainer = open_trainer (folder, options, error);
  g_autofree char        *text    = NULL;

  if (!trainer || !gyre_trainer_measure (trainer, error))
    return FALSE;
  text = gyre_report_to_text (trainer->report);
  fputs (text, stdout);
  fflush (stdout);
  if (gyre_report_write (trainer->report, error))
    return TRUE;
  g_prefix_error (error, "--");
  return FALSE;
}

int
gyre_tool_predict (int    argc,
                   char **argv)
{
  PredictOptions     options = { 0 };
  g_autoptr (GError) error   = NULL;
  int                status  = GYRE_TOOL_OK;

  if (!parse_options ("Classifies each test sample: a JSON object a line.", TRUE,
                      &options, &argc, &argv, &error))
    status = gyre_tool_fail ("predict", GYRE_TOOL_USAGE, error);
  else if (!predict (argv[1], &options, &error))
    status = gyre_tool_fail ("predict", gyre_tool_status_of (error), error);
  free_options (&options);
  return status;
}

int
gyre_tool_evaluate (int    argc,
                    char **argv)
{
  PredictOptions     options = { 0 };
  g_autoptr (GError) error   = NULL;
  int                status  = GYRE_TOOL_OK;

  if (!parse_options ("Measures a trained model on each test sample once.", FALSE,
                      &options, &argc, &argv, &error))
    status = gyre_tool_fail ("evaluate", GYRE_TOOL_USAGE, error);
  else if (!evaluate (argv[1], &options, &error))
    status = gyre_tool_fail ("evaluate", gyre_tool_status_of (error), error);
  free_options (&options);
  return status;
}
