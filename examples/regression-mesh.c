/* SPDX-License-Identifier: Apache-2.0 */

/* A network of one hidden layer learns noise: the smallest program that trains on many
 * devices.  The step is written as for one device and names no collective: how it is
 * spread follows from the shardings of its arguments alone. */

#include <string.h>

#include <gyre/gyre.h>

#define ROWS 256 /* on all devices together */
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

/* {params, batch} → {params, loss}, of all rows: x is f32[256, 10], y f32[256, 1] */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTree *batch = gyre_tree_get_tree (args, "batch");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_fn, params, batch, &loss, NULL);

  return gyre_tree_build (GYRE_TREE_ENTRY ("params", gyre_tree_map2 (sgd, params, grads)),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static gboolean
train (const GyreOptions *options, GError **error)
{
  /* Where there is an axis tp, it splits the hidden units. */
  const char *shardings = strstr (options->mesh, "tp=")
                              ? "params/w1=,tp, params/b1=tp, params/w2=tp, batch=dp"
                              : "params=, batch=dp";
  guint64 seed = (guint64) options->seed;
  g_autoptr (GyreMesh) mesh = gyre_mesh_open (options->mesh, options->devices, error);
  g_autoptr (GyreSharding) split = mesh ? gyre_sharding_new (mesh, "dp", error) : NULL;
  g_autoptr (GyreTree) params = init_params (gyre_key_new (seed));
  g_autoptr (GyreTree) batch = NULL, rows = gyre_tree_build (
      NORMAL_ENTRY ("x", gyre_key_new (seed + 1), GYRE_SHAPE (ROWS, 10), 1),
      NORMAL_ENTRY ("y", gyre_key_new (seed + 2), GYRE_SHAPE (ROWS, 1), 1), NULL);
  g_autoptr (GyreStep) step = NULL;

  if (!split || !(batch = gyre_device_put_tree (rows, split, error)) ||
      !(step = gyre_step_jit (train_step, mesh, shardings, "params", NULL, NULL, error)))
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
  GyreOptions options = { .mesh = "dp=*" };

  return gyre_options_run (&options, argc, argv, train);
}
