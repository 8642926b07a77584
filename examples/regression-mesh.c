/* SPDX-License-Identifier: Apache-2.0 */

/* A network of one hidden layer learns noise: the smallest program that trains on many
 * devices.  The step is written as for one device and names no collective: how it is
 * spread follows from the shardings of its arguments alone. */

#include <string.h>

#include <gyre/gyre.h>

#define ROWS 256 /* on all devices together */
#define NORMAL_ENTRY(name, shape, key, scale) \
  GYRE_NEW_ARRAY_ENTRY (name, gyre_array_new_normal (key, shape, scale))

static gint seed = 0;
static char *names = NULL; /* of the devices */
static char *layout = "dp=*";

static const GOptionEntry entries[] = {
  { "devices", 0, 0, G_OPTION_ARG_STRING, &names, "Such as all or pocl*4", "DEVICES" },
  { "mesh", 0, 0, G_OPTION_ARG_STRING, &layout, "Axes, such as dp=2,tp=2", "MESH" },
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

/* {params, batch} → {params, loss}, of all rows: x is f32[256, 10], y f32[256, 1] */
static GyreTree *
train_step (GyreTree *args, gpointer data)
{
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTensor *loss;
  GyreTree *both[] = { params,
                       gyre_value_and_grad (loss_fn, params,
                                            gyre_tree_get_tree (args, "batch"), &loss,
                                            NULL) };

  return gyre_tree_build (
      GYRE_TREE_ENTRY ("params", gyre_tree_map (both, 2, descend, NULL, NULL)),
      GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static gboolean
train (GError **error)
{
  /* Where there is an axis tp, it splits the hidden units. */
  const char *shardings = strstr (layout, "tp=")
                              ? "params/w1=,tp, params/b1=tp, params/w2=tp, batch=dp"
                              : "params=, batch=dp";
  g_autoptr (GPtrArray) devices = gyre_devices_open (names, error);
  g_autoptr (GyreMesh) mesh = devices ? gyre_mesh_new (layout, devices, error) : NULL;
  g_autoptr (GyreSharding) split = mesh ? gyre_sharding_new (mesh, "dp", error) : NULL;
  g_autoptr (GyreTree) batch = NULL, rows = gyre_tree_build (
      NORMAL_ENTRY ("x", GYRE_SHAPE (ROWS, 10), gyre_key_new ((guint64) seed + 1), 1),
      NORMAL_ENTRY ("y", GYRE_SHAPE (ROWS, 1), gyre_key_new ((guint64) seed + 2), 1),
      NULL);
  g_autoptr (GyreTree) params = init_params (gyre_key_new ((guint64) seed));
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
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || !train (&error))
    g_printerr ("%s\n", error->message);
  return error != NULL;
}
