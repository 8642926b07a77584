/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre-tree.h>

#include "base/gyre-arena-private.h"
#include "base/gyre-tree-private.h"

/* Trees know arrays and tensors only as pointers, so here something else stands in. */
typedef struct
{
  int         n_refs;
  const char *text;
} Fake;

static Fake fakes[6];

static gpointer
fake_ref (gpointer fake)
{
  ((Fake *) fake)->n_refs++;
  return fake;
}

static void
fake_unref (gpointer fake)
{
  ((Fake *) fake)->n_refs--;
}

static char *
fake_to_string (gconstpointer fake)
{
  return g_strdup (((const Fake *) fake)->text);
}

static GyreTree *
leaf (guint i)
{
  return gyre_tree_new_array ((GyreArray *) &fakes[i]);
}

/* A node with two fields, one of them a tree. */
#define TEST_TYPE_STATE (test_state_get_type ())
G_DECLARE_FINAL_TYPE (TestState, test_state, TEST, STATE, GObject)

struct _TestState
{
  GObject   parent_instance;
  GyreTree *params;
  GyreTree *step;
};

static int n_states;

static GyreTree *
test_state_flatten (GyreNode *node)
{
  TestState *self = TEST_STATE (node);

  return gyre_tree_build (GYRE_TREE_ENTRY ("step", self->step),
                          GYRE_TREE_ENTRY ("params", self->params), NULL);
}

static TestState *test_state_new (GyreTree *params,
                                  GyreTree *step);

static GyreNode *
test_state_unflatten (GyreNode *node,
                      GyreTree *tree)
{
  return GYRE_NODE (test_state_new (gyre_tree_get_tree (tree, "params"),
                                    gyre_tree_get_tree (tree, "step")));
}

static void
test_state_node_init (GyreNodeInterface *iface)
{
  iface->flatten = test_state_flatten;
  iface->unflatten = test_state_unflatten;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (
  TestState, test_state, G_TYPE_OBJECT,
  G_IMPLEMENT_INTERFACE (GYRE_TYPE_NODE, test_state_node_init))

static void
test_state_finalize (GObject *object)
{
  TestState *self = TEST_STATE (object);

  gyre_tree_unref (self->params);
  gyre_tree_unref (self->step);
  n_states--;
  G_OBJECT_CLASS (test_state_parent_class)->finalize (object);
}

static void
test_state_class_init (TestStateClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = test_state_finalize;
}

static void
test_state_init (TestState *self)
{
  n_states++;
}

static TestState *
test_state_new (GyreTree *params,
                GyreTree *step)
{
  TestState *self = g_object_new (TEST_TYPE_STATE, NULL);

  self->params = gyre_tree_ref (params);
  self->step = gyre_tree_ref (step);
  gyre_owner_adopt (self, g_object_unref);

  return self;
}

static void
set_up (void)
{
  static const char *const texts[] = { "a0", "a1", "a2", "a3", "a4", "a5" };

  gyre_tree_set_array_funcs (fake_ref, fake_unref, fake_to_string);
  gyre_tree_set_tensor_to_string (fake_to_string);
  for (guint i = 0; i < G_N_ELEMENTS (fakes); i++)
    fakes[i] = (Fake) { 0, texts[i] };
  n_states = 0;
}

/* Each test gives back all that it took. */
static void
tear_down (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (fakes); i++)
    ck_assert_int_eq (fakes[i].n_refs, 0);
  ck_assert_int_eq (n_states, 0);
}

/* {w: a0, layers: [a1, {kernel: a2, bias: none}], aux: none} */
static GyreTree *
example (void)
{
  g_autoptr (GyreTree) tree = gyre_tree_new_dict ();
  g_autoptr (GyreTree) list = gyre_tree_new_list ();
  g_autoptr (GyreTree) first = leaf (1);
  g_autoptr (GyreTree) none = gyre_tree_new_none ();
  g_autoptr (GyreTree) second = gyre_tree_build (
    GYRE_ARRAY_ENTRY ("kernel", &fakes[2]), GYRE_TREE_ENTRY ("bias", NULL), NULL);

  gyre_tree_append (list, first);
  gyre_tree_append (list, second);
  gyre_tree_set_array (tree, "w", (GyreArray *) &fakes[0]);
  gyre_tree_set (tree, "layers", list);
  gyre_tree_set (tree, "aux", none);

  return g_steal_pointer (&tree);
}

/* {state: TestState {step: a3, params: {w: …}}, loss: a4} */
static GyreTree *
example_with_node (void)
{
  g_autoptr (GyreTree) params = example ();
  g_autoptr (GyreTree) step = leaf (3);
  g_autoptr (TestState) state = test_state_new (params, step);

  return gyre_tree_build (GYRE_NODE_ENTRY ("state", state),
                          GYRE_ARRAY_ENTRY ("loss", &fakes[4]), NULL);
}

static void
assert_prints (GyreTree   *tree,
               const char *expected)
{
  g_autofree char *text = gyre_tree_to_string (tree);

  ck_assert_str_eq (text, expected);
}

START_TEST (prints_in_order_of_insertion)
{
  g_autoptr (GyreTree) tree = example ();
  g_autoptr (GyreTree) with_node = example_with_node ();

  assert_prints (tree, "{w: a0, layers: [a1, {kernel: a2, bias: none}], aux: none}");
  assert_prints (with_node,
                 "{state: TestState {step: a3, params: {w: a0, layers: [a1, {kernel: a2, "
                 "bias: none}], aux: none}}, loss: a4}");
}
END_TEST

START_TEST (children_are_counted_and_named)
{
  g_autoptr (GyreTree) tree = example ();
  g_autoptr (GyreTree) none = gyre_tree_new_none ();
  GyreTree *list = gyre_tree_get_nth (tree, 1);

  ck_assert_int_eq (gyre_tree_get_kind (tree), GYRE_TREE_DICT);
  ck_assert_uint_eq (gyre_tree_get_n (tree), 3);
  ck_assert_str_eq (gyre_tree_get_nth_name (tree, 2), "aux");
  ck_assert_int_eq (gyre_tree_get_kind (list), GYRE_TREE_LIST);
  ck_assert_ptr_null (gyre_tree_get_nth_name (list, 0));

  ck_assert_int_eq (gyre_tree_get_kind (none), GYRE_TREE_NONE);
  ck_assert_uint_eq (gyre_tree_get_n (none), 0);
  ck_assert_uint_eq (gyre_tree_n_leaves (none), 0);
}
END_TEST

START_TEST (name_twice_replaces)
{
  g_autoptr (GyreTree) tree = example ();

  gyre_tree_set_array (tree, "w", (GyreArray *) &fakes[5]);
  ck_assert_uint_eq (gyre_tree_get_n (tree), 3);
  ck_assert_str_eq (gyre_tree_get_nth_name (tree, 0), "w");
  ck_assert_ptr_eq (gyre_tree_get_array (tree, "w"), &fakes[5]);
  ck_assert_int_eq (fakes[0].n_refs, 0);
}
END_TEST

/* One criticism of the call, which is left undone. */
#define assert_criticized(call, text)                                            \
  G_STMT_START {                                                                 \
    g_test_expect_message ("Gyre", G_LOG_LEVEL_CRITICAL, text);                  \
    call;                                                                        \
    g_test_assert_expected_messages ();                                          \
  } G_STMT_END

START_TEST (refuses_misuse)
{
  g_autoptr (GyreTree) tree = example ();
  GyreTree *list = gyre_tree_get_tree (tree, "layers");
  GyreTree *array = gyre_tree_get_tree (tree, "w");

  assert_criticized (gyre_tree_set (tree, "a/b", list), "*strchr*");
  assert_criticized (gyre_tree_set (tree, "", list), "*name*");
  assert_criticized (gyre_tree_set (list, "a", array), "*DICT*");
  assert_criticized (gyre_tree_append (tree, list), "*LIST*");
  assert_criticized (gyre_tree_set_path (tree, "w/b", list), "*no dictionary*");
  assert_criticized (ck_assert_ptr_null (gyre_tree_get_nth (tree, 3)), "*n_entries*");
  assert_criticized (ck_assert_ptr_null (gyre_tree_new_node (NULL)), "*GYRE_IS_NODE*");
  ck_assert_uint_eq (gyre_tree_get_n (tree), 3);
}
END_TEST

START_TEST (paths_are_followed)
{
  g_autoptr (GyreTree) tree = example_with_node ();
  GyreTree *tree_at;

  ck_assert_ptr_eq (gyre_tree_lookup (tree, ""), tree);
  ck_assert_ptr_eq (gyre_tree_get_array (tree, "loss"), &fakes[4]);
  ck_assert_ptr_eq (gyre_tree_get_array (tree, "state/step"), &fakes[3]);
  ck_assert_ptr_eq (gyre_tree_get_array (tree, "state/params/w"), &fakes[0]);
  ck_assert_ptr_eq (gyre_tree_get_array (tree, "state/params/layers/0"), &fakes[1]);
  tree_at = gyre_tree_get_tree (tree, "state/params");
  ck_assert_ptr_eq (gyre_tree_get_array (tree_at, "layers/1/kernel"), &fakes[2]);
  ck_assert (TEST_IS_STATE (gyre_tree_get_node (tree, "state")));
  ck_assert_ptr_eq (gyre_tree_as_array (gyre_tree_get_tree (tree, "loss")), &fakes[4]);
  ck_assert_ptr_eq (gyre_tree_as_node (gyre_tree_get_tree (tree, "state")),
                    gyre_tree_get_node (tree, "state"));
  ck_assert_ptr_eq (gyre_tree_lookup (tree, "state/params"),
                    gyre_tree_lookup (tree, "state/params"));
}
END_TEST

static const char *const nowhere[] = {
  "x",
  "los",
  "losss",
  "loss/0",
  "loss/",
  "/loss",
  "state//step",
  "state/params/layers/2",
  "state/params/layers/00",
  "state/params/layers/-1",
  "state/params/layers/",
  "state/params/layers/99999999999",
};

START_TEST (paths_that_lead_nowhere)
{
  g_autoptr (GyreTree) tree = example_with_node ();

  ck_assert_ptr_null (gyre_tree_lookup (tree, nowhere[_i]));
  assert_criticized (ck_assert_ptr_null (gyre_tree_get_array (tree, nowhere[_i])),
                     "*has no*loss: a4*");
}
END_TEST

START_TEST (another_kind_than_asked_for)
{
  g_autoptr (GyreTree) tree = example_with_node ();

  assert_criticized (ck_assert_ptr_null (gyre_tree_get_tensor (tree, "loss")),
                     "*\"loss\" is an array, not a tensor*");
  assert_criticized (ck_assert_ptr_null (gyre_tree_get_array (tree, "state/params")),
                     "*a dictionary of 3, not an array*");
  assert_criticized (ck_assert_ptr_null (gyre_tree_as_node (tree)), "*not a node*");
}
END_TEST

START_TEST (set_path_makes_dictionaries)
{
  g_autoptr (GyreTree) tree = gyre_tree_new_dict ();
  g_autoptr (GyreTree) kernel = leaf (0);
  g_autoptr (GyreTree) bias = leaf (1);

  gyre_tree_set_path (tree, "residual_0/dense_0/kernel", kernel);
  gyre_tree_set_path (tree, "residual_0/dense_0/bias", bias);
  gyre_tree_set_path (tree, "scale", bias);
  assert_prints (tree, "{residual_0: {dense_0: {kernel: a0, bias: a1}}, scale: a1}");
}
END_TEST

static void
assert_flat (GyreTree   *tree,
             const char *expected)
{
  g_autoptr (GPtrArray) paths = NULL;
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (tree, &paths);
  g_autoptr (GString) text = g_string_new (NULL);

  ck_assert_uint_eq (leaves->len, paths->len);
  ck_assert_uint_eq (leaves->len, gyre_tree_n_leaves (tree));
  for (guint i = 0; i < leaves->len; i++)
    {
      g_autofree char *printed = gyre_tree_to_string (leaves->pdata[i]);

      g_string_append_printf (text, "%s=%s ", (char *) paths->pdata[i], printed);
    }
  ck_assert_str_eq (text->str, expected);
}

/* JAX sorts names by code points: capitals before '_' before small letters, "a10" before
 * "a2". */
START_TEST (flattens_in_sorted_order)
{
  static const char *const names[] = { "b", "a2", "a", "a10", "B", "_", "ä" };
  g_autoptr (GyreTree) tree = example_with_node ();
  g_autoptr (GyreTree) sorted = gyre_tree_new_dict ();
  g_autoptr (GyreTree) single = leaf (2);

  assert_flat (tree, "loss=a4 state/params/layers/0=a1 state/params/layers/1/kernel=a2 "
                     "state/params/w=a0 state/step=a3 ");
  assert_flat (single, "=a2 ");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    gyre_tree_set (sorted, names[i], single);
  assert_flat (sorted, "B=a2 _=a2 a=a2 a10=a2 a2=a2 b=a2 ä=a2 ");
}
END_TEST

START_TEST (unflatten_is_the_inverse)
{
  g_autoptr (GyreTree) tree = example_with_node ();
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (tree, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) same = gyre_tree_unflatten (tree, leaves, &error);
  g_autoptr (GyreTree) other = NULL;

  gyre_assert_no_error (error);
  ck_assert (gyre_tree_same_structure (tree, same, &error));
  assert_flat (same, "loss=a4 state/params/layers/0=a1 state/params/layers/1/kernel=a2 "
                     "state/params/w=a0 state/step=a3 ");
  ck_assert (gyre_tree_get_node (same, "state") != gyre_tree_get_node (tree, "state"));

  g_ptr_array_remove_index (leaves, 0);
  other = gyre_tree_unflatten (tree, leaves, &error);
  ck_assert_ptr_null (other);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TREE);
  gyre_assert_error_says (error, "4 leaves for a structure of 5");
}
END_TEST

/* The other leaf where the paths are given in data, else the first. */
static GyreTree *
choose (const char       *path,
        GyreTree *const  *leaves,
        guint             n_trees,
        gpointer          data,
        GError          **error)
{
  if (strcmp (path, data) == 0)
    return gyre_tree_ref (leaves[n_trees - 1]);
  if (strcmp (path, "loss") == 0)
    return leaf (5);

  return gyre_tree_ref (leaves[0]);
}

static GyreTree *
double_of (const char *replaced)
{
  g_autoptr (GyreTree) a = example_with_node ();
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (a, NULL);
  g_autoptr (GyreTree) b = NULL;

  g_ptr_array_insert (leaves, 0, gyre_tree_ref (leaves->pdata[4]));
  g_ptr_array_set_size (leaves, 5);
  b = gyre_tree_unflatten (a, leaves, NULL);

  return gyre_tree_map ((GyreTree *[]) { a, b }, 2, choose, (gpointer) replaced, NULL);
}

START_TEST (maps_trees_leaf_by_leaf)
{
  g_autoptr (GyreTree) result = double_of ("state/params/w");

  assert_flat (result, "loss=a5 state/params/layers/0=a1 state/params/layers/1/kernel=a2 "
                       "state/params/w=a2 state/step=a3 ");
  ck_assert (TEST_IS_STATE (gyre_tree_get_node (result, "state")));
}
END_TEST

static GyreTree *
fail_at (const char       *path,
         GyreTree *const  *leaves,
         guint             n_trees,
         gpointer          data,
         GError          **error)
{
  if (strcmp (path, data) != 0)
    return leaf (5);

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE, "no good: %s", path);
  return NULL;
}

START_TEST (map_stops_at_an_error)
{
  static const char *const paths[] = { "loss", "state/params/w", "state/step" };
  g_autoptr (GyreTree) tree = example_with_node ();
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (gyre_tree_map (&tree, 1, fail_at, (gpointer) paths[_i], &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, paths[_i]);
}
END_TEST

/* Each change of the example, and what the comparison says. */
static void
change_nothing (GyreTree *tree)
{
  g_autoptr (GyreTree) tensor = gyre_tree_new_tensor ((GyreTensor *) &fakes[1]);

  gyre_tree_set (tree, "w", tensor);
}

static void
add_name (GyreTree *tree)
{
  gyre_tree_set_array (tree, "b", (GyreArray *) &fakes[1]);
}

static void
add_last_name (GyreTree *tree)
{
  gyre_tree_set_array (tree, "zz", (GyreArray *) &fakes[1]);
}

static void
lengthen (GyreTree *tree)
{
  g_autoptr (GyreTree) more = leaf (1);

  gyre_tree_append (gyre_tree_get_tree (tree, "layers"), more);
}

static void
change_kind (GyreTree *tree)
{
  g_autoptr (GyreTree) more = leaf (1);

  gyre_tree_set_path (tree, "layers/1/bias", more);
}

static const struct
{
  void      (*change) (GyreTree *tree);
  const char *says;
} changes[] = {
  { change_nothing, NULL },
  { add_name, "at \"b\": missing in the first, an array in the second" },
  { add_last_name, "at \"zz\": missing in the first, an array in the second" },
  { lengthen, "at \"layers\": a list of 2 in the first, a list of 3 in the second" },
  { change_kind, "at \"layers/1/bias\": nothing in the first, an array in the second" },
};

START_TEST (structures_differ_at_a_path)
{
  g_autoptr (GyreTree) a = example ();
  g_autoptr (GyreTree) b = example ();
  g_autoptr (GError) error = NULL;
  const char *says = changes[_i].says;

  changes[_i].change (b);
  ck_assert_int_eq (gyre_tree_same_structure (a, b, &error), says == NULL);
  if (says != NULL)
    {
      gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TREE);
      gyre_assert_error_says (error, says);
      ck_assert_ptr_null (gyre_tree_map ((GyreTree *[]) { a, b }, 2, choose,
                                         (gpointer) "", NULL));
    }
  ck_assert_int_eq (gyre_tree_same_structure (b, a, NULL), says == NULL);
}
END_TEST

START_TEST (a_node_is_no_dictionary)
{
  g_autoptr (GyreTree) a = example_with_node ();
  GyreTree *view = gyre_tree_get_view (gyre_tree_get_tree (a, "state"));
  g_autoptr (GyreTree) b = gyre_tree_build (GYRE_ARRAY_ENTRY ("loss", &fakes[0]),
                                            GYRE_TREE_ENTRY ("state", view), NULL);
  g_autoptr (GError) error = NULL;

  ck_assert (!gyre_tree_same_structure (a, b, &error));
  gyre_assert_error_says (error, "a node TestState in the first, a dictionary of 2");
}
END_TEST

/* A tree of any depth is freed in constant stack: no stack holds a million calls. */
START_TEST (deep_trees_are_freed)
{
  GyreTree *tree = leaf (0);

  for (guint i = 0; i < 1000000; i++)
    {
      GyreTree *parent = i % 2 == 0 ? gyre_tree_new_dict () : gyre_tree_new_list ();

      if (i % 2 == 0)
        gyre_tree_set (parent, "down", tree);
      else
        gyre_tree_append (parent, tree);
      gyre_tree_unref (tree);
      tree = parent;
    }
  gyre_tree_unref (tree);
}
END_TEST

/* Ten thousand levels also pass through the functions that recurse. */
START_TEST (deep_trees_are_walked)
{
  g_autoptr (GyreTree) tree = leaf (0);
  g_autoptr (GyreTree) same = NULL;

  for (guint i = 0; i < 10000; i++)
    {
      g_autoptr (GyreTree) parent = gyre_tree_new_list ();

      gyre_tree_append (parent, tree);
      gyre_tree_unref (tree);
      tree = g_steal_pointer (&parent);
    }

  ck_assert_uint_eq (gyre_tree_n_leaves (tree), 1);
  same = gyre_tree_map (&tree, 1, choose, (gpointer) "", NULL);
  ck_assert (gyre_tree_same_structure (tree, same, NULL));
}
END_TEST

/* Inside of a trace nothing is yours: what is made is gone with the arena, whether a
 * function takes references of what it hands back or not. */
static GyreTree *
hand_back (const char       *path,
           GyreTree *const  *leaves,
           guint             n_trees,
           gpointer          data,
           GError          **error)
{
  return data != NULL ? gyre_tree_ref (leaves[0]) : leaves[0];
}

START_TEST (trace_owns_what_is_made_in_it)
{
  g_autoptr (GyreTree) outside = example_with_node ();
  GyreArena *arena = gyre_arena_new ();
  g_autoptr (GPtrArray) leaves = NULL;
  GyreTree *inside, *again;

  gyre_owner_push (arena);
  inside = gyre_tree_build (GYRE_TENSOR_ENTRY ("x", &fakes[5]),
                            GYRE_TREE_ENTRY ("args", outside), NULL);
  again = gyre_tree_map (&inside, 1, hand_back, _i == 0 ? NULL : arena, NULL);
  ck_assert (gyre_tree_same_structure (inside, again, NULL));
  gyre_tree_map (&outside, 1, hand_back, _i == 0 ? NULL : arena, NULL);
  gyre_tree_map (&again, 1, fail_at, (gpointer) "x", NULL);
  leaves = gyre_tree_flatten (again, NULL);
  ck_assert_ptr_nonnull (gyre_tree_unflatten (again, leaves, NULL));
  ck_assert_ptr_eq (gyre_tree_get_tensor (again, "x"), &fakes[5]);
  gyre_owner_pop ();

  g_clear_pointer (&leaves, g_ptr_array_unref);
  gyre_arena_free (arena);
  ck_assert_int_eq (n_states, 1);
  ck_assert_int_eq (fakes[3].n_refs, 1);
  assert_prints (gyre_tree_get_tree (outside, "state/params/layers"),
                 "[a1, {kernel: a2, bias: none}]");
}
END_TEST

START_TEST (type_is_boxed)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_autoptr (GyreTree) tree = example ();

  g_value_init (&value, GYRE_TYPE_TREE);
  g_value_set_boxed (&value, tree);
  ck_assert_ptr_eq (g_value_get_boxed (&value), tree);
}
END_TEST

static void
add (Suite       *suite,
     const char  *name,
     const TTest *test,
     int          n)
{
  tcase_add_loop_test (gyre_check_case (suite, name, set_up, tear_down), test, 0, n);
}

static void
add_tests (Suite *suite)
{
  add (suite, "print", prints_in_order_of_insertion, 1);
  add (suite, "children", children_are_counted_and_named, 1);
  add (suite, "replace", name_twice_replaces, 1);
  add (suite, "misuse", refuses_misuse, 1);
  add (suite, "path", paths_are_followed, 1);
  add (suite, "nowhere", paths_that_lead_nowhere, G_N_ELEMENTS (nowhere));
  add (suite, "kind", another_kind_than_asked_for, 1);
  add (suite, "set-path", set_path_makes_dictionaries, 1);
  add (suite, "flatten", flattens_in_sorted_order, 1);
  add (suite, "unflatten", unflatten_is_the_inverse, 1);
  add (suite, "map", maps_trees_leaf_by_leaf, 1);
  add (suite, "map-error", map_stops_at_an_error, 3);
  add (suite, "structure", structures_differ_at_a_path, G_N_ELEMENTS (changes));
  add (suite, "node", a_node_is_no_dictionary, 1);
  add (suite, "free-deep", deep_trees_are_freed, 1);
  add (suite, "walk-deep", deep_trees_are_walked, 1);
  add (suite, "trace", trace_owns_what_is_made_in_it, 2);
  add (suite, "boxed", type_is_boxed, 1);
}

GYRE_CHECK_MAIN ("tree", add_tests)
