/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-array.h>
#include <gyre/gyre-error.h>
#include <gyre/gyre-mesh.h>

/* An array that is moved from any sharding to any other, at random, on meshes of one and
 * of two axes and of other devices, keeps its numbers. */

#define N_MOVES 300

static const struct
{
  const char *layout;
  guint       first, n;
  const char *shares;       /* of its first axis, or NULL */
} layouts[] = {
  { "data=6", 0, 6, NULL },
  { "data=3", 1, 3, "5,2,1" },
  { "data=2,model=3", 0, 6, "3,1" },
  { "model=2,data=2", 2, 4, NULL },
  { "data=1", 5, 1, NULL },
};

static const char *const specs[] = {
  "", "data", ",data", ",,data", "~data", "model", "data,model", ",model,data",
  "data+model", ",data+model", "model~data", "~data+model",
};

static GPtrArray *devices;
static GyreMesh *meshes[G_N_ELEMENTS (layouts)];

static void
set_shares (GyreMesh   *mesh,
            const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  double shares[8] = { 0 };

  for (guint i = 0; parts[i] != NULL; i++)
    shares[i] = g_ascii_strtod (parts[i], NULL);
  gyre_mesh_set_shares (mesh, gyre_mesh_get_axis_name (mesh, 0), shares, NULL);
}

static void
open_meshes (void)
{
  g_autoptr (GError) error = NULL;

  devices = gyre_devices_open ("pocl*6", &error);
  gyre_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_autoptr (GPtrArray) some = g_ptr_array_new ();

      for (guint d = 0; d < layouts[i].n; d++)
        g_ptr_array_add (some, g_ptr_array_index (devices, layouts[i].first + d));
      meshes[i] = gyre_mesh_new (layouts[i].layout, some, &error);
      gyre_assert_no_error (error);
      if (layouts[i].shares != NULL)
        set_shares (meshes[i], layouts[i].shares);
    }
}

static void
close_meshes (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    g_clear_object (&meshes[i]);
  g_clear_pointer (&devices, g_ptr_array_unref);
}

/* Any sharding that a mesh can have. */
static GyreSharding *
draw_sharding (GRand *rand)
{
  for (;;)
    {
      GyreMesh *mesh = meshes[g_rand_int_range (rand, 0, G_N_ELEMENTS (layouts))];
      const char *spec = specs[g_rand_int_range (rand, 0, G_N_ELEMENTS (specs))];
      GyreSharding *sharding = gyre_sharding_new (mesh, spec, NULL);

      if (sharding != NULL)
        return sharding;
    }
}

/* Of three dimensions, each of them of as many rows as there may be parts, none and more:
 * sizes that nothing divides. */
static GyreArray *
draw_array (GRand *rand)
{
  static const GyreDtype dtypes[] = { GYRE_F32, GYRE_I32, GYRE_U8 };
  GyreShape shape = { 3, { 0 } };
  g_autofree gint32 *numbers = NULL;
  gint64 n = 1;

  for (int i = 0; i < 3; i++)
    {
      shape.dims[i] = g_rand_int_range (rand, 6, 14);
      if (g_rand_int_range (rand, 0, 20) == 0)
        shape.dims[i] = 0;
      n *= shape.dims[i];
    }
  numbers = g_new (gint32, n + 1);
  /* of f32 these are ordinary numbers: they end in one byte of 0x3f */
  for (gint64 i = 0; i < n; i++)
    numbers[i] = 0x3f000000 | (gint32) (g_rand_int (rand) >> 8);
  return gyre_array_new (dtypes[g_rand_int_range (rand, 0, 3)], shape, numbers);
}

static void
assert_same (GyreArray    *array,
             GBytes       *expected,
             GyreSharding *sharding)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = gyre_array_get (array, &error);
  g_autofree char *text = gyre_sharding_to_string (sharding);
  g_autofree char *what = gyre_array_to_string (array);

  gyre_assert_no_error (error);
  if (!g_bytes_equal (bytes, expected))
    ck_abort_msg ("%s has other numbers under '%s'", what, text);
}

START_TEST (moves_anywhere)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (GyreArray) array = draw_array (rand);
  g_autoptr (GBytes) expected = gyre_array_get (array, NULL);
  guint n_refused = 0;

  for (guint i = 0; i < N_MOVES; i++)
    {
      g_autoptr (GyreSharding) sharding = draw_sharding (rand);
      g_autoptr (GError) error = NULL;
      GyreArray *there;

      if (i % 10 == 9)
        {
          gyre_array_unref (array);
          g_bytes_unref (expected);
          array = draw_array (rand);
          expected = gyre_array_get (array, NULL);
        }
      there = gyre_device_put (array, sharding, &error);
      if (there == NULL)
        {
          /* bytes are no summands */
          gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING);
          gyre_assert_error_says (error, "u8");
          n_refused++;
          continue;
        }
      assert_same (there, expected, sharding);
      gyre_array_unref (array);
      array = there;
    }
  ck_assert_uint_lt (n_refused, N_MOVES / 4);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "moves", open_meshes, close_meshes);

  tcase_add_test (tcase, moves_anywhere);
}

GYRE_CHECK_MAIN ("moves", add_tests)
