/* SPDX-License-Identifier: Apache-2.0 */

/* A network of one hidden layer learns noise: the smallest program that trains on many
 * devices.  The step is written for one device's share of the rows, and says itself where
 * the devices meet: it averages the gradients by name of the axis. */

#include <gyre/gyre.h>

#define ROWS 64 /* a device */
#define NORMAL_ENTRY(name, key, shape, scale) \
  GYRE_NEW_ARRAY_ENTRY (name, gyre_array_new_normal (key, shape, scale))

static GyreTree *
init_params (GyreKey key)
{
  GyreKey k[2];

  gyre_key_split (key, 2, k);
  return gyre_tree_build (
      NORMAL_ENTRY ("w1", k[0], GYRE_SHAPE (10, 32), 0.1f),
      GYRE_NEW_ARRAY_ENTRY ("b1", gyre_array_new_full (GYRE_F32, GYRE_SHAPE (32), 0)),
      NORMAL_ENTRY ("w2", k[1], GYRE_SHAPE (32, 1), 0.1f),
      GYRE_NEW_ARRAY_ENTRY ("b2", gyre_array_new_full (GYRE_F32, GYRE_SHAPE (1), 0)),
      NULL);
}

/* mean ((tanh (x w1 + b1) w2 + b2 - y)²), f32[] */
static GyreTensor *
loss_fn (GyreTree *params, GyreTree **aux, gpointer batch)
{
  GyreTensor *x = gyre_matmul (gyre_tree_get (batch, "x"), gyre_tree_get (params, "w1"));
  GyreTensor *h = gyre_tanh (gyre_add (x, gyre_tree_get (params, "b1")));
  GyreTensor *y = gyre_matmul (h, gyre_tree_get (params, "w2"));

  y = gyre_add (y, gyre_tree_get (params, "b2"));
  return gyre_mse (y, gyre_tree_get (batch, "y"));
}

static GyreTensor *
sgd (GyreTensor *param, GyreTensor *grad)
{
  return gyre_sub (param, gyre_mul_scalar (grad, 0.01));
}

/* {params, batch} → {params, loss}, on one device: x is f32[64, 10], y f32[64, 1] */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTree *batch = gyre_tree_get_tree (args, "batch");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_fn, params, batch, &loss, NULL);

  grads = gyre_pmean_tree (grads, "batch");
  return gyre_tree_build (GYRE_TREE_ENTRY ("params", gyre_tree_map2 (sgd, params, grads)),
                          GYRE_TENSOR_ENTRY ("loss", gyre_pmean (loss, "batch")), NULL);
}

static gboolean
train (const GyreOptions *options, GError **error)
{
  guint64 seed = (guint64) options->seed;
  g_autoptr (GyreMesh) mesh = gyre_mesh_open ("batch=*", options->devices, error);
  gint64 n = mesh ? gyre_mesh_get_n_devices (mesh) : 1;
  g_autoptr (GyreTree) one = init_params (gyre_key_new (seed));
  g_autoptr (GyreTree) params = mesh ? gyre_replicate (one, mesh, error) : NULL;
  g_autoptr (GyreTree) batch = NULL, rows = gyre_tree_build (
      NORMAL_ENTRY ("x", gyre_key_new (seed + 1), GYRE_SHAPE (n * ROWS, 10), 1),
      NORMAL_ENTRY ("y", gyre_key_new (seed + 2), GYRE_SHAPE (n * ROWS, 1), 1), NULL);
  g_autoptr (GyreStep) step = NULL;

  if (!params || !(batch = gyre_shard_batch (rows, (guint) n, error)) ||
      !(step = gyre_step_pmap (train_step, mesh, "batch", NULL, NULL, "params", NULL,
                               NULL, error)))
    return FALSE;

  for (guint i = 0; i < 50; i++)
    {
      g_autoptr (GyreTree) result =
          gyre_step_run (step, error, GYRE_TREE_ENTRY ("params", params),
                         GYRE_TREE_ENTRY ("batch", batch), NULL);

      if (!result)
        return FALSE;
      if (i % 10 == 0)
        g_print ("Step %u: Loss = %.6f\n", i, gyre_tree_get_scalar (result, "loss"));
      gyre_tree_replace (&params, gyre_tree_get_tree (result, "params")); /* donated */
    }
  return gyre_step_wait (step, error);
}

int
main (int argc, char **argv)
{
  GyreOptions options = { .seed = 0 };

  return gyre_options_run (&options, argc, argv, train);
}
