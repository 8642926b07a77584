/* SPDX-License-Identifier: Apache-2.0 */

/* Trains a multi-layer perceptron on every OpenCL device of the machine.  The step is
 * written as for one device: Gyre splits the batch over the mesh, sums the gradients and
 * keeps the replicas equal. */

#include <gyre/gyre.h>

/* image: u8[b, h, w, c], label: i32[b] → mean loss, f32[].  Called once, to trace. */
static GyreTensor *
loss_fn (GyreTree *params, GyreTree **aux, gpointer data)
{
  GyreTree *args = data;
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor *image = gyre_convert (gyre_tree_get (args, "batch/image"), GYRE_F32);
  GyreTensor *logits = gyre_train_state_apply (
      state, params, gyre_mul_scalar (image, 1.0 / 255.0), TRUE, NULL, NULL);

  return gyre_softmax_cross_entropy (logits, gyre_tree_get (args, "batch/label"));
}

/* {state, batch} → {state, loss}: pure; what it makes belongs to the trace. */
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
train (const GyreOptions *options, GError **error)
{
  guint64 seed = (guint64) options->seed;
  const char *line = "flatten ! dense features=512 ! relu ! dense features=10";
  g_autoptr (GyreOptimizer) adam = gyre_adam_new (1e-3);
  g_autoptr (GyreMesh) mesh = gyre_mesh_open ("data=*", options->devices, error);
  g_autoptr (GyreDataset) data = mesh ? gyre_dataset_open (NULL, error) : NULL;
  g_autoptr (GyreLayer) model = data ? gyre_model_parse (line, error) : NULL;
  g_autoptr (GyreLoader) loader = NULL;
  g_autoptr (GyreTrainState) state = NULL;
  g_autoptr (GyreStep) step = NULL;

  if (!model || !(loader = gyre_loader_new (data, GYRE_SPLIT_TRAIN, 256, error)) ||
      !(state = gyre_train_state_new (model, adam, gyre_dataset_get_batch_shape (data, 1),
                                      GYRE_F32, seed, error)) ||
      !(step = gyre_step_jit (train_step, mesh, "state=, batch=data", "state", NULL, NULL,
                              error)))
    return FALSE;

  for (guint epoch = 0; epoch < 3; epoch++)
    {
      g_autoptr (GyreTree) result = NULL;
      GyreTree *batch;

      gyre_loader_shuffle (loader, gyre_key_new (seed), epoch);
      for (; (batch = gyre_loader_next (loader)); gyre_tree_unref (batch))
        {
          g_clear_pointer (&result, gyre_tree_unref);
          result = gyre_step_run (step, error, GYRE_NODE_ENTRY ("state", state),
                                  GYRE_TREE_ENTRY ("batch", batch), NULL);
          if (!result)
            return FALSE;
          g_set_object (&state, gyre_tree_get_node (result, "state")); /* was donated */
        }
      g_print ("epoch %u  loss %.4f\n", epoch + 1, gyre_tree_get_scalar (result, "loss"));
    }
  return TRUE;
}

int
main (int argc, char **argv)
{
  GyreOptions options = { .seed = 0 };

  return gyre_options_run (&options, argc, argv, train);
}
