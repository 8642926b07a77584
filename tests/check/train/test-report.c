/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include <gyre/gyre-error.h>

#include "data/gyre-dataset-private.h"
#include "train/gyre-report-private.h"

/* Whether pictures can be made is told from outside, not asked of what is tested. */
static gboolean
has_cairo (void)
{
  return g_strcmp0 (g_getenv ("GYRE_TEST_CAIRO"), "1") == 0;
}

static GyreReport *
new_report (const char *folder)
{
  g_autoptr (GError)      error  = NULL;
  g_autoptr (GyreDataset) data   = gyre_dataset_open ("digits", &error);
  GyreReport             *report = gyre_report_new (data, folder, &error);

  gyre_assert_no_error (error);
  return report;
}

/* A row a sample: 2 of its predicted class's logit, 0 elsewhere. */
static GyreArray *
logits_of (const gint32 *predicted, gint64 n, gint64 classes)
{
  g_autofree float *rows = g_new0 (float, n * classes);

  for (gint64 i = 0; i < n; i++)
    rows[i * classes + predicted[i]] = 2.0f;
  return gyre_array_new (GYRE_F32, GYRE_SHAPE (n, classes), rows);
}

static void
add (GyreReport *report, const gint32 *labels, const gint32 *predicted, gint64 n,
     gint64 classes)
{
  g_autoptr (GyreArray) logits = logits_of (predicted, n, classes);
  g_autoptr (GyreArray) right  = gyre_array_new (GYRE_I32, GYRE_SHAPE (n), labels);
  g_autoptr (GError)    error  = NULL;

  ck_assert (gyre_report_add_test (report, logits, right, &error));
  gyre_assert_no_error (error);
}

/* By hand: three of seven right; a prediction that no class of the digits is. */
static const gint32 labels[]    = { 0, 0, 0, 1, 1, 9, 9 };
static const gint32 predicted[] = { 0, 0, 3, 1, 11, 8, 8 };

START_TEST (counts)
{
  g_autoptr (GyreReport) report = new_report (NULL);
  /* softmax of twelve classes: exp 2 / (exp 2 + 11) */
  double right = log (exp (2.0) + 11.0) - 2.0;

  for (int pass = 0; pass < 2; pass++)
    {
      gyre_report_start_test (report);
      add (report, labels, predicted, 4, 12);
      add (report, labels + 4, predicted + 4, 3, 12);
    }
  gyre_assert_near (gyre_report_get_accuracy (report), 3.0 / 7.0, 1e-15);
  gyre_assert_near (gyre_report_get_recall (report, 0), 2.0 / 3.0, 1e-15);
  gyre_assert_near (gyre_report_get_recall (report, 1), 0.5, 1e-15);
  gyre_assert_near (gyre_report_get_recall (report, 2), NAN, 0.0);
  gyre_assert_near (gyre_report_get_recall (report, 9), 0.0, 1e-15);
  ck_assert_int_eq (gyre_report_get_count (report, 0, 0), 2);
  ck_assert_int_eq (gyre_report_get_count (report, 0, 3), 1);
  ck_assert_int_eq (gyre_report_get_count (report, 1, 10), 1);
  ck_assert_int_eq (gyre_report_get_count (report, 9, 8), 2);
  /* the sum is of floats' exponentials in double: a few units of its last place */
  gyre_assert_near (report->loss, 3.0 * right + 4.0 * (right + 2.0), 1e-12);
  ck_assert_uint_eq (report->n_worst, 7);
  ck_assert_int_eq (report->worst[0].index, 2);   /* of equals the first */
  ck_assert_int_eq (report->worst[3].index, 6);
  gyre_assert_near (report->worst[0].probability, exp (2.0) / (exp (2.0) + 11.0), 1e-12);
}
END_TEST

/* As a step in pmap form gives them: [devices, rows of each, classes]. */
START_TEST (takes_stacked)
{
  g_autoptr (GyreReport) report = new_report (NULL);
  float                  rows[2 * 2 * 3] = { [0] = 1, [4] = 1, [8] = 1, [9] = 1 };
  const gint32           is[4]  = { 0, 1, 2, 1 };
  g_autoptr (GyreArray)  logits = gyre_array_new (GYRE_F32, GYRE_SHAPE (2, 2, 3), rows);
  g_autoptr (GyreArray)  right  = gyre_array_new (GYRE_I32, GYRE_SHAPE (4), is);

  ck_assert (gyre_report_add_test (report, logits, right, NULL));
  ck_assert_int_eq (report->n_right, 3);
}
END_TEST

/* The largest loss first, whatever order they come in; no number is worse than any. */
START_TEST (keeps_the_worst)
{
  g_autoptr (GyreReport) report = new_report (NULL);

  for (gint64 i = 0; i < 200; i++)
    {
      GyrePrediction one = { .index = i, .loss = (double) (i * 77 % 200) };

      one.loss = i == 150 ? NAN : one.loss;
      gyre_report_add_prediction (report, &one);
    }
  ck_assert_uint_eq (report->n_worst, GYRE_REPORT_N_WORST);
  ck_assert_int_eq (report->worst[0].index, 150);
  for (guint i = 1, loss = 199; i < report->n_worst; i++, loss--)
    {
      loss -= loss == 150 * 77 % 200;
      gyre_assert_near (report->worst[i].loss, loss, 0.0);
      ck_assert_int_eq (report->worst[i].index * 77 % 200, loss);
    }
}
END_TEST

START_TEST (refuses)
{
  static const gint32    wrong[] = { 0, 3, 1 };
  g_autoptr (GyreReport) report  = new_report (NULL);
  g_autoptr (GyreArray)  logits  = logits_of (predicted, 3, 12);
  g_autoptr (GyreArray)  few     = gyre_array_new (GYRE_I32, GYRE_SHAPE (2), labels);
  g_autoptr (GyreArray)  small   = gyre_array_new_full (GYRE_F32, GYRE_SHAPE (3, 2), 0.0);
  g_autoptr (GyreArray)  three   = gyre_array_new (GYRE_I32, GYRE_SHAPE (3), wrong);
  g_autoptr (GError)     error   = NULL;

  ck_assert (!gyre_report_add_test (report, logits, few, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "f32[3, 12]");
  g_clear_error (&error);
  ck_assert (!gyre_report_add_test (report, few, few, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  g_clear_error (&error);
  ck_assert (!gyre_report_add_test (report, small, three, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DATA);
  gyre_assert_error_says (error, "label 3 of sample 1");
}
END_TEST

START_TEST (tells)
{
  g_autoptr (GyreReport) report = new_report (NULL);
  g_autofree char       *text   = NULL;

  add (report, labels, predicted, 7, 12);
  text = gyre_report_to_text (report);
  ck_assert (g_str_has_prefix (text, "test accuracy 0.4286 (3 of 7)  mean loss "));
  ck_assert_ptr_nonnull (strstr (text, "\n"
      "      0    1    2    3    4    5    6    7    8    9 other  recall\n"
      "0     2    0    0    1    0    0    0    0    0    0     0  0.6667\n"
      "1     0    1    0    0    0    0    0    0    0    0     1  0.5000\n"
      "2     0    0    0    0    0    0    0    0    0    0     0       -\n"));
  gyre_report_start_test (report);
  add (report, labels, labels, 7, 10);
  g_free (text);
  text = gyre_report_to_text (report);
  ck_assert_ptr_null (strstr (text, "other"));
}
END_TEST

/* Losses are read two steps late; the mean is the last epoch's. */
START_TEST (means_an_epoch)
{
  g_autoptr (GyreReport) report = new_report (NULL);

  gyre_assert_near (gyre_report_get_mean_loss (report), NAN, 0.0);
  for (int i = 0; i < 4; i++)
    {
      g_autoptr (GyreArray) loss = gyre_array_new_scalar (GYRE_F32, i);

      ck_assert (gyre_report_add_loss (report, loss, NULL));
      ck_assert_uint_eq (report->losses->len, (guint) MAX (i - 1, 0));
    }
  ck_assert (gyre_report_read_losses (report, 0, NULL));
  gyre_report_end_epoch (report);
  gyre_assert_near (gyre_report_get_mean_loss (report), 1.5, 1e-15);
  gyre_report_add_step (report, 4.0);
  gyre_report_add_step (report, 6.0);
  gyre_report_end_epoch (report);
  gyre_assert_near (gyre_report_get_mean_loss (report), 5.0, 1e-15);
}
END_TEST

/* --- files --- */

static char *
make_folder (void)
{
  return g_dir_make_tmp ("gyre-report-XXXXXX", NULL);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char      *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        remove_folder (path);
      else
        g_unlink (path);
    }
  g_rmdir (folder);
}

/* A PNG begins with eight bytes and a chunk of its width and height, big-endian. */
static void
check_picture (const char *folder, const char *name, guint width, guint height)
{
  static const guint8 magic[] = { 137, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13,
                                  'I', 'H', 'D', 'R' };
  g_autofree char    *path = g_build_filename (folder, name, NULL);
  g_autofree char    *data = NULL;
  gsize               size;

  ck_assert (g_file_get_contents (path, &data, &size, NULL));
  ck_assert_uint_gt (size, 1000);
  ck_assert_mem_eq (data, magic, sizeof magic);
  for (int i = 0; i < 2; i++)
    {
      guint32 extent;

      memcpy (&extent, data + sizeof magic + 4 * i, sizeof extent);
      extent = GUINT32_FROM_BE (extent);
      ck_assert_uint_ge (extent, i == 0 ? width : height);
    }
}

/* Two epochs with a loss that is no number and one that is infinite. */
static void
fill (GyreReport *report)
{
  for (int i = 0; i < 40; i++)
    {
      gyre_report_add_step (report, i == 7 ? NAN : i == 9 ? INFINITY : 2.0 / (i + 1));
      if (i % 20 == 19)
        {
          gyre_report_start_test (report);
          add (report, labels, predicted, 7, 12);
          gyre_report_end_epoch (report);
        }
    }
}

static void
check_numbers (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "report.jsonl", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv)   lines = NULL;

  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  ck_assert_uint_eq (g_strv_length (lines), 40 + 2 + 10 + 7 + 1);
  for (guint i = 0; i + 1 < g_strv_length (lines); i++)
    {
      g_autoptr (JsonNode) node = json_from_string (lines[i], NULL);

      ck_assert (node && JSON_NODE_HOLDS_OBJECT (node));
    }
  ck_assert_str_eq (lines[7], "{\"step\":7,\"loss\":null}");
  ck_assert_str_eq (lines[41],
                    "{\"epoch\":1,\"steps\":40,\"test_accuracy\":0.428571429}");
  ck_assert_str_eq (lines[43],
                    "{\"class\":1,\"name\":\"1\",\"n\":2,\"right\":1,\"recall\":0.5,"
                    "\"predicted\":[0,1,0,0,0,0,0,0,0,0,1]}");
  ck_assert (g_str_has_prefix (lines[52], "{\"index\":2,\"label\":0,\"predicted\":3,"));
}

START_TEST (writes)
{
  g_autofree char       *folder = make_folder ();
  g_autofree char       *inner  = g_build_filename (folder, "a", "b", NULL);
  g_autoptr (GyreReport) report = NULL;
  g_autoptr (GError)     error  = NULL;

  if (!has_cairo ())
    {
      g_autoptr (GyreDataset) data = gyre_dataset_open ("digits", NULL);

      ck_assert_ptr_null (gyre_report_new (data, inner, &error));
      gyre_assert_error_says (error, "built without cairo");
      remove_folder (folder);
      return;
    }
  report = new_report (inner);
  ck_assert (gyre_report_write (report, &error));   /* of nothing */
  fill (report);
  ck_assert (gyre_report_write (report, &error));
  gyre_assert_no_error (error);
  check_picture (inner, "loss.png", 1720, 960);
  check_picture (inner, "confusion.png", 1400, 1000);
  check_picture (inner, "worst.png", 1720, 800);
  check_numbers (inner);
  remove_folder (folder);
}
END_TEST

/* A file where the folder should be; something in a picture's place. */
START_TEST (refuses_folders)
{
  g_autofree char         *folder = make_folder ();
  g_autofree char         *file   = g_build_filename (folder, "file", NULL);
  g_autofree char         *below  = g_build_filename (file, "below", NULL);
  g_autofree char         *taken  = g_build_filename (folder, "loss.png", NULL);
  g_autoptr (GyreDataset)  data   = gyre_dataset_open ("digits", NULL);
  g_autoptr (GyreReport)   report = NULL;
  const char              *bad[]  = { file, below };

  for (gsize i = 0; has_cairo () && i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert (g_file_set_contents (file, "x", 1, NULL));
      ck_assert_ptr_null (gyre_report_new (data, bad[i], &error));
      gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_FILE);
      gyre_assert_error_says (error, bad[i]);
    }
  if (has_cairo ())
    {
      g_autoptr (GError) error = NULL;

      ck_assert_int_eq (g_mkdir (taken, 0777), 0);
      report = new_report (folder);
      fill (report);
      ck_assert (!gyre_report_write (report, &error));
      gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_FILE);
      gyre_assert_error_says (error, "loss.png");
    }
  remove_folder (folder);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "counts", counts);
  gyre_check_add (suite, "stacked", takes_stacked);
  gyre_check_add (suite, "worst", keeps_the_worst);
  gyre_check_add (suite, "refuses", refuses);
  gyre_check_add (suite, "text", tells);
  gyre_check_add (suite, "mean", means_an_epoch);
  gyre_check_add (suite, "writes", writes);
  gyre_check_add (suite, "folders", refuses_folders);
}

GYRE_CHECK_MAIN ("report", add_tests)
