/* SPDX-License-Identifier: Apache-2.0 */
#include "../device/gyre-check-device.h"

#include "fft/gyre-fft-private.h"

/* Transforms by each provider against the sums that define them, in double. */

typedef struct
{
  gint64 batch, rows, n;
} Sizes;

/* One and two dimensions, odd and even, primes, powers; length 1 and 2. */
static const Sizes small[] = {
  { 1, 1, 1 },  { 3, 1, 2 },  { 2, 1, 3 },  { 1, 1, 4 },   { 3, 1, 12 },  { 2, 1, 17 },
  { 1, 1, 37 }, { 2, 1, 74 }, { 5, 1, 64 }, { 2, 1, 105 }, { 1, 1, 128 }, { 0, 1, 8 },
  { 3, 4, 12 }, { 2, 2, 1 },  { 1, 5, 2 },  { 2, 3, 7 },   { 1, 37, 4 },  { 2, 8, 37 },
  { 1, 1, 97 }, { 1, 16, 16 },
};

/* Each takes seconds to compile. */
static const Sizes for_clfft[] = { { 3, 1, 24 }, { 2, 1, 128 }, { 2, 4, 6 } };

typedef struct
{
  GyreDevice *device;
  GyreFft     fft;
  float      *from, *to;
  gsize       n_from, n_to;
} Run;

static gboolean
transform (gpointer   data,
           GError   **error)
{
  Run *run = data;
  g_autoptr (GyreBuffer) from = gyre_buffer_new (run->device, run->n_from * 4, error);
  g_autoptr (GyreBuffer) to = gyre_buffer_new (run->device, run->n_to * 4, error);

  run->fft.from = from;
  run->fft.to = to;
  /* what is refused leaves nothing on the queue */
  return gyre_fft_prepare (run->device, &run->fft, error) &&
         gyre_device_write (run->device, from, 0, run->n_from * 4, run->from, NULL, 0,
                            NULL, error) &&
         gyre_fft_enqueue (run->device, &run->fft, NULL, error) &&
         gyre_device_read (run->device, to, 0, run->n_to * 4, run->to, NULL, 0, NULL,
                           error) &&
         gyre_check_wait (run->device, error);
}

static void
run_init (Run         *self,
          GyreDevice  *device,
          const Sizes *sizes,
          gboolean     backward)
{
  gsize real = (gsize) (sizes->batch * sizes->rows * sizes->n);
  gsize complex = (gsize) (sizes->batch * sizes->rows * (sizes->n / 2 + 1) * 2);

  *self = (Run) { device, { { backward, sizes->rows, sizes->n, sizes->batch } } };
  self->n_from = backward ? complex : real;
  self->n_to = backward ? real : complex;
  self->from = g_new0 (float, self->n_from + 1);
  self->to = g_new0 (float, self->n_to + 1);
}

static void
run_go (Run        *self,
        const char *provider)
{
  GError *error;

  g_setenv ("GYRE_FFT", provider, TRUE);
  error = gyre_check_on_executor (transform, self);
  gyre_assert_no_error (error);
  g_unsetenv ("GYRE_FFT");
}

static void
run_clear (Run *self)
{
  g_free (self->from);
  g_free (self->to);
}

/* Element [b, p, q] of what a forward transform of from gives. */
static void
expect_forward (const Run *run,
                gint64     b,
                gint64     p,
                gint64     q,
                double    *value)
{
  const GyreFftKind *kind = &run->fft.kind;
  const float *x = run->from + b * kind->rows * kind->n;

  value[0] = value[1] = 0;
  for (gint64 i = 0; i < kind->rows; i++)
    for (gint64 j = 0; j < kind->n; j++)
      {
        double angle = -2 * G_PI
                       * ((double) (p * i) / (double) kind->rows
                          + (double) (q * j) / (double) kind->n);

        value[0] += x[i * kind->n + j] * cos (angle);
        value[1] += x[i * kind->n + j] * sin (angle);
      }
}

/* Element [b, i, j] of what a backward transform gives: of the sum over rows, the
 * imaginary parts of frequency 0 and n / 2 aren't looked at. */
static double
expect_backward (const Run *run,
                 gint64     b,
                 gint64     i,
                 gint64     j)
{
  const GyreFftKind *kind = &run->fft.kind;
  gint64 m = kind->n / 2 + 1;
  const float *x = run->from + b * kind->rows * m * 2;
  double sum = 0;

  for (gint64 q = 0; q < m; q++)
    {
      gboolean alone = q == 0 || 2 * q == kind->n;
      double re = 0, im = 0, angle = 2 * G_PI * (double) (q * j) / (double) kind->n;

      for (gint64 p = 0; p < kind->rows; p++)
        {
          double along = 2 * G_PI * (double) (p * i) / (double) kind->rows;
          const float *value = x + 2 * (p * m + q);

          re += value[0] * cos (along) - value[1] * sin (along);
          im += value[0] * sin (along) + value[1] * cos (along);
        }
      sum += alone ? re * cos (angle) : 2 * (re * cos (angle) - im * sin (angle));
    }

  return sum / (double) (kind->rows * kind->n);
}

static void
check_forward (const Run *run)
{
  const GyreFftKind *kind = &run->fft.kind;
  gint64 m = kind->n / 2 + 1;

  for (gint64 e = 0; e < kind->batch * kind->rows * m; e++)
    {
      double value[2];

      expect_forward (run, e / m / kind->rows, e / m % kind->rows, e % m, value);
      /* a sum of at most 300 terms of size 1, in single precision */
      gyre_assert_near (run->to[2 * e], value[0], 2e-5);
      gyre_assert_near (run->to[2 * e + 1], value[1], 2e-5);
    }
}

static void
check_backward (const Run *run)
{
  const GyreFftKind *kind = &run->fft.kind;

  for (gint64 e = 0; e < kind->batch * kind->rows * kind->n; e++)
    gyre_assert_near (run->to[e],
                      expect_backward (run, e / kind->n / kind->rows,
                                       e / kind->n % kind->rows, e % kind->n),
                      2e-6);   /* the mean of terms of size 1, in single precision */
}

static void
check_sizes (GyreDevice  *device,
             const Sizes *sizes,
             const char  *provider,
             gboolean     backward)
{
  Run run;

  run_init (&run, device, sizes, backward);
  for (gsize i = 0; i < run.n_from; i++)
    run.from[i] = (float) ((i * 37 + 11) % 23) / 11.5f - 1;
  run_go (&run, provider);
  if (backward)
    check_backward (&run);
  else
    check_forward (&run);
  if (sizes->batch > 0)
    ck_assert_str_eq (gyre_fft_provider (&run.fft), provider);
  run_clear (&run);
}

START_TEST (transforms_right)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");

  for (gsize i = 0; i < G_N_ELEMENTS (small); i++)
    check_sizes (g_ptr_array_index (devices, 0), &small[i], "plain", _i);
}
END_TEST

START_TEST (transforms_right_by_clfft)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");

  for (gsize i = 0; i < G_N_ELEMENTS (for_clfft); i++)
    check_sizes (g_ptr_array_index (devices, 0), &for_clfft[i], "clfft", _i);
}
END_TEST

START_TEST (takes_clfft_where_it_can)
{
  static const Sizes known = { 2, 1, 128 }, other = { 1, 1, 17 };
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");
  Run run;

  run_init (&run, g_ptr_array_index (devices, 0), &known, FALSE);
  run_go (&run, "clfft");
  ck_assert_str_eq (gyre_fft_provider (&run.fft), "clfft");
  run_clear (&run);
  run_init (&run, g_ptr_array_index (devices, 0), &other, FALSE);
  run_go (&run, "clfft");
  ck_assert_str_eq (gyre_fft_provider (&run.fft), "plain");
  run_clear (&run);
}
END_TEST

/* Two impulses: a wave and a constant. */
static void
check_large (GyreDevice *device,
             gint64      n,
             const char *provider)
{
  Sizes sizes = { 1, 1, n };
  Run there, back;

  run_init (&there, device, &sizes, FALSE);
  there.from[0] = 0.5f;
  there.from[12345] = 1;
  run_go (&there, provider);
  for (gint64 k = 0; k <= n / 2; k += 97)
    {
      double angle = -2 * G_PI * (double) (k * 12345 % n) / (double) n;

      /* 20 passes, each of a rounding */
      gyre_assert_near (there.to[2 * k], 0.5 + cos (angle), 5e-6);
      gyre_assert_near (there.to[2 * k + 1], sin (angle), 5e-6);
    }

  run_init (&back, device, &sizes, TRUE);
  memcpy (back.from, there.to, back.n_from * sizeof (float));
  run_go (&back, provider);
  gyre_assert_floats_near (back.to, there.from, n, 0, 1e-6);
  run_clear (&there);
  run_clear (&back);
}

START_TEST (transforms_long_lines)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");

  check_large (g_ptr_array_index (devices, 0), 1 << 20, "plain");
  check_large (g_ptr_array_index (devices, 0), 262139, "plain");   /* a prime */
}
END_TEST

START_TEST (keeps_plans)
{
  static const Sizes sizes = { 2, 3, 20 };
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");
  GyreDevice *device = g_ptr_array_index (devices, 0);
  Run run;
  guint n;

  run_init (&run, device, &sizes, FALSE);
  run_go (&run, "plain");
  n = gyre_fft_n_plans (device);
  run_go (&run, "plain");
  ck_assert_uint_eq (gyre_fft_n_plans (device), n);
  run_clear (&run);
}
END_TEST

START_TEST (rejects_unknown_choice)
{
  static const Sizes sizes = { 1, 1, 8 };
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");
  g_autoptr (GError) error = NULL;
  Run run;

  run_init (&run, g_ptr_array_index (devices, 0), &sizes, FALSE);
  g_setenv ("GYRE_FFT", "fftw", TRUE);
  error = gyre_check_on_executor (transform, &run);
  g_unsetenv ("GYRE_FFT");
  gyre_assert_error_says (error, "clfft or plain");
  run_clear (&run);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("fft");

  tcase_set_timeout (tcase, 0);
  tcase_add_loop_test (tcase, transforms_right, 0, 2);
  tcase_add_loop_test (tcase, transforms_right_by_clfft, 0, 2);
  tcase_add_test (tcase, transforms_long_lines);
  tcase_add_test (tcase, takes_clfft_where_it_can);
  tcase_add_test (tcase, keeps_plans);
  tcase_add_test (tcase, rejects_unknown_choice);
  suite_add_tcase (suite, tcase);
}

GYRE_CHECK_MAIN ("fft", add_tests)
