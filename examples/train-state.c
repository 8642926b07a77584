/* SPDX-License-Identifier: Apache-2.0 */

/* A train state replicated on all devices: the step is written for one device's share of
 * the batch, first without random numbers, then with a key for each device. */

#include <gyre/gyre.h>

#define CNN "conv2d features=32 ! relu ! max-pool2d ! conv2d features=64 ! relu ! " \
            "max-pool2d ! flatten ! dense features=256 ! relu ! "

/* Mean cross-entropy of one device's images, f32[]; beside it their logits, f32[b, 10] */
static GyreTensor *
compute_loss (GyreTree *params, GyreTree **logits, gpointer args)
{
  GyreTensor *one_hot = gyre_one_hot (gyre_tree_get (args, "batch/label"), 10);
  GyreTensor *y = gyre_train_state_apply (gyre_tree_get_node (args, "state"), params,
                                          gyre_tree_get (args, "batch/image"), TRUE,
                                          gyre_tree_get (args, "key"), NULL);

  *logits = gyre_tree_new_tensor (y);
  y = gyre_sum_axis (gyre_mul (one_hot, gyre_log_softmax (y, -1)), -1, FALSE);
  return gyre_neg (gyre_mean (y));
}

/* {state, batch, key} → {state, loss, metrics}, on one device; the loss is its own, and
 * the key unread where the model has no dropout */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor *label = gyre_tree_get (args, "batch/label"), *loss, *accuracy;
  GyreTree *params = gyre_train_state_get_params (state), *logits, *metrics;
  GyreTree *grads = gyre_value_and_grad (compute_loss, params, args, &loss, &logits);

  accuracy = gyre_accuracy (gyre_tree_as_tensor (logits), label);
  metrics = gyre_tree_build (GYRE_TENSOR_ENTRY ("loss", loss),
                             GYRE_TENSOR_ENTRY ("accuracy", accuracy), NULL);
  metrics = gyre_pmean_tree (metrics, "batch_axis");
  state = gyre_train_state_apply_gradients (state, gyre_pmean_tree (grads, "batch_axis"));
  state = gyre_train_state_with_field (state, "previous", params);
  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state),
                          GYRE_TENSOR_ENTRY ("loss", loss),
                          GYRE_TREE_ENTRY ("metrics", metrics), NULL);
}

static void
print_shape (const char *when, GyreTrainState *state)
{
  GyreTree *params = gyre_train_state_get_params (state);
  GyreArray *kernel = gyre_tree_get_array (params, "dense_1/kernel");
  g_autofree char *text = gyre_array_to_string (kernel);

  g_print ("dense_1/kernel %s replication: %s\n", when, text);
}

static gboolean
train (const GyreOptions *options, const char *line, GError **error)
{
  guint64 seed = (guint64) options->seed;
  GyreKey key = gyre_key_new (42 + seed);
  GyreArray *image = gyre_array_new_full (GYRE_F32, GYRE_SHAPE (64, 28, 28, 1), 1);
  GyreArray *label = gyre_array_new_full (GYRE_I32, GYRE_SHAPE (64), 1);
  g_autoptr (GyreTree) batch = NULL, rows = gyre_tree_build (
      GYRE_NEW_ARRAY_ENTRY ("image", image), GYRE_NEW_ARRAY_ENTRY ("label", label), NULL);
  g_autoptr (GyreMesh) mesh = gyre_mesh_open ("batch_axis=*", options->devices, error);
  guint n = mesh ? gyre_mesh_get_n_devices (mesh) : 0;
  g_autoptr (GyreOptimizer) adam = gyre_adam_new (1e-3);
  g_autoptr (GyreLayer) model = mesh ? gyre_model_parse (line, error) : NULL;
  g_autoptr (GyreTrainState) plain = NULL, host = NULL, state = NULL;
  g_autoptr (GyreStep) step = NULL;

  if (!model || !(plain = gyre_train_state_new (model, adam, GYRE_SHAPE (1, 28, 28, 1),
                                                GYRE_F32, seed, error)))
    return FALSE;
  host = gyre_train_state_with_field (plain, "previous", /* a field of our own */
                                      gyre_train_state_get_params (plain));
  if (!(state = gyre_train_state_replicate (host, mesh, error)) ||
      !(batch = gyre_shard_batch (rows, n, error)) ||
      !(step = gyre_step_pmap (train_step, mesh, "batch_axis", NULL, NULL, "state", NULL,
                               NULL, error)))
    return FALSE;
  print_shape ("before", host);
  print_shape ("after", state);
  for (guint i = 0; i < 10; i++)
    {
      /* The main key is split: a part for this step, which is split for the devices. */
      GyreArray *keys = gyre_array_new_keys (gyre_key_next (&key), n); /* u32[n, 2] */
      g_autoptr (GyreTree) result = gyre_step_run (
          step, error, GYRE_NODE_ENTRY ("state", state), GYRE_TREE_ENTRY ("batch", batch),
          GYRE_NEW_ARRAY_ENTRY ("key", keys), NULL);

      if (!result)
        return FALSE;
      g_print ("Average loss across devices: %.4f\n",
               gyre_tree_get_mean (result, "loss")); /* of f32[devices] */
      if (i == 9)
        g_print ("Accuracy: %.4f\n", gyre_tree_get_mean (result, "metrics/accuracy"));
      g_set_object (&state, gyre_tree_get_node (result, "state")); /* was donated */
    }
  return TRUE;
}

static gboolean
run (const GyreOptions *options, GError **error)
{
  return train (options, CNN "dense features=10", error) &&
         train (options, CNN "dropout rate=0.5 ! dense features=10", error);
}

int
main (int argc, char **argv)
{
  GyreOptions options = { .seed = 0 };

  return gyre_options_run (&options, argc, argv, run);
}
