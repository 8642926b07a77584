/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include "layer-cases.h"

#include <string.h>

#include <gyre/gyre.h>

#include "data/gyre-safetensors-private.h"
#include "ir/gyre-prim-private.h"
#include "nn/gyre-scope-private.h"

/* Layers and losses of tests/data/layers, forward and backward through the interpreter,
 * against what JAX, Flax and Optax computed in float32.  1e-5 of the largest magnitude
 * is what the float32 side may be off; 2e-5 where exponentials are summed. */

typedef struct
{
  const char     *file;
  const char     *loss;
  const char     *target;
  GyreLossOptions options;
} LossCase;

static const LossCase losses[] = {
  { "huber", "huber", "target", { GYRE_REDUCTION_MEAN, 0, 1 } },
  { "mse", "mse", "target", { GYRE_REDUCTION_MEAN, 0, 0 } },
  { "sigmoid_cross_entropy", "sigmoid-cross-entropy", "target",
    { GYRE_REDUCTION_MEAN, 0, 0 } },
  { "softmax_cross_entropy.mean", "softmax-cross-entropy", "labels",
    { GYRE_REDUCTION_MEAN, 0, 0 } },
  { "softmax_cross_entropy.none", "softmax-cross-entropy", "labels",
    { GYRE_REDUCTION_NONE, 0, 0 } },
  { "softmax_cross_entropy.smooth", "softmax-cross-entropy", "labels",
    { GYRE_REDUCTION_MEAN, 0.1, 0 } },
};

static GyreSafetensors *file;
static GyreGraph *graph;
static GArray *inputs;       /* of GyreRef, one for each input of the graph */
static GPtrArray *expected;  /* names of arrays, one for each output */

static void
begin (const char *name)
{
  g_autofree char *base = g_strconcat ("layers/", name, ".safetensors", NULL);
  g_autofree char *path = gyre_check_data (base);
  g_autoptr (GError) error = NULL;

  file = gyre_safetensors_open (path, &error);
  gyre_assert_no_error (error);
  graph = gyre_graph_new ();
  inputs = g_array_new (FALSE, TRUE, sizeof (GyreRef));
  expected = g_ptr_array_new_with_free_func (g_free);
  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
}

static double *
read_numbers (GyreArray *array,
              gint64    *n)
{
  GyreShape shape = gyre_array_get_shape (array);
  g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
  gconstpointer data = g_bytes_get_data (bytes, NULL);
  double *numbers;

  *n = gyre_shape_n_elements (&shape);
  numbers = g_new (double, *n);
  for (gint64 i = 0; i < *n; i++)
    numbers[i] = gyre_array_get_dtype (array) == GYRE_F32 ? ((const float *) data)[i]
                                                          : ((const gint32 *) data)[i];

  return numbers;
}

static GyreTensor *
input (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) array = NULL;
  gint64 n;
  GyreRef ref;

  gyre_owner_push (NULL);
  array = gyre_safetensors_get (file, name, &error);
  gyre_owner_pop ();
  gyre_assert_no_error (error);
  ref.dtype = gyre_array_get_dtype (array);
  ref.shape = gyre_array_get_shape (array);
  ref.data = read_numbers (array, &n);
  g_array_append_val (inputs, ref);

  return gyre_graph_input (graph, name, ref.dtype, &ref.shape);
}

static void
output (const char *name,
        GyreTensor *value)
{
  ck_assert_ptr_nonnull (value);
  gyre_graph_add_output (graph, value);
  g_ptr_array_add (expected, g_strdup (name));
}

static void
compare (const char *name,
         GyreRef    *result,
         double      tolerance)
{
  g_autoptr (GyreArray) array = gyre_safetensors_get (file, name, NULL);
  gint64 n;
  g_autofree double *numbers = read_numbers (array, &n);
  double largest = 0;

  ck_assert_int_eq (gyre_shape_n_elements (&result->shape), n);
  for (gint64 i = 0; i < n; i++)
    largest = MAX (largest, fabs (numbers[i]));
  /* A bias of keys moves all scores of a row alike: its gradient is 0, and what the file
   * has is the rounding of terms of about 1. */
  if (g_str_has_suffix (name, "key/bias"))
    largest = 1;
  for (gint64 i = 0; i < n; i++)
    if (!(fabs (result->data[i] - numbers[i]) <= tolerance * largest))
      ck_abort_msg ("%s[%d] is %.9g, not %.9g within %.3g", name, (int) i,
                    result->data[i], numbers[i], tolerance * largest);
}

static void
end (double tolerance)
{
  g_autoptr (GError) error = NULL;
  g_autofree GyreRef *results = g_new0 (GyreRef, graph->outputs->len);

  gyre_graph_pop ();
  gyre_owner_pop ();
  gyre_assert_no_error (graph->error);
  ck_assert_uint_eq (graph->inputs->len, inputs->len);
  gyre_interpret (graph, (GyreRef *) inputs->data, results, &error);
  gyre_assert_no_error (error);

  for (guint i = 0; i < expected->len; i++)
    {
      compare (g_ptr_array_index (expected, i), &results[i], tolerance);
      g_free (results[i].data);
    }
  for (guint i = 0; i < inputs->len; i++)
    g_free (g_array_index (inputs, GyreRef, i).data);
  g_array_unref (inputs);
  g_ptr_array_unref (expected);
  gyre_graph_free (graph);
  gyre_safetensors_free (file);
}

/* Arrays of the file, as a tree of inputs below the layer's path; in values, too. */
static GyreTree *
read_tree (const char *prefix,
           const char *path,
           GPtrArray  *values)
{
  g_autoptr (GPtrArray) names = layer_case_names (file, prefix);
  GyreTree *tree = gyre_tree_new_dict ();

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autofree char *from = g_strconcat (prefix, name, NULL);
      g_autofree char *to = g_strconcat (path, "/", name, NULL);
      GyreTensor *value = input (from);

      gyre_tree_set_path (tree, to, gyre_tree_new_tensor (value));
      g_ptr_array_add (values, value);
    }

  return tree;
}

/* Where to find their gradients. */
static void
name_gradients (GPtrArray *names)
{
  g_autoptr (GPtrArray) params = layer_case_names (file, "param/");

  for (guint i = 0; i < params->len; i++)
    g_ptr_array_add (names, g_strconcat ("grad/", params->pdata[i], NULL));
}

static void
add_gradients (GyreTensor *y,
               GPtrArray  *wrt,
               GPtrArray  *names)
{
  g_autofree GyreTensor **grads = g_new0 (GyreTensor *, wrt->len);
  GyreTensor *dy = input ("dy");

  if (!gyre_shape_equal (&dy->shape, &y->shape))
    dy = gyre_reshape (dy, y->shape);
  gyre_vjp (&y, &dy, 1, (GyreTensor **) wrt->pdata, wrt->len, grads);
  for (guint i = 0; i < wrt->len; i++)
    output (names->pdata[i], grads[i]);
}

/* What state became, where the file says so. */
static void
add_state (GyreModelScope *scope,
           const char     *path)
{
  g_autoptr (GPtrArray) names = layer_case_names (file, "state_after/");

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *to = g_strconcat (path, "/", names->pdata[i], NULL);
      g_autofree char *from = g_strconcat ("state_after/", names->pdata[i], NULL);

      for (guint j = 0; j < scope->declarations->len; j++)
        {
          GyreDeclaration *declaration = scope->declarations->pdata[j];

          if (declaration->kind == GYRE_SCOPE_STATE &&
              g_str_equal (declaration->path, to))
            output (from, declaration->next);
        }
    }
}

static void
add_input (GyreTensor *x,
           GPtrArray  *wrt,
           GPtrArray  *names)
{
  if (gyre_tensor_get_dtype (x) != GYRE_F32)
    return;

  g_ptr_array_add (wrt, x);
  g_ptr_array_add (names, g_strdup ("dx"));
}

START_TEST (layer_agrees)
{
  const LayerCase *test = &layers[_i];
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse (test->line, &error);
  g_autoptr (GPtrArray) wrt = g_ptr_array_new ();
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) states = g_ptr_array_new ();
  g_autoptr (GPtrArray) declarations = g_ptr_array_new ();
  GyreModelScope scope = { .declarations = declarations };
  GyreKey key;
  GyreTensor *x, *y;

  gyre_assert_no_error (error);
  begin (test->file);
  x = input ("x");
  add_input (x, wrt, names);
  scope.graph = graph;
  scope.params = read_tree ("param/", test->path, wrt);
  name_gradients (names);
  scope.state = read_tree ("state/", test->path, states);
  scope.training = layer_case_is_training (file);
  scope.key = layer_case_key (file, &key) ? gyre_random_key (key) : NULL;
  scope.is_layer_key = TRUE;
  y = gyre_model_scope_apply (&scope, model, x);
  output ("y", y);
  add_gradients (y, wrt, names);
  add_state (&scope, test->path);
  end (test->tolerance);
}
END_TEST

START_TEST (loss_agrees)
{
  const LossCase *test = &losses[_i];
  g_autoptr (GPtrArray) wrt = g_ptr_array_new ();
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GyreTensor *x, *y;

  begin (test->file);
  x = input ("x");
  g_ptr_array_add (wrt, x);
  g_ptr_array_add (names, g_strdup ("dx"));
  y = gyre_loss (test->loss, x, input (test->target), &test->options);
  output ("y", y);
  add_gradients (y, wrt, names);
  end (2e-5);
}
END_TEST

/* Runs a graph of one input that is made here. */
static void
run (const GyreRef *refs,
     GyreRef       *results)
{
  g_autoptr (GError) error = NULL;

  gyre_graph_pop ();
  gyre_owner_pop ();
  gyre_assert_no_error (graph->error);
  gyre_interpret (graph, refs, results, &error);
  gyre_assert_no_error (error);
  g_clear_pointer (&graph, gyre_graph_free);
}

static void
begin_own (void)
{
  graph = gyre_graph_new ();
  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
}

/* Logits of ±1000, and a label that is no class: nothing overflows. */
START_TEST (cross_entropy_is_stable)
{
  double logits[] = { 1000, -1000, 0, 1000, -1000, 0, 1000, -1000, 0 };
  double labels[] = { 0, 1, 7 };
  GyreRef refs[] = { { GYRE_F32, GYRE_SHAPE (3, 3), logits },
                     { GYRE_I32, GYRE_SHAPE (3), labels } };
  GyreRef results[4];
  GyreTensor *x, *y, *loss, *grad;

  begin_own ();
  x = gyre_graph_input (graph, "x", GYRE_F32, &refs[0].shape);
  y = gyre_graph_input (graph, "y", GYRE_I32, &refs[1].shape);
  loss = gyre_softmax_cross_entropy (x, y);
  gyre_grad_of (loss, &x, 1, &grad);
  gyre_graph_add_output (graph, gyre_softmax_cross_entropy_per_sample (x, y));
  gyre_graph_add_output (graph, grad);
  gyre_graph_add_output (graph, gyre_count_correct (x, y));
  gyre_graph_add_output (graph, gyre_accuracy (x, y));
  run (refs, results);

  ck_assert_double_eq (results[0].data[0], 0);
  ck_assert_double_eq (results[0].data[1], 2000);
  ck_assert_double_eq (results[0].data[2], 0);
  gyre_assert_near (results[1].data[3], 1.0 / 3, 1e-12);
  gyre_assert_near (results[1].data[4], -1.0 / 3, 1e-12);
  for (int i = 6; i < 9; i++)
    ck_assert_double_eq (results[1].data[i], 0);
  ck_assert_double_eq (results[2].data[0], 1);
  gyre_assert_near (results[3].data[0], 1.0 / 3, 1e-7);   /* the divisor is f32 */
  for (int i = 0; i < 4; i++)
    g_free (results[i].data);
}
END_TEST

START_TEST (unknown_loss_is_an_error)
{
  begin_own ();
  gyre_loss ("mean-squared-error", gyre_full (GYRE_SHAPE (2), GYRE_F32, 0),
             gyre_full (GYRE_SHAPE (2), GYRE_F32, 0), NULL);
  gyre_graph_pop ();
  gyre_owner_pop ();
  gyre_assert_error (graph->error, GYRE_ERROR, GYRE_ERROR_UNKNOWN);
  gyre_assert_error_says (graph->error, "huber, mse, sigmoid-cross-entropy");
  g_clear_pointer (&graph, gyre_graph_free);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "layers", layer_agrees, G_N_ELEMENTS (layers));
  gyre_check_add_loop (suite, "losses", loss_agrees, G_N_ELEMENTS (losses));
  gyre_check_add (suite, "stable", cross_entropy_is_stable);
  gyre_check_add (suite, "unknown", unknown_loss_is_an_error);
}

GYRE_CHECK_MAIN ("reference", add_tests)
