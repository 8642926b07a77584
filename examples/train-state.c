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

static GyreTensor *
compute_loss (GyreTree *params, GyreTree **aux, gpointer data)
{
  GyreTrainState *state = gyre_tree_get_node (data, "state");
  GyreTensor *logits = gyre_model_apply (gyre_train_state_get_model (state), params, NULL,
                                         gyre_tree_get (data, "batch/image"), TRUE,
                                         gyre_tree_get (data, "key"), NULL);

  return gyre_softmax_cross_entropy (logits, gyre_tree_get (data, "batch/label"));
}

/* {state, batch, key} → {state, loss}, on one device; the loss is the device's own */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (
      compute_loss, gyre_train_state_get_params (state), args, &loss, NULL);

  grads = gyre_pmean_tree (grads, "batch_axis");
  state = gyre_train_state_apply_gradients (state, grads);
  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static void
print_shape (const char *when, GyreTrainState *state)
{
  GyreTree *params = gyre_train_state_get_params (state);
  GyreShape shape = gyre_array_get_shape (gyre_tree_get_array (params, "dense_1/kernel"));

  g_print ("dense_1/kernel %s replication:", when);
  for (guint i = 0; i < (guint) shape.rank; i++)
    g_print (" %d", (int) shape.dims[i]);
  g_print ("\n");
}

static gboolean
train (GyreMesh *mesh, const char *line, GyreTree *batch, GError **error)
{
  guint n = gyre_mesh_get_n_devices (mesh);
  g_autofree GyreKey *keys = g_new (GyreKey, n);
  GyreKey key = gyre_key_new (42), pair[2];
  g_autoptr (GyreOptimizer) adam = gyre_adam_new (1e-3);
  g_autoptr (GyreLayer) model = gyre_model_parse (line, error);
  g_autoptr (GyreTrainState) host = NULL, state = NULL;
  g_autoptr (GyreStep) step = NULL;

  if (!model || !(host = gyre_train_state_new (model, adam, GYRE_SHAPE (1, 28, 28, 1),
                                               GYRE_F32, 0, error)) ||
      !(state = gyre_train_state_replicate (host, mesh, error)) ||
      !(step = gyre_step_pmap (train_step, mesh, "batch_axis", NULL, NULL, "state", NULL,
                               NULL, error)))
    return FALSE;
  print_shape ("before", host);
  print_shape ("after", state);
  for (guint i = 0; i < 10; i++)
    {
      g_autoptr (GyreArray) array = NULL;
      g_autoptr (GyreTree) args = gyre_tree_new_dict (), result = NULL;
      g_autoptr (GBytes) bytes = NULL;
      const float *losses;
      double sum = 0;

      gyre_key_split (key, 2, pair);
      key = pair[1];
      gyre_key_split (pair[0], n, keys); /* a row a device */
      array = gyre_array_new (GYRE_U32, GYRE_SHAPE (n, 2), keys);
      gyre_tree_set_array (args, "key", array);
      result = gyre_step_run (step, error, GYRE_NODE_ENTRY ("state", state),
                              GYRE_TREE_ENTRY ("batch", batch),
                              GYRE_TREE_ENTRY ("key", gyre_tree_get_tree (args, "key")),
                              NULL);
      if (!result ||
          !(bytes = gyre_array_get (gyre_tree_get_array (result, "loss"), error)))
        return FALSE;
      losses = g_bytes_get_data (bytes, NULL); /* f32[n] */
      for (guint d = 0; d < n; d++)
        sum += losses[d];
      g_print ("Average loss across devices: %.4f\n", sum / n);
      g_set_object (&state, gyre_tree_get_node (result, "state")); /* was donated */
    }
  return gyre_step_wait (step, error);
}

static gboolean
run (GError **error)
{
  g_autoptr (GPtrArray) devices = gyre_devices_open (names, error);
  g_autoptr (GyreMesh) mesh = devices ? gyre_mesh_new ("batch_axis=*", devices, error)
                                      : NULL;
  g_autoptr (GyreTree) rows = gyre_tree_new_dict (), batch = NULL;
  g_autofree float *ones = g_new (float, BATCH * 28 * 28);
  gint32 classes[BATCH];
  g_autoptr (GyreArray) image = NULL, label = NULL;

  for (guint i = 0; i < BATCH * 28 * 28; i++)
    ones[i] = 1;
  for (guint i = 0; i < BATCH; i++)
    classes[i] = 1;
  label = gyre_array_new (GYRE_I32, GYRE_SHAPE (BATCH), classes);
  image = gyre_array_new (GYRE_F32, GYRE_SHAPE (BATCH, 28, 28, 1), ones);
  gyre_tree_set_array (rows, "image", image);
  gyre_tree_set_array (rows, "label", label);

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
