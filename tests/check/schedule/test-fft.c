/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <dlfcn.h>
#include <gyre/gyre-array.h>
#include <gyre/gyre-key.h>
#include <gyre/gyre-ops.h>
#include <gyre/gyre-step.h>

/* Transforms in steps: samples in parts, also none, give what one device gives; plans are
 * made when a step is compiled, and nothing in a steady loop. */

#define ROWS 8

typedef struct
{
  const char *devices;
  double      weights[3];
} Case;

static const Case cases[] = {
  { "pocl*3", { 5, 2, 1 } },
  { "pocl*3", { 1, 0, 2 } },
};

static const gint64 lengths[] = { 1, 12, 37 };

/* Σ y² of a spectrum that is scaled by a parameter, and back. */
static GyreTensor *
loss_func (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  GyreTensor *x = gyre_tree_get (data, "x");
  GyreTensor *spectrum = gyre_mul (gyre_rfft (x, 0, 1), gyre_tree_get (params, "w"));
  GyreTensor *y = gyre_irfft (spectrum, gyre_tensor_dim (x, 1), 1);

  y = gyre_irfft2 (gyre_rfft2 (gyre_square (y), NULL, NULL),
                   (const gint64[]){ 0, gyre_tensor_dim (x, 2) }, NULL);
  return gyre_sum (gyre_square (y));
}

static GyreTree *
step_func (GyreTree *args,
           gpointer  data)
{
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_func, params, args, &loss, NULL);

  return gyre_tree_build (GYRE_TREE_ENTRY ("grads", grads),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static void
add_normal (GyreTree   *tree,
            const char *path,
            guint64     seed,
            GyreShape   shape)
{
  g_autoptr (GyreArray) array = gyre_array_new_normal (gyre_key_new (seed), shape, 0.5f);
  g_autoptr (GyreTree) leaf = gyre_tree_new_array (array);

  gyre_tree_set_path (tree, path, leaf);
}

static GyreTree *
make_args (gint64 n)
{
  GyreTree *args = gyre_tree_new_dict ();

  add_normal (args, "params/w", 1, GYRE_SHAPE (n / 2 + 1, 3, 2));
  add_normal (args, "x", 2, GYRE_SHAPE (ROWS, n, 3));
  return args;
}

static GyreStep *
make_step (const char   *spec,
           const double *weights)
{
  g_autofree char *own = gyre_check_device_spec (spec);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (own, &error);
  g_autoptr (GyreMesh) mesh = NULL;
  GyreStep *step;

  gyre_assert_no_error (error);
  mesh = gyre_mesh_new ("data=*", devices, &error);
  gyre_assert_no_error (error);
  if (weights != NULL)
    gyre_mesh_set_shares (mesh, "data", weights, &error);
  gyre_assert_no_error (error);
  step = gyre_step_jit (step_func, mesh, "params=, x=data", NULL, NULL, NULL, &error);
  gyre_assert_no_error (error);
  return step;
}

static GyreTree *
run (GyreStep *step,
     GyreTree *args)
{
  g_autoptr (GError) error = NULL;
  GyreTree *result = gyre_step_run_tree (step, args, &error);

  gyre_assert_no_error (error);
  return result;
}

static void
assert_same (GyreTree   *result,
             GyreTree   *wanted,
             const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) a = gyre_array_get (gyre_tree_get_array (result, path), &error);
  g_autoptr (GBytes) b = gyre_array_get (gyre_tree_get_array (wanted, path), &error);
  gsize n = g_bytes_get_size (b) / sizeof (float);

  gyre_assert_no_error (error);
  ck_assert_uint_eq (g_bytes_get_size (a), g_bytes_get_size (b));
  /* the same sums over samples, in another order */
  gyre_assert_floats_near (g_bytes_get_data (a, NULL), g_bytes_get_data (b, NULL), n,
                           2e-5, 2e-5);
}

START_TEST (gives_what_one_device_gives)
{
  const Case *c = &cases[_i];
  g_autoptr (GyreStep) one = make_step ("pocl", NULL);
  g_autoptr (GyreStep) many = make_step (c->devices, c->weights);

  for (gsize i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      g_autoptr (GyreTree) args = make_args (lengths[i]);
      g_autoptr (GyreTree) wanted = run (one, args);
      g_autoptr (GyreTree) result = run (many, args);

      assert_same (result, wanted, "loss");
      assert_same (result, wanted, "grads/w");
    }
}
END_TEST

/* The commands name who transforms. */
START_TEST (names_who_transforms)
{
  g_autoptr (GyreStep) step = make_step ("pocl", NULL);
  g_autoptr (GyreTree) args = make_args (64);
  g_autoptr (GyreTree) result = run (step, args);
  g_autofree char *text = gyre_step_describe (step, "schedule");

  ck_assert_ptr_nonnull (text);
  ck_assert_ptr_nonnull (strstr (text, "fft forward 24x1x64 by plain"));
  ck_assert_ptr_nonnull (strstr (text, "fft backward 24x1x64 by plain"));
  ck_assert_ptr_nonnull (strstr (text, "fft forward 8x64x3 by "));
}
END_TEST

static const char *const creating[] = {
  "clCreateBuffer", "clCreateSubBuffer", "clCreateKernel", "clBuildProgram",
  "clCreateProgramWithSource", "clCreateProgramWithBinary", "clCreateUserEvent",
};

static unsigned long (*count) (const char *name);

static unsigned long
count_creating (void)
{
  unsigned long n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (creating); i++)
    n += count (creating[i]);
  return n;
}

static void
check_steady (gint64 n)
{
  g_autoptr (GyreStep) step = make_step ("pocl*2", NULL);
  g_autoptr (GyreTree) args = make_args (n);
  unsigned long before = 0;

  for (int i = 0; i < 12; i++)
    {
      g_autoptr (GyreTree) result = run (step, args);
      g_autoptr (GError) error = NULL;

      gyre_step_wait (step, &error);
      gyre_assert_no_error (error);
      if (i == 5)
        before = count_creating ();
    }
  ck_assert_uint_eq (count_creating (), before);
}

/* By each provider: 600 has other factors than 2, and 37 is a prime. */
START_TEST (creates_nothing_in_a_steady_loop)
{
  static const gint64 all[] = { 37, 600 };

  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    check_steady (all[i]);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("steps");

  tcase_set_timeout (tcase, 0);
  tcase_add_loop_test (tcase, gives_what_one_device_gives, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, names_who_transforms);
  tcase_add_test (tcase, creates_nothing_in_a_steady_loop);
  suite_add_tcase (suite, tcase);
}

int
main (void)
{
  const char *path = g_getenv ("GYRE_TEST_LAYER");
  gpointer layer;

  /* Before the loader is awake. */
  g_setenv ("OPENCL_LAYERS", path, TRUE);
  layer = dlopen (path, RTLD_NOW);
  if (layer == NULL)
    {
      g_printerr ("%s\n", dlerror ());
      return 1;
    }
  count = (unsigned long (*) (const char *)) dlsym (layer, "gyre_layer_count");
  return gyre_check_main ("schedule-fft", add_tests);
}
