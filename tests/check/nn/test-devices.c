/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include "layer-cases.h"

#include "nn/gyre-scope-private.h"

/* The layers of tests/data/layers as compiled steps: forward, backward, and what becomes
 * of the model state, on one device and cut unevenly among three. The bounds are those of
 * the interpreter's test: both sides are in float32 here. */

static const struct
{
  const char   *devices;
  const double *weights;
} meshes[] = {
  { "pocl", NULL },
  { "pocl*3", (const double[]) { 5, 2, 1 } },
  { "pocl*3", (const double[]) { 1, 0, 2 } },
};

typedef struct
{
  const LayerCase *test;
  GyreLayer       *model;
  GyreSafetensors *file;
  gboolean         training;
  int              n_traces;
} Run;

static GyreMesh *
open_mesh (int i)
{
  g_autofree char *spec = gyre_check_device_spec (meshes[i].devices);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);
  GyreMesh *mesh;

  gyre_assert_no_error (error);
  mesh = gyre_mesh_new ("data=*", devices, &error);
  gyre_assert_no_error (error);
  gyre_mesh_set_shares (mesh, "data", meshes[i].weights, &error);
  gyre_assert_no_error (error);

  return mesh;
}

static GyreArray *
get_array (Run        *run,
           const char *prefix,
           const char *name)
{
  g_autofree char *path = g_strconcat (prefix, name, NULL);
  g_autoptr (GError) error = NULL;
  GyreArray *array = gyre_safetensors_get (run->file, path, &error);

  gyre_assert_no_error (error);
  return array;
}

static void
add_array (Run        *run,
           GyreTree   *args,
           const char *prefix,
           const char *name,
           const char *into)
{
  g_autoptr (GyreArray) array = get_array (run, prefix, name);
  g_autofree char *path =
    into != NULL ? g_strjoin ("/", into, run->test->path, name, NULL) : g_strdup (name);
  GyreTree *leaf = gyre_tree_new_array (array);

  gyre_tree_set_path (args, path, leaf);
  gyre_tree_unref (leaf);
}

static GyreTree *
make_args (Run *run)
{
  g_autoptr (GPtrArray) params = layer_case_names (run->file, "param/");
  g_autoptr (GPtrArray) states = layer_case_names (run->file, "state/");
  GyreTree *args = gyre_tree_new_dict ();

  add_array (run, args, "", "x", NULL);
  add_array (run, args, "", "dy", NULL);
  for (guint i = 0; i < params->len; i++)
    add_array (run, args, "param/", params->pdata[i], "params");
  for (guint i = 0; i < states->len; i++)
    add_array (run, args, "state/", states->pdata[i], "state");

  return args;
}

static GyreTensor *
find_param (Run        *run,
            GyreTree   *args,
            const char *name)
{
  g_autofree char *path = g_strjoin ("/", "params", run->test->path, name, NULL);

  return gyre_tree_get_tensor (args, path);
}

static void
add_result (GyreTree   *results,
            const char *prefix,
            const char *name,
            GyreTensor *value)
{
  g_autofree char *path = g_strconcat (prefix, name, NULL);

  gyre_tree_set_path (results, path, gyre_tree_new_tensor (value));
}

static void
add_gradients (Run        *run,
               GyreTree   *args,
               GyreTensor *x,
               GyreTensor *y,
               GyreTree   *results)
{
  g_autoptr (GPtrArray) names = layer_case_names (run->file, "param/");
  GyreTensor *wrt[16], *grads[16];
  GyreTensor *dy = gyre_tree_get_tensor (args, "dy");
  gboolean has_dx = gyre_tensor_get_dtype (x) == GYRE_F32;
  guint n = names->len;

  for (guint i = 0; i < n; i++)
    wrt[i] = find_param (run, args, names->pdata[i]);
  wrt[n] = x;
  gyre_vjp (&y, &dy, 1, wrt, n + (has_dx ? 1 : 0), grads);
  for (guint i = 0; i < n; i++)
    add_result (results, "grad/", names->pdata[i], grads[i]);
  if (has_dx)
    add_result (results, "", "dx", grads[n]);
}

static void
add_state (Run            *run,
           GyreModelScope *scope,
           GyreTree       *results)
{
  for (guint i = 0; i < scope->declarations->len; i++)
    {
      GyreDeclaration *declaration = scope->declarations->pdata[i];

      if (run->training && declaration->kind == GYRE_SCOPE_STATE)
        add_result (results, "state_after/",
                    declaration->path + strlen (run->test->path) + 1,
                    declaration->next != NULL ? declaration->next : declaration->value);
    }
}

static GyreTree *
apply (GyreTree *args,
       gpointer  data)
{
  Run *run = data;
  g_autoptr (GPtrArray) declarations = g_ptr_array_new ();
  GyreTree *none = gyre_tree_new_dict ();
  GyreTree *params = gyre_tree_lookup (args, "params");
  GyreTree *results = gyre_tree_new_dict ();
  GyreModelScope scope = { .declarations = declarations, .is_layer_key = TRUE,
                           .training = run->training };
  GyreTensor *x = gyre_tree_get_tensor (args, "x");
  GyreKey key;
  GyreTensor *y;

  scope.graph = x->graph;
  scope.params = params != NULL ? params : none;
  scope.state = gyre_tree_lookup (args, "state");
  scope.key = layer_case_key (run->file, &key) ? gyre_random_key (key) : NULL;
  y = gyre_model_scope_apply (&scope, run->model, x);
  add_result (results, "", "y", y);
  add_gradients (run, args, x, y, results);
  add_state (run, &scope, results);

  return results;
}

static void
compare (const char *name,
         GyreTree   *leaf,
         gpointer    data)
{
  Run *run = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) expected = get_array (run, "", name);
  g_autoptr (GBytes) wanted = gyre_array_get (expected, NULL);
  g_autoptr (GBytes) given = gyre_array_get (gyre_tree_as_array (leaf), &error);
  const float *a, *e = g_bytes_get_data (wanted, NULL);
  gsize n = g_bytes_get_size (wanted) / sizeof (float);
  float largest = 0;

  gyre_assert_no_error (error);
  ck_assert_uint_eq (g_bytes_get_size (given), g_bytes_get_size (wanted));
  a = g_bytes_get_data (given, NULL);
  for (gsize i = 0; i < n; i++)
    largest = MAX (largest, fabsf (e[i]));
  /* It is 0 but for rounding of terms of about 1: see test-reference.c. */
  if (g_str_has_suffix (name, "key/bias"))
    largest = 1;
  for (gsize i = 0; i < n; i++)
    if (!(fabs ((double) a[i] - (double) e[i]) <=
          run->test->tolerance * (double) largest))
      ck_abort_msg ("%s: %s[%d] is %.9g, not %.9g within %.3g", run->test->file, name,
                    (int) i, (double) a[i], (double) e[i],
                    run->test->tolerance * (double) largest);
}

static void
run_case (const LayerCase *test,
          GyreMesh        *mesh)
{
  g_autofree char *base = g_strconcat ("layers/", test->file, ".safetensors", NULL);
  g_autofree char *path = gyre_check_data (base);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse (test->line, &error);
  Run run = { test, model, gyre_safetensors_open (path, &error), FALSE };
  g_autoptr (GyreStep) step = NULL;
  g_autoptr (GyreTree) args = NULL, results = NULL;

  gyre_assert_no_error (error);
  run.training = layer_case_is_training (run.file);
  step = gyre_step_jit (apply, mesh, "x=data, dy=data", NULL, &run, NULL, &error);
  gyre_assert_no_error (error);
  args = make_args (&run);
  results = gyre_step_run_tree (step, args, &error);
  gyre_assert_no_error (error);
  ck_assert_ptr_nonnull (gyre_tree_lookup (results, "y"));
  gyre_tree_foreach (results, compare, &run);
  gyre_safetensors_free (run.file);
}

START_TEST (layer_agrees)
{
  for (guint i = 0; i < G_N_ELEMENTS (meshes); i++)
    {
      g_autoptr (GyreMesh) mesh = open_mesh ((int) i);

      run_case (&layers[_i], mesh);
    }
}
END_TEST

/* In pmap form, on unlike shares: what is summed over members, and state on each. */

static GyreTensor *
total (GyreTensor *a,
       GyreTensor *b)
{
  return gyre_psum (gyre_sum (gyre_mul (a, b)), "data");
}

static GyreTree *
apply_share (GyreTree *args,
             gpointer  data)
{
  Run *run = data;
  GyreTree *own = apply (args, data);
  GyreTree *results = gyre_tree_new_dict ();
  GyreTensor *dy = gyre_tree_get_tensor (args, "dy");
  GyreTree *state = gyre_tree_lookup (own, "state_after");

  run->n_traces++;
  gyre_tree_set_path (results, "grad",
                      gyre_psum_tree (gyre_tree_get_tree (own, "grad"), "data"));
  gyre_tree_set_path (results, "y",
                      gyre_tree_new_tensor (
                          total (gyre_tree_get_tensor (own, "y"), dy)));
  gyre_tree_set_path (results, "dx",
                      gyre_tree_new_tensor (
                          total (gyre_tree_get_tensor (own, "dx"), dy)));
  if (state != NULL)
    gyre_tree_set_path (results, "state_after", state);

  return results;
}

static double
expected_total (Run        *run,
                const char *name)
{
  g_autoptr (GyreArray) array = get_array (run, "", name);
  g_autoptr (GyreArray) other = get_array (run, "", "dy");
  g_autoptr (GBytes) a = gyre_array_get (array, NULL);
  g_autoptr (GBytes) b = gyre_array_get (other, NULL);
  const float *x = g_bytes_get_data (a, NULL), *y = g_bytes_get_data (b, NULL);
  double sum = 0;

  for (gsize i = 0; i < g_bytes_get_size (a) / sizeof (float); i++)
    sum += (double) x[i] * (double) y[i];

  return sum;
}

/* Each member's copy of a result. */
static void
compare_copies (const char *name,
                GyreTree   *leaf,
                gpointer    data)
{
  Run *run = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) given = gyre_array_get (gyre_tree_as_array (leaf), &error);
  gsize n = g_bytes_get_size (given) / sizeof (float);
  const float *a = g_bytes_get_data (given, NULL);
  gboolean is_total = g_str_equal (name, "y") || g_str_equal (name, "dx");
  g_autoptr (GyreArray) expected = is_total ? NULL : get_array (run, "", name);
  g_autoptr (GBytes) wanted = is_total ? NULL : gyre_array_get (expected, NULL);
  gsize m = is_total ? 1 : g_bytes_get_size (wanted) / sizeof (float);

  gyre_assert_no_error (error);
  ck_assert_uint_eq (n, 3 * m);
  for (gsize i = 0; i < n; i++)
    {
      double e = is_total ? expected_total (run, name)
                          : (double) ((const float *) g_bytes_get_data (wanted,
                                                                        NULL))[i % m];

      /* sums of a hundred terms of about 1, and the reference's own rounding */
      gyre_assert_near ((double) a[i], e, 1e-4);
    }
}

static void
is_finite (const char *name,
           GyreTree   *leaf,
           gpointer    data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) given = gyre_array_get (gyre_tree_as_array (leaf), &error);
  const float *a = g_bytes_get_data (given, NULL);

  gyre_assert_no_error (error);
  for (gsize i = 0; i < g_bytes_get_size (given) / sizeof (float); i++)
    ck_assert_msg (isfinite (a[i]), "%s[%d] is %g", name, (int) i, (double) a[i]);
}

/* 16 rows: 10, 4, 2; 15, 1, 0; 1, 0, 15 */
static const double shares[][3] = { { 5, 2, 1 }, { 15, 1, 0 }, { 1, 0, 15 } };

static GyreTree *
with_members (GyreTree *args,
              GyreMesh *mesh)
{
  static const char *const names[] = { "params", "state" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GyreTree) copies =
        gyre_replicate (gyre_tree_get_tree (args, names[i]), mesh, &error);

      gyre_assert_no_error (error);
      gyre_tree_set (args, names[i], copies);
    }

  return args;
}

static void
run_shares (const char           *line,
            const double         *weights,
            GyreTreeForeachFunc   check)
{
  const LayerCase test = { "batch_norm.dense_train", line, "batch_norm_0", 0 };
  g_autofree char *path = gyre_check_data ("layers/batch_norm.dense_train.safetensors");
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse (line, &error);
  Run run = { &test, model, gyre_safetensors_open (path, &error), TRUE, 0 };
  g_autoptr (GyreMesh) mesh = open_mesh (1);
  g_autoptr (GyreStep) step = NULL;
  g_autoptr (GyreTree) args = NULL, results = NULL;

  gyre_mesh_set_shares (mesh, "data", weights, &error);
  gyre_assert_no_error (error);
  step = gyre_step_pmap (apply_share, mesh, "data", NULL, "x, dy", NULL, &run, NULL,
                         &error);
  gyre_assert_no_error (error);
  args = with_members (make_args (&run), mesh);
  results = gyre_step_run_tree (step, args, &error);
  gyre_assert_no_error (error);
  ck_assert_int_eq (run.n_traces, 3);
  gyre_tree_foreach (results, check, &run);
  gyre_safetensors_free (run.file);
}

START_TEST (batch_norm_hears_of_all_members)
{
  run_shares ("batch-norm momentum=0.9 axis-name=data", shares[_i], compare_copies);
}
END_TEST

START_TEST (batch_norm_hears_of_all_unless_told)
{
  run_shares ("batch-norm momentum=0.9", shares[_i], compare_copies);
}
END_TEST

START_TEST (batch_norm_of_few_rows_is_finite)
{
  run_shares ("batch-norm axis-name=none", shares[_i], is_finite);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "members", batch_norm_hears_of_all_members,
                       G_N_ELEMENTS (shares));
  gyre_check_add_loop (suite, "unless told", batch_norm_hears_of_all_unless_told, 1);
  gyre_check_add_loop (suite, "few", batch_norm_of_few_rows_is_finite,
                       G_N_ELEMENTS (shares));
  gyre_check_add_loop (suite, "layers", layer_agrees, G_N_ELEMENTS (layers));
}

GYRE_CHECK_MAIN ("devices", add_tests)
