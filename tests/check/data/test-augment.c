/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre-dataset.h>

#include "data/gyre-augment-private.h"
#include "data/gyre-dataset-private.h"

#define HEIGHT 5
#define WIDTH  7

/* What a pixel of the result is by definition: of the image padded with zeros on all
 * sides, cut from a corner that the key draws, and mirrored. */
static guint8
pixel (const GyreAugment *augment, GyreKey key, int channels, const guint8 *image, int y,
       int x, int channel)
{
  guint32 bits[3], places = 2 * (guint32) augment->crop + 1;

  gyre_key_bits (key, 0, 3, bits);
  if (augment->flip && bits[2] >= 0x80000000u)
    x = WIDTH - 1 - x;
  y += (int) (bits[0] % places) - (int) augment->crop;
  x += (int) (bits[1] % places) - (int) augment->crop;
  if (y < 0 || y >= HEIGHT || x < 0 || x >= WIDTH)
    return 0;
  return image[(y * WIDTH + x) * channels + channel];
}

static void
check_image (const GyreAugment *augment, GyreKey key, int channels)
{
  GyreShape shape = GYRE_SHAPE (HEIGHT, WIDTH, channels);
  guint8    image[HEIGHT * WIDTH * 3], result[HEIGHT * WIDTH * 3];

  for (gsize i = 0; i < sizeof image; i++)
    image[i] = (guint8) (i + 1);
  gyre_augment_apply (augment, key, &shape, (gsize) channels, image, result);
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      for (int c = 0; c < channels; c++)
        ck_assert_int_eq (result[(y * WIDTH + x) * channels + c],
                          pixel (augment, key, channels, image, y, x, c));
}

static const GyreAugment augments[] = {
  { 0, FALSE }, { 0, TRUE }, { 1, FALSE }, { 2, TRUE }, { 6, TRUE }, { 40, TRUE },
};

START_TEST (moves_and_mirrors)
{
  for (guint seed = 0; seed < 50; seed++)
    {
      check_image (&augments[_i], gyre_key_new (seed), 1);
      check_image (&augments[_i], gyre_key_new (seed), 3);
    }
}
END_TEST

/* Every corner is drawn, and either side. */
START_TEST (draws_all_places)
{
  const GyreAugment augment = { 1, TRUE };
  const GyreShape   shape   = GYRE_SHAPE (3, 3, 1);
  const guint8      image[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  guint             seen[10] = { 0 };

  for (guint seed = 0; seed < 900; seed++)
    {
      guint8 result[9];

      gyre_augment_apply (&augment, gyre_key_new (seed), &shape, 1, image, result);
      seen[result[4]]++;
    }
  for (guint i = 1; i <= 9; i++)
    ck_assert_int_gt (seen[i], 60);   /* of 100 on average, four deviations below */
  ck_assert_int_eq (seen[0], 0);
}
END_TEST

static const struct { const char *text, *spelled; } texts[] = {
  { NULL, "none" }, { "none", "none" }, { "crop=0", "none" }, { "flip", "flip" },
  { "crop=4", "crop=4" }, { "flip, crop=4", "crop=4,flip" },
};

START_TEST (parses)
{
  GyreAugment        augment;
  g_autoptr (GError) error = NULL;
  g_autofree char   *text  = NULL;

  ck_assert (gyre_augment_parse (texts[_i].text, &augment, &error));
  gyre_assert_no_error (error);
  text = gyre_augment_to_string (&augment);
  ck_assert_str_eq (text, texts[_i].spelled);
}
END_TEST

static const char *const mistakes[] = {
  "", "crop", "crop=", "crop=-1", "crop=x", "crop=99999999", "flip=1", "crop=4,", "turn",
};

START_TEST (refuses)
{
  GyreAugment        augment;
  g_autoptr (GError) error = NULL;

  ck_assert (!gyre_augment_parse (mistakes[_i], &augment, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, "crop=4,flip");
}
END_TEST

/* --- in the loader --- */

/* The images of an epoch, put back in the order of the split. */
static guint8 *
load (GyreDataset *data, gint64 batch_size, guint epoch, gint64 skip, const char *augment)
{
  const GyreDatasetPart *part   = gyre_dataset_get_part (data, GYRE_SPLIT_TRAIN);
  g_autoptr (GyreLoader) loader = gyre_loader_new (data, GYRE_SPLIT_TRAIN, batch_size,
                                                   NULL);
  g_autofree gint32     *order  = g_new (gint32, part->n);
  guint8                *images = g_malloc0 ((gsize) part->n * 64);
  gint64                 at     = skip * batch_size;
  GyreTree              *batch;

  ck_assert (gyre_loader_set_augment (loader, augment, gyre_key_new (8), NULL));
  gyre_loader_shuffle (loader, gyre_key_new (0), epoch);
  gyre_loader_skip (loader, skip);
  gyre_key_permutation (gyre_key_fold_in (gyre_key_new (0), epoch), (gsize) part->n,
                        order);
  while ((batch = gyre_loader_next (loader)))
    {
      g_autoptr (GyreTree) tree  = batch;
      GyreArray           *array = gyre_tree_get_array (tree, "image");
      g_autoptr (GBytes)   bytes = gyre_array_get (array, NULL);

      for (gint64 i = 0; i < gyre_array_get_shape (array).dims[0]; i++, at++)
        memcpy (images + 64 * order[at],
                (const guint8 *) g_bytes_get_data (bytes, NULL) + 64 * i, 64);
    }
  return images;
}

/* A row's image depends on the epoch and on nothing else. */
START_TEST (depends_on_row_and_epoch)
{
  g_autoptr (GError)      error = NULL;
  g_autoptr (GyreDataset) data  = gyre_dataset_open ("digits", &error);
  gsize size = 64 * (gsize) gyre_dataset_get_n (data, GYRE_SPLIT_TRAIN);
  g_autofree guint8      *a     = load (data, 256, 1, 0, "crop=1,flip");
  g_autofree guint8      *b     = load (data, 33, 1, 0, "crop=1,flip");
  g_autofree guint8      *other = load (data, 256, 2, 0, "crop=1,flip");
  g_autofree guint8      *late  = load (data, 256, 1, 3, "crop=1,flip");
  g_autofree guint8      *plain = load (data, 256, 1, 0, "none");
  const GyreDatasetPart  *part  = gyre_dataset_get_part (data, GYRE_SPLIT_TRAIN);
  gsize                   alike = 0;

  ck_assert_mem_eq (a, b, size);
  ck_assert_mem_ne (a, other, size);
  ck_assert_mem_ne (a, plain, size);
  ck_assert_mem_eq (plain, g_bytes_get_data (part->images, NULL), size);
  for (gsize i = 0; i < size; i += 64)
    alike += memcmp (a + i, late + i, 64) == 0;
  ck_assert_uint_ge (alike, (gsize) part->n - 3 * 256);
}
END_TEST

START_TEST (keeps_images_in_sight)
{
  g_autoptr (GError)      error  = NULL;
  g_autoptr (GyreDataset) data   = gyre_dataset_open ("digits", NULL);   /* 8 x 8 */
  g_autoptr (GyreLoader)  loader = gyre_loader_new (data, GYRE_SPLIT_TRAIN, 8, NULL);

  ck_assert (gyre_loader_set_augment (loader, "crop=7", gyre_key_new (0), NULL));
  ck_assert (!gyre_loader_set_augment (loader, "crop=8", gyre_key_new (0), &error));
  gyre_assert_error_says (error, "images are 8x8");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "augment", NULL, NULL);

  tcase_add_loop_test (tcase, moves_and_mirrors, 0, G_N_ELEMENTS (augments));
  tcase_add_test (tcase, draws_all_places);
  tcase_add_loop_test (tcase, parses, 0, G_N_ELEMENTS (texts));
  tcase_add_loop_test (tcase, refuses, 0, G_N_ELEMENTS (mistakes));
  tcase_add_test (tcase, depends_on_row_and_epoch);
  tcase_add_test (tcase, keeps_images_in_sight);
}

GYRE_CHECK_MAIN ("augment", add_tests)
