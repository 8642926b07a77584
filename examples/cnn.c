/* SPDX-License-Identifier: Apache-2.0 */

/* Trains a convolutional network on every OpenCL device of the machine and tells which
 * classes it takes for which: cnn --data cifar10:FOLDER --augment crop=4,flip */

#include <gyre/gyre.h>

#define LINE "conv2d features=32 ! relu ! max-pool2d ! conv2d features=64 ! relu ! " \
             "max-pool2d ! flatten ! dense features=%" G_GINT64_FORMAT

static char *spec = NULL, *augment = NULL, *folder = NULL;
static gint epochs = 3;
static double white = 255; /* in the images */

static const GOptionEntry entries[] = {
  { "data", 0, 0, G_OPTION_ARG_FILENAME, &spec, "As cifar10:FOLDER", "DATA" },
  { "augment", 0, 0, G_OPTION_ARG_STRING, &augment, "As crop=4,flip", "HOW" },
  { "epochs", 0, 0, G_OPTION_ARG_INT, &epochs, "Over the training data", "N" },
  { "report", 0, 0, G_OPTION_ARG_FILENAME, &folder, "Put pictures there", "FOLDER" },
  { NULL }
};

/* image: [b, h, w, c], label: i32[b] → mean loss, f32[] */
static GyreTensor *
loss_fn (GyreTree *params, GyreTree **aux, gpointer args)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor *image = gyre_convert (gyre_tree_get (args, "batch/image"), GYRE_F32);
  GyreTensor *logits = gyre_model_apply (gyre_train_state_get_model (state), params, NULL,
                                         gyre_mul_scalar (image, 1 / white), TRUE, NULL,
                                         NULL);

  return gyre_softmax_cross_entropy (logits, gyre_tree_get (args, "batch/label"));
}

/* {state, batch} → {state, loss} */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTree *params = gyre_train_state_get_params (state);
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_fn, params, args, &loss, NULL);

  state = gyre_train_state_apply_gradients (state, grads);
  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static gboolean
train_epoch (GyreStep *step, GyreLoader *loader, GyreTrainState **state,
             GyreReport *report, GError **error)
{
  for (GyreTree *batch; (batch = gyre_loader_next (loader)); gyre_tree_unref (batch))
    {
      g_autoptr (GyreTree) result =
          gyre_step_run (step, error, GYRE_NODE_ENTRY ("state", *state),
                         GYRE_TREE_ENTRY ("batch", batch), NULL);

      if (!result ||
          !gyre_report_add_loss (report, gyre_tree_get_array (result, "loss"), error))
        return FALSE;
      g_set_object (state, gyre_tree_get_node (result, "state")); /* was donated */
    }
  return TRUE;
}

static gboolean
train (const GyreOptions *options, GError **error)
{
  g_autoptr (GyreDataset) data = gyre_dataset_open (spec, error);
  g_autoptr (GyreReport) report = data ? gyre_report_new (data, folder, error) : NULL;
  g_autoptr (GyreMesh) mesh = report ? gyre_mesh_open ("data=*", options->devices, error)
                                     : NULL;
  g_autofree char *line = data ? g_strdup_printf (LINE, gyre_dataset_get_n_classes (data))
                               : NULL;
  g_autoptr (GyreLayer) model = mesh ? gyre_model_parse (line, error) : NULL;
  g_autoptr (GyreOptimizer) adam = gyre_adam_new (1e-3);
  g_autoptr (GyreLoader) loader = NULL;
  g_autoptr (GyreTrainState) state = NULL;
  g_autoptr (GyreStep) step = NULL;
  g_autofree char *text = NULL;
  GyreKey key = gyre_key_new ((guint64) options->seed);

  if (!model || !(loader = gyre_loader_new (data, GYRE_SPLIT_TRAIN, 64, error)) ||
      !gyre_loader_set_augment (loader, augment, gyre_key_fold_in_path (key, "augment"),
                                error) ||
      !(state = gyre_train_state_new (model, adam, gyre_dataset_get_batch_shape (data, 1),
                                      GYRE_F32, (guint64) options->seed, error)) ||
      !(step = gyre_step_jit (train_step, mesh, "state=, batch=data", "state", NULL, NULL,
                              error)))
    return FALSE;
  white = gyre_dataset_get_scale (data);
  for (gint epoch = 0; epoch < epochs; epoch++)
    {
      gyre_loader_shuffle (loader, key, (guint) epoch);
      if (!train_epoch (step, loader, &state, report, error) ||
          !gyre_report_test (report, state, mesh, 64, error))
        return FALSE;
      g_print ("epoch %d  mean loss %.4f  test accuracy %.4f\n", epoch + 1,
               gyre_report_get_mean_loss (report), gyre_report_get_accuracy (report));
    }
  g_print ("%s", text = gyre_report_to_text (report));
  return gyre_report_write (report, error);
}

int
main (int argc, char **argv)
{
  GyreOptions options = { .entries = entries }; /* beside --devices and --seed */

  return gyre_options_run (&options, argc, argv, train);
}
