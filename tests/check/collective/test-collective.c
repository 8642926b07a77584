/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-collective.h"

#include <gyre/gyre-error.h>

static const char *const algorithms[] = { "ring", "direct", "host", "staged" };
static const gsize lengths[] = { 0, 1, 7, 1000, 20011 };
static const GyreDtype dtypes[] = { GYRE_F32, GYRE_I32, GYRE_U32 };

static GPtrArray *devices;

static void
set_up (void)
{
  devices = gyre_check_open ("pocl*8");
}

static void
tear_down (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

static void
check_once (const char  *algorithm,
            guint        n,
            gsize        length,
            GyreDtype    dtype,
            GyreReduceOp op,
            gboolean     two_phases)
{
  Bucket bucket = { devices, n, dtype, op, length, .two_phases = two_phases };

  bucket_open (&bucket, algorithm, NULL);
  ck_assert_str_eq (gyre_collective_get_algorithm (bucket.collective), algorithm);
  bucket_check (&bucket, n);
  bucket_close (&bucket);
}

START_TEST (every_length_and_op)
{
  for (guint n = 1; n <= MOST; n++)
    for (guint l = 0; l < G_N_ELEMENTS (lengths); l++)
      for (GyreReduceOp op = GYRE_REDUCE_SUM; op <= GYRE_REDUCE_MIN; op++)
        check_once (algorithms[_i], n, lengths[l], dtypes[(n + l) % 3], op,
                    (n + op) % 2);
}
END_TEST

START_TEST (a_million_floats)
{
  for (guint n = 2; n <= MOST; n += 3)
    check_once (algorithms[_i], n, 1000003, GYRE_F32, GYRE_REDUCE_SUM, n % 2);
}
END_TEST

/* Nothing keeps a step's writes from the reads of the one before but acquire. */
START_TEST (back_to_back)
{
  for (guint n = 2; n <= MOST; n += 3)
    for (guint two = 0; two < 2; two++)
      {
        Bucket bucket = { devices, n, GYRE_F32, GYRE_REDUCE_SUM, 20011,
                          .two_phases = two };

        bucket_open (&bucket, algorithms[_i], NULL);
        for (guint step = 0; step < 50; step++)
          bucket_check (&bucket, step);
        bucket_close (&bucket);
      }
}
END_TEST

START_TEST (unequal_bounds)
{
  gsize align = gyre_device_get_align (g_ptr_array_index (devices, 0)) / 4;
  gsize bounds[] = { 0, 0, 5 * align, 5 * align, 6 * align, 1000 * align + 3 };
  Bucket bucket = { devices, 5, GYRE_F32, GYRE_REDUCE_SUM, 1000 * align + 3 };

  for (guint two = 0; two < 2; two++)
    {
      bucket.two_phases = two;
      bucket_open (&bucket, algorithms[_i], bounds);
      ck_assert_mem_eq (gyre_collective_get_bounds (bucket.collective), bounds,
                        sizeof bounds);
      bucket_check (&bucket, 1);
      bucket_close (&bucket);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "collective", set_up, tear_down);
  int n = G_N_ELEMENTS (algorithms);

  tcase_add_loop_test (tcase, every_length_and_op, 0, n);
  tcase_add_loop_test (tcase, a_million_floats, 0, n);
  tcase_add_loop_test (tcase, back_to_back, 0, n);
  tcase_add_loop_test (tcase, unequal_bounds, 0, n);
}

GYRE_CHECK_MAIN ("collective", add_tests)
