/* SPDX-License-Identifier: Apache-2.0 */
#include "../device/gyre-check-device.h"

#include <math.h>

#include "fft/gyre-fft-private.h"

/* A transform against the sum that defines it, in double; and there and back. */

#define ROWS  4
#define N     12
#define HALF  (N / 2 + 1)
#define BATCH 3

typedef struct
{
  GyreDevice   *device;
  GyreFftPlans *plans;
  gint64        rows;
  float         x[BATCH * ROWS * N];
  float         y[2 * BATCH * ROWS * HALF];
  float         back[BATCH * ROWS * N];
} Run;

static gboolean
transform (gpointer data, GError **error)
{
  Run *run = data;
  gsize n_real = (gsize) (BATCH * run->rows * N) * sizeof (float);
  gsize n_complex = (gsize) (2 * BATCH * run->rows * HALF) * sizeof (float);
  GyreFftKind forward = { FALSE, run->rows, N, BATCH };
  GyreFftKind backward = { TRUE, run->rows, N, BATCH };
  g_autoptr (GyreBuffer) x = gyre_buffer_new (run->device, n_real, error);
  g_autoptr (GyreBuffer) y = gyre_buffer_new (run->device, n_complex, error);
  g_autoptr (GyreBuffer) back = gyre_buffer_new (run->device, n_real, error);

  return gyre_device_write (run->device, x, 0, n_real, run->x, NULL, 0, NULL, error) &&
         gyre_fft_enqueue (run->plans, &forward, x, y, NULL, error) &&
         gyre_device_read (run->device, y, 0, n_complex, run->y, NULL, 0, NULL, error) &&
         gyre_fft_enqueue (run->plans, &backward, y, back, NULL, error) &&
         gyre_device_read (run->device, back, 0, n_real, run->back, NULL, 0, NULL,
                           error) &&
         gyre_check_wait (run->device, error);
}

static void
expect (const Run *run, gint64 b, gint64 p, gint64 q, double *re, double *im)
{
  const float *x = run->x + b * run->rows * N;

  *re = *im = 0;
  for (gint64 i = 0; i < run->rows; i++)
    for (gint64 j = 0; j < N; j++)
      {
        double angle = -2 * G_PI
                       * ((double) (p * i) / (double) run->rows + (double) (q * j) / N);

        *re += x[i * N + j] * cos (angle);
        *im += x[i * N + j] * sin (angle);
      }
}

static void
check_run (const Run *run)
{
  for (gint64 b = 0; b < BATCH; b++)
    for (gint64 p = 0; p < run->rows; p++)
      for (gint64 q = 0; q < HALF; q++)
        {
          const float *y = run->y + 2 * ((b * run->rows + p) * HALF + q);
          double re, im;

          expect (run, b, p, q, &re, &im);
          /* a sum of at most 48 terms of size 1 in single precision */
          gyre_assert_near (y[0], re, 2e-5);
          gyre_assert_near (y[1], im, 2e-5);
        }
  gyre_assert_floats_near (run->back, run->x, BATCH * run->rows * N, 0, 1e-6);
}

START_TEST (transforms)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");
  Run run = { g_ptr_array_index (devices, 0), NULL, _i == 0 ? 1 : ROWS };
  GError *error = NULL;

  run.plans = gyre_fft_plans_new (run.device);
  for (guint i = 0; i < G_N_ELEMENTS (run.x); i++)
    run.x[i] = (float) ((i * 37) % 23) / 11.5f - 1;
  for (int repeat = 0; repeat < 2; repeat++)
    {
      error = gyre_check_on_executor (transform, &run);
      gyre_assert_no_error (error);
      check_run (&run);
      ck_assert_uint_eq (gyre_fft_plans_count (run.plans), 2);
    }
  gyre_fft_plans_free (run.plans);
}
END_TEST

static gboolean
prepare_prime (gpointer data, GError **error)
{
  GyreFftKind kind = { FALSE, 1, 17, 1 };

  return gyre_fft_prepare (((Run *) data)->plans, &kind, error);
}

START_TEST (rejects_other_factors)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");
  Run run = { g_ptr_array_index (devices, 0), NULL, 1 };
  g_autoptr (GError) error = NULL;

  run.plans = gyre_fft_plans_new (run.device);
  error = gyre_check_on_executor (prepare_prime, &run);
  gyre_assert_error_says (error, "length 17");
  gyre_fft_plans_free (run.plans);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("fft");

  tcase_set_timeout (tcase, 0);
  tcase_add_loop_test (tcase, transforms, 0, 2);
  suite_add_tcase (suite, tcase);
  gyre_check_add (suite, "factors", rejects_other_factors);
}

GYRE_CHECK_MAIN ("fft", add_tests)
