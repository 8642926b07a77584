/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-key.h>
#include <gyre/gyre-ops.h>

#include "device/gyre-kernel-private.h"
#include "ir/gyre-prim-private.h"
#include "schedule/gyre-step-private.h"

#include <gyre/gyre-error.h>

/* Sums of a few hundred products in f32 against double. */
#define RTOL 2e-5
#define ATOL 2e-5

static GPtrArray *devices;
static GyreMesh *mesh;

static void
open_mesh (const char   *spec,
           const double *weights)
{
  g_autoptr (GError) error = NULL;

  devices = gyre_devices_open (spec, &error);
  gyre_assert_no_error (error);
  mesh = gyre_mesh_new ("data=*", devices, &error);
  gyre_assert_no_error (error);
  gyre_mesh_set_shares (mesh, "data", weights, &error);
  gyre_assert_no_error (error);
}

static void
close_mesh (void)
{
  g_clear_object (&mesh);
  g_clear_pointer (&devices, g_ptr_array_unref);
}

static const struct
{
  const char   *devices;
  const double *weights;
} meshes[] = {
  { "pocl", NULL },
  { "pocl*3", NULL },
  { "pocl*3", (const double[]) { 5, 2, 1 } },
  { "pocl*3", (const double[]) { 1, 0, 2 } },
  { "pocl*7", NULL },
};

static GyreArray *
random_array (guint64   seed,
              GyreShape shape)
{
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  g_autofree float *data = g_new (float, n + 1);

  gyre_key_normal (gyre_key_new (seed), n, data);
  for (gsize i = 0; i < n; i++)
    data[i] *= 0.5f;

  return gyre_array_new (GYRE_F32, shape, data);
}

static const float *
get_floats (GyreTree    *tree,
            const char  *path,
            GBytes     **bytes)
{
  g_autoptr (GError) error = NULL;

  *bytes = gyre_array_get (gyre_tree_get_array (tree, path), &error);
  gyre_assert_no_error (error);
  return g_bytes_get_data (*bytes, NULL);
}

/* --- the oracle --- */

static void
fill_ref (GyreRef   *ref,
          GyreArray *array)
{
  g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
  const float *data = g_bytes_get_data (bytes, NULL);
  gint64 n = gyre_shape_n_elements (&array->shape);

  ref->dtype = array->dtype;
  ref->shape = array->shape;
  ref->data = g_new (double, n + 1);
  for (gint64 i = 0; i < n; i++)
    ref->data[i] = data[i];
}

/* Every result of the function, on the host in double. */
static GPtrArray *
interpret (GyreStepFunc  func,
           gpointer      data,
           GyreTree     *args)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) paths = NULL, leaves = gyre_tree_flatten (args, &paths);
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autofree GyreAval *avals = g_new0 (GyreAval, leaves->len);
  g_autofree GyreRef *inputs = g_new0 (GyreRef, leaves->len);
  GyreRef *outputs;
  GPtrArray *results = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < leaves->len; i++)
    {
      fill_ref (&inputs[i], gyre_tree_as_array (g_ptr_array_index (leaves, i)));
      avals[i] = (GyreAval) { inputs[i].dtype, inputs[i].shape };
    }
  gyre_trace_run (trace, func, data, args, avals, &error);
  gyre_assert_no_error (error);

  outputs = g_new0 (GyreRef, trace->graph->outputs->len);
  gyre_interpret (trace->graph, inputs, outputs, &error);
  gyre_assert_no_error (error);
  for (guint i = 0; i < trace->graph->outputs->len; i++)
    g_ptr_array_add (results, outputs[i].data);

  for (guint i = 0; i < leaves->len; i++)
    g_free (inputs[i].data);
  g_free (outputs);
  return results;
}

static void
assert_results (GyreTree  *results,
                GPtrArray *expected)
{
  g_autoptr (GPtrArray) paths = NULL, leaves = gyre_tree_flatten (results, &paths);

  ck_assert_uint_eq (leaves->len, expected->len);
  for (guint i = 0; i < leaves->len; i++)
    {
      const double *want = g_ptr_array_index (expected, i);
      g_autoptr (GBytes) bytes = NULL;
      const float *have = get_floats (results, g_ptr_array_index (paths, i), &bytes);

      for (gsize k = 0; k < g_bytes_get_size (bytes) / 4; k++)
        if (!gyre_check_near (have[k], want[k], ATOL + RTOL * fabs (want[k])))
          ck_abort_msg ("%s[%" G_GSIZE_FORMAT "] is %.9g, not %.9g",
                        (char *) g_ptr_array_index (paths, i), k, have[k], want[k]);
    }
}

/* --- functions --- */

static GyreTree *
elementwise (GyreTree *args,
             gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");

  return gyre_tree_build (
    GYRE_TENSOR_ENTRY ("y", gyre_add_scalar (gyre_mul (gyre_tanh (x), x), 1)),
    GYRE_TENSOR_ENTRY ("sum", gyre_sum (gyre_square (x))), NULL);
}

/* Two layers by hand, and a loss; w is replicated. */
static GyreTree *
two_layers (GyreTree *args,
            gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x"), *a = gyre_tree_get (args, "w/a"),
             *b = gyre_tree_get (args, "w/b");
  GyreTensor *h = gyre_tanh (gyre_matmul (x, a));
  GyreTensor *y = gyre_matmul (h, b);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y),
                          GYRE_TENSOR_ENTRY ("loss", gyre_mean (gyre_square (y))), NULL);
}

/* All rows meet all rows: the program names no collective. */
static GyreTree *
gram (GyreTree *args,
      gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");
  GyreTensor *logits = gyre_matmul_full (x, FALSE, x, TRUE);

  return gyre_tree_build (
    GYRE_TENSOR_ENTRY ("loss", gyre_mean (gyre_log_sum_exp (logits, 1, FALSE))), NULL);
}

static GyreTree *
make_args (GyreArray *x)
{
  g_autoptr (GyreArray) a = random_array (2, GYRE_SHAPE (12, 20));
  g_autoptr (GyreArray) b = random_array (3, GYRE_SHAPE (20, 5));
  GyreTree *args = gyre_tree_new_dict ();
  g_autoptr (GyreTree) w = gyre_tree_new_dict ();

  gyre_tree_set_array (args, "x", x);
  gyre_tree_set_array (w, "a", a);
  gyre_tree_set_array (w, "b", b);
  gyre_tree_set (args, "w", w);

  return args;
}

static void
check_jit (GyreStepFunc  func,
           GyreTree     *args,
           const char   *shardings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step =
      gyre_step_jit (func, mesh, shardings, NULL, NULL, NULL, &error);
  g_autoptr (GPtrArray) expected = interpret (func, NULL, args);

  gyre_assert_no_error (error);
  for (int i = 0; i < 3; i++)
    {
      g_autoptr (GyreTree) results = gyre_step_run_tree (step, args, &error);

      gyre_assert_no_error (error);
      assert_results (results, expected);
    }
  ck_assert_uint_eq (gyre_step_get_n_traces (step), 1);
}

START_TEST (computes_elementwise)
{
  g_autoptr (GyreArray) x = random_array (1, GYRE_SHAPE (13, 12));
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  gyre_tree_set_array (args, "x", x);
  check_jit (elementwise, args, "x=data");
}
END_TEST

START_TEST (computes_layers)
{
  g_autoptr (GyreArray) x = random_array (1, GYRE_SHAPE (13, 12));
  g_autoptr (GyreTree) args = make_args (x);

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  check_jit (two_layers, args, "x=data");
}
END_TEST

START_TEST (computes_across_rows)
{
  g_autoptr (GyreArray) x = random_array (1, GYRE_SHAPE (13, 12));
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  gyre_tree_set_array (args, "x", x);
  check_jit (gram, args, "x=data");
}
END_TEST

/* --- training --- */

static GyreTensor *
loss_of (GyreTree  *params,
         GyreTree **aux,
         gpointer   data)
{
  GyreTensor *h = gyre_tanh (gyre_matmul (data, gyre_tree_get (params, "a")));
  GyreTensor *y = gyre_matmul (h, gyre_tree_get (params, "b"));

  return gyre_mean (gyre_square (gyre_add_scalar (y, -1)));
}

/* Adam without its corrections, and a count. */
static GyreTree *
train (GyreTree *args,
       gpointer  data)
{
  GyreTree *params = gyre_tree_get_tree (args, "state/p"), *next = gyre_tree_new_dict ();
  GyreTree *p = gyre_tree_new_dict (), *m = gyre_tree_new_dict (),
           *v = gyre_tree_new_dict ();
  GyreTensor *loss;
  GyreTree *grads =
      gyre_value_and_grad (loss_of, params, gyre_tree_get (args, "x"), &loss, NULL);

  for (guint i = 0; i < gyre_tree_get_n (params); i++)
    {
      const char *name = gyre_tree_get_nth_name (params, i);
      GyreTensor *g = gyre_tree_get (grads, name);
      GyreTensor *m1 = gyre_add (gyre_mul_scalar (gyre_tree_get (gyre_tree_get_tree (args,
                                                  "state/m"), name), 0.9),
                                 gyre_mul_scalar (g, 0.1));
      GyreTensor *v1 = gyre_add (gyre_mul_scalar (gyre_tree_get (gyre_tree_get_tree (args,
                                                  "state/v"), name), 0.99),
                                 gyre_mul_scalar (gyre_square (g), 0.01));
      GyreTensor *step = gyre_div (m1, gyre_add_scalar (gyre_sqrt (v1), 1e-3));

      gyre_tree_set_tensor (m, name, m1);
      gyre_tree_set_tensor (v, name, v1);
      gyre_tree_set_tensor (p, name, gyre_sub (gyre_tree_get (params, name),
                                               gyre_mul_scalar (step, 0.05)));
    }

  gyre_tree_set (next, "p", p);
  gyre_tree_set (next, "m", m);
  gyre_tree_set (next, "v", v);
  gyre_tree_set_tensor (next, "count",
                        gyre_add_scalar (gyre_tree_get (args, "state/count"), 1));
  return gyre_tree_build (GYRE_TREE_ENTRY ("state", next),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

#define HIDDEN 200

static void
set_leaf (GyreTree   *state,
          const char *path,
          GyreArray  *array)
{
  g_autoptr (GyreArray) owned = array;
  g_autoptr (GyreTree) leaf = gyre_tree_new_array (owned);

  gyre_tree_set_path (state, path, leaf);
}

static GyreTree *
make_state (void)
{
  g_autofree float *zeros = g_new0 (float, 12 * HIDDEN);
  GyreTree *state = gyre_tree_new_dict ();

  set_leaf (state, "p/a", random_array (2, GYRE_SHAPE (12, HIDDEN)));
  set_leaf (state, "p/b", random_array (3, GYRE_SHAPE (HIDDEN, 5)));
  set_leaf (state, "m/a", gyre_array_new (GYRE_F32, GYRE_SHAPE (12, HIDDEN), zeros));
  set_leaf (state, "m/b", gyre_array_new (GYRE_F32, GYRE_SHAPE (HIDDEN, 5), zeros));
  set_leaf (state, "v/a", gyre_array_new (GYRE_F32, GYRE_SHAPE (12, HIDDEN), zeros));
  set_leaf (state, "v/b", gyre_array_new (GYRE_F32, GYRE_SHAPE (HIDDEN, 5), zeros));
  set_leaf (state, "count", gyre_array_new_scalar (GYRE_F32, 0));

  return state;
}

static GyreTree *
make_train_args (GyreTree *state,
                 guint64   seed,
                 gint64    rows)
{
  g_autoptr (GyreArray) x = random_array (seed, GYRE_SHAPE (rows, 12));
  GyreTree *args = gyre_tree_new_dict ();

  gyre_tree_set (args, "state", state);
  gyre_tree_set_array (args, "x", x);
  return args;
}

static GyreStep *
make_train_step (void)
{
  g_autoptr (GError) error = NULL;
  GyreStep *step = gyre_step_jit (train, mesh, "x=data", "state", NULL, NULL, &error);

  gyre_assert_no_error (error);
  return step;
}

/* Runs a step, and replaces the state by that of the result. */
static double
train_once (GyreStep  *step,
            GyreTree **state,
            guint64    seed,
            gint64     rows,
            gboolean   read)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) args = make_train_args (*state, seed, rows);
  g_autoptr (GyreTree) results = gyre_step_run_tree (step, args, &error);

  gyre_assert_no_error (error);
  gyre_tree_unref (*state);
  *state = gyre_tree_ref (gyre_tree_get_tree (results, "state"));
  return read ? gyre_tree_get_scalar (results, "loss") : 0;
}

/* The interpreter's state after the same steps: Adam divides by small numbers, so that
 * the bound is wider than a product's. */
START_TEST (trains_like_the_interpreter)
{
  g_autoptr (GyreTree) state = make_state (), expected = make_state ();
  g_autoptr (GyreStep) step = NULL;

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  step = make_train_step ();
  for (guint i = 0; i < 4; i++)
    {
      gint64 rows = i == 2 ? 5 : 13;
      g_autoptr (GyreTree) args = make_train_args (expected, 10 + i, rows);
      g_autoptr (GPtrArray) want = interpret (train, NULL, args);
      g_autoptr (GPtrArray) paths = NULL, leaves = gyre_tree_flatten (expected, &paths);
      g_autoptr (GyreTree) next = gyre_tree_new_dict ();
      double loss = train_once (step, &state, 10 + i, rows, TRUE);

      gyre_assert_near (loss, *(double *) g_ptr_array_index (want, 0), 1e-4);
      for (guint k = 0; k < leaves->len; k++)
        {
          const char *path = g_ptr_array_index (paths, k);
          GyreArray *like = gyre_tree_as_array (g_ptr_array_index (leaves, k));
          gint64 n = gyre_shape_n_elements (&like->shape);
          const double *numbers = g_ptr_array_index (want, 1 + k);
          g_autofree float *floats = g_new (float, n);
          g_autoptr (GBytes) bytes = NULL;
          const float *have = get_floats (state, path, &bytes);

          for (gint64 e = 0; e < n; e++)
            floats[e] = (float) numbers[e];
          set_leaf (next, path, gyre_array_new (GYRE_F32, like->shape, floats));
          gyre_assert_floats_near (have, floats, n, 1e-3, 2e-4);
        }
      gyre_tree_unref (g_steal_pointer (&expected));
      expected = g_steal_pointer (&next);
    }
  ck_assert_uint_eq (gyre_step_get_n_traces (step), 2);
}
END_TEST

START_TEST (creates_nothing_in_a_steady_loop)
{
  g_autoptr (GyreTree) state = make_state ();
  g_autoptr (GyreStep) step = NULL;
  GyreBufferStats buffers = { 0 };
  GyreKernelStats kernels = { 0 }, after;

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  step = make_train_step ();
  for (guint i = 0; i < 40; i++)
    {
      train_once (step, &state, i, 13, i % 7 == 0);
      if (i == 9)
        {
          buffers = gyre_buffer_get_stats ();
          kernels = gyre_kernel_get_stats ();
        }
    }
  gyre_step_wait (step, NULL);

  after = gyre_kernel_get_stats ();
  ck_assert_uint_eq (after.kernels_created, kernels.kernels_created);
  ck_assert_uint_eq (after.programs_built + after.programs_loaded,
                     kernels.programs_built + kernels.programs_loaded);
  ck_assert_uint_eq (gyre_buffer_get_stats ().created, buffers.created);
  ck_assert_uint_eq (gyre_buffer_get_stats ().bytes, buffers.bytes);
}
END_TEST

START_TEST (changes_shares_without_compiling)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) state = make_state (), fixed = make_state ();
  g_autoptr (GyreStep) step = NULL, other = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint built = 0, created = 0;
  double loss = 0, expected = 0;

  open_mesh ("pocl*3", NULL);
  step = make_train_step ();
  other = make_train_step ();
  for (guint i = 0; i < 100; i++)
    {
      const double weights[] = { g_rand_int_range (rand, 0, 5), 1,
                                 g_rand_int_range (rand, 0, 3) };

      gyre_mesh_set_shares (mesh, "data", i > 0 ? weights : NULL, &error);
      gyre_assert_no_error (error);
      loss = train_once (step, &state, i, 31, i % 10 == 0);
      if (i == 0)
        built = gyre_kernel_get_stats ().programs_built;
      if (i == 50)
        created = gyre_kernel_get_stats ().kernels_created;
    }
  ck_assert_uint_eq (gyre_kernel_get_stats ().programs_built, built);
  /* a product of other sizes may take another kernel of a program that is there */
  ck_assert_uint_eq (gyre_kernel_get_stats ().kernels_created, created);
  ck_assert_uint_eq (gyre_step_get_n_traces (step), 1);

  gyre_mesh_set_shares (mesh, "data", NULL, &error);
  if (g_getenv ("GYRE_TEST_SHOW") != NULL)
    {
      g_autofree char *program = gyre_step_describe (step, "program");
      g_autofree char *schedule = gyre_step_describe (step, "schedule");

      g_printerr ("%s\n%s\n", program, schedule);
    }
  loss = train_once (step, &state, 100, 31, TRUE);
  for (guint i = 0; i < 101; i++)
    expected = train_once (other, &fixed, i, 31, i == 100);
  /* sums in another order, over a hundred steps of Adam */
  gyre_assert_near (loss, expected, 2e-2);
}
END_TEST

/* The address sanitizer holds back what was freed. */
#ifdef __SANITIZE_ADDRESS__
#define MOST_GROWTH G_MAXINT64
#else
#define MOST_GROWTH (2 * 1024 * 1024)
#endif

static gint64
get_resident (void)
{
  g_autofree char *text = NULL;
  gint64 pages = 0;

  ck_assert (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  pages = g_ascii_strtoll (strchr (text, ' '), NULL, 10);
  return pages * 4096;
}

START_TEST (does_not_grow)
{
  g_autoptr (GyreTree) state = make_state ();
  g_autoptr (GyreStep) step = NULL;
  gint64 before = 0;

  open_mesh ("pocl*2", NULL);
  step = make_train_step ();
  for (guint i = 0; i < 4000; i++)
    {
      train_once (step, &state, i, 13, i % 7 == 0);
      if (i == 1000)
        before = get_resident ();
    }
  ck_assert_int_lt (get_resident () - before, MOST_GROWTH);
}
END_TEST

START_TEST (marks_what_was_donated)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) state = make_state (), old = NULL, args = NULL, results = NULL;
  g_autoptr (GyreStep) step = NULL;

  open_mesh ("pocl*3", NULL);
  step = make_train_step ();
  train_once (step, &state, 1, 13, FALSE);
  old = gyre_tree_ref (state);
  train_once (step, &state, 2, 13, FALSE);

  ck_assert_ptr_null (gyre_array_get (gyre_tree_get_array (old, "p/a"), &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DONATED);
  g_clear_error (&error);
  args = make_train_args (old, 3, 13);
  results = gyre_step_run_tree (step, args, &error);
  ck_assert_ptr_null (results);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DONATED);
  gyre_assert_error_says (error, "state/count");
}
END_TEST

/* A second state takes the place where the first one lives: the first moves out. */
START_TEST (keeps_two_states_apart)
{
  g_autoptr (GyreTree) first = make_state (), second = make_state (),
                       alone = make_state ();
  g_autoptr (GyreStep) step = NULL, other = NULL;
  double a = 0, b = 0, expected = 0;

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  step = make_train_step ();
  other = make_train_step ();
  for (guint i = 0; i < 4; i++)
    {
      a = train_once (step, &first, i, 13, TRUE);
      b = train_once (step, &second, i, 13, TRUE);
      expected = train_once (other, &alone, i, 13, TRUE);
      ck_assert (a == expected);
      ck_assert (b == expected);
    }
}
END_TEST

/* --- pmap --- */

/* The loss of the rows that a device has, and gradients over all of them. */
static GyreTree *
train_manual (GyreTree *args,
              gpointer  data)
{
  GyreTree *params = gyre_tree_get_tree (args, "p"), *next = gyre_tree_new_dict ();
  GyreTensor *x = gyre_tree_get (args, "x"), *loss;
  GyreTensor *count = gyre_constant (GYRE_F32, (double) gyre_tensor_dim (x, 0));
  GyreTree *grads = gyre_pmean_weighted_tree (
      gyre_value_and_grad (loss_of, params, x, &loss, NULL), count, "data");

  for (guint i = 0; i < gyre_tree_get_n (params); i++)
    {
      const char *name = gyre_tree_get_nth_name (params, i);

      gyre_tree_set_tensor (
          next, name,
          gyre_sub (gyre_tree_get (params, name),
                    gyre_mul_scalar (gyre_tree_get (grads, name), 0.1)));
    }

  return gyre_tree_build (
      GYRE_TREE_ENTRY ("p", next),
      GYRE_TENSOR_ENTRY ("loss", gyre_pmean_weighted (loss, count, "data")),
      GYRE_TENSOR_ENTRY ("rows", gyre_mul_scalar (x, 2)), NULL);
}

static GyreTree *
mean_of_rows (GyreTree *args,
              gpointer  data)
{
  GyreTensor *x = gyre_tree_get (args, "x");

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", gyre_pmean (gyre_mean (x), "data")),
                          NULL);
}

/* The same on one device. */
static GyreTree *
train_whole (GyreTree *args,
             gpointer  data)
{
  GyreTree *params = gyre_tree_get_tree (args, "p"), *next = gyre_tree_new_dict ();
  GyreTensor *x = gyre_tree_get (args, "x"), *loss;
  GyreTree *grads = gyre_value_and_grad (loss_of, params, x, &loss, NULL);

  for (guint i = 0; i < gyre_tree_get_n (params); i++)
    {
      const char *name = gyre_tree_get_nth_name (params, i);

      gyre_tree_set_tensor (
          next, name,
          gyre_sub (gyre_tree_get (params, name),
                    gyre_mul_scalar (gyre_tree_get (grads, name), 0.1)));
    }

  return gyre_tree_build (GYRE_TREE_ENTRY ("p", next), GYRE_TENSOR_ENTRY ("loss", loss),
                          GYRE_TENSOR_ENTRY ("rows", gyre_mul_scalar (x, 2)), NULL);
}

static GyreTree *
make_params (void)
{
  GyreTree *params = gyre_tree_new_dict ();

  set_leaf (params, "a", random_array (2, GYRE_SHAPE (12, HIDDEN)));
  set_leaf (params, "b", random_array (3, GYRE_SHAPE (HIDDEN, 5)));
  return params;
}

/* One copy a device. */
static GyreArray *
stack (GyreArray *array,
       guint      n)
{
  g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
  gsize size = g_bytes_get_size (bytes);
  g_autofree guint8 *data = g_malloc (size * n);
  GyreShape shape = array->shape;

  for (guint i = 0; i < n; i++)
    memcpy (data + i * size, g_bytes_get_data (bytes, NULL), size);
  memmove (shape.dims + 1, shape.dims, sizeof shape.dims[0] * (GYRE_MAX_RANK - 1));
  shape.dims[0] = n;
  shape.rank++;

  return gyre_array_new (array->dtype, shape, data);
}

START_TEST (maps_by_hand)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) params = make_params (), whole = gyre_tree_new_dict (),
                       args = NULL;
  g_autoptr (GyreTree) stacked = gyre_tree_new_dict (), results = NULL, copies = NULL;
  g_autoptr (GyreArray) x = random_array (9, GYRE_SHAPE (13, 12));
  g_autoptr (GPtrArray) expected = NULL;
  g_autoptr (GyreStep) step = NULL;
  g_autoptr (GBytes) a = NULL, rows = NULL;
  const double *want;
  const float *have;
  guint n;

  open_mesh (meshes[_i].devices, meshes[_i].weights);
  n = gyre_mesh_get_n_devices (mesh);
  gyre_tree_set (whole, "p", params);
  gyre_tree_set_array (whole, "x", x);
  expected = interpret (train_whole, NULL, whole);

  set_leaf (stacked, "a", stack (gyre_tree_get_array (params, "a"), n));
  set_leaf (stacked, "b", stack (gyre_tree_get_array (params, "b"), n));
  args =
      gyre_tree_build (GYRE_TREE_ENTRY ("p", stacked), GYRE_ARRAY_ENTRY ("x", x), NULL);
  step = gyre_step_pmap (train_manual, mesh, "data", NULL, "x", "p", NULL, NULL, &error);
  gyre_assert_no_error (error);
  results = gyre_step_run_tree (step, args, &error);
  gyre_assert_no_error (error);

  gyre_assert_near (gyre_tree_get_scalar (results, "loss"),
                    *(double *) g_ptr_array_index (expected, 0), 1e-5);
  have = get_floats (results, "p/a", &a);
  want = g_ptr_array_index (expected, 1);
  ck_assert_uint_eq (g_bytes_get_size (a), n * 12 * HIDDEN * 4);
  for (guint i = 0; i < n * 12 * HIDDEN; i++)
    gyre_assert_near (have[i], want[i % (12 * HIDDEN)], 1e-5);

  /* the rows come back: stacked where they are alike, else one after the other */
  have = get_floats (results, "rows", &rows);
  want = g_ptr_array_index (expected, 3);
  ck_assert_uint_eq (g_bytes_get_size (rows), 13 * 12 * 4);
  for (guint i = 0; i < 13 * 12; i++)
    gyre_assert_near (have[i], want[i], 1e-6);
}
END_TEST

START_TEST (refuses_a_plain_mean_of_ragged_rows)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) x = random_array (9, GYRE_SHAPE (13, 12));
  g_autoptr (GyreStep) step = NULL;
  g_autoptr (GyreTree) results = NULL;

  open_mesh ("pocl*3", NULL);
  step = gyre_step_pmap (mean_of_rows, mesh, "data", NULL, "x", NULL, NULL, NULL, &error);
  gyre_assert_no_error (error);
  results = gyre_step_run (step, &error, GYRE_ARRAY_ENTRY ("x", x), NULL);
  ck_assert_ptr_null (results);
  gyre_assert_error_says (error, "gyre_pmean_weighted");
}
END_TEST

/* One result more of members with rows */
static GyreTree *
unlike (GyreTree *args,
        gpointer  data)
{
  GyreTensor *x = gyre_tree_get_tensor (args, "x");
  GyreTree *results = gyre_tree_new_dict ();

  gyre_tree_set_tensor (results, "sum", gyre_psum (gyre_sum (x), "data"));
  if (gyre_tensor_dim (x, 0) > 0)
    gyre_tree_set_tensor (results, "total", gyre_sum (x));

  return results;
}

/* A member without rows gives back its argument, the others something new. */
static GyreTree *
keep_without_rows (GyreTree *args,
                   gpointer  data)
{
  GyreTensor *x = gyre_tree_get_tensor (args, "x");
  GyreTensor *p = gyre_tree_get_tensor (args, "p");
  GyreTree *results = gyre_tree_new_dict ();

  if (gyre_tensor_dim (x, 0) > 0)
    gyre_tree_set_tensor (results, "p", gyre_sum_axis (x, 0, FALSE));
  else
    gyre_tree_set_tensor (results, "p", p);
  gyre_tree_set_tensor (results, "same", p);

  return results;
}

START_TEST (gives_arguments_of_some_members_only)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) x = random_array (9, GYRE_SHAPE (2, 4));
  g_autoptr (GyreArray) p = random_array (7, GYRE_SHAPE (3, 4));
  g_autoptr (GyreStep) step = NULL;
  g_autoptr (GyreTree) results = NULL;
  g_autoptr (GBytes) a = NULL, b = gyre_array_get (p, NULL), c = NULL, same = NULL;
  const float *have, *rows;

  open_mesh ("pocl*3", NULL);
  step = gyre_step_pmap (keep_without_rows, mesh, "data", NULL, "x", NULL, NULL, NULL,
                         &error);
  gyre_assert_no_error (error);
  results = gyre_step_run (step, &error, GYRE_ARRAY_ENTRY ("x", x),
                           GYRE_ARRAY_ENTRY ("p", p), NULL);
  gyre_assert_no_error (error);
  have = get_floats (results, "p", &a);
  c = gyre_array_get (x, NULL);
  rows = g_bytes_get_data (c, NULL);
  for (guint i = 0; i < 8; i++)
    ck_assert (have[i] == rows[i]);
  for (guint i = 8; i < 12; i++)
    ck_assert (have[i] == ((const float *) g_bytes_get_data (b, NULL))[i]);
  have = get_floats (results, "same", &same);
  ck_assert (memcmp (have, g_bytes_get_data (b, NULL), 12 * sizeof (float)) == 0);
}
END_TEST

START_TEST (refuses_unlike_results_of_members)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) x = random_array (9, GYRE_SHAPE (2, 12));
  g_autoptr (GyreStep) step = NULL;
  g_autoptr (GyreTree) results = NULL;

  open_mesh ("pocl*3", NULL);
  step = gyre_step_pmap (unlike, mesh, "data", NULL, "x", NULL, NULL, NULL, &error);
  gyre_assert_no_error (error);
  results = gyre_step_run (step, &error, GYRE_ARRAY_ENTRY ("x", x), NULL);
  ck_assert_ptr_null (results);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TREE);
  gyre_assert_error_says (error, "\"total\" of one member and \"none\" of another");
}
END_TEST

START_TEST (names_what_does_not_fit)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) x = random_array (9, GYRE_SHAPE (13, 12)), flat = NULL;
  g_autoptr (GyreStep) step = NULL, bad = NULL;
  g_autoptr (GyreTree) args = make_args (x), results = NULL;

  open_mesh ("pocl*3", NULL);
  bad = gyre_step_jit (elementwise, mesh, "x=rows", NULL, NULL, NULL, &error);
  ck_assert_ptr_null (bad);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING);
  g_clear_error (&error);

  bad = gyre_step_pmap (elementwise, mesh, "model", NULL, NULL, NULL, NULL, NULL, &error);
  ck_assert_ptr_null (bad);
  gyre_assert_error_says (error, "data=3");
  g_clear_error (&error);

  step = gyre_step_jit (two_layers, mesh, "x=,data", NULL, NULL, NULL, &error);
  gyre_assert_no_error (error);
  flat = random_array (4, GYRE_SHAPE (13));
  gyre_tree_set_array (args, "x", flat);
  results = gyre_step_run_tree (step, args, &error);
  ck_assert_ptr_null (results);
  gyre_assert_error_says (error, "argument x");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "step", NULL, close_mesh);

  tcase_add_loop_test (tcase, computes_elementwise, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, computes_layers, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, computes_across_rows, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, trains_like_the_interpreter, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, creates_nothing_in_a_steady_loop, 0, G_N_ELEMENTS (meshes));
  tcase_add_test (tcase, changes_shares_without_compiling);
  tcase_add_test (tcase, does_not_grow);
  tcase_add_test (tcase, marks_what_was_donated);
  tcase_add_loop_test (tcase, keeps_two_states_apart, 0, G_N_ELEMENTS (meshes));
  tcase_add_loop_test (tcase, maps_by_hand, 0, G_N_ELEMENTS (meshes));
  tcase_add_test (tcase, refuses_a_plain_mean_of_ragged_rows);
  tcase_add_test (tcase, gives_arguments_of_some_members_only);
  tcase_add_test (tcase, refuses_unlike_results_of_members);
  tcase_add_test (tcase, names_what_does_not_fit);
}

GYRE_CHECK_MAIN ("step", add_tests)
