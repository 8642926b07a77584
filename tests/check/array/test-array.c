/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include "array/gyre-array-private.h"

#include <gyre/gyre-error.h>
#include <gyre/gyre-key.h>

static GPtrArray *devices;
static GyreMesh *mesh;

static void
open_mesh (void)
{
  const double weights[] = { 5, 0, 1 };
  g_autoptr (GError) error = NULL;

  devices = gyre_devices_open ("pocl*3", &error);
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

static GyreArray *
counting (GyreDtype dtype,
          GyreShape shape)
{
  gsize n = (gsize) gyre_shape_n_elements (&shape) * gyre_dtype_size (dtype);
  g_autofree guint8 *data = g_malloc (n + 1);

  for (gsize i = 0; i < n; i++)
    data[i] = (guint8) (i * 7 + 1);

  return gyre_array_new (dtype, shape, data);
}

static GyreArray *
put (GyreArray  *array,
     const char *spec)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreSharding) sharding = gyre_sharding_new (mesh, spec, &error);
  GyreArray *there = gyre_device_put (array, sharding, &error);

  gyre_assert_no_error (error);
  return there;
}

static void
assert_same (GyreArray *a,
             GyreArray *b)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) x = gyre_array_get (a, &error), y = gyre_array_get (b, &error);

  gyre_assert_no_error (error);
  ck_assert (g_bytes_equal (x, y));
}

static const struct
{
  GyreDtype   dtype;
  GyreShape   shape;
  const char *spec;
} puts_there[] = {
  { GYRE_F32, { 2, { 7, 5 } }, "" },
  { GYRE_F32, { 2, { 7, 5 } }, "data" },
  { GYRE_F32, { 2, { 7, 5 } }, ",data" },
  { GYRE_U8, { 3, { 3, 11, 2 } }, ",data" },
  { GYRE_U8, { 1, { 13 } }, "data" },
  { GYRE_I32, { 0 }, "" },
  { GYRE_F32, { 2, { 0, 4 } }, "data" },
  { GYRE_F32, { 2, { 3, 4 } }, "[data]" },
  { GYRE_F32, { 1, { 2 } }, "data" },
  { GYRE_I32, { 2, { 7, 5 } }, "~data" },
  { GYRE_F32, { 0 }, "~data" },
};

START_TEST (goes_there_and_back)
{
  g_autoptr (GyreArray) array = counting (puts_there[_i].dtype, puts_there[_i].shape);
  g_autoptr (GyreArray) there = put (array, puts_there[_i].spec);
  g_autoptr (GyreArray) replicated = NULL;

  assert_same (array, there);
  if (puts_there[_i].spec[0] != '[')
    replicated = put (there, "");
  if (replicated != NULL)
    assert_same (array, replicated);
}
END_TEST

START_TEST (follows_shares)
{
  g_autoptr (GyreArray) array = counting (GYRE_F32, GYRE_SHAPE (12, 3));
  g_autoptr (GyreArray) there = put (array, "data");

  ck_assert_uint_eq (gyre_array_block_size (there, 0), 120);
  ck_assert_uint_eq (gyre_array_block_size (there, 1), 0);
  ck_assert_uint_eq (gyre_array_block_size (there, 2), 24);
}
END_TEST

/* Moments are held 1/n each: any ranges of the row-major elements. */
START_TEST (lies_flat)
{
  const gint64 ranges[] = { 0, 10, 10, 0, 10, 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) array = counting (GYRE_F32, GYRE_SHAPE (3, 4)), there = NULL;
  g_autoptr (GyreSharding) sharding = gyre_sharding_new (mesh, "", &error);
  GyreSpec spec = { .flat = 1 };
  GyreMeshSpec abstract;

  gyre_mesh_get_spec (mesh, &abstract);
  there = gyre_array_put (
      array, sharding, gyre_layout_new (&abstract, &array->shape, &spec, FALSE, ranges),
      &error);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (gyre_array_block_size (there, 0), 40);
  assert_same (array, there);
}
END_TEST

START_TEST (stays_where_it_is)
{
  g_autoptr (GyreArray) array = counting (GYRE_F32, GYRE_SHAPE (12, 3));
  g_autoptr (GyreArray) there = put (array, "data"), again = put (there, "data");

  ck_assert_ptr_eq (there, again);
}
END_TEST

START_TEST (reads_scalars)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) array = gyre_array_new_scalar (GYRE_I32, -3);
  g_autoptr (GyreArray) there = put (array, ""),
                        more = counting (GYRE_F32, GYRE_SHAPE (2));
  double value = 0;

  ck_assert (gyre_array_get_scalar (there, &value, &error));
  ck_assert (value == -3);
  ck_assert (!gyre_array_get_scalar (more, &value, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "f32[2]");
}
END_TEST

START_TEST (creates_nothing_again)
{
  g_autoptr (GyreArray) array = counting (GYRE_F32, GYRE_SHAPE (64));
  guint64 created = 0;

  for (int i = 0; i < 20; i++)
    {
      g_autoptr (GyreArray) there = put (array, "data");

      assert_same (array, there);
      if (i == 5)
        created = gyre_buffer_get_stats ().created;
    }
  ck_assert_uint_eq (gyre_buffer_get_stats ().created, created);
}
END_TEST

START_TEST (refuses_what_was_donated)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreArray) array = counting (GYRE_F32, GYRE_SHAPE (4));

  gyre_array_set_donated (array);
  ck_assert_ptr_null (gyre_array_get (array, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DONATED);
  gyre_assert_error_says (error, "f32[4]");
}
END_TEST

START_TEST (checks_bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abc", 3);

  ck_assert_ptr_null (gyre_array_new_bytes (GYRE_F32, GYRE_SHAPE (2), bytes, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "8 bytes, not 3");
}
END_TEST

START_TEST (normal_numbers_are_scaled)
{
  GyreKey key = gyre_key_new (3);
  g_autoptr (GyreArray) array = gyre_array_new_normal (key, GYRE_SHAPE (2, 3), 0.5f);
  g_autoptr (GyreArray) none = gyre_array_new_normal (key, GYRE_SHAPE (0), 1);
  g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
  const float *numbers = g_bytes_get_data (bytes, NULL);
  float expected[6];

  gyre_key_normal (key, 6, expected);
  for (guint i = 0; i < 6; i++)
    ck_assert_float_eq (numbers[i], expected[i] * 0.5f);
  ck_assert_int_eq (gyre_array_get_shape (none).dims[0], 0);
}
END_TEST

START_TEST (fills_and_means)
{
  g_autoptr (GyreTree) tree = gyre_tree_build (
      GYRE_NEW_ARRAY_ENTRY ("ones", gyre_array_new_full (GYRE_U8, GYRE_SHAPE (3, 2), 1)),
      GYRE_NEW_ARRAY_ENTRY ("halves", gyre_array_new_full (GYRE_F32, GYRE_SHAPE (5), .5)),
      GYRE_NEW_ARRAY_ENTRY ("none", gyre_array_new_full (GYRE_I32, GYRE_SHAPE (0), 7)),
      NULL);
  g_autoptr (GyreTree) held = gyre_tree_ref (tree);
  const gint32 numbers[] = { -1, 5, 8 };
  g_autoptr (GyreArray) array = gyre_array_new (GYRE_I32, GYRE_SHAPE (3), numbers);

  gyre_tree_set_array (tree, "numbers", array);
  ck_assert_double_eq (gyre_tree_get_mean (tree, "ones"), 1);
  ck_assert_double_eq (gyre_tree_get_mean (tree, "halves"), .5);
  ck_assert_double_eq (gyre_tree_get_mean (tree, "numbers"), 4);
  ck_assert_double_nan (gyre_tree_get_mean (tree, "none"));

  gyre_tree_replace (&held, gyre_tree_new_none ());
  ck_assert_int_eq (gyre_tree_get_kind (held), GYRE_TREE_NONE);
  gyre_tree_unref (held);   /* the reference of gyre_tree_new_none () */
}
END_TEST

START_TEST (splits_keys)
{
  GyreKey key = gyre_key_new (9), keys[3];
  g_autoptr (GyreArray) array = gyre_array_new_keys (key, 3);
  g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
  g_autofree char *text = gyre_array_to_string (array);

  gyre_key_split (key, 3, keys);
  ck_assert_mem_eq (g_bytes_get_data (bytes, NULL), keys, sizeof keys);
  ck_assert_str_eq (text, "u32[3, 2]");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "array", open_mesh, close_mesh);

  tcase_add_loop_test (tcase, goes_there_and_back, 0, G_N_ELEMENTS (puts_there));
  tcase_add_test (tcase, follows_shares);
  tcase_add_test (tcase, lies_flat);
  tcase_add_test (tcase, stays_where_it_is);
  tcase_add_test (tcase, reads_scalars);
  tcase_add_test (tcase, creates_nothing_again);
  tcase_add_test (tcase, refuses_what_was_donated);
  tcase_add_test (tcase, checks_bytes);
  tcase_add_test (tcase, normal_numbers_are_scaled);
  tcase_add_test (tcase, fills_and_means);
  tcase_add_test (tcase, splits_keys);
}

GYRE_CHECK_MAIN ("array", add_tests)
