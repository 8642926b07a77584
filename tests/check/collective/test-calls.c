/* SPDX-License-Identifier: Apache-2.0 */

/* What a collective asks of the driver: counted, and made to fail, by the layer. */
#include "gyre-check-collective.h"

#include <dlfcn.h>
#include <gyre/gyre-error.h>

static unsigned long (*count) (const char *name);
static void (*make_fail) (const char *name, unsigned long n, int status);

static const char *const algorithms[] = { "ring", "direct", "host", "staged" };

#define N 4
#define STEPS 10

enum
{
  LAUNCHES, MARKERS, FLUSHES, ARGS, READS, WRITES, MAPS, UNMAPS, COPIES,
  RELEASES, RETAINS,
  N_COUNTED
};

static const char *const counted[N_COUNTED] = {
  "clEnqueueNDRangeKernel", "clEnqueueMarkerWithWaitList", "clFlush", "clSetKernelArg",
  "clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueMapBuffer",
  "clEnqueueUnmapMemObject", "clEnqueueCopyBuffer", "clReleaseEvent", "clRetainEvent",
};

/* Never once it runs. */
static const char *const forbidden[] = {
  "clFinish", "clWaitForEvents", "clCreateBuffer", "clCreateSubBuffer", "clCreateKernel",
  "clBuildProgram", "clCreateUserEvent", "clSetEventCallback",
};

static GPtrArray *devices;

static void
set_up (void)
{
  devices = gyre_check_open ("pocl*4");
}

static void
tear_down (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

typedef struct
{
  Bucket        bucket;
  unsigned long calls[N_COUNTED];
  unsigned long forbidden;
} Steps;

static unsigned long
count_forbidden (void)
{
  unsigned long n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (forbidden); i++)
    n += count (forbidden[i]);
  return n;
}

static gboolean
run_steps (gpointer   data,
           GError   **error)
{
  Steps *self = data;
  GyreCollective *collective = self->bucket.collective;

  self->forbidden = count_forbidden ();
  for (guint i = 0; i < N_COUNTED; i++)
    self->calls[i] = count (counted[i]);
  for (guint step = 0; step < STEPS; step++)
    {
      for (guint i = 0; i < N; i++)
        if (!gyre_collective_acquire (collective, i, error))
          return FALSE;
      if (!gyre_collective_begin (collective, GYRE_PHASE_ALL_REDUCE, error) ||
          !gyre_collective_finish (collective, GYRE_PHASE_ALL_REDUCE, error))
        return FALSE;
    }
  for (guint i = 0; i < N_COUNTED; i++)
    self->calls[i] = count (counted[i]) - self->calls[i];
  self->forbidden = count_forbidden () - self->forbidden;
  return bucket_wait (&self->bucket, error);
}

START_TEST (steady_steps_make_the_same_calls)
{
  static const guint launches[] = { 2 * (N - 1) * N, N, 0, (N - 1) * N };
  Steps steps = { { devices, N, GYRE_F32, GYRE_REDUCE_SUM, 5000 } };
  unsigned long first[N_COUNTED];
  GError *error;

  bucket_open (&steps.bucket, algorithms[_i], NULL);
  for (guint round = 0; round < 3; round++)
    {
      error = gyre_check_on_executor (run_steps, &steps);
      gyre_assert_no_error (error);
      ck_assert_uint_eq (steps.forbidden, 0);
      if (round == 1)
        memcpy (first, steps.calls, sizeof first);
    }
  ck_assert_mem_eq (steps.calls, first, sizeof first);
  ck_assert_uint_eq (steps.calls[LAUNCHES], launches[_i] * STEPS);
  ck_assert_uint_eq (steps.calls[COPIES], 0);
  if (_i < 2)
    ck_assert_uint_eq (steps.calls[READS] + steps.calls[WRITES] + steps.calls[MAPS], 0);
  ck_assert_uint_eq (steps.calls[MAPS], steps.calls[UNMAPS]);
  bucket_close (&steps.bucket);
}
END_TEST

/* The n-th call of each kind fails: the error names it, and a new collective works. */
START_TEST (a_failed_call_is_named)
{
  Steps steps = { { devices, N, GYRE_F32, GYRE_REDUCE_SUM, 5000 } };
  guint n_failed = 0;

  for (guint kind = 0; kind < RELEASES; kind++)
    for (guint n = 1; n < 30; n += 9)
      {
        GError *error;

        if (kind == ARGS)
          continue;   /* none is set where none has changed */
        bucket_open (&steps.bucket, algorithms[_i], NULL);
        error = gyre_check_on_executor (run_steps, &steps);
        gyre_assert_no_error (error);
        if (steps.calls[kind] >= n)
          {
            make_fail (counted[kind], n, CL_OUT_OF_RESOURCES);
            error = gyre_check_on_executor (run_steps, &steps);
            gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE);
            gyre_assert_error_says (error, counted[kind]);
            g_clear_error (&error);
            n_failed++;
          }
        bucket_close (&steps.bucket);
      }
  ck_assert_uint_gt (n_failed, 6);

  bucket_open (&steps.bucket, algorithms[_i], NULL);
  bucket_check (&steps.bucket, 1);
  bucket_close (&steps.bucket);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "calls", set_up, tear_down);

  tcase_add_loop_test (tcase, steady_steps_make_the_same_calls, 0, 4);
  tcase_add_loop_test (tcase, a_failed_call_is_named, 0, 4);
}

int
main (void)
{
  const char *path = g_getenv ("GYRE_TEST_LAYER");
  gpointer layer;

  /* Before the loader is awake. */
  g_setenv ("OPENCL_LAYERS", path, TRUE);
  layer = dlopen (path, RTLD_NOW);
  if (layer == NULL)
    {
      g_printerr ("%s\n", dlerror ());
      return 1;
    }
  count = (unsigned long (*) (const char *)) dlsym (layer, "gyre_layer_count");
  make_fail =
    (void (*) (const char *, unsigned long, int)) dlsym (layer, "gyre_layer_fail");
  return gyre_check_main ("calls", add_tests);
}
