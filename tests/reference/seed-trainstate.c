/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The network of a train-state tutorial in pmap form, Adam, ten steps; each device's own
 * loss, and the mean accuracy. */

#define LINE "conv2d features=32 ! relu ! max-pool2d ! conv2d features=64 ! relu ! " \
             "max-pool2d ! flatten ! dense features=256 ! relu ! "
#define BATCH 64   /* all devices together */
#define SIDE  28
#define ONES  1    /* the label of every image of ones */

/* losses 1e-3 relative or 1e-6 absolute; accuracy within one sample */

#define BOUND_LOSS     1e-3
#define BOUND_ABSOLUTE 1e-6

typedef struct
{
  Reference  *reference;
  GyreLayer  *model;
  gint64      n;          /* devices */
  guint64     seed;
  gboolean    is_fashion;
  GBytes     *images;     /* fashion: f32 of all steps */
  GBytes     *labels;     /* i32 */
  JsonArray  *losses;     /* by step, by device */
  JsonArray  *accuracy;   /* by step */
} Run;

/* --- the step --- */

static GyreTensor *
loss_func (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  GyreTree *args = data;
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor *label = gyre_tree_get_tensor (args, "label");
  GyreTensor *logits =
    gyre_model_apply (gyre_train_state_get_model (state), params, NULL,
                      gyre_tree_get_tensor (args, "image"), TRUE,
                      gyre_tree_get_tensor (args, "key"), NULL);

  *aux = gyre_tree_new_tensor (gyre_count_correct (logits, label));

  return gyre_softmax_cross_entropy (logits, label);
}

/* {state, image, label, key} → {state, loss, accuracy}, on one device */
static GyreTree *
trace_step (GyreTree *args,
            gpointer  data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTree *aux = NULL;
  GyreTensor *loss, *correct;
  GyreTree *grads = gyre_value_and_grad (
    loss_func, gyre_train_state_get_params (state), args, &loss, &aux);

  grads = gyre_pmean_tree (grads, "data");
  state = gyre_train_state_apply_gradients (state, grads);
  correct = gyre_psum (gyre_tree_as_tensor (aux), "data");

  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state),
                          GYRE_TENSOR_ENTRY ("loss", loss),
                          GYRE_TENSOR_ENTRY ("accuracy",
                                             gyre_mul_scalar (correct, 1.0 / BATCH)),
                          NULL);
}

/* --- its arguments --- */

static GyreTree *
stack_state (const Run      *run,
             GyreTrainState *state,
             GError        **error)
{
  g_autoptr (GyreTree) tree = gyre_tree_new_node (state);
  g_autofree GyreTree **copies = g_new (GyreTree *, (gsize) run->n);

  for (gint64 i = 0; i < run->n; i++)
    copies[i] = tree;

  return gyre_stack (copies, (guint) run->n, error);
}

static void
set_array (GyreTree     *args,
           const char   *name,
           GyreDtype     dtype,
           GyreShape     shape,
           gconstpointer numbers)
{
  g_autoptr (GyreArray) array = gyre_array_new (dtype, shape, numbers);

  gyre_tree_set_array (args, name, array);
}

static void
set_batch (const Run *run,
           GyreTree  *args,
           guint      step)
{
  const gsize pixels = BATCH * SIDE * SIDE;
  GyreShape image = GYRE_SHAPE (run->n, BATCH / run->n, SIDE, SIDE, 1);
  GyreShape label = GYRE_SHAPE (run->n, BATCH / run->n);
  g_autofree float *ones = g_new (float, pixels);
  gint32 classes[BATCH];

  if (run->is_fashion)
    {
      const float *images = g_bytes_get_data (run->images, NULL);
      const gint32 *labels = g_bytes_get_data (run->labels, NULL);

      set_array (args, "image", GYRE_F32, image, images + step * pixels);
      set_array (args, "label", GYRE_I32, label, labels + step * BATCH);
      return;
    }

  for (gsize i = 0; i < pixels; i++)
    ones[i] = 1;
  for (guint i = 0; i < BATCH; i++)
    classes[i] = ONES;
  set_array (args, "image", GYRE_F32, image, ones);
  set_array (args, "label", GYRE_I32, label, classes);
}

/* step_key, key = split (key); a row of split (step_key, n) for each device */
static void
set_keys (const Run *run,
          GyreTree  *args,
          GyreKey   *key)
{
  g_autofree GyreKey *keys = g_new (GyreKey, (gsize) run->n);
  GyreKey pair[2];

  gyre_key_split (*key, 2, pair);
  gyre_key_split (pair[0], (guint) run->n, keys);
  *key = pair[1];
  set_array (args, "key", GYRE_U32, GYRE_SHAPE (run->n, 2), keys);
}

/* --- comparison --- */

static gboolean
compare_step (const Run *run,
              Deviation *worst,
              guint      step,
              GyreTree  *results,
              GError   **error)
{
  JsonArray *expected = json_array_get_array_element (run->losses, step);
  gsize n, n_accuracy;
  g_autofree double *losses =
    reference_numbers (gyre_tree_get_array (results, "loss"), &n, error);
  g_autofree double *accuracy =
    losses == NULL ? NULL
                   : reference_numbers (gyre_tree_get_array (results, "accuracy"),
                                        &n_accuracy, error);

  if (accuracy == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      double due = json_array_get_double_element (expected, (guint) i);

      deviation_add (worst, "losses", step, losses[i], due,
                     MAX (BOUND_LOSS * fabs (due), BOUND_ABSOLUTE));
    }
  deviation_add (worst, "accuracy", step, accuracy[0],
                 json_array_get_double_element (run->accuracy, step),
                 1.0 / BATCH + BOUND_ABSOLUTE);

  return TRUE;
}

static gboolean
run_steps (Run           *run,
           ReferenceStep *step,
           Deviation     *worst,
           GError       **error)
{
  g_autoptr (GyreOptimizer) adam = gyre_adam_new (1e-3);
  g_autoptr (GyreTrainState) host = gyre_train_state_new (
    run->model, adam, GYRE_SHAPE (1, SIDE, SIDE, 1), GYRE_F32, run->seed, error);
  g_autoptr (GyreTree) state = host != NULL ? stack_state (run, host, error) : NULL;
  GyreKey key = gyre_key_new (42 + run->seed);

  if (state == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (run->losses); i++)
    {
      g_autoptr (GyreTree) args =
        gyre_tree_build (GYRE_TREE_ENTRY ("state", state), NULL);
      g_autoptr (GyreTree) results = NULL;

      set_batch (run, args, i);
      set_keys (run, args, &key);
      results = reference_step_run (step, args, error);
      if (results == NULL || !compare_step (run, worst, i, results, error))
        return FALSE;
      gyre_tree_unref (state);
      state = gyre_tree_ref (gyre_tree_get_tree (results, "state"));
    }

  return TRUE;
}

static void
check_run (Run        *run,
           const char *name,
           gboolean    dropout)
{
  g_autofree char *line = g_strconcat (
    LINE, dropout ? "dropout rate=0.5 ! " : "", "dense features=10", NULL);
  g_autofree char *layout = g_strdup_printf ("data=%" G_GINT64_FORMAT, run->n);
  ReferenceProgram program = { .func = trace_step, .data = run, .layout = layout,
                               .manual = TRUE, .donate = "state" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse (line, &error);
  g_autoptr (ReferenceStep) step =
    model != NULL ? reference_step_new (run->reference, &program, &error) : NULL;
  Deviation worst = { 0 };

  run->model = model;
  if (step != NULL && run_steps (run, step, &worst, &error))
    reference_report (run->reference, name, &worst);
  else
    reference_error (run->reference, name, error);
}

/* --- data and names --- */

/* The first rows of Fashion-MNIST as they stand, pixels / 255. */
static gboolean
load_fashion (Run   *run,
              guint  n_steps)
{
  g_autoptr (GyreDataset) data = gyre_dataset_open ("fashion-mnist", NULL);
  g_autoptr (GyreLoader) loader =
    data != NULL
      ? gyre_loader_new (data, GYRE_SPLIT_TRAIN, (gint64) n_steps * BATCH, NULL)
      : NULL;
  g_autoptr (GyreTree) batch = loader != NULL ? gyre_loader_next (loader) : NULL;
  g_autoptr (GBytes) pixels = NULL;
  gsize n;
  const guint8 *bytes;
  float *images;

  if (batch == NULL)
    return FALSE;
  pixels = gyre_array_get (gyre_tree_get_array (batch, "image"), NULL);
  bytes = g_bytes_get_data (pixels, &n);
  images = g_new (float, n);
  for (gsize i = 0; i < n; i++)
    images[i] = (float) bytes[i] / 255.0f;
  run->images = g_bytes_new_take (images, n * sizeof (float));
  run->labels = gyre_array_get (gyre_tree_get_array (batch, "label"), NULL);

  return TRUE;
}

/* "fashion n=2 dropout=1" */
static void
check_named (Run        *run,
             const char *text)
{
  g_autofree char *name = g_strconcat ("seed_trainstate/", text, NULL);
  char data[16];
  int n, dropout;

  if (!reference_wants (run->reference, name))
    return;
  if (run->reference->oracle)
    {
      reference_skip (run->reference, name, "it is for devices: slow in double");
      return;
    }
  if (sscanf (text, "%15s n=%d dropout=%d", data, &n, &dropout) != 3 || n < 1 ||
      BATCH % n != 0)
    {
      reference_fail (run->reference, name, "its name can't be read");
      return;
    }
  run->n = n;
  run->is_fashion = g_str_equal (data, "fashion");
  if (run->is_fashion && run->images == NULL &&
      !load_fashion (run, json_array_get_length (run->losses)))
    {
      reference_skip (run->reference, name, "Fashion-MNIST is not installed here");
      return;
    }
  check_run (run, name, dropout != 0);
}

void
reference_check_seed_trainstate (Reference *self)
{
  g_autoptr (JsonParser) parser = NULL;
  JsonNode *root = reference_load (self, "seed_trainstate.json", &parser);
  JsonObject *object = root != NULL ? json_node_get_object (root) : NULL;
  Run run = { .reference = self };
  JsonObjectIter iter;
  const char *text;
  JsonNode *node;

  if (object == NULL || !json_object_has_member (object, "runs"))
    return;

  run.seed = (guint64) json_object_get_int_member_with_default (object, "seed", 0);
  json_object_iter_init (&iter, json_object_get_object_member (object, "runs"));
  while (json_object_iter_next (&iter, &text, &node))
    {
      run.losses = json_object_get_array_member (json_node_get_object (node), "losses");
      run.accuracy =
        json_object_get_array_member (json_node_get_object (node), "accuracy");
      check_named (&run, text);
    }
  g_clear_pointer (&run.images, g_bytes_unref);
  g_clear_pointer (&run.labels, g_bytes_unref);
}
