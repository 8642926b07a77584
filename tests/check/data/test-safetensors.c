/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <glib/gstdio.h>
#include <string.h>

#include "data/gyre-safetensors-private.h"

static char *
temporary (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gyre-st-XXXXXX", NULL);

  return g_build_filename (folder, "x.safetensors", NULL);
}

static void
remove_file (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  g_unlink (path);
  g_rmdir (folder);
}

START_TEST (round_trip)
{
  static const float  a[6] = { 1.0f, -2.5f, 3e-38f, 4.0f, 5.0f, 0.1f };
  static const guint8 b[3] = { 0, 7, 255 };
  const char *const   names[] = { "dense_0/kernel", "b", "empty" };
  GyreArray          *arrays[3] = {
    gyre_array_new (GYRE_F32, GYRE_SHAPE (2, 3), a),
    gyre_array_new (GYRE_U8, GYRE_SHAPE (3), b),
    gyre_array_new (GYRE_I32, GYRE_SHAPE (0, 4), NULL),
  };
  g_autofree char             *path  = temporary ();
  g_autoptr (GHashTable)       meta  = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError)           error = NULL;
  g_autoptr (GyreSafetensors)  file  = NULL;
  g_autoptr (GyreArray)        back  = NULL;
  g_autoptr (GyreArray)        none  = NULL;
  g_autoptr (GBytes)           bytes = NULL;
  GyreShape                    shape;

  g_hash_table_insert (meta, (gpointer) "layer", (gpointer) "a \"dense\" one");
  ck_assert (gyre_safetensors_write (path, names, arrays, 3, meta, &error));
  gyre_assert_no_error (error);
  file = gyre_safetensors_open (path, &error);
  gyre_assert_no_error (error);
  ck_assert_str_eq (gyre_safetensors_get_meta (file, "layer"), "a \"dense\" one");
  back = gyre_safetensors_get (file, "dense_0/kernel", &error);
  gyre_assert_no_error (error);
  bytes = gyre_array_get (back, &error);
  ck_assert_mem_eq (g_bytes_get_data (bytes, NULL), a, sizeof a);
  none  = gyre_safetensors_get (file, "empty", &error);
  shape = gyre_array_get_shape (none);
  ck_assert (gyre_shape_equal (&shape, &GYRE_SHAPE (0, 4)));
  ck_assert_ptr_null (gyre_safetensors_get (file, "c", &error));
  gyre_assert_error_says (error, "no array c");
  for (int i = 0; i < 3; i++)
    gyre_array_unref (arrays[i]);
  remove_file (path);
}
END_TEST

START_TEST (rejects_unsound)
{
#define ONE "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}"
  static const struct { const char *header; int data; const char *says;
  } cases[] = {
    { ONE "}", 1, "truncated" },
    { ONE "}", 3, "there are 3" },
    { ONE ",\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[3,4]}}", 4,
      "not at 2" },
    { ONE ",\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2,
      "begin at 1" },
    { ONE ",\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, "twice" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2,
      "don't give" },
    { "{\"a\":{\"dtype\":\"Q8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
      "unknown dtype Q8" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[-2],\"data_offsets\":[0,2]}}", 2,
      "not a count" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2.5],\"data_offsets\":[0,2]}}", 2,
      "not a count" },
    { "{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,2]"
      "}}",
      2, "too large" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2, "data_offsets" },
    { "{\"a\":7}", 0, "not described" },
    { "{\"__metadata__\":{\"k\":1}}", 0, "no string" },
    { "[1]", 0, "not a JSON object" },
    { "{\"a\":", 0, "can't be read" },
    { "", 0, "not a JSON object" },
  };
  g_autofree char *path = temporary ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray)      bytes = g_byte_array_new ();
      g_autoptr (GError)          error = NULL;
      g_autoptr (GyreSafetensors) file  = NULL;
      guint64                     size  = GUINT64_TO_LE (strlen (cases[i].header));

      g_byte_array_append (bytes, (const guint8 *) &size, 8);
      g_byte_array_append (bytes, (const guint8 *) cases[i].header,
                           (guint) strlen (cases[i].header));
      g_byte_array_append (bytes, (const guint8 *) "abcdefgh", (guint) cases[i].data);
      g_file_set_contents (path, (const char *) bytes->data, bytes->len, NULL);
      file = gyre_safetensors_open (path, &error);
      ck_assert_ptr_null (file);
      gyre_assert_error_says (error, cases[i].says);
      gyre_assert_error_says (error, path);
    }
  g_file_set_contents (path, "abc", 3, NULL);
  {
    g_autoptr (GError) error = NULL;

    ck_assert_ptr_null (gyre_safetensors_open (path, &error));
    gyre_assert_error_says (error, "3 bytes");
  }
  remove_file (path);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "round-trip", round_trip);
  gyre_check_add (suite, "unsound", rejects_unsound);
}

GYRE_CHECK_MAIN ("safetensors", add_tests)
