/* SPDX-License-Identifier: Apache-2.0 */
#include "fft/gyre-fft-provider-private.h"

#include <math.h>

#include <clFFT.h>

#include <gyre/gyre-error.h>

#include "device/gyre-kernel-private.h"
#include "device/gyre-transfer-private.h"

/* clFFT compiles from source and knows lengths with few factors.  It serves devices that
 * have a compiler, and there those lengths alone for which it once gave the right
 * numbers. */

typedef struct
{
  GyreFftPlan      base;
  clfftPlanHandle  handle;
  gboolean         is_made;
  GyreKernel *mirror; /* backward: makes what clFFT is given a spectrum of reals */
} Plan;

/* clFFT is set up once and never torn down: its teardown at exit races with drivers. */
static gboolean
set_up (GError **error)
{
  static gsize once;
  static clfftStatus status;

  if (g_once_init_enter (&once))
    {
      clfftSetupData data;

      status = clfftInitSetupData (&data);
      if (status == CLFFT_SUCCESS)
        status = clfftSetup (&data);
      g_once_init_leave (&once, 1);
    }
  return gyre_cl_check ((cl_int) status, error, "setting up clFFT");
}

static gboolean
check (clfftStatus   status,
       const Plan   *plan,
       GyreDevice   *device,
       const char   *call,
       GError      **error)
{
  g_autofree char *text = NULL;

  if (status == CLFFT_SUCCESS)
    return TRUE;

  text = gyre_fft_kind_to_string (&plan->base.kind);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE,
               "%s of a %s on %s failed with status %d; GYRE_FFT=plain avoids clFFT",
               call, text, gyre_device_get_name (device), (int) status);
  return FALSE;
}

static void
plan_free (Plan *plan)
{
  if (plan->is_made)
    clfftDestroyPlan (&plan->handle);
  g_free (plan);
}

static gboolean
has_known_factors (gint64 n)
{
  static const gint64 factors[] = { 2, 3, 5, 7, 11, 13 };

  for (gsize i = 0; i < G_N_ELEMENTS (factors); i++)
    while (n > 1 && n % factors[i] == 0)
      n /= factors[i];
  return n == 1;
}

/* --- making a plan --- */

/* Lengths and strides, the dimension that varies fastest first. */
static gboolean
set_layout (Plan *plan, GyreDevice *device, GError **error)
{
  const GyreFftKind *kind = &plan->base.kind;
  gsize half = (gsize) kind->n / 2 + 1;
  gsize real[2] = { 1, (gsize) kind->n };
  gsize complex[2] = { 1, half };
  gsize real_size = (gsize) (kind->rows * kind->n);
  gsize complex_size = (gsize) kind->rows * half;
  clfftDim dim = kind->rows > 1 ? CLFFT_2D : CLFFT_1D;

  return check (clfftSetPlanBatchSize (plan->handle, (gsize) kind->batch), plan, device,
                "clfftSetPlanBatchSize", error) &&
         check (clfftSetPlanPrecision (plan->handle, CLFFT_SINGLE), plan, device,
                "clfftSetPlanPrecision", error) &&
         check (clfftSetResultLocation (plan->handle, CLFFT_OUTOFPLACE), plan, device,
                "clfftSetResultLocation", error) &&
         check (
             clfftSetLayout (plan->handle,
                             kind->backward ? CLFFT_HERMITIAN_INTERLEAVED : CLFFT_REAL,
                             kind->backward ? CLFFT_REAL : CLFFT_HERMITIAN_INTERLEAVED),
             plan, device, "clfftSetLayout", error) &&
         check (clfftSetPlanInStride (plan->handle, dim, kind->backward ? complex : real),
                plan, device, "clfftSetPlanInStride", error) &&
         check (
             clfftSetPlanOutStride (plan->handle, dim, kind->backward ? real : complex),
             plan, device, "clfftSetPlanOutStride", error) &&
         check (clfftSetPlanDistance (plan->handle,
                                      kind->backward ? complex_size : real_size,
                                      kind->backward ? real_size : complex_size),
                plan, device, "clfftSetPlanDistance", error);
}

static gboolean
make_plan (Plan *plan, GyreDevice *device, GError **error)
{
  const GyreFftKind *kind = &plan->base.kind;
  cl_command_queue queue = gyre_device_get_queue (device);
  gsize lengths[2] = { (gsize) kind->n, (gsize) kind->rows };

  if (!check (clfftCreateDefaultPlan (&plan->handle, gyre_device_get_context (device),
                                      kind->rows > 1 ? CLFFT_2D : CLFFT_1D, lengths),
              plan, device, "clfftCreateDefaultPlan", error))
    return FALSE;
  plan->is_made = TRUE;
  if (!set_layout (plan, device, error) ||
      !check (clfftBakePlan (plan->handle, 1, &queue, NULL, NULL), plan, device,
              "clfftBakePlan", error))
    return FALSE;

  return check (clfftGetTmpBufSize (plan->handle, &plan->base.scratch[0]), plan, device,
                "clfftGetTmpBufSize", error);
}

static gboolean
find_mirror (Plan        *plan,
             GyreDevice  *device,
             GError     **error)
{
  const GyreFftKind *kind = &plan->base.kind;
  g_autofree char *source = NULL;

  if (!kind->backward)
    return TRUE;

  plan->base.scratch[1] = (gsize) (kind->batch * kind->rows * (kind->n / 2 + 1)) * 8;
  source = gyre_kernel_source_load ("fft.cl", error);
  if (source != NULL)
    plan->mirror =
      gyre_device_get_kernel (device, source, NULL, "gyre_fft_own_mirror", error);
  return plan->mirror != NULL;
}

static GyreFftPlan *
clfft_plan (GyreDevice         *device,
            const GyreFftKind  *kind,
            GError            **error)
{
  Plan *plan;

  if (!set_up (error))
    return NULL;

  plan = g_new0 (Plan, 1);
  plan->base.kind = *kind;
  if (make_plan (plan, device, error) && find_mirror (plan, device, error))
    return &plan->base;

  plan_free (plan);
  return NULL;
}

static gboolean
enqueue_mirror (const Plan   *plan,
                GyreBuffer   *from,
                GyreBuffer   *to,
                GError      **error)
{
  const GyreFftKind *kind = &plan->base.kind;
  GyreKernelArg args[] = { GYRE_BUFFER_ARG (to), GYRE_BUFFER_ARG (from),
                           GYRE_I32_ARG ((gint32) kind->n) };
  gsize global[] = { (gsize) kind->n / 2 + 1, (gsize) kind->rows, (gsize) kind->batch };

  return gyre_device_launch (plan->base.device, plan->mirror, args, G_N_ELEMENTS (args),
                             3, global, NULL, NULL, 0, NULL, error);
}

static gboolean
clfft_enqueue (const GyreFftPlan   *base,
               GyreBuffer          *from,
               GyreBuffer          *to,
               GyreBuffer *const   *scratch,
               cl_event            *event,
               GError             **error)
{
  const Plan *plan = (const Plan *) base;
  cl_command_queue queue = gyre_device_get_queue (base->device);
  cl_mem in = gyre_buffer_get_mem (plan->mirror != NULL ? scratch[1] : from);
  cl_mem out = gyre_buffer_get_mem (to);

  if (plan->mirror != NULL && !enqueue_mirror (plan, from, scratch[1], error))
    return FALSE;

  return check (clfftEnqueueTransform (
                    plan->handle, base->kind.backward ? CLFFT_BACKWARD : CLFFT_FORWARD, 1,
                    &queue, 0, NULL, event, &in, &out,
                    base->scratch[0] > 0 ? gyre_buffer_get_mem (scratch[0]) : NULL),
                plan, base->device, "clfftEnqueueTransform", error);
}

/* --- the test: each kind once, against the host --- */

typedef struct
{
  GyreDevice *device;
  gint64      rows, n;
  gboolean    backward;
  gboolean    right;
} Verdict;

#define TEST_BATCH 3
#define LONG_LINE  512

static gsize
count_side (const GyreFftKind *kind,
            gboolean           real)
{
  return (gsize) (kind->rows * (real ? kind->n : kind->n / 2 * 2 + 2));
}

static void
test_numbers (float *x,
              gsize  n)
{
  guint32 seed = 1;

  for (gsize i = 0; i < n; i++)
    {
      seed = seed * 1664525u + 1013904223u;
      x[i] = (float) (seed >> 8) / 16777216.0f - 0.5f;
    }
}

/* The sums of n products in any order are as near as that to the largest. */
static gboolean
is_right (const GyreFftKind *kind,
          const float       *from,
          const float       *to)
{
  gsize n_from = count_side (kind, !kind->backward);
  gsize n_to = count_side (kind, kind->backward);
  g_autofree double *expected = g_new (double, n_to);

  for (gint64 b = 0; b < kind->batch; b++)
    {
      double largest = 0;

      gyre_fft_host_real (kind, from + (gsize) b * n_from, expected);
      for (gsize i = 0; i < n_to; i++)
        largest = MAX (largest, fabs (expected[i]));
      for (gsize i = 0; i < n_to; i++)
        if (!(fabs ((double) to[(gsize) b * n_to + i] - expected[i]) <= 1e-5 * largest))
          return FALSE;
    }

  return TRUE;
}

static gboolean
run_test (GyreDevice         *device,
          const GyreFftKind  *kind,
          gboolean           *right,
          GError            **error)
{
  gsize n_from = count_side (kind, !kind->backward) * TEST_BATCH;
  gsize n_to = count_side (kind, kind->backward) * TEST_BATCH;
  g_autofree float *numbers = g_new (float, n_from);
  g_autofree float *results = g_new (float, n_to);
  g_autoptr (GyreBuffer) from = gyre_buffer_new (device, n_from * 4, error);
  g_autoptr (GyreBuffer) to = from ? gyre_buffer_new (device, n_to * 4, error) : NULL;
  g_autoptr (GyreBuffer) scratch_0 = NULL;
  g_autoptr (GyreBuffer) scratch_1 = NULL;
  GyreFftPlan *plan = to ? clfft_plan (device, kind, error) : NULL;
  cl_event done = NULL;
  gboolean good;

  if (plan == NULL)
    return FALSE;

  plan->device = device;
  scratch_0 = gyre_buffer_new (device, plan->scratch[0], error);
  scratch_1 = scratch_0 ? gyre_buffer_new (device, plan->scratch[1], error) : NULL;
  test_numbers (numbers, n_from);
  good = scratch_1 != NULL
         && gyre_device_write (device, from, 0, n_from * 4, numbers, NULL, 0, NULL, error)
         && clfft_enqueue (plan, from, to, (GyreBuffer *[]){ scratch_0, scratch_1 }, NULL,
                           error)
         && gyre_device_read (device, to, 0, n_to * 4, results, NULL, 0, &done, error)
         && gyre_device_flush (device, error)
         && gyre_cl_check (clWaitForEvents (1, &done), error, "test of clFFT on %s",
                           gyre_device_get_name (device));
  if (done != NULL)
    clReleaseEvent (done);
  plan_free ((Plan *) plan);
  *right = good && is_right (kind, numbers, results);
  return good;
}

static void
find_verdict (Verdict *verdict)
{
  GyreFftKind kind = { verdict->backward, verdict->rows, verdict->n, TEST_BATCH };
  g_autofree char *text = gyre_fft_kind_to_string (&kind);
  g_autoptr (GError) error = NULL;

  if (!run_test (verdict->device, &kind, &verdict->right, &error))
    g_message ("clFFT is left out for a %s: %s", text, error->message);
  else if (!verdict->right)
    g_message ("clFFT is left out for a %s on %s: its numbers are wrong there", text,
               gyre_device_get_name (verdict->device));
}

static gboolean
clfft_serves (GyreDevice        *device,
              const GyreFftKind *kind)
{
  static GArray *verdicts;
  Verdict verdict = { device, kind->rows, kind->n, kind->backward, FALSE };

  if (!gyre_device_get_has_compiler (device) || !has_known_factors (kind->n)
      || !has_known_factors (kind->rows))
    return FALSE;

  if (verdicts == NULL)
    verdicts = g_array_new (FALSE, FALSE, sizeof (Verdict));
  for (guint i = 0; i < verdicts->len; i++)
    {
      const Verdict *old = &g_array_index (verdicts, Verdict, i);

      if (old->device == device && old->rows == kind->rows && old->n == kind->n
          && old->backward == kind->backward)
        return old->right;
    }

  find_verdict (&verdict);
  g_array_append_val (verdicts, verdict);
  return verdict.right;
}

static gboolean
is_power_of_2 (gint64 n)
{
  return (n & (n - 1)) == 0;
}

/* Measured on PoCL: the passes of fft.cl are as fast for powers of two (clFFT takes 0.6
 * to 5 times as long), five times slower for others.  clFFT takes a second or two to
 * compile for each length: short lines are not worth it. */
static gboolean
clfft_suits (GyreDevice        *device,
             const GyreFftKind *kind)
{
  gboolean powers = is_power_of_2 (kind->n) && is_power_of_2 (kind->rows);

  return gyre_device_get_kind (device) == GYRE_DEVICE_GPU
         || (!powers && kind->n * kind->rows >= LONG_LINE);
}

const GyreFftProvider gyre_fft_clfft = {
  "clfft", clfft_serves, clfft_suits, clfft_plan, clfft_enqueue,
};
