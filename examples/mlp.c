/* SPDX-License-Identifier: Apache-2.0 */

/* Trains a multi-layer perceptron on every OpenCL device of the machine.  The step is
 * written as for one device: Gyre splits the batch over the mesh, sums the gradients and
 * keeps the replicas equal. */

#include <gyre/gyre.h>

#define BATCH  256
#define EPOCHS 3

static GyreLayer *model;

/* image: u8[b, h, w, c], label: i32[b] → mean loss, f32[].  Called once, to trace. */
static GyreTensor *
loss_fn (GyreTree *params, GyreTree **aux, gpointer batch)
{
  GyreTensor *image  = gyre_convert (gyre_tree_get (batch, "image"), GYRE_F32);
  GyreTensor *x      = gyre_mul_scalar (image, 1.0 / 255.0);
  GyreTensor *logits = gyre_model_apply (model, params, NULL, x, TRUE, NULL, NULL);

  return gyre_softmax_cross_entropy (logits, gyre_tree_get (batch, "label"));
}

/* {state, batch} → {state, loss}: pure; what it makes belongs to the trace. */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor     *loss;
  GyreTree       *grads = gyre_value_and_grad (loss_fn, gyre_train_state_get_params (state),
                                               gyre_tree_get_tree (args, "batch"), &loss, NULL);

  return gyre_tree_build (GYRE_NODE_ENTRY ("state", gyre_train_state_apply_gradients (state, grads)),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static gboolean
train (GError **error)
{
  g_autoptr (GyreMesh)       mesh   = gyre_mesh_new ("data=*", NULL, error);
  g_autoptr (GyreDataset)    data   = mesh ? gyre_dataset_open (NULL, error) : NULL;
  g_autoptr (GyreLoader)     loader = data ? gyre_loader_new (data, GYRE_SPLIT_TRAIN, BATCH, error) : NULL;
  g_autoptr (GyreOptimizer)  adam   = gyre_adam_new (1e-3);
  g_autoptr (GyreTrainState) state  = NULL;
  g_autoptr (GyreStep)       step   = NULL;
  GyreShape                  image;

  if (!loader || !(model = gyre_model_parse ("flatten ! dense features=512 ! relu ! dense features=10", error)))
    return FALSE;
  image = gyre_dataset_get_image_shape (data);
  if (!(state = gyre_train_state_new (model, adam, GYRE_SHAPE (1, image.dims[0], image.dims[1], image.dims[2]),
                                      GYRE_F32, 0, error)) ||
      !(step = gyre_step_jit (train_step, mesh, "state=, batch=data", "state", NULL, NULL, error)))
    return FALSE;

  for (guint epoch = 0; epoch < EPOCHS; epoch++)
    {
      g_autoptr (GyreTree) result = NULL;
      GyreTree            *batch;

      gyre_loader_shuffle (loader, gyre_key_new (0), epoch);
      for (; (batch = gyre_loader_next (loader)); gyre_tree_unref (batch))
        {
          g_clear_pointer (&result, gyre_tree_unref);
          if (!(result = gyre_step_run (step, error, GYRE_NODE_ENTRY ("state", state),
                                        GYRE_TREE_ENTRY ("batch", batch), NULL)))
            return FALSE;
          g_set_object (&state, gyre_tree_get_node (result, "state"));   /* the old one was donated */
        }
      g_print ("epoch %u  loss %.4f\n", epoch + 1, gyre_tree_get_scalar (result, "loss"));   /* this waits */
    }
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  if (!train (&error))
    g_printerr ("%s\n", error->message);
  g_clear_object (&model);
  return error != NULL;
}
