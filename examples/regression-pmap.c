/* SPDX-License-Identifier: Apache-2.0 */

/* A network of one hidden layer learns noise: the smallest program that trains on many
 * devices.  The step is written for one device's share of the rows, and says itself where
 * the devices meet: it averages the gradients by name of the axis. */

#include <gyre/gyre.h>

#define ROWS 64 /* a device */
#define NORMAL_ENTRY(name, shape, key, scale) \
  GYRE_NEW_ARRAY_ENTRY (name, gyre_array_new_normal (key, shape, scale))

static gint seed = 0;
static char *names = NULL; /* of the devices */

static const GOptionEntry entries[] = {
  { "devices", 0, 0, G_OPTION_ARG_STRING, &names, "Such as all or pocl*4", "DEVICES" },
  { "seed", 0, 0, G_OPTION_ARG_INT, &seed, "Of the parameters; data follow it", "S" },
  { NULL }
};

static GyreTree *
init_params (GyreKey key)
{
  GyreKey k[2];

  gyre_key_split (key, 2, k);
  return gyre_tree_build (
      NORMAL_ENTRY ("w1", GYRE_SHAPE (10, 32), k[0], 0.1f),
      NORMAL_ENTRY ("b1", GYRE_SHAPE (32), k[0], 0),
      NORMAL_ENTRY ("w2", GYRE_SHAPE (32, 1), k[1], 0.1f),
      NORMAL_ENTRY ("b2", GYRE_SHAPE (1), k[1], 0), NULL);
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

static GyreTree *
descend (const char *path, GyreTree *const *leaves, guint n, gpointer data, GError **err)
{
  GyreTensor *step = gyre_mul_scalar (gyre_tree_as_tensor (leaves[1]), 0.01);

  return gyre_tree_new_tensor (gyre_sub (gyre_tree_as_tensor (leaves[0]), step));
}

/* {params, batch} → {params, loss}, on one device: x is f32[64, 10], y f32[64, 1] */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_fn, params,
                                         gyre_tree_get_tree (args, "batch"), &loss, NULL);
  GyreTree *both[] = { params, gyre_pmean_tree (grads, "batch") };

  return gyre_tree_build (
      GYRE_TREE_ENTRY ("params", gyre_tree_map (both, 2, descend, NULL, NULL)),
      GYRE_TENSOR_ENTRY ("loss", gyre_pmean (loss, "batch")), NULL);
}

static gboolean
train (GError **error)
{
  g_autoptr (GPtrArray) devices = gyre_devices_open (names, error);
  g_autoptr (GyreMesh) mesh = devices ? gyre_mesh_new ("batch=*", devices, error) : NULL;
  guint n = mesh ? gyre_mesh_get_n_devices (mesh) : 1;
  g_autoptr (GyreTree) one = init_params (gyre_key_new ((guint64) seed));
  g_autoptr (GyreTree) params = mesh ? gyre_replicate (one, mesh, error) : NULL;
  g_autoptr (GyreTree) batch = NULL, rows = gyre_tree_build (
      NORMAL_ENTRY ("x", GYRE_SHAPE (n * ROWS, 10), gyre_key_new ((guint64) seed + 1), 1),
      NORMAL_ENTRY ("y", GYRE_SHAPE (n * ROWS, 1), gyre_key_new ((guint64) seed + 2), 1),
      NULL);
  g_autoptr (GyreStep) step = NULL;

  if (!params || !(batch = gyre_shard_batch (rows, n, error)) ||
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
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || !train (&error))
    g_printerr ("%s\n", error->message);
  return error != NULL;
}
