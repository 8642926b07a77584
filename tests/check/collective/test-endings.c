/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-collective.h"

#include <gyre/gyre-error.h>

/* A member that never answers ends a collective with an error: the host does not wait
 * for it forever. */

#define N 3
#define LENGTH 3000

static GPtrArray *devices;
static cl_event gate;   /* a queue stands still until it opens */

static void
set_up (void)
{
  cl_int status;

  gyre_executor_shutdown ();
  g_setenv ("GYRE_DEVICE_TIMEOUT", "1", TRUE);
  g_setenv ("GYRE_ALL_REDUCE", "staged", TRUE);   /* of routes */
  devices = gyre_check_open ("pocl*3");
  gate = clCreateUserEvent (gyre_device_get_context (devices->pdata[0]), &status);
  ck_assert_int_eq (status, CL_SUCCESS);
}

static void
tear_down (void)
{
  gyre_executor_shutdown ();
  g_unsetenv ("GYRE_DEVICE_TIMEOUT");
  g_unsetenv ("GYRE_ALL_REDUCE");
  g_clear_pointer (&devices, g_ptr_array_unref);
  clReleaseEvent (gate);
}

typedef struct
{
  GyreCollective      *collective;
  GyreCollectivePhase  phase;
} Stuck;

static gboolean
run_stuck (gpointer   data,
           GError   **error)
{
  Stuck *self = data;
  gboolean good;

  for (guint i = 0; i < N; i++)
    if (!gyre_collective_acquire (self->collective, i, error))
      return FALSE;
  if (!gyre_device_marker (devices->pdata[1], &gate, 1, NULL, error) ||
      !gyre_collective_begin (self->collective, self->phase, error))
    return FALSE;

  good = gyre_collective_finish (self->collective, self->phase, error);
  clSetUserEventStatus (gate, CL_COMPLETE);
  return good;
}

static GError *
run_with (const char *algorithm)
{
  gboolean routed = g_str_equal (algorithm, "routes");
  const GyreRoute routes[] = { { 0, 1, 0, LENGTH * 2, 400 },
                               { 1, 2, 0, LENGTH * 2, 400 } };
  gsize bounds[] = { 0, LENGTH / 2, LENGTH, LENGTH };
  GyreBuffer *buffers[N];
  GError *error = NULL;
  GyreCollectiveInfo info = {
    .n = N, .devices = (GyreDevice **) devices->pdata, .buffers = buffers,
    .dtype = GYRE_U32, .op = GYRE_REDUCE_SUM, .length = LENGTH,
  };
  Stuck stuck = { NULL, routed ? GYRE_PHASE_ROUTES : GYRE_PHASE_ALL_REDUCE };

  for (guint i = 0; i < N; i++)
    buffers[i] = gyre_buffer_new (devices->pdata[i], LENGTH * 4, &error);
  gyre_assert_no_error (error);
  if (routed)
    {
      info.bounds = bounds;
      info.routes = routes;
      info.n_routes = G_N_ELEMENTS (routes);
    }
  else
    info.algorithm = algorithm;
  stuck.collective = gyre_collective_new (&info, &error);
  gyre_assert_no_error (error);
  error = gyre_check_on_executor (run_stuck, &stuck);
  gyre_collective_free (stuck.collective);
  for (guint i = 0; i < N; i++)
    gyre_buffer_unref (buffers[i]);
  return error;
}

static const char *const algorithms[] = { "host", "staged", "routes" };

START_TEST (one_never_answers)
{
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) error = run_with (algorithms[_i]);

  ck_assert_ptr_nonnull (error);
  gyre_assert_error_says (error, gyre_device_get_name (devices->pdata[1]));
  ck_assert_int_ge (g_get_monotonic_time () - start, G_TIME_SPAN_SECOND);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "endings", set_up, tear_down);

  tcase_add_loop_test (tcase, one_never_answers, 0, G_N_ELEMENTS (algorithms));
}

GYRE_CHECK_MAIN ("endings", add_tests)
