/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <math.h>
#include <string.h>

#include <gyre/gyre-array.h>
#include <gyre/gyre-key.h>
#include <gyre/gyre-ops.h>
#include <gyre/gyre-step.h>

/* One step function under many shardings gives what one device gives.  No size is a
 * multiple of another. */

#define ROWS    7
#define IN      5
#define HIDDEN  11
#define OUT     3
#define N_STEPS 4

/* Sums in another order, over four updates. */
#define RTOL 2e-5
#define ATOL 2e-6

typedef struct
{
  const char *devices;
  const char *layout;
  const char *weights;    /* of the first axis, or NULL */
  const char *shardings;
} Case;

static const Case cases[] = {
  { "pocl*2", "dp=2", NULL, "params=, x=dp, y=dp" },
  { "pocl*3", "dp=3", "5,2,1", "params=, x=dp, y=dp" },
  { "pocl*8", "dp=8", NULL, "params=, x=dp, y=dp" },
  /* columns, then rows */
  { "pocl*3", "tp=3", NULL, "params/w1=,tp, params/b1=tp, params/w2=tp" },
  { "pocl*3", "tp=3", "1,0,2", "params/w1=,tp, params/b1=tp, params/w2=tp" },
  /* rows, then columns */
  { "pocl*2", "tp=2", NULL, "params/w1=tp, params/w2=,tp" },
  /* both */
  { "pocl*4", "dp=2,tp=2", NULL,
    "params/w1=,tp, params/b1=tp, params/w2=tp, x=dp, y=dp" },
  { "pocl*6", "dp=2,tp=3", "3,1",
    "params/w1=,tp, params/b1=tp, params/w2=tp, x=dp, y=dp" },
  { "pocl*6", "tp=3,dp=2", NULL, "params/w1=,tp, params/w2=tp, x=dp, y=dp" },
  /* parameters in parts over the axis of the data */
  { "pocl*2", "dp=2", NULL, "params=dp, x=dp, y=dp" },
  { "pocl*3", "dp=3", "5,2,1", "params=dp, x=dp, y=dp" },
  { "pocl*3", "dp=3", NULL, "params/w1=,dp, params/b1=dp, params/w2=,dp, x=dp, y=dp" },
  { "pocl*4", "dp=2,tp=2", NULL,
    "params/w1=dp,tp, params/b1=tp, params/w2=tp,dp, x=dp, y=dp" },
  /* one dimension over both axes; data over one that parameters don't know */
  { "pocl*4", "dp=2,tp=2", NULL, "params=, x=dp+tp, y=dp+tp" },
  { "pocl*4", "dp=2,tp=2", NULL, "params/w1=,dp+tp, params/w2=dp+tp, x=, y=" },
  { "pocl*4", "dp=2,tp=2", NULL, "x=tp, y=dp, params/w1=tp" },
  { "pocl*4", "dp=2,tp=2", NULL, "x=dp,tp, y=dp" },
};

static GyreTensor *
loss_func (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  GyreTree *args = data;
  GyreTensor *h = gyre_matmul (gyre_tree_get (args, "x"), gyre_tree_get (params, "w1"));
  GyreTensor *y;

  h = gyre_tanh (gyre_add (h, gyre_tree_get (params, "b1")));
  y = gyre_add (gyre_matmul (h, gyre_tree_get (params, "w2")),
                gyre_tree_get (params, "b2"));
  return gyre_mean (gyre_square (gyre_sub (y, gyre_tree_get (args, "y"))));
}

static GyreTree *
descend (const char      *path,
         GyreTree *const *leaves,
         guint            n_trees,
         gpointer         data,
         GError         **error)
{
  GyreTensor *step = gyre_mul_scalar (gyre_tree_as_tensor (leaves[1]), 0.3);

  return gyre_tree_new_tensor (gyre_sub (gyre_tree_as_tensor (leaves[0]), step));
}

static gboolean clipped;    /* gradients are divided by their norm */

static void
add_squares (const char *path,
             GyreTree   *leaf,
             gpointer    sum)
{
  GyreTensor **total = sum;

  *total = gyre_add (*total, gyre_sum (gyre_square (gyre_tree_as_tensor (leaf))));
}

static GyreTree *
divide (const char      *path,
        GyreTree *const *leaves,
        guint            n_trees,
        gpointer         norm,
        GError         **error)
{
  return gyre_tree_new_tensor (gyre_div (gyre_tree_as_tensor (leaves[0]), norm));
}

static GyreTree *
clip (GyreTree *grads)
{
  GyreTensor *sum = gyre_constant (GYRE_F32, 0);

  gyre_tree_foreach (grads, add_squares, &sum);
  return gyre_tree_map (&grads, 1, divide, gyre_sqrt (sum), NULL);
}

static GyreTree *
train_step (GyreTree *args,
            gpointer  data)
{
  GyreTensor *loss;
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTree *both[] = { params,
                       gyre_value_and_grad (loss_func, params, args, &loss, NULL) };

  if (clipped)
    both[1] = clip (both[1]);
  return gyre_tree_build (
      GYRE_TREE_ENTRY ("params", gyre_tree_map (both, 2, descend, NULL, NULL)),
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
make_args (void)
{
  GyreTree *args = gyre_tree_new_dict ();

  add_normal (args, "params/w1", 1, GYRE_SHAPE (IN, HIDDEN));
  add_normal (args, "params/b1", 2, GYRE_SHAPE (HIDDEN));
  add_normal (args, "params/w2", 3, GYRE_SHAPE (HIDDEN, OUT));
  add_normal (args, "params/b2", 4, GYRE_SHAPE (OUT));
  add_normal (args, "x", 5, GYRE_SHAPE (ROWS, IN));
  add_normal (args, "y", 6, GYRE_SHAPE (ROWS, OUT));
  return args;
}

static GyreMesh *
make_mesh (const char *spec,
           const char *layout,
           const char *weights)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);
  GyreMesh *mesh;

  gyre_assert_no_error (error);
  mesh = gyre_mesh_new (layout, devices, &error);
  gyre_assert_no_error (error);
  if (weights != NULL)
    {
      g_auto (GStrv) parts = g_strsplit (weights, ",", -1);
      double numbers[8] = { 0 };

      for (guint i = 0; parts[i] != NULL; i++)
        numbers[i] = g_ascii_strtod (parts[i], NULL);
      gyre_mesh_set_shares (mesh, gyre_mesh_get_axis_name (mesh, 0), numbers, &error);
      gyre_assert_no_error (error);
    }
  return mesh;
}

/* *place holds tree, and nobody else does. */
static void
take (GyreTree **place,
      GyreTree  *tree)
{
  g_clear_pointer (place, gyre_tree_unref);
  *place = tree;
}

/* The results of the last of a few steps. */
static GyreTree *
run_steps (const char *spec,
           const char *layout,
           const char *weights,
           const char *shardings)
{
  g_autoptr (GyreMesh) mesh = make_mesh (spec, layout, weights);
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step =
      gyre_step_jit (train_step, mesh, shardings, "params", NULL, NULL, &error);
  GyreTree *result = NULL;

  gyre_assert_no_error (error);
  for (guint i = 0; i < N_STEPS; i++)
    {
      GyreTree *params = gyre_tree_get_tree (i > 0 ? result : args, "params");
      GyreTree *next =
          gyre_step_run (step, &error, GYRE_TREE_ENTRY ("params", params),
                         GYRE_TREE_ENTRY ("x", gyre_tree_get_tree (args, "x")),
                         GYRE_TREE_ENTRY ("y", gyre_tree_get_tree (args, "y")), NULL);

      gyre_assert_no_error (error);
      gyre_tree_unref (result);
      result = next;
    }
  gyre_step_wait (step, &error);
  gyre_assert_no_error (error);
  return result;
}

static GyreTree *expected;

static void
open_expected (void)
{
  expected = run_steps ("pocl", "dp=1", NULL, NULL);
}

static void
close_expected (void)
{
  g_clear_pointer (&expected, gyre_tree_unref);
}

static void
compare_leaf (const char *path,
              GyreTree   *leaf,
              gpointer    data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = gyre_array_get (gyre_tree_as_array (leaf), &error);
  g_autoptr (GBytes) other =
      gyre_array_get (gyre_tree_get_array (expected, path), &error);
  const float *is, *should;
  gsize size;

  gyre_assert_no_error (error);
  is = g_bytes_get_data (bytes, &size);
  should = g_bytes_get_data (other, NULL);
  ck_assert_uint_eq (size, g_bytes_get_size (other));
  for (gsize i = 0; i < size / sizeof (float); i++)
    if (!(fabsf (is[i] - should[i]) <= ATOL + RTOL * fabsf (should[i])))
      ck_abort_msg ("%s: %s[%" G_GSIZE_FORMAT "] is %.9g, not %.9g", (const char *) data,
                    path, i, is[i], should[i]);
}

START_TEST (gives_what_one_device_gives)
{
  const Case *c = &cases[_i];
  g_autofree char *name = g_strdup_printf ("%s: %s", c->layout, c->shardings);
  g_autoptr (GyreTree) result = run_steps (c->devices, c->layout, c->weights,
                                           c->shardings);

  gyre_tree_foreach (result, compare_leaf, name);
}
END_TEST

/* The same with a norm over all gradients, whose parts lie apart. */
static const Case clip_cases[] = {
  { "pocl*3", "dp=3", "5,2,1", "params=, x=dp, y=dp" },
  { "pocl*3", "dp=3", "5,2,1", "params=dp, x=dp, y=dp" },
  { "pocl*4", "dp=2,tp=2", NULL,
    "params/w1=dp,tp, params/b1=tp, params/w2=tp,dp, x=dp, y=dp" },
};

START_TEST (clips_as_one_device_does)
{
  const Case *c = &clip_cases[_i];
  g_autofree char *name = g_strdup_printf ("clipped, %s: %s", c->layout, c->shardings);
  g_autoptr (GyreTree) result = NULL;

  clipped = TRUE;
  take (&expected, run_steps ("pocl", "dp=1", NULL, NULL));
  result = run_steps (c->devices, c->layout, c->weights, c->shardings);
  clipped = FALSE;
  gyre_tree_foreach (result, compare_leaf, name);
}
END_TEST

/* What begins in a schedule, and after how many products of a device: "1 all-reduce". */
static char *
list_begins (const char *schedule)
{
  g_auto (GStrv) lines = g_strsplit (schedule, "\n", -1);
  GString *begins = g_string_new (NULL);
  guint n_gemms = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *what = lines[i] + strlen ("begin ");

      n_gemms += g_str_has_prefix (lines[i], "device 0: gemm ");
      if (g_str_has_prefix (lines[i], "begin "))
        g_string_append_printf (begins, "%u %.*s\n", n_gemms, (int) strcspn (what, " "),
                                what);
    }
  return g_string_free (begins, FALSE);
}

static char *
describe (const char *spec,
          const char *layout,
          const char *shardings)
{
  g_autoptr (GyreMesh) mesh = make_mesh (spec, layout, NULL);
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step =
      gyre_step_jit (train_step, mesh, shardings, "params", NULL, NULL, &error);
  g_autoptr (GyreTree) result = NULL;
  g_autofree char *schedule = NULL;

  gyre_assert_no_error (error);
  result = gyre_step_run_tree (step, args, &error);
  gyre_assert_no_error (error);
  gyre_step_wait (step, &error);
  gyre_assert_no_error (error);
  schedule = gyre_step_describe (step, "schedule");
  return list_begins (schedule);
}

/* Two products go forward and three back.  Over the axis of the data nothing is sent
 * forward; the gradients are one bucket, and so are the parameters.  Columns and then
 * rows add up once, after the second product, for both devices of each pair. */
START_TEST (sends_in_buckets)
{
  g_autofree char *data = describe ("pocl*2", "dp=2", "params=, x=dp, y=dp");
  g_autofree char *tensor = describe (
      "pocl*2", "tp=2", "params/w1=,tp, params/b1=tp, params/w2=tp");

  ck_assert_str_eq (data, "2 all-reduce\n5 reduce-scatter\n5 all-gather\n");
  ck_assert_str_eq (tensor, "2 all-reduce\n");
}
END_TEST

/* Gradients of several batches added up: sums that stay summands of the members send
 * nothing, and are the same numbers once they are read. */

static GyreTree *
add (const char      *path,
     GyreTree *const *leaves,
     guint            n_trees,
     gpointer         data,
     GError         **error)
{
  return gyre_tree_new_tensor (gyre_add (gyre_tree_as_tensor (leaves[0]),
                                         gyre_tree_as_tensor (leaves[1])));
}

static GyreTree *
sum_step (GyreTree *args,
          gpointer  data)
{
  GyreTree *both[] = {
    gyre_tree_get_tree (args, "sums"),
    gyre_value_and_grad (loss_func, gyre_tree_get_tree (args, "params"), args, NULL, NULL)
  };

  return gyre_tree_build (
      GYRE_TREE_ENTRY ("sums", gyre_tree_map (both, 2, add, NULL, NULL)), NULL);
}

static GyreTree *
run_sums (GyreMesh   *mesh,
          const char *shardings,
          char      **program)
{
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step =
      gyre_step_jit (sum_step, mesh, shardings, "sums", NULL, NULL, &error);
  g_autoptr (GyreTree) result = NULL;

  gyre_assert_no_error (error);
  /* the first sums are arrays of the host, and no zeros */
  gyre_tree_set (args, "sums", gyre_tree_get_tree (args, "params"));
  for (guint i = 0; i < 3; i++)
    {
      take (&result, gyre_step_run_tree (step, args, &error));
      gyre_assert_no_error (error);
      gyre_tree_set (args, "sums", gyre_tree_get_tree (result, "sums"));
    }
  gyre_step_wait (step, &error);
  gyre_assert_no_error (error);
  *program = gyre_step_describe (step, "program");
  return gyre_tree_ref (gyre_tree_get_tree (result, "sums"));
}

static const Case sum_cases[] = {
  { "pocl*2", "dp=2", NULL, "x=dp, y=dp, sums=~dp" },
  { "pocl*3", "dp=3", "5,2,1", "x=dp, y=dp, sums=~dp" },
  { "pocl*4", "dp=2,tp=2", NULL,
    "params/w1=,tp, params/w2=tp, x=dp, y=dp, sums=~dp, sums/w1=,tp~dp, sums/w2=tp~dp" },
  /* gradients that are no sums over this axis */
  { "pocl*3", "dp=3", NULL, "sums=~dp" },
};

START_TEST (keeps_sums_apart)
{
  const Case *c = &sum_cases[_i];
  g_autofree char *name = g_strdup_printf ("%s: %s", c->layout, c->shardings);
  g_autofree char *program = NULL, *alone = NULL;
  g_autoptr (GyreMesh) mesh = make_mesh (c->devices, c->layout, c->weights);
  g_autoptr (GyreMesh) one = make_mesh ("pocl", "dp=1", NULL);
  g_autoptr (GyreTree) is = run_sums (mesh, c->shardings, &program);

  take (&expected, run_sums (one, NULL, &alone));
  gyre_tree_foreach (is, compare_leaf, name);
  if (strchr (c->layout, ',') == NULL && strstr (c->shardings, "x=dp") != NULL)
    {
      ck_assert_ptr_null (strstr (program, "reduce_scatter"));
      ck_assert_ptr_null (strstr (program, "all_reduce"));
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "shardings", open_expected, close_expected);

  tcase_add_test (tcase, sends_in_buckets);
  tcase_add_loop_test (tcase, keeps_sums_apart, 0, G_N_ELEMENTS (sum_cases));
  tcase_add_loop_test (tcase, clips_as_one_device_does, 0, G_N_ELEMENTS (clip_cases));
  tcase_add_loop_test (tcase, gives_what_one_device_gives, 0, G_N_ELEMENTS (cases));
}

GYRE_CHECK_MAIN ("shardings", add_tests)
