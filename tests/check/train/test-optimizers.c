/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include <gyre/gyre.h>

#include "base/gyre-arena-private.h"
#include "ir/gyre-prim-private.h"

/* Six updates of two arrays by every optimizer, and schedules by step, through the
 * interpreter, against what Optax computed in float32: 1e-6 relative or 1e-7 absolute. */

typedef struct
{
  const char *name;   /* in optimizers.json */
  const char *line;
} Case;

static const Case runs[] = {
  { "sgd lr=0.1", "sgd learning-rate=0.1" },
  { "sgd lr=0.1 momentum=0.9", "sgd learning-rate=0.1 momentum=0.9" },
  { "sgd lr=0.1 momentum=0.9 nesterov",
    "sgd learning-rate=0.1 momentum=0.9 nesterov=true" },
  { "adam lr=0.01", "adam learning-rate=0.01" },
  { "adam lr=0.01 b1=0.8 b2=0.95 eps=1e-6",
    "adam learning-rate=0.01 b1=0.8 b2=0.95 eps=1e-6" },
  { "adamw lr=0.01 weight_decay=0.1", "adamw learning-rate=0.01 weight-decay=0.1" },
  { "rmsprop lr=0.01 decay=0.9", "rmsprop learning-rate=0.01 decay=0.9" },
  { "adagrad lr=0.1", "adagrad learning-rate=0.1" },
  { "lion lr=0.01", "lion learning-rate=0.01" },
  { "lamb lr=0.01", "lamb learning-rate=0.01" },
  { "chain clip_by_global_norm=1.0 adam lr=0.01",
    "clip-by-global-norm max-norm=1 ! adam learning-rate=0.01" },
  { "chain clip=0.5 sgd lr=0.1", "clip max-delta=0.5 ! sgd learning-rate=0.1" },
  { "sgd lr=cosine_decay(0.1,4)",
    "sgd learning-rate=cosine-decay(init-value=0.1, decay-steps=4)" },
};

static const Case schedules[] = {
  { "constant 0.1", "constant(value=0.1)" },
  { "exponential init=0.1 transition=10 rate=0.9",
    "exponential-decay(init-value=0.1,transition-steps=10,decay-rate=0.9)" },
  { "cosine init=0.1 steps=100 alpha=0.01",
    "cosine-decay(init-value=0.1,decay-steps=100,alpha=0.01)" },
  { "warmup_cosine init=0 peak=0.1 warmup=10 steps=100 end=0.001",
    "warmup-cosine-decay(init-value=0,peak-value=0.1,warmup-steps=10,decay-steps=100,"
    "end-value=0.001)" },
  { "piecewise init=0.1 {50:0.1,100:0.5}",
    "piecewise-constant(init-value=0.1,boundaries-and-scales=50:0.1;100:0.5)" },
  { "linear init=0.1 end=0.0 steps=100",
    "linear(init-value=0.1,end-value=0,transition-steps=100)" },
};

static JsonParser *parser;
static JsonObject *root;

static void
load (void)
{
  g_autofree char *file = gyre_check_data ("optimizers.json");

  parser = json_parser_new ();
  ck_assert (json_parser_load_from_file (parser, file, NULL));
  root = json_node_get_object (json_parser_get_root (parser));
}

static void
unload (void)
{
  g_clear_object (&parser);
}

static double *
read_numbers (JsonObject *object,
              const char *name,
              guint      *n)
{
  JsonArray *array = json_object_get_array_member (object, name);
  double *numbers;

  *n = json_array_get_length (array);
  numbers = g_new (double, *n);
  for (guint i = 0; i < *n; i++)
    numbers[i] = json_array_get_double_element (array, i);

  return numbers;
}

/* {"a": …, "b": …} as a tree of host arrays */
static GyreTree *
read_tree (JsonObject *object)
{
  GyreTree *tree = gyre_tree_new_dict ();

  for (const char *name = "a"; name != NULL; name = g_str_equal (name, "a") ? "b" : NULL)
    {
      guint n;
      g_autofree double *numbers = read_numbers (object, name, &n);
      g_autofree float *floats = g_new (float, n);
      g_autoptr (GyreArray) array = NULL;

      for (guint i = 0; i < n; i++)
        floats[i] = (float) numbers[i];
      array = gyre_array_new (GYRE_F32, GYRE_SHAPE (n), floats);
      gyre_tree_set_array (tree, name, array);
    }

  return tree;
}

static double *
read_array (GyreArray *array)
{
  GyreShape shape = gyre_array_get_shape (array);
  gint64 n = gyre_shape_n_elements (&shape);
  g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
  gconstpointer data = g_bytes_get_data (bytes, NULL);
  double *numbers = g_new (double, n);

  for (gint64 i = 0; i < n; i++)
    numbers[i] = gyre_array_get_dtype (array) == GYRE_F32 ? ((const float *) data)[i]
                                                          : ((const gint32 *) data)[i];

  return numbers;
}

/* A tree of graph inputs like a tree of arrays, with the arrays' numbers. */
typedef struct
{
  GyreGraph *graph;
  GArray    *refs;
} Inputs;

static GyreTree *
make_input (const char       *path,
            GyreTree *const  *leaves,
            guint             n_trees,
            gpointer          data,
            GError          **error)
{
  Inputs *inputs = data;
  GyreArray *array = gyre_tree_as_array (leaves[0]);
  GyreRef ref = { gyre_array_get_dtype (array), gyre_array_get_shape (array),
                  read_array (array) };

  g_array_append_val (inputs->refs, ref);
  return gyre_tree_new_tensor (gyre_graph_input (inputs->graph, path, ref.dtype,
                                                 &ref.shape));
}

static GyreTree *
make_inputs (Inputs   *inputs,
             GyreTree *arrays)
{
  return gyre_tree_map (&arrays, 1, make_input, inputs, NULL);
}

/* Every update is a run: its results, rounded to what arrays hold, are the next one's
 * arguments. */
typedef struct
{
  GyreRef *results;
  guint    next;
} Results;

static GyreTree *
take_result (const char       *path,
             GyreTree *const  *leaves,
             guint             n_trees,
             gpointer          data,
             GError          **error)
{
  Results *results = data;
  GyreRef *ref = &results->results[results->next++];
  gint64 n = gyre_shape_n_elements (&ref->shape);
  g_autofree guint32 *words = g_new (guint32, MAX (n, 1));
  g_autoptr (GyreArray) array = NULL;

  for (gint64 i = 0; i < n; i++)
    if (ref->dtype == GYRE_F32)
      ((float *) words)[i] = (float) ref->data[i];
    else
      ((gint32 *) words)[i] = (gint32) ref->data[i];
  g_free (ref->data);
  array = gyre_array_new (ref->dtype, ref->shape, words);

  return gyre_tree_new_array (array);
}

static void
add_output (const char *path,
            GyreTree   *leaf,
            gpointer    data)
{
  gyre_graph_add_output (data, gyre_tree_as_tensor (leaf));
}

/* {"params", "state"} after an update */
static GyreTree *
update (GyreOptimizer *optimizer,
        GyreTree      *grads,
        GyreTree      *before)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GArray) refs = g_array_new (FALSE, TRUE, sizeof (GyreRef));
  g_autoptr (GError) error = NULL;
  g_autofree GyreRef *values = NULL;
  Inputs inputs = { graph, refs };
  GyreTree *both, *params, *updates, *state, *after;
  Results results = { NULL, 0 };

  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
  both = make_inputs (&inputs, before);
  params = gyre_tree_get_tree (both, "params");
  updates = gyre_optimizer_update (optimizer, make_inputs (&inputs, grads),
                                   gyre_tree_get_tree (both, "state"), params, &state);
  after =
      gyre_tree_build (GYRE_TREE_ENTRY ("params", gyre_apply_updates (params, updates)),
                       GYRE_TREE_ENTRY ("state", state), NULL);
  gyre_tree_foreach (after, add_output, graph);
  gyre_graph_pop ();
  gyre_owner_pop ();
  gyre_assert_no_error (graph->error);

  ck_assert (gyre_tree_same_structure (before, after, &error));
  values = results.results = g_new0 (GyreRef, graph->outputs->len);
  gyre_interpret (graph, (GyreRef *) refs->data, values, &error);
  gyre_assert_no_error (error);
  for (guint i = 0; i < refs->len; i++)
    g_free (g_array_index (refs, GyreRef, i).data);

  return gyre_tree_map (&before, 1, take_result, &results, NULL);
}

static void
compare (GyreTree   *params,
         JsonObject *expected,
         const char *name,
         guint       step)
{
  guint n;
  g_autofree double *numbers = read_numbers (expected, name, &n);
  g_autofree char *path = g_strconcat ("params/", name, NULL);
  g_autofree double *actual = read_array (gyre_tree_get_array (params, path));

  for (guint i = 0; i < n; i++)
    {
      double tolerance = MAX (1e-6 * fabs (numbers[i]), 1e-7);

      /* one more for the last bit: both sides are rounded to float32 */
      tolerance += fabs (numbers[i]) * 0x1p-24;
      if (!(fabs (actual[i] - numbers[i]) <= tolerance))
        ck_abort_msg ("update %u: %s[%u] is %.9g, not %.9g within %.3g", step, name, i,
                      actual[i], numbers[i], tolerance);
    }
}

START_TEST (optimizer_agrees)
{
  JsonArray *expected =
    json_object_get_array_member (json_object_get_object_member (root, "runs"),
                                  runs[_i].name);
  JsonArray *grads = json_object_get_array_member (root, "grads");
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreOptimizer) optimizer = gyre_optimizer_parse (runs[_i].line, &error);
  g_autoptr (GyreTree) params =
    read_tree (json_object_get_object_member (root, "params"));
  g_autoptr (GyreTree) state = NULL;
  g_autoptr (GyreTree) both = NULL;

  gyre_assert_no_error (error);
  state = gyre_optimizer_init (optimizer, params);
  both = gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                          GYRE_TREE_ENTRY ("state", state), NULL);
  for (guint i = 0; i < json_array_get_length (grads); i++)
    {
      g_autoptr (GyreTree) grad = read_tree (json_array_get_object_element (grads, i));
      GyreTree *after = update (optimizer, grad, both);

      compare (after, json_array_get_object_element (expected, i), "a", i);
      compare (after, json_array_get_object_element (expected, i), "b", i);
      gyre_tree_unref (both);
      both = after;
    }
}
END_TEST

/* What a schedule gives for each count, up to the rounding of a float. */
static void
check_schedule (const char   *line,
                const double *counts,
                const double *wanted,
                guint         n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreSchedule) schedule = gyre_schedule_parse (line, &error);
  g_autoptr (GyreGraph) graph = gyre_graph_new ();

  gyre_assert_no_error (error);
  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
  gyre_graph_add_output (graph,
                         gyre_schedule_value (schedule,
                                              gyre_graph_input (graph, "count", GYRE_I32,
                                                                &GYRE_SCALAR)));
  gyre_graph_pop ();
  gyre_owner_pop ();
  gyre_assert_no_error (graph->error);

  for (guint i = 0; i < n; i++)
    {
      double count = counts[i];
      GyreRef input = { GYRE_I32, GYRE_SCALAR, &count };
      GyreRef value;

      gyre_interpret (graph, &input, &value, &error);
      gyre_assert_no_error (error);
      gyre_assert_near (value.data[0], wanted[i], MAX (1e-6 * fabs (wanted[i]), 1e-7));
      g_free (value.data);
    }
}

START_TEST (schedule_agrees)
{
  JsonArray *steps = json_object_get_array_member (root, "schedule_steps");
  JsonArray *expected =
    json_object_get_array_member (json_object_get_object_member (root, "schedules"),
                                  schedules[_i].name);
  guint n = json_array_get_length (steps);
  g_autofree double *counts = g_new (double, n);
  g_autofree double *wanted = g_new (double, n);

  for (guint i = 0; i < n; i++)
    {
      counts[i] = json_array_get_double_element (steps, i);
      wanted[i] = json_array_get_double_element (expected, i);
    }
  check_schedule (schedules[_i].line, counts, wanted, n);
}
END_TEST

/* Their ends, by hand: 0.5^(c / 10) stops at its end value, from either side, and a
 * warm-up of no steps begins at the peak. */
START_TEST (schedule_ends)
{
  static const double counts[] = { 0, 10, 20, 40 };
  static const struct
  {
    const char *line;
    double      wanted[G_N_ELEMENTS (counts)];
  } cases[] = {
    { "exponential-decay(init-value=0.4,transition-steps=10,decay-rate=0.5,"
      "end-value=0.15)",
      { 0.4, 0.2, 0.15, 0.15 } },
    { "exponential-decay(init-value=0.1,transition-steps=10,decay-rate=2,end-value=0.3)",
      { 0.1, 0.2, 0.3, 0.3 } },
    { "warmup-cosine-decay(init-value=0,peak-value=0.2,warmup-steps=0,decay-steps=20)",
      { 0.2, 0.1, 0, 0 } },
  };

  check_schedule (cases[_i].line, counts, cases[_i].wanted, G_N_ELEMENTS (counts));
}
END_TEST

static const struct
{
  const char *line;
  int         code;
  const char *says;
} wrong[] = {
  { "", GYRE_ERROR_SYNTAX, "optimizer, column 1: a name is missing" },
  { "adm", GYRE_ERROR_UNKNOWN,
    "column 1: unknown optimizer \"adm\"; did you mean \"adam\"?" },
  { "adam rate=1", GYRE_ERROR_UNKNOWN, "column 6: adam has no property \"rate\"" },
  { "adam learning-rate=-1", GYRE_ERROR_INVALID,
    "learning-rate=-1: it takes a number from 0" },
  { "adam b1=2", GYRE_ERROR_INVALID, "adam: b1=2: it takes a number from 0 to 1" },
  { "adam ! clip-by-global-norm", GYRE_ERROR_INVALID,
    "column 8: clip-by-global-norm needs max-norm=" },
  { "adam ( sgd )", GYRE_ERROR_SYNTAX, "optimizers are chained by '!'" },
  { "adam learning-rate=cosine-decay(init-value=1", GYRE_ERROR_SYNTAX, "never closed" },
  { "adam learning-rate=cosine(init-value=1)", GYRE_ERROR_UNKNOWN,
    "column 6: unknown schedule \"cosine\"" },
  { "adam learning-rate=cosine-decay(decay-steps=0)", GYRE_ERROR_INVALID,
    "cosine-decay: decay-steps=0: it takes an integer from 1" },
  { "adam learning-rate=cosine-decay(decay-steps)", GYRE_ERROR_SYNTAX, "PROPERTY=VALUE" },
  { "adam b1=cosine-decay(decay-steps=1)", GYRE_ERROR_INVALID, "it takes a number" },
  { "sgd learning-rate=warmup-cosine-decay(warmup-steps=10,decay-steps=10)",
    GYRE_ERROR_INVALID, "has to be more than warmup-steps=10" },
  { "sgd learning-rate=piecewise-constant(boundaries-and-scales=5)", GYRE_ERROR_INVALID,
    "\"5\" is not of the form UPDATES:SCALE" },
};

START_TEST (says_what_is_wrong)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (gyre_optimizer_parse (wrong[_i].line, &error));
  gyre_assert_error (error, GYRE_ERROR, wrong[_i].code);
  gyre_assert_error_says (error, wrong[_i].says);
}
END_TEST

START_TEST (prints_what_it_reads)
{
  static const char *const lines[] = {
    "adam", "sgd learning-rate=0.1 momentum=0.9 nesterov=true",
    "clip-by-global-norm max-norm=1 ! adamw",
    "sgd learning-rate=cosine-decay(init-value=0.1,decay-steps=4)",
    "adamw mask=kernels",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GyreOptimizer) optimizer = gyre_optimizer_parse (lines[i], &error);
      g_autofree char *printed = NULL;

      gyre_assert_no_error (error);
      printed = gyre_optimizer_to_string (optimizer);
      ck_assert_str_eq (printed, lines[i]);
    }
}
END_TEST

static const struct
{
  const char *line;
  double      kernel;   /* after one update from 1, with a gradient of 0 */
  double      other;
} decays[] = {
  { "adamw learning-rate=0.5 weight-decay=0.5", 0.75, 0.75 },
  { "adamw learning-rate=0.5 weight-decay=0.5 mask=kernels", 0.75, 1 },
  { "lion learning-rate=0.5 weight-decay=0.5 mask=kernels", 0.75, 1 },
};

static const struct
{
  const char *path;
  gboolean    is_kernel;
} masked[] = {
  { "params/dense_0/kernel", TRUE },
  { "params/dense_0/bias", FALSE },
  { "params/attention_0/query/bias", FALSE },
  { "params/batch_norm_0/scale", FALSE },
  { "params/embedding_0/embedding", TRUE },
};

static GyreTree *
fill_params (float value)
{
  GyreTree *tree = gyre_tree_new_dict ();

  for (gsize i = 0; i < G_N_ELEMENTS (masked); i++)
    {
      g_autoptr (GyreArray) array = gyre_array_new (GYRE_F32, GYRE_SHAPE (1), &value);
      g_autoptr (GyreTree) leaf = gyre_tree_new_array (array);

      gyre_tree_set_path (tree, masked[i].path, leaf);
    }

  return tree;
}

START_TEST (decays_by_mask)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreOptimizer) optimizer = gyre_optimizer_parse (decays[_i].line, &error);
  g_autoptr (GyreTree) both = fill_params (1), zeros = fill_params (0);
  g_autoptr (GyreTree) state = NULL, after = NULL;

  gyre_assert_no_error (error);
  state = gyre_optimizer_init (optimizer, gyre_tree_get_tree (both, "params"));
  gyre_tree_set (both, "state", state);
  after = update (optimizer, gyre_tree_get_tree (zeros, "params"), both);
  for (gsize i = 0; i < G_N_ELEMENTS (masked); i++)
    {
      g_autofree double *value =
        read_array (gyre_tree_get_array (after, masked[i].path));

      ck_assert_double_eq (value[0],
                           masked[i].is_kernel ? decays[_i].kernel : decays[_i].other);
    }
}
END_TEST

START_TEST (refuses_other_gradients)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GyreOptimizer) optimizer = gyre_adam_new (1);
  GyreTensor *x;
  GyreTree *params, *grads, *state, *after;

  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
  x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2));
  params = gyre_tree_build (GYRE_TENSOR_ENTRY ("kernel", x), NULL);
  grads = gyre_tree_build (GYRE_TENSOR_ENTRY ("bias", x), NULL);
  state = gyre_optimizer_init (optimizer, params);
  gyre_optimizer_update (optimizer, grads, state, params, &after);
  gyre_graph_pop ();
  gyre_owner_pop ();

  gyre_assert_error (graph->error, GYRE_ERROR, GYRE_ERROR_TREE);
  gyre_assert_error_says (graph->error, "bias");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *all = gyre_check_case (suite, "runs", load, unload);
  TCase *values = gyre_check_case (suite, "schedules", load, unload);

  tcase_add_loop_test (all, optimizer_agrees, 0, G_N_ELEMENTS (runs));
  tcase_add_loop_test (values, schedule_agrees, 0, G_N_ELEMENTS (schedules));
  tcase_add_loop_test (values, schedule_ends, 0, 3);
  gyre_check_add_loop (suite, "errors", says_what_is_wrong, G_N_ELEMENTS (wrong));
  gyre_check_add_loop (suite, "masks", decays_by_mask, G_N_ELEMENTS (decays));
  gyre_check_add (suite, "lines", prints_what_it_reads);
  gyre_check_add (suite, "gradients", refuses_other_gradients);
}

GYRE_CHECK_MAIN ("optimizers", add_tests)
