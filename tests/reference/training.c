/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include "train/gyre-trainer-private.h"

/* Whole runs on Fashion-MNIST: minutes, so only where they are asked for. */

/* first 5 losses 1e-4 relative, first 30 1e-2; mean loss 3 %; accuracy 0.01 */
#define N_CLOSE        5
#define BOUND_CLOSE    1e-4
#define BOUND_LOSS     1e-2
#define BOUND_MEAN     3e-2
#define BOUND_ACCURACY 1e-2

/* "784-512-512-10, relu" */
static char *
read_perceptron (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ", ", 2);
  g_auto (GStrv) sizes = g_strsplit (parts[0], "-", -1);
  GString *line = g_string_new ("flatten");

  for (guint i = 1; sizes[i] != NULL; i++)
    {
      g_string_append_printf (line, " ! dense features=%s", sizes[i]);
      if (sizes[i + 1] != NULL && parts[1] != NULL)
        g_string_append_printf (line, " ! %s", parts[1]);
    }

  return g_string_free (line, FALSE);
}

/* "conv 3x3x32 same relu", "max-pool 2", "dense 10" */
static void
append_layer (GString *line,
              char   **words)
{
  const char *separator = line->len > 0 ? " ! " : "";
  gboolean is_flat = strstr (line->str, "flatten") != NULL;

  if (g_str_equal (words[0], "conv"))
    {
      g_auto (GStrv) size = g_strsplit (words[1], "x", -1);

      g_string_append_printf (line, "%sconv2d features=%s kernel-size=%s,%s", separator,
                              size[2], size[0], size[1]);
      for (guint i = 2; words[i] != NULL; i++)
        g_string_append_printf (line, g_str_equal (words[i], "same") ? " padding=%s"
                                                                     : " ! %s", words[i]);
    }
  else if (g_str_equal (words[0], "dense"))
    g_string_append_printf (line, "%s%sdense features=%s", separator,
                            is_flat ? "" : "flatten ! ", words[1]);
  else
    g_string_append_printf (line, "%s%s2d window=%s", separator, words[0], words[1]);
}

static char *
read_model (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ", ", -1);
  GString *line;

  if (g_ascii_isdigit (text[0]))
    return read_perceptron (text);

  line = g_string_new (NULL);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (parts[i], " ", -1);

      append_layer (line, words);
    }

  return g_string_free (line, FALSE);
}

/* "adam 1e-3" */
static char *
read_optimizer (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", 2);

  return g_strdup_printf ("%s learning-rate=%s", words[0],
                          words[1] != NULL ? words[1] : "1e-3");
}

static gboolean
train (Reference   *self,
       JsonObject  *run,
       guint64      seed,
       const char  *log,
       GError     **error)
{
  g_autofree char *model = read_model (json_object_get_string_member (run, "model"));
  g_autofree char *optimizer =
    read_optimizer (json_object_get_string_member (run, "optimizer"));
  JsonArray *epochs = json_object_get_array_member (run, "epochs");
  const GyreTrainerCallbacks callbacks = { NULL, NULL, NULL };
  GyreTrainerConfig config = {
    .data = "fashion-mnist", .model = model, .optimizer = optimizer,
    .devices = self->devices, .shares = "equal", .log = log, .mode = GYRE_MODE_JIT,
    .epochs = json_array_get_length (epochs), .steps = -1,
    .batch_size = json_object_get_int_member (run, "batch"), .seed = seed
  };
  g_autoptr (GyreTrainer) trainer = gyre_trainer_new (&config, &callbacks, NULL, error);

  return trainer != NULL && gyre_trainer_run (trainer, error);
}

static void
compare_step (Deviation  *worst,
              JsonObject *line,
              JsonArray  *losses)
{
  guint step = (guint) json_object_get_int_member (line, "step");
  double expected;

  if (step >= json_array_get_length (losses))
    return;

  expected = json_array_get_double_element (losses, step);
  deviation_add (worst, "first_losses", step,
                 json_object_get_double_member (line, "loss"), expected,
                 (step < N_CLOSE ? BOUND_CLOSE : BOUND_LOSS) * expected);
}

static void
compare_epoch (Deviation  *worst,
               JsonObject *line,
               JsonArray  *epochs)
{
  guint epoch = (guint) json_object_get_int_member (line, "epoch");
  JsonObject *expected;
  double mean_loss, accuracy;

  if (epoch >= json_array_get_length (epochs))
    return;

  expected = json_array_get_object_element (epochs, epoch);
  mean_loss = json_object_get_double_member (expected, "mean_loss");
  accuracy = json_object_get_double_member (expected, "test_accuracy");
  deviation_add (worst, "mean_loss", epoch,
                 json_object_get_double_member (line, "mean_loss"), mean_loss,
                 BOUND_MEAN * mean_loss);
  deviation_add (worst, "test_accuracy", epoch,
                 json_object_get_double_member (line, "test_accuracy"), accuracy,
                 BOUND_ACCURACY);
}

/* The log has a line a step and one an epoch, after the first. */
static gboolean
compare_log (const char *log,
             JsonObject *run,
             Deviation  *worst,
             GError    **error)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (log, &text, NULL, error))
    return FALSE;

  lines = g_strsplit (text, "\n", -1);
  for (guint i = 1; lines[0] != NULL && lines[i] != NULL && lines[i][0] != '\0'; i++)
    {
      g_autoptr (JsonNode) node = json_from_string (lines[i], error);
      JsonObject *line = node != NULL ? json_node_get_object (node) : NULL;

      if (line == NULL)
        return FALSE;
      if (json_object_has_member (line, "step"))
        compare_step (worst, line, json_object_get_array_member (run, "first_losses"));
      else if (json_object_has_member (line, "mean_loss"))
        compare_epoch (worst, line, json_object_get_array_member (run, "epochs"));
    }

  return TRUE;
}

static void
check_run (Reference  *self,
           const char *name,
           JsonObject *run,
           guint64     seed)
{
  g_autofree char *log = g_build_filename (g_get_tmp_dir (), "gyre-log-XXXXXX", NULL);
  g_autoptr (GError) error = NULL;
  Deviation worst = { 0 };
  int fd = g_mkstemp (log);

  if (fd < 0)
    {
      reference_fail (self, name, "%s can't be made", log);
      return;
    }

  g_close (fd, NULL);
  if (train (self, run, seed, log, &error) && compare_log (log, run, &worst, &error))
    {
      JsonArray *losses = json_object_get_array_member (run, "first_losses");
      JsonArray *epochs = json_object_get_array_member (run, "epochs");
      guint n = json_array_get_length (losses) + 2 * json_array_get_length (epochs);

      if (worst.n == n)
        reference_report (self, name, &worst);
      else
        reference_fail (self, name, "the log has %" G_GSIZE_FORMAT " of %u numbers",
                        worst.n, n);
    }
  else
    reference_error (self, name, error);
  g_remove (log);
}

void
reference_check_training (Reference *self)
{
  g_autoptr (JsonParser) parser = NULL;
  JsonNode *root = reference_load (self, "training.json", &parser);
  JsonObject *object = root != NULL ? json_node_get_object (root) : NULL;
  JsonObjectIter iter;
  const char *text;
  JsonNode *node;

  if (object == NULL)
    return;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &text, &node))
    {
      g_autofree char *name = g_strconcat ("training/", text, NULL);

      if (!JSON_NODE_HOLDS_OBJECT (node) || !reference_wants (self, name))
        continue;
      if (self->oracle)
        reference_skip (self, name, "whole runs are for devices");
      else if (!self->training && self->only == NULL)
        reference_skip (self, name, "it takes minutes: ask with --training or --only");
      else
        check_run (self, name, json_node_get_object (node),
                   (guint64) json_object_get_int_member (object, "seed"));
    }
}
