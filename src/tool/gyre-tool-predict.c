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
  char *data, *devices, *batch_size, *output;
} PredictOptions;

typedef struct
{
  FILE   *file;      /* of predictions, or NULL */
  gint64  n;
  gint64  correct;
  double  loss;      /* sum */
} Tally;

static void
note_nothing (const char *text, gpointer data)
{
  (void) text;
  (void) data;
}

static void
add_prediction (const GyrePrediction *prediction, gpointer data)
{
  Tally           *tally       = data;
  g_autofree char *probability = NULL;

  tally->n++;
  tally->correct += prediction->predicted == prediction->label;
  tally->loss    += prediction->loss;
  if (!tally->file)
    return;
  probability = gyre_float_to_string (prediction->probability);
  fprintf (tally->file, "{\"index\":%" G_GINT64_FORMAT ",\"label\":%d,\"predicted\":%d,"
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
    G_OPTION_ENTRY_NULL,
  };

  if (!gyre_tool_parse (summary, entries, argc, argv, "FOLDER", error))
    return FALSE;
  if (*argc == 2 && (has_output || !options->output))
    return TRUE;
  g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_INVALID, *argc != 2 ?
                       "it takes one folder, where 'gyre train --save' wrote" :
                       "--output: 'gyre predict' has it");
  return FALSE;
}

static void
free_options (PredictOptions *options)
{
  g_free (options->data);
  g_free (options->devices);
  g_free (options->batch_size);
  g_free (options->output);
}

static gboolean
open_output (const char *path, Tally *tally, GError **error)
{
  tally->file = path ? g_fopen (path, "w") : stdout;
  if (tally->file)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "--output %s: can't be written: %s",
               path, g_strerror (errno));
  return FALSE;
}

static gboolean
close_output (const char *path, Tally *tally, GError **error)
{
  gboolean ok;

  if (!tally->file)
    return TRUE;
  ok = fflush (tally->file) == 0 && !ferror (tally->file);
  if (path)
    ok = fclose (tally->file) == 0 && ok;
  if (!ok)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: could not be written whole",
                 path ? path : "standard output");
  return ok;
}

/* Every sample of the test split, once. */
static gboolean
run (const char            *folder,
     const PredictOptions  *options,
     gboolean               print,
     Tally                 *tally,
     GError               **error)
{
  const GyreTrainerCallbacks callbacks = { note_nothing, NULL, NULL };
  GyreTrainerConfig          config    = {
    .data = options->data, .devices = options->devices, .resume = folder,
    .mode = GYRE_MODE_JIT, .epochs = -1, .steps = -1, .batch_size = -1, .accumulate = -1,
    .save_every = -1, .seed = -1, .validation = -1.0, .evaluate = TRUE,
  };
  g_autoptr (GyreTrainer)    trainer   = NULL;

  return gyre_tool_parse_count ("--batch-size", options->batch_size, 1,
                                &config.batch_size, error) &&
         (trainer = gyre_trainer_new (&config, &callbacks, NULL, error)) &&
         (!print || open_output (options->output, tally, error)) &&
         gyre_trainer_evaluate (trainer, add_prediction, tally, error) &&
         close_output (options->output, tally, error);
}

int
gyre_tool_predict (int    argc,
                   char **argv)
{
  PredictOptions     options = { 0 };
  Tally              tally   = { 0 };
  g_autoptr (GError) error   = NULL;
  int                status  = GYRE_TOOL_OK;

  if (!parse_options ("Classifies each test sample: a JSON object a line.", TRUE,
                      &options, &argc, &argv, &error))
    status = gyre_tool_fail ("predict", GYRE_TOOL_USAGE, error);
  else if (!run (argv[1], &options, TRUE, &tally, &error))
    status = gyre_tool_fail ("predict", gyre_tool_status_of (error), error);
  free_options (&options);
  return status;
}

int
gyre_tool_evaluate (int    argc,
                    char **argv)
{
  PredictOptions     options = { 0 };
  Tally              tally   = { 0 };
  g_autoptr (GError) error   = NULL;
  int                status  = GYRE_TOOL_OK;

  if (!parse_options ("Measures a trained model on each test sample once.", FALSE,
                      &options, &argc, &argv, &error))
    status = gyre_tool_fail ("evaluate", GYRE_TOOL_USAGE, error);
  else if (!run (argv[1], &options, FALSE, &tally, &error))
    status = gyre_tool_fail ("evaluate", gyre_tool_status_of (error), error);
  else
    printf ("test accuracy %.4f (%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
            ")  mean loss %.4f\n", (double) tally.correct / (double) MAX (tally.n, 1),
            tally.correct, tally.n, tally.loss / (double) MAX (tally.n, 1));
  free_options (&options);
  return status;
}
