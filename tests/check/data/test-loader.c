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
  gyre_check_add (suite, "batch-size", rejects_batch_size);
}

GYRE_CHECK_MAIN ("loader", add_tests)
