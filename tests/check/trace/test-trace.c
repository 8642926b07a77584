/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"
#include "ir/toy-prims.h"
#include "trace/gyre-trace-private.h"

/* A node of trees: a value, and a name that isn't a leaf. */

#define TOY_TYPE_STATE (toy_state_get_type ())
G_DECLARE_FINAL_TYPE (ToyState, toy_state, TOY, STATE, GObject)

struct _ToyState
{
  GObject   parent_instance;
  GyreTree *value;
  char     *name;
};

static GyreTree *
toy_state_flatten (GyreNode *node)
{
  GyreTree *tree = gyre_tree_new_dict ();

  gyre_tree_set (tree, "value", TOY_STATE (node)->value);
  return tree;
}

static ToyState *
toy_state_new (GyreTree   *value,
               const char *name)
{
  ToyState *self = g_object_new (TOY_TYPE_STATE, NULL);

  self->value = gyre_tree_ref (value);
  self->name = g_strdup (name);
  gyre_owner_adopt (self, g_object_unref);
  return self;
}

static GyreNode *
toy_state_unflatten (GyreNode *node,
                     GyreTree *tree)
{
  return GYRE_NODE (
      toy_state_new (gyre_tree_lookup (tree, "value"), TOY_STATE (node)->name));
}

static void
toy_state_node_init (GyreNodeInterface *iface)
{
  iface->flatten = toy_state_flatten;
  iface->unflatten = toy_state_unflatten;
}

G_DEFINE_TYPE_WITH_CODE (ToyState, toy_state, G_TYPE_OBJECT,
                         G_IMPLEMENT_INTERFACE (GYRE_TYPE_NODE, toy_state_node_init))

static int n_alive;

static void
toy_state_finalize (GObject *object)
{
  n_alive--;
  gyre_tree_unref (TOY_STATE (object)->value);
  g_free (TOY_STATE (object)->name);
  G_OBJECT_CLASS (toy_state_parent_class)->finalize (object);
}

static void
toy_state_class_init (ToyStateClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = toy_state_finalize;
}

static void
toy_state_init (ToyState *self)
{
  n_alive++;
}

/* Leaves of the arguments: what they point to is never looked at. */
static int number;
#define SOME_ARRAY ((GyreArray *) &number)

static GyreTree *
make_args (void)
{
  GyreTree *args = gyre_tree_new_dict ();
  g_autoptr (GyreTree) leaf = gyre_tree_new_array (SOME_ARRAY);
  g_autoptr (ToyState) state = toy_state_new (leaf, "mine");

  gyre_tree_set_node (args, "state", state);
  gyre_tree_set (args, "batch", leaf);
  return args;
}

static const GyreAval avals[] = { { GYRE_F32, { 1, { 3 } } },
                                  { GYRE_F32, { 1, { 3 } } } };

/* {state, batch} → {state·2, sum, batch} */
static GyreTree *
step (GyreTree *args,
      gpointer  data)
{
  ToyState *state = gyre_tree_get_node (args, "state");
  GyreTensor *value = gyre_tree_get_tensor (args, "state/value");
  GyreTensor *batch = gyre_tree_get_tensor (args, "batch");
  GyreTensor *sum = toy_binary (&toy_add, value, batch);

  ck_assert_str_eq (state->name, "mine");
  ck_assert_ptr_eq (gyre_graph_get_current (), value->graph);
  return gyre_tree_build (
      GYRE_NODE_ENTRY (
          "state", toy_state_new (gyre_tree_new_tensor (toy_scaled (value, 2)), "next")),
      GYRE_TENSOR_ENTRY ("sum", sum), GYRE_TENSOR_ENTRY ("same", batch),
      GYRE_ARRAY_ENTRY ("fixed", data), NULL);
}

START_TEST (records_a_graph)
{
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  gyre_trace_add_axis (trace, "data", 2, TRUE, TRUE);
  ck_assert (gyre_trace_run (trace, step, SOME_ARRAY, args, avals, &error));
  gyre_assert_no_error (error);
  text = gyre_graph_to_string (trace->graph);
  ck_assert_str_eq (text, "axis data=2 manual ragged\n"
                          "%0 = f32[3] input {batch}\n"
                          "%1 = f32[3] input {state/value}\n"
                          "%2 = f32[3] toy-add %1 %0\n"
                          "%3 = f32[3] toy-scale %1 {2}\n"
                          "return %0 %3 %2\n");
  ck_assert_str_eq (g_ptr_array_index (trace->arg_paths, 1), "state/value");
  ck_assert_str_eq (g_ptr_array_index (trace->result_paths, 0), "fixed");
  ck_assert (gyre_tree_same_structure (trace->args, args, &error));
  ck_assert_ptr_null (gyre_graph_get_current ());
  ck_assert_ptr_null (gyre_owner_get ());
}
END_TEST

/* Without the graph, and with what is made outliving the trace. */
START_TEST (rebuilds_results)
{
  GyreTrace *trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GPtrArray) outputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_tree_unref);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) results = NULL;
  int numbers[3];

  ck_assert (gyre_trace_run (trace, step, SOME_ARRAY, args, avals, &error));
  gyre_graph_free (g_steal_pointer (&trace->graph));
  for (int i = 0; i < 3; i++)
    g_ptr_array_add (outputs, gyre_tree_new_array ((GyreArray *) &numbers[i]));
  results = gyre_trace_unflatten (trace, outputs, &error);
  gyre_trace_free (trace);
  gyre_assert_no_error (error);

  ck_assert_ptr_eq (gyre_tree_get_array (results, "fixed"), SOME_ARRAY);
  ck_assert_ptr_eq (gyre_tree_get_array (results, "same"), &numbers[0]);
  ck_assert_ptr_eq (gyre_tree_get_array (results, "state/value"), &numbers[1]);
  ck_assert_ptr_eq (gyre_tree_get_array (results, "sum"), &numbers[2]);
  ck_assert_str_eq (TOY_STATE (gyre_tree_get_node (results, "state"))->name, "next");
}
END_TEST

START_TEST (leaves_nothing_behind)
{
  GyreTrace *trace = gyre_trace_new ();
  GyreTree *args = make_args ();

  ck_assert (gyre_trace_run (trace, step, SOME_ARRAY, args, avals, NULL));
  gyre_tree_unref (args);
  gyre_trace_free (trace);
  ck_assert_int_eq (n_alive, 0);
}
END_TEST

static GyreTree *
step_null (GyreTree *args,
           gpointer  data)
{
  return NULL;
}

static GyreTree *
step_wrong (GyreTree *args,
            gpointer  data)
{
  GyreTensor *batch = gyre_tree_get_tensor (args, "batch");
  GyreTensor *bad = gyre_graph_fail (
      batch->graph, g_error_new (GYRE_ERROR, GYRE_ERROR_SHAPE, "a shape is wrong"));

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("sum", toy_binary (&toy_add, bad, batch)),
                          NULL);
}

static GyreTree *
step_foreign (GyreTree *args,
              gpointer  data)
{
  return gyre_tree_build (GYRE_TENSOR_ENTRY ("loss", data), NULL);
}

static const struct
{
  GyreStepFunc func;
  GyreError    code;
  const char  *says;
} failures[] = {
  { step_null, GYRE_ERROR_TRACE, "returned NULL" },
  { step_wrong, GYRE_ERROR_SHAPE, "a shape is wrong" },
  { step_foreign, GYRE_ERROR_TRACE, "\"loss\" is a tensor of another" },
};

START_TEST (says_what_went_wrong)
{
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;

  ck_assert (!gyre_trace_run (trace, failures[_i].func, &number, args, avals, &error));
  gyre_assert_error (error, GYRE_ERROR, failures[_i].code);
  gyre_assert_error_says (error, failures[_i].says);
  ck_assert_ptr_null (gyre_graph_get_current ());
  ck_assert_ptr_null (gyre_owner_get ());
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "record", records_a_graph);
  gyre_check_add (suite, "rebuild", rebuilds_results);
  gyre_check_add (suite, "leaks", leaves_nothing_behind);
  gyre_check_add_loop (suite, "errors", says_what_went_wrong, G_N_ELEMENTS (failures));
}

GYRE_CHECK_MAIN ("trace", add_tests)
