/* SPDX-License-Identifier: Apache-2.0 */

/* A train state replicated on all devices: the step is written for one device's share of
 * the batch, first without random numbers, then with a key for each device. */

#include <gyre/gyre.h>

#define BATCH 64
#define LINE "conv2d features=32 ! relu ! max-pool2d ! conv2d features=64 ! relu ! " \
             "max-pool2d ! flatten ! dense features=256 ! relu ! "

static char *names = NULL; /* of the devices */

static const GOptionEntry entries[] = {
  { "devices", 0, 0, G_OPTION_ARG_STRING, &names, "Such as all or pocl*4", "DEVICES" },
  { NULL }
};

/* Cross-entropy of one device's images, f32[]; beside it, how many it gets right. */
static GyreTensor *
compute_loss (GyreTree *params, GyreTree **aux, gpointer args)
{
  GyreLayer *model = gyre_train_state_get_model (gyre_tree_get_node (args, "state"));
  GyreTensor *label = gyre_tree_get (args, "batch/label"); /* i32[b] */
  GyreTensor *logits = gyre_model_apply (model, params, NULL,
                                         gyre_tree_get (args, "batch/image"), TRUE,
                                         gyre_tree_get (args, "key"), NULL);
  GyreTensor *right = gyre_equal (gyre_arg_max (logits, -1), label);
  GyreTensor *picked = gyre_mul (gyre_one_hot (label, 10), gyre_log_softmax (logits, -1));

  *aux = gyre_tree_build (
      GYRE_TENSOR_ENTRY ("accuracy", gyre_mean (gyre_convert (right, GYRE_F32))), NULL);
  return gyre_neg (gyre_mean (gyre_sum_axis (picked, -1, FALSE)));
}

/* {state, batch, key} → {state, loss, metrics}; the loss is the device's own */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTree *params = gyre_train_state_get_params (state), *metrics;
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (compute_loss, params, args, &loss, &metrics);

  gyre_tree_set_tensor (metrics, "loss", loss);
  state = gyre_train_state_apply_gradients (state, gyre_pmean_tree (grads, "batch_axis"));
  return gyre_tree_build (
      GYRE_NODE_ENTRY ("state", state), GYRE_TENSOR_ENTRY ("loss", loss),
      GYRE_TREE_ENTRY ("metrics", gyre_pmean_tree (metrics, "batch_axis")), NULL);
}

static void
print_kernel (const char *when, GyreTrainState *state)
{
  g_autofree char *text = gyre_array_to_string (gyre_tree_get_array (
      gyre_train_state_get_params (state), "dense_1/kernel"));

  g_print ("dense_1/kernel %s replication: %s\n", when, text);
}

static gboolean
train (GyreMesh *mesh, const char *line, GyreTree *batch, GError **error)
{
  GyreKey keys[2] = { [1] = gyre_key_new (42) };
  g_autoptr (GyreOptimizer) adam = gyre_adam_new (1e-3);
  g_autoptr (GyreLayer) model = gyre_model_parse (line, error);
  g_autoptr (GyreTrainState) host = NULL, state = NULL;
  g_autoptr (GyreTree) result = NULL;
  g_autoptr (GyreStep) step = NULL;

  if (!model || !(host = gyre_train_state_new (model, adam, GYRE_SHAPE (1, 28, 28, 1),
                                               GYRE_F32, 0, error)) ||
      !(state = gyre_train_state_replicate (host, mesh, error)) ||
      !(step = gyre_step_pmap (train_step, mesh, "batch_axis", NULL, NULL, "state", NULL,
                               NULL, error)))
    return FALSE;
  print_kernel ("before", host);
  print_kernel ("after", state);
  for (guint i = 0; i < 10; i++)
    {
      g_autoptr (GyreTree) args = NULL;

      gyre_key_split (keys[1], 2, keys); /* the first for this step, a row a device */
      args = gyre_tree_build (
          GYRE_NODE_ENTRY ("state", state), GYRE_TREE_ENTRY ("batch", batch),
          GYRE_NEW_ARRAY_ENTRY ("key", gyre_array_new_keys (
                                           keys[0], gyre_mesh_get_n_devices (mesh))),
          NULL);
      g_clear_pointer (&result, gyre_tree_unref);
      if (!(result = gyre_step_run_tree (step, args, error)))
        return FALSE;
      g_print ("Average loss across devices: %.4f\n",
               gyre_tree_get_mean (result, "loss"));
      g_set_object (&state, gyre_tree_get_node (result, "state")); /* was donated */
    }
  g_print ("accuracy %.4f\n", gyre_tree_get_mean (result, "metrics/accuracy"));
  return TRUE;
}

static gboolean
run (GError **error)
{
  g_autoptr (GPtrArray) devices = gyre_devices_open (names, error);
  g_autoptr (GyreMesh) mesh = devices ? gyre_mesh_new ("batch_axis=*", devices, error)
                                      : NULL;
  g_autoptr (GyreTree) batch = NULL, rows = gyre_tree_build (
      GYRE_NEW_ARRAY_ENTRY ("image", gyre_array_new_full (
                                         GYRE_F32, GYRE_SHAPE (BATCH, 28, 28, 1), 1)),
      GYRE_NEW_ARRAY_ENTRY ("label", gyre_array_new_full (
                                         GYRE_I32, GYRE_SHAPE (BATCH), 1)),
      NULL);

  return mesh &&
         (batch = gyre_shard_batch (rows, gyre_mesh_get_n_devices (mesh), error)) &&
         train (mesh, LINE "dense features=10", batch, error) &&
         train (mesh, LINE "dropout rate=0.5 ! dense features=10", batch, error);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || !run (&error))
    g_printerr ("%s\n", error->message);
  return error != NULL;
}
