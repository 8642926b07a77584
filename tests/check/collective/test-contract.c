/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-collective.h"

#include <gyre/gyre-error.h>

static const char *const algorithms[] = { "ring", "direct", "host", "staged" };

static GPtrArray *devices;

static void
set_up (void)
{
  devices = gyre_check_open ("pocl*4");
}

static void
tear_down (void)
{
  g_unsetenv ("GYRE_ALL_REDUCE");
  g_clear_pointer (&devices, g_ptr_array_unref);
}

START_TEST (bounds_cover_and_align)
{
  GyreDevice *const *members = (GyreDevice **) devices->pdata;
  gsize align = gyre_device_get_align (members[0]) / 4;
  gsize bounds[5];

  for (gsize length = 0; length < 10 * align; length += 7)
    {
      gyre_collective_choose_bounds (members, 4, length, 4, bounds);
      ck_assert_uint_eq (bounds[0], 0);
      ck_assert_uint_eq (bounds[4], length);
      for (guint i = 0; i < 4; i++)
        {
          ck_assert_uint_le (bounds[i], bounds[i + 1]);
          ck_assert_uint_le (bounds[i + 1] - bounds[i], (length / align + 4) / 4 * align);
          if (bounds[i] < length)
            ck_assert_uint_eq (bounds[i] % align, 0);
        }
    }
}
END_TEST

static gboolean
reduce_scatter (gpointer   data,
                GError   **error)
{
  Bucket *self = data;

  return bucket_write (self, error) &&
         bucket_phase (self, GYRE_PHASE_REDUCE_SCATTER, error) &&
         bucket_read (self, error) && bucket_wait (self, error);
}

static gboolean
all_gather (gpointer   data,
            GError   **error)
{
  Bucket *self = data;

  return bucket_write (self, error) &&
         bucket_phase (self, GYRE_PHASE_ALL_GATHER, error) &&
         bucket_read (self, error) && bucket_wait (self, error);
}

START_TEST (each_half_alone)
{
  Bucket bucket = { devices, 4, GYRE_F32, GYRE_REDUCE_SUM, 3001 };
  const gsize *bounds;
  GError *error;

  bucket_open (&bucket, algorithms[_i], NULL);
  bounds = gyre_collective_get_bounds (bucket.collective);
  for (guint step = 0; step < 5; step++)
    {
      bucket_fill (&bucket, step);
      bucket_expect (&bucket);
      error = gyre_check_on_executor (reduce_scatter, &bucket);
      gyre_assert_no_error (error);
      for (guint i = 0; i < 4; i++)
        bucket_compare (&bucket, i, bounds[i], bounds[i + 1]);

      error = gyre_check_on_executor (all_gather, &bucket);
      gyre_assert_no_error (error);
      for (guint c = 0; c < 4; c++)
        memcpy (bucket.expected + bounds[c], bucket.in[c] + bounds[c],
                (bounds[c + 1] - bounds[c]) * 4);
      for (guint i = 0; i < 4; i++)
        bucket_compare (&bucket, i, 0, bucket.length);
    }
  bucket_close (&bucket);
}
END_TEST

/* A NaN in any member, first, between or last in the order, is one in the result. */
START_TEST (max_and_min_keep_a_nan)
{
  for (GyreReduceOp op = GYRE_REDUCE_MAX; op <= GYRE_REDUCE_MIN; op++)
    {
      Bucket bucket = { devices, 4, GYRE_F32, op, 1000 };
      GError *error;

      bucket_open (&bucket, algorithms[_i], NULL);
      bucket_fill (&bucket, 0);
      for (guint k = 0; k < 1000; k += 3)
        bucket.in[k % 4][k] = 0x7fc00000u;
      error = gyre_check_on_executor (bucket_step, &bucket);
      gyre_assert_no_error (error);
      for (guint i = 0; i < 4; i++)
        for (guint k = 0; k < 1000; k++)
          {
            gboolean is_nan = (bucket.out[i][k] & 0x7fffffffu) > 0x7f800000u;

            ck_assert_int_eq (is_nan, k % 3 == 0);
          }
      bucket_close (&bucket);
    }
}
END_TEST

typedef struct
{
  Bucket              *bucket;
  GyreCollectivePhase  phase;
} Run;

static gboolean
run_phase (gpointer   data,
           GError   **error)
{
  Run *self = data;

  return bucket_write (self->bucket, error) &&
         bucket_phase (self->bucket, self->phase, error) &&
         bucket_wait (self->bucket, error);
}

/* One kernel a hop, 2 (n - 1) of them in the ring; nothing is made once it runs. */
START_TEST (launches_are_counted)
{
  static const guint expected[][3] = {
    { 12, 12, 24 },
    { 4, 4, 4 },
    { 0, 0, 0 },
    { 12, 0, 12 },
  };
  Bucket bucket = { devices, 4, GYRE_F32, GYRE_REDUCE_SUM, 5000 };
  Run run = { &bucket, GYRE_PHASE_REDUCE_SCATTER };

  bucket_open (&bucket, algorithms[_i], NULL);
  for (run.phase = 0; run.phase <= GYRE_PHASE_ALL_REDUCE; run.phase++)
    {
      GyreBufferStats buffers = gyre_buffer_get_stats ();
      GyreKernelStats before = gyre_kernel_get_stats (), after;
      GError *error = gyre_check_on_executor (run_phase, &run);

      gyre_assert_no_error (error);
      after = gyre_kernel_get_stats ();
      ck_assert_uint_eq (after.launches - before.launches, expected[_i][run.phase]);
      ck_assert_uint_eq (after.kernels_created, before.kernels_created);
      ck_assert_uint_eq (gyre_buffer_get_stats ().created, buffers.created);
    }
  bucket_close (&bucket);
}
END_TEST

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (; *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

START_TEST (a_line_for_each_hop)
{
  static const guint expected[] = { 24, 4, 4, 24 };
  Bucket bucket = { devices, 4, GYRE_F32, GYRE_REDUCE_SUM, 5000 };
  g_autofree char *text = NULL;

  bucket_open (&bucket, algorithms[_i], NULL);
  text = gyre_collective_describe (bucket.collective, GYRE_PHASE_ALL_REDUCE);
  ck_assert_uint_eq (count_lines (text), expected[_i]);
  ck_assert (g_str_has_prefix (text, algorithms[_i]));
  ck_assert_ptr_nonnull (strstr (text, gyre_device_get_name (devices->pdata[0])));
  ck_assert_ptr_nonnull (strstr (text, "chunk 3"));
  bucket_close (&bucket);
}
END_TEST

START_TEST (the_environment_chooses)
{
  Bucket bucket = { devices, 4, GYRE_F32, GYRE_REDUCE_SUM, 10 };

  g_setenv ("GYRE_ALL_REDUCE", algorithms[_i], TRUE);
  bucket_open (&bucket, NULL, NULL);
  ck_assert_str_eq (gyre_collective_get_algorithm (bucket.collective), algorithms[_i]);
  bucket_close (&bucket);

  g_setenv ("GYRE_ALL_REDUCE", "auto", TRUE);
  bucket_open (&bucket, NULL, NULL);
  ck_assert_str_eq (gyre_collective_get_algorithm (bucket.collective), "direct");
  bucket_close (&bucket);
}
END_TEST

static void
open_nine (GPtrArray  *nine,
           GyreBuffer **buffers)
{
  GError *error = NULL;

  for (guint i = 0; i < 9; i++)
    {
      buffers[i] = gyre_buffer_new (nine->pdata[i], 4000, &error);
      gyre_assert_no_error (error);
    }
}

START_TEST (wrong_wishes_are_refused)
{
  g_autoptr (GPtrArray) nine = gyre_check_open ("pocl*9");
  GyreBuffer *buffers[9];
  GyreCollectiveInfo info = {
    9, (GyreDevice **) nine->pdata, buffers, GYRE_F32, GYRE_REDUCE_SUM, 1000, NULL, NULL
  };
  const gsize falling[] = { 0, 512, 256, 1000, 1000, 1000, 1000, 1000, 1000, 1000 };
  const gsize crooked[] = { 0, 1, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 };
  GError *error = NULL;

  open_nine (nine, buffers);
  info.algorithm = "direct";
  ck_assert_ptr_null (gyre_collective_new (&info, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, "'direct'");
  gyre_assert_error_says (error, gyre_device_get_name (nine->pdata[0]));
  g_clear_error (&error);

  info.algorithm = "tree";
  ck_assert_ptr_null (gyre_collective_new (&info, &error));
  gyre_assert_error_says (error, "'tree'");
  g_clear_error (&error);

  info.algorithm = "ring";
  info.bounds = falling;
  ck_assert_ptr_null (gyre_collective_new (&info, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING);
  g_clear_error (&error);
  info.bounds = crooked;
  ck_assert_ptr_null (gyre_collective_new (&info, &error));
  gyre_assert_error_says (error, "multiples of");
  g_clear_error (&error);

  info.bounds = NULL;
  info.length = 1001;
  ck_assert_ptr_null (gyre_collective_new (&info, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "4000 bytes");
  g_clear_error (&error);

  for (guint i = 0; i < 9; i++)
    gyre_buffer_unref (buffers[i]);
  gyre_executor_drain ();
}
END_TEST

START_TEST (many_members_take_the_ring)
{
  g_autoptr (GPtrArray) nine = gyre_check_open ("pocl*9");
  GyreBuffer *buffers[9];
  GyreCollectiveInfo info = {
    9, (GyreDevice **) nine->pdata, buffers, GYRE_F32, GYRE_REDUCE_SUM, 1000, NULL, "auto"
  };
  GError *error = NULL;
  g_autoptr (GyreCollective) self = NULL;

  open_nine (nine, buffers);
  self = gyre_collective_new (&info, &error);
  gyre_assert_no_error (error);
  ck_assert_str_eq (gyre_collective_get_algorithm (self), "ring");
  for (guint i = 0; i < 9; i++)
    gyre_buffer_unref (buffers[i]);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "contract", set_up, tear_down);
  int n = G_N_ELEMENTS (algorithms);

  tcase_add_test (tcase, bounds_cover_and_align);
  tcase_add_loop_test (tcase, each_half_alone, 0, n);
  tcase_add_loop_test (tcase, max_and_min_keep_a_nan, 0, n);
  tcase_add_loop_test (tcase, launches_are_counted, 0, n);
  tcase_add_loop_test (tcase, a_line_for_each_hop, 0, n);
  tcase_add_loop_test (tcase, the_environment_chooses, 0, n);
  tcase_add_test (tcase, wrong_wishes_are_refused);
  tcase_add_test (tcase, many_members_take_the_ring);
}

GYRE_CHECK_MAIN ("contract", add_tests)
