/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre-dataset.h>

#include "data/gyre-dataset-private.h"

static GyreDataset *
digits (void)
{
  g_autoptr (GError) error = NULL;
  GyreDataset       *data  = gyre_dataset_open ("digits", &error);

  gyre_assert_no_error (error);
  return data;
}

/* Every sample once, in the order of the permutation, image and label together; the last
 * batch short. */
START_TEST (visits_all)
{
  g_autoptr (GyreDataset) data   = digits ();
  g_autoptr (GyreLoader)  loader = gyre_loader_new (data, GYRE_SPLIT_TRAIN, 256, NULL);
  const GyreDatasetPart  *part   = gyre_dataset_get_part (data, GYRE_SPLIT_TRAIN);
  const guint8           *pixels = g_bytes_get_data (part->images, NULL);
  const gint32           *all    = g_bytes_get_data (part->labels, NULL);
  g_autofree gint32      *order  = g_new (gint32, part->n);
  gint64                  at     = 0;
  GyreTree               *batch;

  ck_assert_int_eq (gyre_loader_get_n_batches (loader), 6);
  gyre_loader_shuffle (loader, gyre_key_new (0), 3);
  gyre_key_permutation (gyre_key_fold_in (gyre_key_new (0), 3), (gsize) part->n, order);
  while ((batch = gyre_loader_next (loader)))
    {
      g_autoptr (GyreTree) tree   = batch;
      GyreArray           *image  = gyre_tree_get_array (tree, "image");
      g_autoptr (GBytes)   images = gyre_array_get (image, NULL);
      g_autoptr (GBytes) labels =
          gyre_array_get (gyre_tree_get_array (tree, "label"), NULL);
      GyreShape            shape  = gyre_array_get_shape (image);

      ck_assert_int_eq (shape.dims[0], at < 1280 ? 256 : 157);
      for (gint64 i = 0; i < shape.dims[0]; i++, at++)
        {
          ck_assert_int_eq (((const gint32 *) g_bytes_get_data (labels, NULL))[i],
                            all[order[at]]);
          ck_assert_mem_eq ((const guint8 *) g_bytes_get_data (images, NULL) + 64 * i,
                            pixels + 64 * order[at], 64);
        }
    }
  ck_assert_int_eq (at, part->n);
  ck_assert_ptr_null (gyre_loader_next (loader));
}
END_TEST

START_TEST (starts_again)
{
  g_autoptr (GyreDataset) data   = digits ();
  g_autoptr (GyreLoader)  loader = gyre_loader_new (data, GYRE_SPLIT_TEST, 100, NULL);

  for (int epoch = 0; epoch < 3; epoch++)
    {
      GyreTree *batch = gyre_loader_next (loader);

      ck_assert_ptr_nonnull (batch);
      gyre_tree_unref (batch);
      gyre_loader_rewind (loader);   /* in the middle of an epoch */
    }
}
END_TEST

/* The batches after those skipped are what they are without. */
START_TEST (skips)
{
  g_autoptr (GyreDataset) data  = digits ();
  g_autoptr (GyreLoader)  whole = gyre_loader_new (data, GYRE_SPLIT_TRAIN, 500, NULL);
  g_autoptr (GyreLoader)  cut   = gyre_loader_new (data, GYRE_SPLIT_TRAIN, 500, NULL);

  gyre_loader_shuffle (whole, gyre_key_new (1), 2);
  gyre_loader_shuffle (cut, gyre_key_new (1), 2);
  gyre_tree_unref (gyre_loader_next (whole));
  gyre_loader_skip (cut, 1);
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (GyreTree) a = gyre_loader_next (whole);
      g_autoptr (GyreTree) b = gyre_loader_next (cut);
      g_autoptr (GBytes)   x = gyre_array_get (gyre_tree_get_array (a, "image"), NULL);
      g_autoptr (GBytes)   y = gyre_array_get (gyre_tree_get_array (b, "image"), NULL);

      ck_assert (g_bytes_equal (x, y));
    }
  ck_assert_ptr_null (gyre_loader_next (cut));
  gyre_loader_shuffle (cut, gyre_key_new (1), 2);
  gyre_loader_skip (cut, 3);
  ck_assert_ptr_null (gyre_loader_next (cut));
}
END_TEST

/* A range holds its rows alone, each once, shuffled or as they stand. */
START_TEST (keeps_to_a_range)
{
  g_autoptr (GyreDataset) data   = digits ();
  g_autoptr (GyreLoader)  loader = gyre_loader_new (data, GYRE_SPLIT_TRAIN, 8, NULL);
  const GyreDatasetPart  *part   = gyre_dataset_get_part (data, GYRE_SPLIT_TRAIN);
  const gint32           *labels = g_bytes_get_data (part->labels, NULL);
  gint64                  want   = 0, sum = 0, n = 0;

  for (int i = 100; i < 120; i++)
    want += labels[i] * labels[i];
  gyre_loader_set_range (loader, 100, 20);
  ck_assert_int_eq (gyre_loader_get_n_batches (loader), 3);
  for (int epoch = 0; epoch < 2; epoch++)
    {
      GyreTree *batch;

      for (sum = n = 0; (batch = gyre_loader_next (loader)); gyre_tree_unref (batch))
        {
          GyreArray         *array = gyre_tree_get_array (batch, "label");
          g_autoptr (GBytes) bytes = gyre_array_get (array, NULL);
          const gint32      *row   = g_bytes_get_data (bytes, NULL);

          for (gint64 i = 0; i < gyre_array_get_shape (array).dims[0]; i++, n++)
            {
              ck_assert (epoch == 1 || row[i] == labels[100 + n]);
              sum += row[i] * row[i];
            }
        }
      ck_assert_int_eq (n, 20);
      ck_assert_int_eq (sum, want);
      gyre_loader_shuffle (loader, gyre_key_new (1), 0);
    }
}
END_TEST

START_TEST (rejects_batch_size)
{
  g_autoptr (GyreDataset) data  = digits ();
  g_autoptr (GError)      error = NULL;

  ck_assert_ptr_null (gyre_loader_new (data, GYRE_SPLIT_TEST, 0, &error));
  gyre_assert_error_says (error, "batch size 0");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "all", visits_all);
  gyre_check_add (suite, "again", starts_again);
  gyre_check_add (suite, "skip", skips);
  gyre_check_add (suite, "range", keeps_to_a_range);
  gyre_check_add (suite, "batch-size", rejects_batch_size);
}

GYRE_CHECK_MAIN ("loader", add_tests)
