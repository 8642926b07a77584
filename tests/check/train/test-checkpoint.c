/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <glib/gstdio.h>
#include <gyre/gyre.h>

static char *folder;

static void
setup (void)
{
  folder = g_dir_make_tmp ("gyre-checkpoint-XXXXXX", NULL);
}

static void
teardown (void)
{
  g_autofree char *file = g_build_filename (folder, "checkpoint.safetensors", NULL);

  g_unlink (file);
  g_rmdir (folder);
  g_clear_pointer (&folder, g_free);
}

static GyreTrainState *
make_state (const char *model_line, guint64 seed)
{
  g_autoptr (GError)        error     = NULL;
  g_autoptr (GyreLayer)     model     = gyre_model_parse (model_line, &error);
  g_autoptr (GyreOptimizer) optimizer = gyre_adam_new (1e-3);
  GyreTrainState           *state;

  gyre_assert_no_error (error);
  state = gyre_train_state_new (model, optimizer, GYRE_SHAPE (1, 3), GYRE_F32, seed,
                                &error);
  gyre_assert_no_error (error);
  return state;
}

static GyreTree *
make_tree (const char *model_line, guint64 seed)
{
  g_autoptr (GyreTrainState) state = make_state (model_line, seed);
  g_autoptr (GyreTree)       node  = gyre_tree_new_node (state);
  GyreTree                  *tree  = gyre_tree_new_dict ();

  gyre_tree_set (tree, "state", node);
  return tree;
}

static void
assert_equal (GyreTree *a, GyreTree *b)
{
  g_autoptr (GPtrArray) of_a = gyre_tree_flatten (a, NULL);
  g_autoptr (GPtrArray) of_b = gyre_tree_flatten (b, NULL);

  ck_assert_uint_eq (of_a->len, of_b->len);
  for (guint i = 0; i < of_a->len; i++)
    {
      g_autoptr (GBytes) x = gyre_array_get (gyre_tree_as_array (of_a->pdata[i]), NULL);
      g_autoptr (GBytes) y = gyre_array_get (gyre_tree_as_array (of_b->pdata[i]), NULL);

      ck_assert (g_bytes_equal (x, y));
    }
}

START_TEST (round_trip)
{
  g_autoptr (GyreTree)   saved = make_tree ("dense features=2", 0);
  g_autoptr (GyreTree)   other = make_tree ("dense features=2", 1);
  g_autoptr (GyreTree)   back  = NULL;
  g_autoptr (GHashTable) texts = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) read  = NULL;
  g_autoptr (GError)     error = NULL;

  g_hash_table_insert (texts, (gpointer) "model", (gpointer) "a \"line\"\n");
  ck_assert (gyre_checkpoint_save (saved, folder, texts, &error));
  gyre_assert_no_error (error);
  back = gyre_checkpoint_load (other, folder, &error);
  gyre_assert_no_error (error);
  ck_assert (GYRE_IS_TRAIN_STATE (gyre_tree_get_node (back, "state")));
  assert_equal (back, saved);
  read = gyre_checkpoint_load_metadata (folder, &error);
  ck_assert_str_eq (g_hash_table_lookup (read, "model"), "a \"line\"\n");
  ck_assert_uint_eq (g_hash_table_size (read), 1);
}
END_TEST

/* What doesn't fit names the leaf. */
START_TEST (misfits)
{
  const struct { const char *model, *says; } cases[] = {
    { "dense features=3", "'state/opt_state/mu/dense_0/bias' is f32[2] and not f32[3]" },
    { "dense features=2 ! dense features=2",
      "has no 'state/opt_state/mu/dense_1/bias'" },
    { "dense features=2 use-bias=false", "has 'state/opt_state/mu/dense_0/bias'" },
  };
  g_autoptr (GyreTree) saved = make_tree ("dense features=2", 0);

  ck_assert (gyre_checkpoint_save (saved, folder, NULL, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GyreTree) like  = make_tree (cases[i].model, 0);
      g_autoptr (GError)   error = NULL;

      ck_assert_ptr_null (gyre_checkpoint_load (like, folder, &error));
      gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TREE);
      gyre_assert_error_says (error, cases[i].says);
    }
}
END_TEST

START_TEST (names_of_parameters)
{
  g_autoptr (GyreTrainState) state = make_state ("dense features=2", 0);
  g_autoptr (GyreTree)       tree  = gyre_node_flatten (GYRE_NODE (state));
  g_autoptr (GyreTree)       flat  = gyre_tree_new_dict ();
  g_autoptr (GyreTree)       back  = NULL;
  g_autoptr (GError)         error = NULL;

  ck_assert (gyre_checkpoint_save (tree, folder, NULL, &error));
  /* params/dense_0 stands as dense_0 */
  for (guint i = 0; i < gyre_tree_get_n (tree); i++)
    if (g_strcmp0 (gyre_tree_get_nth_name (tree, i), "params") != 0)
      gyre_tree_set (flat, gyre_tree_get_nth_name (tree, i), gyre_tree_get_nth (tree, i));
  gyre_tree_set (flat, "dense_0", gyre_tree_get_tree (tree, "params/dense_0"));
  back = gyre_checkpoint_load (flat, folder, &error);
  gyre_assert_no_error (error);
  /* and clashes with another of that name */
  gyre_tree_set (tree, "dense_0", gyre_tree_get_tree (tree, "params/dense_0"));
  ck_assert (!gyre_checkpoint_save (tree, folder, NULL, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TREE);
  gyre_assert_error_says (error, "dense_0/bias");
}
END_TEST

START_TEST (no_file)
{
  g_autoptr (GyreTree) like  = make_tree ("dense features=2", 0);
  g_autofree char     *file  = g_build_filename (folder, "checkpoint.safetensors", NULL);
  g_autofree char     *under = g_build_filename (file, "x", NULL);
  g_autoptr (GError)   error = NULL;

  ck_assert_ptr_null (gyre_checkpoint_load (like, folder, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_FILE);
  gyre_assert_error_says (error, "no checkpoint is there");
  g_clear_error (&error);
  ck_assert_ptr_null (gyre_checkpoint_load_metadata (folder, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_FILE);
  g_clear_error (&error);
  ck_assert (g_file_set_contents (file, "short", -1, NULL));
  ck_assert_ptr_null (gyre_checkpoint_load (like, folder, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_FILE);
  g_clear_error (&error);
  /* a file stands where the folder would */
  ck_assert (!gyre_checkpoint_save (like, under, NULL, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_FILE);
  gyre_assert_error_says (error, "can't be made");
}
END_TEST

static void
add (Suite *suite, const char *name, const TTest *test)
{
  TCase *tcase = tcase_create (name);

  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, test);
  suite_add_tcase (suite, tcase);
}

static void
add_tests (Suite *suite)
{
  add (suite, "round-trip", round_trip);
  add (suite, "misfits", misfits);
  add (suite, "names-of-parameters", names_of_parameters);
  add (suite, "no-file", no_file);
}

GYRE_CHECK_MAIN ("checkpoint", add_tests)
