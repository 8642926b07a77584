/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/gyre-text-private.h"
#include "train/gyre-trainer-private.h"

typedef struct
{
  char    *data, *model, *optimizer, *loss, *devices, *shares, *mode, *log, *plan, *dump;
  char    *save, *resume, *report;
  char    *epochs, *batch_size, *steps, *seed, *save_every;
  char    *accumulate, *validation, *augment;
  gboolean check_nan, quiet;
} TrainOptions;

/* What the screen shows. */
typedef struct
{
  gboolean terminal;     /* a line that is written over, else a line an epoch */
  gboolean quiet;
  gint64   last_drawn;   /* monotonic, µs */
} Screen;

/* --- the screen --- */

static void
clear_line (const Screen *screen)
{
  if (screen->terminal)
    fputs ("\r\033[K", stdout);
}

static void
show_note (const char *text, gpointer data)
{
  Screen *screen = data;

  if (screen->quiet)
    return;
  clear_line (screen);
  puts (text);
  fflush (stdout);
}

/* What the library says, such as which device it leaves out, is a note here. */
static void
show_message (const char *domain, GLogLevelFlags level, const char *text, gpointer data)
{
  show_note (text, data);
}

static double
seconds_since (gint64 start)
{
  return (double) (g_get_monotonic_time () - start) / 1e6;
}

static void
show_progress (const GyreTrainer *trainer, gpointer data)
{
  Screen *screen = data;
  gint64  now    = g_get_monotonic_time ();
  double  past   = seconds_since (trainer->epoch_start);
  gint64  total  = MAX (trainer->n_train, 1);
  double  rate   = past > 0.0 ? (double) trainer->epoch_samples / past : 0.0;

  if (!screen->terminal || screen->quiet || now - screen->last_drawn < 100000)
    return;
  screen->last_drawn = now;
  printf ("\r\033[Kepoch %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT
          "  %3.0f %%  %.0f samples/s"
          "  loss %.4f  %.0f s left",
          trainer->epoch_index + 1, trainer->config.epochs,
          100.0 * (double) trainer->epoch_samples / (double) total, rate, trainer->loss,
          rate > 0.0 ? (double) (total - trainer->epoch_samples) / rate : 0.0);
  fflush (stdout);
}

static void
show_epoch (const GyreTrainer *trainer, gpointer data)
{
  Screen *screen = data;

  if (screen->quiet)
    return;
  clear_line (screen);
  printf ("epoch %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT
          "  mean loss %.4f  test accuracy %.4f",
          trainer->epoch_index + 1, trainer->config.epochs, trainer->mean_loss,
          trainer->test_accuracy);
  if (trainer->validation)
    printf ("  validation %.4f", trainer->validation_accuracy);
  printf (
      "  %.1f s  %.0f samples/s\n", trainer->seconds,
      trainer->seconds > 0.0 ? (double) trainer->epoch_samples / trainer->seconds : 0.0);
  fflush (stdout);
}

static void
show_devices (const GyreTrainer *trainer)
{
  guint member = 0;

  for (guint i = 0; i < trainer->devices->len; i++)
    {
      GyreDevice *device = g_ptr_array_index (trainer->devices, i);

      if (trainer->plan.used[i])
        {
          printf ("  %5.1f %%  %8.2f ms a step  %s (%s)\n",
                  100.0 * trainer->plan.shares[member],
                  1e3 * trainer->busy[member] / (double) MAX (trainer->n_steps, 1),
                  gyre_device_get_name (device), gyre_device_get_platform (device));
          member++;
        }
      else
        printf ("  benched                     %s (%s)\n", gyre_device_get_name (device),
                gyre_device_get_platform (device));
    }
}

static void
show_end (const GyreTrainer *trainer, const Screen *screen)
{
  g_autofree char *matrix = gyre_report_matrix_text (trainer->report);

  if (screen->quiet)
    return;
  printf ("test accuracy %.4f after %" G_GINT64_FORMAT " steps\n", trainer->test_accuracy,
          trainer->n_steps);
  show_devices (trainer);
  fputs (matrix, stdout);
  fflush (stdout);
}

/* --- options --- */

static gboolean
parse_mode (const char *text, GyreMode *mode, GError **error)
{
  if (!text)
    *mode = GYRE_MODE_UNSET;
  else if (g_str_equal (text, "jit"))
    *mode = GYRE_MODE_JIT;
  else if (g_str_equal (text, "pmap"))
    *mode = GYRE_MODE_PMAP;
  else
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "--mode %s: it is jit or pmap",
                   text);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_dump (const char *text, GError **error)
{
  if (!text || g_str_equal (text, "graph") || g_str_equal (text, "program") ||
      g_str_equal (text, "schedule"))
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "--dump %s: it is graph, program or schedule", text);
  return FALSE;
}

/* What isn't there, or can't be read, is a wrong value of the option. */
static gboolean
check_path (const char *option, const char *value, const char *path, gboolean is_folder,
            const char *what, GError **error)
{
  const char *why = "no permission";

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    why = "no such file or folder";
  else if (g_file_test (path, G_FILE_TEST_IS_DIR) != is_folder)
    why = is_folder ? "not a folder" : "a folder";
  else if (access (path, R_OK) == 0)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s %s: %s can't be read: %s; it is %s", option, value, path, why, what);
  return FALSE;
}

static gboolean
check_data_path (const char *data, GError **error)
{
  const char *colon  = data ? strchr (data, ':') : NULL;
  gboolean    file   = data && g_str_has_prefix (data, "safetensors:");
  gboolean    folder = data && (g_str_has_prefix (data, "idx:") ||
                                g_str_has_prefix (data, "cifar10:"));

  /* another word before the colon is for the list of datasets to refuse */
  return (!file && !folder) || colon[1] == '\0' ||
         check_path ("--data", data, colon + 1, folder,
                     folder ? "the folder that holds the dataset's files"
                            : "the file that holds the dataset", error);
}

static gboolean
check_plan_path (const char *plan, GError **error)
{
  return !plan || check_path ("--plan", plan, plan, FALSE,
                              "the --log of a run on the same devices", error);
}

/* A folder that can't be written is told now, not after an epoch. */
static gboolean
check_save_folder (const char *folder, GError **error)
{
  if (!folder || (g_mkdir_with_parents (folder, 0777) == 0 && access (folder, W_OK) == 0))
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "--save %s: it can't be written: %s",
               folder, g_strerror (errno));
  return FALSE;
}

static gboolean
check_report_folder (const char *folder, GError **error)
{
  if (!folder || gyre_report_check_folder (folder, error))
    return TRUE;
  g_prefix_error (error, "--");
  return FALSE;
}

static gboolean
parse_counts (const TrainOptions *options, GyreTrainerConfig *config, GError **error)
{
  const struct { const char *option, *text; gint64 min, *value; } counts[] = {
    { "--epochs", options->epochs, 1, &config->epochs },
    { "--batch-size", options->batch_size, 1, &config->batch_size },
    { "--accumulate", options->accumulate, 1, &config->accumulate },
    { "--steps", options->steps, 1, &config->steps },
    { "--seed", options->seed, 0, &config->seed },
    { "--save-every", options->save_every, 1, &config->save_every },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    if (!gyre_tool_parse_count (counts[i].option, counts[i].text, counts[i].min,
                                counts[i].value, error))
      return FALSE;
  return TRUE;
}

static gboolean
parse_validation (const char *text, double *value, GError **error)
{
  if (!text)
    return TRUE;
  if (!gyre_text_parse_double (text, value, error))
    {
      g_prefix_error (error, "--validation %s: ", text);
      return FALSE;
    }
  if (*value >= 0.0 && *value < 1.0)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "--validation %s: it is a part of the training data, from 0 to below 1",
               text);
  return FALSE;
}

static gboolean
make_config (const TrainOptions *options, GyreTrainerConfig *config, GError **error)
{
  *config = (GyreTrainerConfig) {
    .data = options->data, .model = options->model, .optimizer = options->optimizer,
    .augment = options->augment, .report = options->report,
    .loss = options->loss,
    .devices = options->devices, .shares = options->shares, .log = options->log,
    .plan = options->plan, .save = options->save, .resume = options->resume,
    .epochs = -1, .steps = -1, .batch_size = -1, .accumulate = -1, .save_every = -1,
    .seed = -1, .validation = -1.0, .check_nan = options->check_nan,
  };
  if (config->plan && config->shares)
    {
      g_set_error_literal (
          error, GYRE_ERROR, GYRE_ERROR_INVALID,
          "--plan and --shares: the plan has the shares; give one of them");
      return FALSE;
    }
  if (options->save_every && !options->save)
    {
      g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                           "--save-every: it goes with --save FOLDER, which isn't given");
      return FALSE;
    }
  if (!parse_counts (options, config, error) ||
      !parse_validation (options->validation, &config->validation, error) ||
      !parse_mode (options->mode, &config->mode, error) ||
      !check_dump (options->dump, error))
    return FALSE;
  return check_data_path (options->data, error) &&
         check_plan_path (options->plan, error) &&
         check_save_folder (options->save, error) &&
         check_report_folder (options->report, error);
}

static gboolean
parse_options (TrainOptions *options, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "data", 0, 0, G_OPTION_ARG_FILENAME, &options->data,
      "fashion-mnist, digits, idx:FOLDER, cifar10:FOLDER, safetensors:FILE, FORMAT:PATH "
      "of a plugin, or a path alone", "DATA" },
    { "model", 0, 0, G_OPTION_ARG_STRING, &options->model,
      "Layers, as 'flatten ! dense features=10'", "LINE" },
    { "optimizer", 0, 0, G_OPTION_ARG_STRING, &options->optimizer,
      "As 'adam learning-rate=1e-3'", "LINE" },
    { "loss", 0, 0, G_OPTION_ARG_STRING, &options->loss,
      "As 'huber delta=2 reduction=sum'; default softmax-cross-entropy", "LINE" },
    { "epochs", 0, 0, G_OPTION_ARG_STRING, &options->epochs, "Default 1", "N" },
    { "batch-size", 0, 0, G_OPTION_ARG_STRING, &options->batch_size, "Default 64", "N" },
    { "accumulate", 0, 0, G_OPTION_ARG_STRING, &options->accumulate,
      "Batches of an update, as of one batch K times as large; default 1", "K" },
    { "validation", 0, 0, G_OPTION_ARG_STRING, &options->validation,
      "Hold back this part of the training data, the last of it; default 0", "PART" },
    { "augment", 0, 0, G_OPTION_ARG_STRING, &options->augment,
      "Move and mirror the training images at random, as crop=4,flip; default none",
      "HOW" },
    { "steps", 0, 0, G_OPTION_ARG_STRING, &options->steps, "End after so many", "N" },
    { "seed", 0, 0, G_OPTION_ARG_STRING, &options->seed, "Default 0", "N" },
    { "devices", 0, 0, G_OPTION_ARG_STRING, &options->devices,
      "As 'all', 'gpu:0,pocl/2=0.1', 'pocl*3'; default $GYRE_DEVICES, or all", "STRING" },
    { "shares", 0, 0, G_OPTION_ARG_STRING, &options->shares,
      "As 5:2:1, or equal; measured if not given", "SHARES" },
    { "mode", 0, 0, G_OPTION_ARG_STRING, &options->mode, "jit (the default) or pmap",
      "MODE" },
    { "log", 0, 0, G_OPTION_ARG_FILENAME, &options->log, "Write JSON Lines", "FILE" },
    { "plan", 0, 0, G_OPTION_ARG_FILENAME, &options->plan,
      "Take the shares of an earlier run's log", "LOG" },
    { "save", 0, 0, G_OPTION_ARG_FILENAME, &options->save,
      "Write a checkpoint there, at the end of each epoch, at the end and on Ctrl-C",
      "FOLDER" },
    { "save-every", 0, 0, G_OPTION_ARG_STRING, &options->save_every,
      "Write it after every N steps in place of epochs", "N" },
    { "resume", 0, 0, G_OPTION_ARG_FILENAME, &options->resume,
      "Go on from the checkpoint there, as if the run had never stopped", "FOLDER" },
    { "report", 0, 0, G_OPTION_ARG_FILENAME, &options->report,
      "Write pictures there at the end: loss, confusion matrix, worst test images",
      "FOLDER" },
    { "check-nan", 0, 0, G_OPTION_ARG_NONE, &options->check_nan,
      "Stop at the first NaN and say which layer and primitive made it; slow", NULL },
    { "dump", 0, 0, G_OPTION_ARG_STRING, &options->dump,
      "Print the graph, program or schedule of the step at the end", "WHAT" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "Print errors only", NULL },
    G_OPTION_ENTRY_NULL,
  };

  return gyre_tool_parse ("Trains a model on every device given.", entries, argc, argv,
                          NULL, error);
}

static void
free_options (TrainOptions *options)
{
  char *texts[] = { options->data, options->model, options->optimizer, options->loss,
                    options->devices,
                    options->shares, options->mode, options->log, options->plan,
                    options->dump, options->save, options->resume, options->report,
                    options->save_every,
                    options->epochs, options->batch_size, options->steps,
                    options->seed, options->accumulate, options->validation,
                    options->augment };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
}

/* --- the run --- */

/* A thread waits for Ctrl-C, and no other sees it: the compilers in drivers set handlers
 * of their own, which would take away the files of a build that runs. */
static gpointer
wait_for_interrupt (gpointer data)
{
  int signal_number;

  sigwait (data, &signal_number);
  gyre_trainer_stop ();
  /* who asks twice doesn't want to wait for the running step */
  sigwait (data, &signal_number);
  _exit (GYRE_TOOL_CANCELLED);
}

/* Before any other thread is there, as they inherit what is blocked. */
static void
watch_interrupt (void)
{
  static sigset_t interrupt;

  sigemptyset (&interrupt);
  sigaddset (&interrupt, SIGINT);
  signal (SIGINT, SIG_DFL);
  pthread_sigmask (SIG_BLOCK, &interrupt, NULL);
  g_thread_unref (g_thread_new ("gyre-interrupt", wait_for_interrupt, &interrupt));
}

/* The step of a batch before an update's last comes first, if there is one. */
static void
print_dump (const GyreTrainer *trainer, const char *what)
{
  GyreStep *steps[] = { trainer->adder, trainer->step };

  for (gsize i = 0; what && i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *text = steps[i] ? gyre_step_describe (steps[i], what) : NULL;

      if (text)
        fputs (text, stdout);
    }
}

/* After all else: the checkpoint and the log are whole by now. */
static int
write_report (const GyreTrainer *trainer, int status)
{
  g_autoptr (GError) error = NULL;

  if (gyre_report_write (trainer->report, &error))
    return status;
  g_prefix_error (&error, "--");
  return gyre_tool_fail ("train", GYRE_TOOL_FAILED, error);
}

static void
show_stop (const GyreTrainer *trainer, const Screen *screen)
{
  clear_line (screen);
  printf ("stopped after step %" G_GINT64_FORMAT " in epoch %" G_GINT64_FORMAT
          ", loss %.4f\n", trainer->n_steps, trainer->epoch_index + 1, trainer->loss);
  fflush (stdout);
}

static int
train_on_screen (const GyreTrainerConfig *config, const TrainOptions *options,
                 Screen *screen)
{
  const GyreTrainerCallbacks callbacks = { show_note, show_progress, show_epoch };
  g_autoptr (GError)         error     = NULL;
  g_autoptr (GyreTrainer) trainer = gyre_trainer_new (config, &callbacks, screen, &error);

  if (!trainer)
    return gyre_tool_fail ("train", gyre_tool_status_of (error), error);
  if (!gyre_trainer_run (trainer, &error))
    {
      clear_line (screen);
      return gyre_tool_fail ("train", trainer->n_known == 0 ? gyre_tool_status_of (error)
                                                            : GYRE_TOOL_FAILED, error);
    }
  if (trainer->stopped)
    {
      show_stop (trainer, screen);
      return write_report (trainer, GYRE_TOOL_CANCELLED);
    }
  show_end (trainer, screen);
  print_dump (trainer, options->dump);
  return write_report (trainer, GYRE_TOOL_OK);
}

static int
run_training (const GyreTrainerConfig *config, const TrainOptions *options)
{
  Screen screen  = { isatty (STDOUT_FILENO) != 0, options->quiet, 0 };
  guint  handler = g_log_set_handler (G_LOG_DOMAIN, G_LOG_LEVEL_MESSAGE, show_message,
                                      &screen);
  int    status  = train_on_screen (config, options, &screen);

  g_log_remove_handler (G_LOG_DOMAIN, handler);
  return status;
}

int
gyre_tool_train (int    argc,
                 char **argv)
{
  TrainOptions       options = { 0 };
  GyreTrainerConfig  config;
  g_autoptr (GError) error   = NULL;
  int                status;

  if (!parse_options (&options, &argc, &argv, &error) ||
      !make_config (&options, &config, &error))
    status = gyre_tool_fail ("train", GYRE_TOOL_USAGE, error);
  else
    {
      watch_interrupt ();
      status = run_training (&config, &options);
    }
  free_options (&options);
  return status;
}
