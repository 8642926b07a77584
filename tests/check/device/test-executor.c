/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-device.h"

#include <sys/wait.h>

#include <gyre/gyre-error.h>

static GPtrArray *devices;
static GyreDevice *device;

static void
set_up (void)
{
  devices = gyre_check_open ("pocl*2");
  device = g_ptr_array_index (devices, 0);
}

static void
tear_down (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

#define N_JOBS 1000

static GArray *order;

static void
note (gpointer data)
{
  guint i = GPOINTER_TO_UINT (data);

  ck_assert (gyre_executor_is_current ());
  g_array_append_val (order, i);
}

static void
note_pending (cl_int   status,
              gpointer data)
{
  ck_assert_int_eq (status, CL_COMPLETE);
  note (data);
}

static void
expect_order (guint n)
{
  ck_assert_uint_eq (order->len, n);
  for (guint i = 0; i < n; i++)
    ck_assert_uint_eq (g_array_index (order, guint, i), i);
  g_clear_pointer (&order, g_array_unref);
}

START_TEST (jobs_run_in_order)
{
  order = g_array_new (FALSE, FALSE, sizeof (guint));
  ck_assert (!gyre_executor_is_current ());
  for (guint i = 0; i < N_JOBS; i++)
    gyre_executor_post (note, GUINT_TO_POINTER (i));
  gyre_executor_call (note, GUINT_TO_POINTER (N_JOBS));
  expect_order (N_JOBS + 1);
}
END_TEST

static void
call_inside (gpointer data)
{
  gyre_executor_call (note, data);
}

START_TEST (a_call_inside_a_job_is_plain)
{
  order = g_array_new (FALSE, FALSE, sizeof (guint));
  gyre_executor_call (call_inside, GUINT_TO_POINTER (0));
  expect_order (1);
}
END_TEST

/* Pendings of two queues: done in the order of adding. */
static gboolean
enqueue_markers (gpointer   unused,
                 GError   **error)
{
  for (guint i = 0; i < N_JOBS; i++)
    {
      GyreDevice *on = g_ptr_array_index (devices, i * 7 % 3 == 1);
      cl_event events[3] = { NULL, NULL, NULL };

      if (!gyre_device_marker (on, NULL, 0, &events[0], error) ||
          !gyre_device_marker (device, NULL, 0, &events[2], error))
        return FALSE;
      gyre_executor_add_pending (events, G_N_ELEMENTS (events), note_pending,
                                 GUINT_TO_POINTER (i));
    }
  return TRUE;
}

START_TEST (pendings_are_done_in_order)
{
  GError *error;

  order = g_array_new (FALSE, FALSE, sizeof (guint));
  error = gyre_check_on_executor (enqueue_markers, NULL);
  gyre_assert_no_error (error);
  gyre_executor_drain ();
  expect_order (N_JOBS);
}
END_TEST

START_TEST (no_events_are_done_at_once)
{
  order = g_array_new (FALSE, FALSE, sizeof (guint));
  gyre_executor_add_pending (NULL, 0, note_pending, GUINT_TO_POINTER (0));
  gyre_executor_drain ();
  expect_order (1);
}
END_TEST

/* A failed event: made by a user event here, as no driver fails on demand. */
static cl_int last_status;

static void
keep_status (cl_int   status,
             gpointer data)
{
  last_status = status;
}

START_TEST (an_error_comes_through)
{
  cl_int status;
  cl_event event = clCreateUserEvent (gyre_device_get_context (device), &status);

  ck_assert_int_eq (status, CL_SUCCESS);
  gyre_executor_add_pending (&event, 1, keep_status, NULL);
  clSetUserEventStatus (event, CL_OUT_OF_RESOURCES);
  gyre_executor_drain ();
  ck_assert_int_eq (last_status, CL_OUT_OF_RESOURCES);
  clReleaseEvent (event);   /* leaked by the executor, as a dead device's would be */
}
END_TEST

static void
set_event (gpointer data)
{
  clSetUserEventStatus (data, CL_COMPLETE);
}

START_TEST (a_device_without_answer_is_given_up)
{
  cl_int status;
  cl_event event = clCreateUserEvent (gyre_device_get_context (device), &status);
  gint64 start = g_get_monotonic_time ();

  gyre_executor_shutdown ();
  g_setenv ("GYRE_DEVICE_TIMEOUT", "1", TRUE);
  gyre_executor_add_pending (&event, 1, keep_status, NULL);
  gyre_executor_drain ();
  ck_assert_int_eq (last_status, GYRE_CL_NO_ANSWER);
  ck_assert_int_ge (g_get_monotonic_time () - start, G_TIME_SPAN_SECOND);
  gyre_executor_shutdown ();
  g_unsetenv ("GYRE_DEVICE_TIMEOUT");
  clSetUserEventStatus (event, CL_COMPLETE);
  clReleaseEvent (event);   /* leaked by the executor */
}
END_TEST

static void
wait_here (gpointer data)
{
  last_status = gyre_executor_wait_event (data);
}

START_TEST (a_wait_ends_as_well)
{
  cl_int status;
  cl_event event = clCreateUserEvent (gyre_device_get_context (device), &status);

  gyre_executor_shutdown ();
  g_setenv ("GYRE_DEVICE_TIMEOUT", "1", TRUE);
  gyre_executor_call (wait_here, event);
  ck_assert_int_eq (last_status, GYRE_CL_NO_ANSWER);
  clSetUserEventStatus (event, CL_COMPLETE);
  gyre_executor_call (wait_here, event);
  ck_assert_int_eq (last_status, CL_COMPLETE);
  clReleaseEvent (event);

  event = clCreateUserEvent (gyre_device_get_context (device), &status);
  clSetUserEventStatus (event, CL_OUT_OF_RESOURCES);
  gyre_executor_call (wait_here, event);
  ck_assert_int_eq (last_status, CL_OUT_OF_RESOURCES);
  gyre_executor_shutdown ();
  g_unsetenv ("GYRE_DEVICE_TIMEOUT");
  clReleaseEvent (event);
}
END_TEST

START_TEST (jobs_run_while_an_event_is_pending)
{
  cl_int status;
  cl_event event = clCreateUserEvent (gyre_device_get_context (device), &status);

  order = g_array_new (FALSE, FALSE, sizeof (guint));
  gyre_executor_add_pending (&event, 1, note_pending, GUINT_TO_POINTER (2));
  gyre_executor_call (note, GUINT_TO_POINTER (0));
  gyre_executor_call (note, GUINT_TO_POINTER (1));
  gyre_executor_call (set_event, event);
  gyre_executor_drain ();
  expect_order (3);
}
END_TEST

START_TEST (it_starts_again_after_shutdown)
{
  order = g_array_new (FALSE, FALSE, sizeof (guint));
  gyre_executor_post (note, GUINT_TO_POINTER (0));
  gyre_executor_shutdown ();
  ck_assert_uint_eq (order->len, 1);
  gyre_executor_shutdown ();
  gyre_executor_call (note, GUINT_TO_POINTER (1));
  expect_order (2);
}
END_TEST

/* Many threads at once. */
static gint counter;

static void
count (gpointer unused)
{
  counter++;   /* on one thread, so without a lock */
}

static gpointer
post_many (gpointer unused)
{
  for (guint i = 0; i < N_JOBS; i++)
    gyre_executor_post (count, NULL);
  gyre_executor_call (count, NULL);
  return NULL;
}

START_TEST (many_threads_post)
{
  GThread *threads[4];

  counter = 0;
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, post_many, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  ck_assert_int_eq (counter, G_N_ELEMENTS (threads) * (N_JOBS + 1));
}
END_TEST

/* exit () while commands are on their way. */
static gboolean
enqueue_work (gpointer   data,
              GError   **error)
{
  static cl_event event;

  for (guint i = 0; i < 200; i++)
    if (!gyre_device_fill (device, data, 0, 4 << 20, i, NULL, 0, NULL, error))
      return FALSE;
  if (!gyre_device_marker (device, NULL, 0, &event, error))
    return FALSE;
  gyre_executor_add_pending (&event, 1, NULL, NULL);
  return TRUE;
}

static void
enqueue_job (gpointer data)
{
  enqueue_work (data, NULL);
}

static int
run_child (void)
{
  GyreBuffer *buffer;

  set_up ();
  buffer = gyre_buffer_new (device, 4 << 20, NULL);
  gyre_executor_post (enqueue_job, buffer);
  gyre_executor_post (enqueue_job, buffer);
  exit (7);
}

START_TEST (exit_drains)
{
  g_autofree char *path = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = { path, "exit", NULL };
  GError *error = NULL;
  int status;

  for (guint i = 0; i < 5; i++)
    {
      g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                    &status, &error);
      gyre_assert_no_error (error);
      ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 7,
                     "ended with wait status 0x%x", status);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "executor", set_up, tear_down);

  tcase_add_test (tcase, jobs_run_in_order);
  tcase_add_test (tcase, a_call_inside_a_job_is_plain);
  tcase_add_test (tcase, pendings_are_done_in_order);
  tcase_add_test (tcase, no_events_are_done_at_once);
  tcase_add_test (tcase, an_error_comes_through);
  tcase_add_test (tcase, a_device_without_answer_is_given_up);
  tcase_add_test (tcase, a_wait_ends_as_well);
  tcase_add_test (tcase, jobs_run_while_an_event_is_pending);
  tcase_add_test (tcase, it_starts_again_after_shutdown);
  tcase_add_test (tcase, many_threads_post);
  gyre_check_add (suite, "exit", exit_drains);
}

int
main (int    argc,
      char **argv)
{
  if (argc > 1)
    return run_child ();
  return gyre_check_main ("executor", add_tests);
}
