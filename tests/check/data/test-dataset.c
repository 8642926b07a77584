/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <glib/gstdio.h>
#include <string.h>
#include <zlib.h>

#include <gyre/gyre-dataset.h>

#include "data/gyre-dataset-private.h"

/* A folder of four small IDX files, 4 training and 2 test images of 2 x 3, that a test
 * spoils one way or another. */
static char *
make_folder (void)
{
  static const guint8 images[]      = { 0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3 };
  static const guint8 test_images[] = { 0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3 };
  static const guint8 labels[]      = { 0, 0, 8, 1, 0, 0, 0, 4, 0, 1, 2, 1 };
  static const guint8 test_labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 2, 0 };
  char  *folder = g_dir_make_tmp ("gyre-idx-XXXXXX", NULL);
  guint8 file[16 + 24];
  const struct { const char *name; gconstpointer data; gsize size; } files[] = {
    { "train-images-idx3-ubyte", file, 16 + 24 },
    { "train-labels-idx1-ubyte", labels, sizeof labels },
    { "t10k-images-idx3-ubyte", file, 16 + 12 },
    { "t10k-labels-idx1-ubyte", test_labels, sizeof test_labels },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i].name, NULL);

      memcpy (file, i == 2 ? test_images : images, 16);
      for (guint8 j = 0; j < 24; j++)
        file[16 + j] = j;
      g_file_set_contents (path, files[i].data, (gssize) files[i].size, NULL);
    }
  return folder;
}

static void
write_file (const char *folder, const char *name, gconstpointer data, gsize size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_file_set_contents (path, data, (gssize) size, NULL);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char      *name;

  while ((name = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

static void
assert_fails (const char *folder, const char *says, const char *also)
{
  g_autofree char       *spec  = g_strconcat ("idx:", folder, NULL);
  g_autoptr (GError)     error = NULL;
  g_autoptr (GyreDataset) data = gyre_dataset_open (spec, &error);

  ck_assert_ptr_null (data);
  gyre_assert_error_says (error, says);
  gyre_assert_error_says (error, also);
}

START_TEST (reads_idx)
{
  g_autofree char        *folder = make_folder ();
  g_autofree char        *spec   = g_strconcat ("idx:", folder, NULL);
  g_autoptr (GError)      error  = NULL;
  g_autoptr (GyreDataset) data   = gyre_dataset_open (spec, &error);
  const GyreDatasetPart  *train, *test;
  GyreShape               shape;

  gyre_assert_no_error (error);
  shape = gyre_dataset_get_image_shape (data);
  ck_assert (gyre_shape_equal (&shape, &GYRE_SHAPE (2, 3, 1)));
  ck_assert_int_eq (gyre_dataset_get_n (data, GYRE_SPLIT_TRAIN), 4);
  ck_assert_int_eq (gyre_dataset_get_n (data, GYRE_SPLIT_TEST), 2);
  ck_assert_int_eq (gyre_dataset_get_n_classes (data), 3);
  train = gyre_dataset_get_part (data, GYRE_SPLIT_TRAIN);
  test  = gyre_dataset_get_part (data, GYRE_SPLIT_TEST);
  ck_assert_int_eq (((const gint32 *) g_bytes_get_data (train->labels, NULL))[2], 2);
  ck_assert_int_eq (((const gint32 *) g_bytes_get_data (test->labels, NULL))[0], 2);
  ck_assert_int_eq (((const guint8 *) g_bytes_get_data (train->images, NULL))[23], 23);
  remove_folder (folder);
}
END_TEST

START_TEST (rejects_spoiled_idx)
{
  static const guint8 short_file[]  = { 0, 0, 8, 1, 0, 0, 0, 4, 0, 1 };
  static const guint8 long_file[]   = { 0, 0, 8, 1, 0, 0, 0, 4, 0, 1, 2, 1, 7 };
  static const guint8 fewer[]       = { 0, 0, 8, 1, 0, 0, 0, 3, 0, 1, 2 };
  static const guint8 floats[]      = { 0, 0, 13, 1, 0, 0, 0, 0 };
  static const guint8 header_only[] = { 0, 0, 8, 1, 0, 0 };
  static const guint8 out_of_range[] = { 0, 0, 8, 1, 0, 0, 0, 2, 2, 9 };
  static const guint8 huge[]         = { 0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255,
                                         255, 255, 255, 255, 255 };
  static const guint8 images_there[] = { 0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3 };
  g_autofree char *folder = make_folder ();

  write_file (folder, "train-labels-idx1-ubyte", short_file, sizeof short_file);
  assert_fails (folder, "train-labels-idx1-ubyte: truncated", "announces 4 bytes");
  write_file (folder, "train-labels-idx1-ubyte", long_file, sizeof long_file);
  assert_fails (folder, "train-labels-idx1-ubyte: too long", "there are 5");
  write_file (folder, "train-labels-idx1-ubyte", fewer, sizeof fewer);
  assert_fails (folder, "has 4 images", "has 3 labels");
  write_file (folder, "train-labels-idx1-ubyte", floats, sizeof floats);
  assert_fails (folder, "type 0x0d", "unsigned bytes");
  write_file (folder, "train-labels-idx1-ubyte", header_only, sizeof header_only);
  assert_fails (folder, "train-labels-idx1-ubyte: truncated", "after 6 of 8 bytes");
  write_file (folder, "train-labels-idx1-ubyte", "", 0);
  assert_fails (folder, "not an IDX file", "has 0 bytes");
  write_file (folder, "train-labels-idx1-ubyte", "PK\003\004xxxx", 8);
  assert_fails (folder, "not an IDX file", "0x504b0304");
  write_file (folder, "train-images-idx3-ubyte", huge, sizeof huge);
  assert_fails (folder, "[4294967295, 4294967295, 4294967295]", "memory");
  write_file (folder, "train-images-idx3-ubyte", images_there, sizeof images_there);
  write_file (folder, "train-labels-idx1-ubyte", images_there, sizeof images_there);
  assert_fails (folder, "3 dimensions, not 1", "swapped");
  remove_folder (folder);

  g_free (folder);
  folder = make_folder ();
  write_file (folder, "t10k-labels-idx1-ubyte", out_of_range, sizeof out_of_range);
  assert_fails (folder, "label 9 in row 1", "test labels");
  remove_folder (folder);
}
END_TEST

START_TEST (rejects_missing)
{
  g_autofree char *folder = make_folder ();
  g_autofree char *path   = g_build_filename (folder, "t10k-images-idx3-ubyte", NULL);

  g_unlink (path);
  assert_fails (folder, "a file is missing", "t10k-images-idx3-ubyte");
  remove_folder (folder);
  assert_fails (folder, "no such folder", folder);
}
END_TEST

/* A gzip file that ends early. */
START_TEST (rejects_truncated_gzip)
{
  g_autofree char *folder = make_folder ();
  g_autofree char *plain  = g_build_filename (folder, "train-images-idx3-ubyte", NULL);
  g_autofree char *zipped = g_strconcat (plain, ".gz", NULL);
  g_autofree char *data   = NULL;
  gsize            size;
  gzFile           file;

  g_file_get_contents (plain, &data, &size, NULL);
  file = gzopen (zipped, "wb");
  gzwrite (file, data, (unsigned) size);
  gzclose (file);
  g_unlink (plain);
  {
    g_autofree char        *spec  = g_strconcat ("idx:", folder, NULL);
    g_autoptr (GError)      error = NULL;
    g_autoptr (GyreDataset) whole = gyre_dataset_open (spec, &error);

    gyre_assert_no_error (error);
  }
  g_free (g_steal_pointer (&data));
  g_file_get_contents (zipped, &data, &size, NULL);
  g_file_set_contents (zipped, data, (gssize) size - 12, NULL);
  assert_fails (folder, "truncated", "train-images-idx3-ubyte.gz");
  remove_folder (folder);
}
END_TEST

START_TEST (has_digits)
{
  g_autoptr (GError)      error = NULL;
  g_autoptr (GyreDataset) data  = gyre_dataset_open ("digits", &error);
  const guint8           *pixels;
  gsize                   size;

  gyre_assert_no_error (error);
  ck_assert_int_eq (gyre_dataset_get_n (data, GYRE_SPLIT_TRAIN), 1437);
  ck_assert_int_eq (gyre_dataset_get_n (data, GYRE_SPLIT_TEST), 360);
  ck_assert_int_eq (gyre_dataset_get_n_classes (data), 10);
  gyre_assert_near (gyre_dataset_get_scale (data), 16.0, 0.0);
  pixels =
      g_bytes_get_data (gyre_dataset_get_part (data, GYRE_SPLIT_TRAIN)->images, &size);
  for (gsize i = 0; i < size; i++)
    ck_assert_int_le (pixels[i], 16);
  /* the first image of the set is a zero: its third pixel is 5 */
  ck_assert_int_eq (pixels[2], 5);
}
END_TEST

START_TEST (rejects_specs)
{
  static const char *const cases[][2] = {
    { "minst", "no dataset 'minst'" }, { "idx", "written idx:FOLDER" },
    { "idx:", "written idx:FOLDER" }, { "digits:x", "written digits" },
    { "cifar10:/nowhere", "/nowhere/data_batch_1.bin" }, { "", "known are" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError)      error = NULL;
      g_autoptr (GyreDataset) data  = gyre_dataset_open (cases[i][0], &error);

      ck_assert_ptr_null (data);
      gyre_assert_error_says (error, cases[i][1]);
    }
}
END_TEST

START_TEST (reads_cifar10)
{
  static const char *const names[] = { "data_batch_1.bin", "data_batch_2.bin",
    "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin" };
  g_autofree char        *folder = g_dir_make_tmp ("gyre-cifar-XXXXXX", NULL);
  g_autofree char        *spec   = g_strconcat ("cifar10:", folder, NULL);
  g_autofree guint8      *record = g_malloc0 (2 * 3073);
  g_autoptr (GError)      error  = NULL;
  g_autoptr (GyreDataset) data   = NULL;
  const guint8           *pixels;

  record[0]           = 3;
  record[1 + 5]       = 10;   /* red of pixel 5 */
  record[1 + 1024 + 5] = 20;
  record[1 + 2048 + 5] = 30;
  record[3073]        = 9;
  for (guint i = 0; i < 6; i++)
    write_file (folder, names[i], record, 2 * 3073);
  data = gyre_dataset_open (spec, &error);
  gyre_assert_no_error (error);
  ck_assert_int_eq (gyre_dataset_get_n (data, GYRE_SPLIT_TRAIN), 10);
  pixels =
      g_bytes_get_data (gyre_dataset_get_part (data, GYRE_SPLIT_TRAIN)->images, NULL);
  ck_assert_int_eq (pixels[15], 10);
  ck_assert_int_eq (pixels[16], 20);
  ck_assert_int_eq (pixels[17], 30);
  write_file (folder, names[1], record, 3000);
  g_clear_object (&data);
  data = gyre_dataset_open (spec, &error);
  gyre_assert_error_says (error, "data_batch_2.bin: 3000 bytes");
  remove_folder (folder);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "idx", reads_idx);
  gyre_check_add (suite, "spoiled", rejects_spoiled_idx);
  gyre_check_add (suite, "missing", rejects_missing);
  gyre_check_add (suite, "truncated-gzip", rejects_truncated_gzip);
  gyre_check_add (suite, "digits", has_digits);
  gyre_check_add (suite, "specs", rejects_specs);
  gyre_check_add (suite, "cifar10", reads_cifar10);
}

GYRE_CHECK_MAIN ("dataset", add_tests)
