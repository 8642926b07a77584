/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre.h>

#include "trace/gyre-trace-private.h"

/* A subclass with a tree of its own, as a program would write it. */

#define TEST_TYPE_STATE (test_state_get_type ())
G_DECLARE_FINAL_TYPE (TestState, test_state, TEST, STATE, GyreTrainState)

struct _TestState
{
  GyreTrainState parent_instance;
  GyreTree      *extra;
};

G_DEFINE_FINAL_TYPE (TestState, test_state, GYRE_TYPE_TRAIN_STATE)

static void
test_state_flatten (GyreTrainState *state,
                    GyreTree       *tree)
{
  GYRE_TRAIN_STATE_CLASS (test_state_parent_class)->flatten (state, tree);
  gyre_tree_set (tree, "extra", TEST_STATE (state)->extra);
}

static void
test_state_unflatten (GyreTrainState *state,
                      GyreTrainState *like,
                      GyreTree       *tree)
{
  GYRE_TRAIN_STATE_CLASS (test_state_parent_class)->unflatten (state, like, tree);
  TEST_STATE (state)->extra = gyre_tree_ref (gyre_tree_get_tree (tree, "extra"));
}

static void
test_state_finalize (GObject *object)
{
  g_clear_pointer (&TEST_STATE (object)->extra, gyre_tree_unref);

  G_OBJECT_CLASS (test_state_parent_class)->finalize (object);
}

static void
test_state_class_init (TestStateClass *klass)
{
  GYRE_TRAIN_STATE_CLASS (klass)->flatten = test_state_flatten;
  GYRE_TRAIN_STATE_CLASS (klass)->unflatten = test_state_unflatten;
  G_OBJECT_CLASS (klass)->finalize = test_state_finalize;
}

static void
test_state_init (TestState *self)
{
}

static GyreTrainState *
make_state (const char *model_line,
            const char *optimizer_line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse (model_line, &error);
  g_autoptr (GyreOptimizer) optimizer = NULL;
  GyreTrainState *state;

  gyre_assert_no_error (error);
  optimizer = gyre_optimizer_parse (optimizer_line, &error);
  gyre_assert_no_error (error);
  state =
      gyre_train_state_new (model, optimizer, GYRE_SHAPE (1, 3), GYRE_F32, 0, &error);
  gyre_assert_no_error (error);

  return state;
}

static char *
list_paths (GyreTree *tree)
{
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (tree, &paths);
  char *joined;

  g_ptr_array_add (paths, NULL);
  joined = g_strjoinv (" ", (char **) paths->pdata);
  g_ptr_array_unref (paths);

  return joined;
}

START_TEST (is_a_tree)
{
  g_autoptr (GyreTrainState) state =
      make_state ("dense features=2", "clip-by-global-norm max-norm=1 ! adam");
  g_autoptr (GyreTree) tree = gyre_tree_new_node (state);
  g_autofree char *paths = list_paths (tree);

  ck_assert_str_eq (paths,
                    "opt_state/1/count "
                    "opt_state/1/mu/dense_0/bias opt_state/1/mu/dense_0/kernel "
                    "opt_state/1/nu/dense_0/bias opt_state/1/nu/dense_0/kernel "
                    "params/dense_0/bias params/dense_0/kernel step");
}
END_TEST

/* A step: gradients of the sum of squares of what the model gives. */
static GyreTensor *
loss (GyreTree  *params,
      GyreTree **aux,
      gpointer   data)
{
  GyreTree *args = data;
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTensor *y =
      gyre_model_apply (gyre_train_state_get_model (state), params, NULL,
                        gyre_tree_get_tensor (args, "x"), TRUE, NULL, NULL);

  return gyre_sum (gyre_square (y));
}

static GyreTree *
step (GyreTree *args,
      gpointer  data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTree *grads =
      gyre_value_and_grad (loss, gyre_train_state_get_params (state), args, NULL, NULL);

  state = gyre_train_state_apply_gradients (state, grads);
  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state), NULL);
}

static void
add_aval (const char *path,
          GyreTree   *leaf,
          gpointer    data)
{
  GyreArray *array = gyre_tree_as_array (leaf);
  GyreAval aval = { gyre_array_get_dtype (array), gyre_array_get_shape (array) };

  g_array_append_val ((GArray *) data, aval);
}

static void
trace_func (GyreTrainState *state,
            GyreStepFunc    func)
{
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autoptr (GArray) avals = g_array_new (FALSE, TRUE, sizeof (GyreAval));
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) x =
      gyre_array_new (GYRE_F32, GYRE_SHAPE (2, 3), (float[6]) { 0 });
  g_autoptr (GyreTree) args =
      gyre_tree_build (GYRE_NODE_ENTRY ("state", state), GYRE_ARRAY_ENTRY ("x", x), NULL);
  g_autoptr (GyreTree) before = gyre_tree_build (GYRE_NODE_ENTRY ("state", state), NULL);

  gyre_tree_foreach (args, add_aval, avals);
  ck_assert (gyre_trace_run (trace, func, NULL, args, (GyreAval *) avals->data, &error));
  gyre_assert_no_error (error);

  /* the state after it is one like the state before */
  ck_assert (gyre_tree_same_structure (before, trace->results, &error));
  ck_assert (G_OBJECT_TYPE (gyre_tree_get_node (trace->results, "state")) ==
             G_OBJECT_TYPE (state));
}

START_TEST (passes_through_a_step)
{
  g_autoptr (GyreTrainState) state =
      make_state ("dense features=2 ! relu ! dense features=1", "adam");

  trace_func (state, step);
}
END_TEST

START_TEST (can_be_extended)
{
  g_autoptr (GyreTrainState) plain = make_state ("dense features=2", "sgd momentum=0.9");
  g_autoptr (GyreArray) number = gyre_array_new_scalar (GYRE_F32, 5);
  g_autoptr (GyreTree) contents = gyre_node_flatten (GYRE_NODE (plain));
  g_autoptr (GyreTrainState) state = g_object_new (TEST_TYPE_STATE, NULL);
  g_autofree char *paths = NULL;
  g_autoptr (GyreTree) tree = NULL;

  gyre_tree_set_array (contents, "extra", number);
  GYRE_TRAIN_STATE_GET_CLASS (state)->unflatten (state, plain, contents);
  tree = gyre_tree_new_node (state);
  paths = list_paths (tree);
  ck_assert_str_eq (paths, "extra opt_state/trace/dense_0/bias "
                           "opt_state/trace/dense_0/kernel "
                           "params/dense_0/bias params/dense_0/kernel step");
  ck_assert (gyre_train_state_get_model (state) == gyre_train_state_get_model (plain));
  trace_func (state, step);
}
END_TEST

static gboolean
comes_from (const GyreTensor *tensor,
            const GyreTensor *other)
{
  gboolean does = tensor == other;

  for (guint i = 0; !does && i < tensor->n_operands; i++)
    does = comes_from (tensor->operands[i], other);

  return does;
}

/* With the parameters that it is given, or else its own, it is the model. */
static GyreTree *
step_applies (GyreTree *args,
              gpointer  data)
{
  GyreTrainState *state = gyre_tree_get_node (args, "state");
  GyreTree *params = gyre_train_state_get_params (state);
  GyreTree *twice = gyre_tree_map2 (gyre_add, params, params);
  GyreTensor *x = gyre_tree_get_tensor (args, "x");
  GyreTensor *own = gyre_train_state_apply (state, NULL, x, FALSE, NULL, NULL);
  GyreTensor *other = gyre_train_state_apply (state, twice, x, FALSE, NULL, NULL);

  ck_assert_int_eq (gyre_tensor_dim (own, 1), 2);
  ck_assert (comes_from (own, gyre_tree_get_tensor (params, "dense_0/kernel")));
  ck_assert (comes_from (other, gyre_tree_get_tensor (twice, "dense_0/kernel")));
  ck_assert (!comes_from (own, gyre_tree_get_tensor (twice, "dense_0/kernel")));

  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state), NULL);
}

/* One field is traced through, the other copied: the parameters before the update. */
static GyreTree *
step_fields (GyreTree *args,
             gpointer  data)
{
  GyreTrainState *before = gyre_tree_get_node (args, "state"), *state = before;
  GyreTree *params = gyre_train_state_get_params (state);
  GyreTree *grads = gyre_value_and_grad (loss, params, args, NULL, NULL);
  GyreTree *sum = gyre_tree_map2 (gyre_add, gyre_train_state_get_field (state, "sum"),
                                  grads);

  state = gyre_train_state_apply_gradients (state, grads);
  state = gyre_train_state_with_field (state, "previous", params);
  state = gyre_train_state_with_field (state, "sum", sum);
  ck_assert_ptr_eq (gyre_train_state_get_field (state, "previous"), params);
  ck_assert_ptr_eq (gyre_train_state_get_field (state, "sum"), sum);
  ck_assert_ptr_ne (gyre_train_state_get_field (before, "sum"), sum);

  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state), NULL);
}

START_TEST (has_fields_of_the_program)
{
  g_autoptr (GyreTrainState) plain = make_state ("dense features=2", "sgd momentum=0");
  GyreTree *params = gyre_train_state_get_params (plain);
  g_autoptr (GyreTrainState) one = gyre_train_state_with_field (plain, "sum", params);
  g_autoptr (GyreTrainState) two = gyre_train_state_with_field (one, "previous", params);
  g_autoptr (GyreTrainState) again = gyre_train_state_with_field (two, "sum", params);
  g_autoptr (GyreTree) tree = gyre_tree_new_node (again);
  g_autofree char *paths = list_paths (tree);

  ck_assert_ptr_null (gyre_train_state_get_field (plain, "sum"));
  ck_assert_ptr_eq (gyre_train_state_get_field (one, "sum"), params);
  ck_assert_str_eq (paths, "params/dense_0/bias params/dense_0/kernel "
                           "previous/dense_0/bias previous/dense_0/kernel step "
                           "sum/dense_0/bias sum/dense_0/kernel");
  trace_func (again, step_fields);
}
END_TEST

START_TEST (applies_its_model)
{
  g_autoptr (GyreTrainState) state = make_state ("dense features=2 ! relu", "adam");

  trace_func (state, step_applies);
}
END_TEST

START_TEST (says_why_a_model_does_not_fit)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse ("dense features=2", &error);
  g_autoptr (GyreOptimizer) optimizer = gyre_adam_new (1e-3);

  ck_assert_ptr_null (
      gyre_train_state_new (model, optimizer, GYRE_SCALAR, GYRE_F32, 0, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "dense_0");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "tree", is_a_tree);
  gyre_check_add (suite, "step", passes_through_a_step);
  gyre_check_add (suite, "subclass", can_be_extended);
  gyre_check_add (suite, "fields", has_fields_of_the_program);
  gyre_check_add (suite, "apply", applies_its_model);
  gyre_check_add (suite, "error", says_why_a_model_does_not_fit);
}

GYRE_CHECK_MAIN ("train-state", add_tests)
