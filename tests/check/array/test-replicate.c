/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre-array.h>
#include <gyre/gyre-error.h>

/* Trees with a device axis, and arrays that move between shardings, on a mesh of
 * 2 × 3. */

static GyreMesh *mesh;

static void
open_mesh (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open ("pocl*6", &error);

  gyre_assert_no_error (error);
  mesh = gyre_mesh_new ("dp=2,tp=3", devices, &error);
  gyre_assert_no_error (error);
  gyre_mesh_set_shares (mesh, "tp", (const double[]) { 3, 1, 2 }, &error);
  gyre_assert_no_error (error);
}

static void
close_mesh (void)
{
  g_clear_object (&mesh);
}

static GyreArray *
counting (GyreDtype dtype,
          GyreShape shape)
{
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  g_autofree guint32 *words = g_new (guint32, n + 1);
  g_autofree guint8 *bytes = g_new (guint8, n + 1);

  for (gsize i = 0; i < n; i++)
    words[i] = bytes[i] = (guint8) (i + 1);
  return gyre_array_new (dtype, shape,
                         gyre_dtype_size (dtype) == 1 ? (gpointer) bytes : words);
}

static GyreTree *
make_tree (gint64 rows)
{
  GyreTree *tree = gyre_tree_new_dict (), *list = gyre_tree_new_list ();
  g_autoptr (GyreArray) a = counting (GYRE_F32, GYRE_SHAPE (rows, 5));
  g_autoptr (GyreArray) b = counting (GYRE_U8, GYRE_SHAPE (rows));
  g_autoptr (GyreTree) leaf = gyre_tree_new_array (b);

  gyre_tree_append (list, leaf);
  gyre_tree_set_array (tree, "a", a);
  gyre_tree_set (tree, "list", list);
  gyre_tree_unref (list);
  return tree;
}

static void
assert_shape (GyreTree   *tree,
              const char *path,
              GyreShape   should)
{
  GyreShape shape = gyre_array_get_shape (gyre_tree_get_array (tree, path));

  ck_assert (gyre_shape_equal (&shape, &should));
}

static void
assert_same (GyreArray *a,
             GyreArray *b)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) x = gyre_array_get (a, &error);
  g_autoptr (GBytes) y = NULL;

  gyre_assert_no_error (error);
  y = gyre_array_get (b, &error);
  gyre_assert_no_error (error);
  ck_assert (g_bytes_equal (x, y));
}

START_TEST (replicates_and_takes_one)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) tree = make_tree (4);
  g_autoptr (GyreTree) all = gyre_replicate (tree, mesh, &error);
  g_autoptr (GyreTree) one = NULL;

  gyre_assert_no_error (error);
  assert_shape (all, "a", GYRE_SHAPE (6, 4, 5));
  assert_shape (all, "list/0", GYRE_SHAPE (6, 4));
  one = gyre_unreplicate (all, &error);
  gyre_assert_no_error (error);
  assert_same (gyre_tree_get_array (one, "a"), gyre_tree_get_array (tree, "a"));
  assert_same (gyre_tree_get_array (one, "list/0"), gyre_tree_get_array (tree, "list/0"));
}
END_TEST

START_TEST (shards_batches)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) tree = make_tree (12);
  g_autoptr (GyreTree) batch = gyre_shard_batch (tree, 3, &error);

  gyre_assert_no_error (error);
  assert_shape (batch, "a", GYRE_SHAPE (3, 4, 5));
  assert_shape (batch, "list/0", GYRE_SHAPE (3, 4));
  assert_same (gyre_tree_get_array (batch, "a"), gyre_tree_get_array (tree, "a"));

  ck_assert_ptr_null (gyre_shard_batch (tree, 5, &error));
  gyre_assert_error_says (error, "a: [12, 5] can't be cut in 5 equal parts");
}
END_TEST

START_TEST (stacks)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) tree = make_tree (2);
  g_autoptr (GyreTree) longer = make_tree (3);
  g_autoptr (GyreTree) other = gyre_tree_build (
    GYRE_ARRAY_ENTRY ("a", gyre_tree_get_array (tree, "a")), NULL);
  g_autoptr (GyreTree) three =
      gyre_stack ((GyreTree *[]) { tree, tree, tree }, 3, &error);
  g_autoptr (GyreTree) one = NULL;

  gyre_assert_no_error (error);
  assert_shape (three, "a", GYRE_SHAPE (3, 2, 5));
  assert_shape (three, "list/0", GYRE_SHAPE (3, 2));
  one = gyre_unreplicate (three, &error);
  gyre_assert_no_error (error);
  assert_same (gyre_tree_get_array (one, "list/0"), gyre_tree_get_array (tree, "list/0"));

  ck_assert_ptr_null (gyre_stack ((GyreTree *[]) { tree, longer }, 2, &error));
  gyre_assert_error_says (error, "a: gyre_stack: tree 1 has f32[3, 5]");
  g_clear_error (&error);
  ck_assert_ptr_null (gyre_stack ((GyreTree *[]) { tree, other }, 2, &error));
  gyre_assert_error_says (error, "\"list\"");
}
END_TEST

/* --- from any sharding to any other --- */

static const char *const specs[] = {
  "", "dp", "tp", ",dp", ",tp", "dp,tp", "tp,dp", "dp+tp", ",dp+tp", ",,dp", ",tp,dp",
};

static GyreArray *
put (GyreArray  *array,
     const char *spec)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreSharding) sharding = gyre_sharding_new (mesh, spec, &error);
  GyreArray *there;

  gyre_assert_no_error (error);
  there = gyre_device_put (array, sharding, &error);
  gyre_assert_no_error (error);
  return there;
}

START_TEST (moves_between_shardings)
{
  g_autoptr (GyreArray) words = counting (GYRE_F32, GYRE_SHAPE (7, 11, 3));
  g_autoptr (GyreArray) bytes = counting (GYRE_U8, GYRE_SHAPE (9, 7, 2));
  g_autoptr (GyreArray) from = put (words, specs[_i]);
  g_autoptr (GyreArray) from_bytes = put (bytes, specs[_i]);

  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    {
      g_autoptr (GyreArray) to = put (from, specs[i]);
      g_autoptr (GyreArray) to_bytes = put (from_bytes, specs[i]);

      assert_same (words, to);
      assert_same (bytes, to_bytes);
    }
}
END_TEST

static const struct
{
  const char *spec;
  const char *says[3];
} misfits[] = {
  { "rows", { "'rows'", "dp=2,tp=3", "dimension 0: axis 'rows' is not of the mesh" } },
  { "dp,rows", { "'dp,rows'", "dp=2,tp=3", "dimension 1: axis 'rows' is not" } },
  { "dp,dp", { "dimension 1: axis 'dp'", "splits dimension 0 already", "'dp,dp'" } },
  { "dp+dp", { "dimension 0: axis 'dp'", "stands twice", "'dp+dp'" } },
  { ",tp~tp", { "the summands: axis 'tp'", "splits dimension 1 already", "',tp~tp'" } },
  { ",dp+", { "dimension 1", "the name of an axis is missing", "',dp+'" } },
  { ",,tp", { "w: ", "dimension 2 over axis 'tp'", "[5, 2]" } },
  { ",tp", { "w: ", "dimension 1 over axis 'tp' in 3 parts", "[5, 2]" } },
  { "dp+tp", { "w: ", "dimension 0 over axis 'dp+tp' in 6 parts", "[5, 2]" } },
};

START_TEST (names_what_does_not_fit)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) array = counting (GYRE_F32, GYRE_SHAPE (5, 2));
  g_autoptr (GyreTree) tree = gyre_tree_build (GYRE_ARRAY_ENTRY ("w", array), NULL);
  g_autoptr (GyreSharding) sharding = gyre_sharding_new (mesh, misfits[_i].spec, &error);

  if (sharding != NULL)
    ck_assert_ptr_null (gyre_device_put_tree (tree, sharding, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING);
  for (guint i = 0; i < 3; i++)
    gyre_assert_error_says (error, misfits[_i].says[i]);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "replicate", open_mesh, close_mesh);

  tcase_add_test (tcase, replicates_and_takes_one);
  tcase_add_test (tcase, shards_batches);
  tcase_add_test (tcase, stacks);
  tcase_add_loop_test (tcase, moves_between_shardings, 0, G_N_ELEMENTS (specs));
  tcase_add_loop_test (tcase, names_what_does_not_fit, 0, G_N_ELEMENTS (misfits));
}

GYRE_CHECK_MAIN ("replicate", add_tests)
