/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-device.h"

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

START_TEST (live_bytes_are_counted)
{
  GyreBufferStats before = gyre_buffer_get_stats ();
  GError *error = NULL;
  GyreBuffer *buffer = gyre_buffer_new (device, 1000, &error);
  GyreBuffer *empty = gyre_buffer_new (device, 0, &error);
  GyreBufferStats now = gyre_buffer_get_stats ();

  gyre_assert_no_error (error);
  ck_assert_uint_eq (now.bytes - before.bytes, 1000);
  ck_assert_uint_eq (now.objects - before.objects, 2);
  ck_assert_uint_eq (gyre_buffer_get_size (empty), 0);
  ck_assert_ptr_nonnull (gyre_buffer_get_mem (empty));
  ck_assert (gyre_buffer_get_serial (empty) != gyre_buffer_get_serial (buffer));

  gyre_buffer_unref (gyre_buffer_ref (buffer));
  gyre_buffer_unref (buffer);
  gyre_buffer_unref (empty);
  now = gyre_buffer_get_stats ();
  ck_assert_uint_eq (now.bytes, before.bytes);
  ck_assert_uint_eq (now.objects, before.objects);
}
END_TEST

START_TEST (too_large_is_an_error)
{
  GError *error = NULL;
  guint64 most = gyre_device_get_max_allocation (device);

  ck_assert_ptr_null (gyre_buffer_new (device, most + 1, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY);
  gyre_assert_error_says (error, gyre_device_get_name (device));
  gyre_assert_error_says (error, "use a smaller batch");
  g_clear_error (&error);
}
END_TEST

START_TEST (a_part_keeps_its_whole)
{
  gsize align = gyre_device_get_align (device);
  GyreBufferStats before = gyre_buffer_get_stats ();
  GError *error = NULL;
  GyreBuffer *whole = gyre_buffer_new (device, align * 4, &error);
  GyreBuffer *part = gyre_buffer_new_sub (whole, align, align * 2, &error);

  gyre_assert_no_error (error);
  gyre_buffer_unref (whole);
  ck_assert_uint_eq (gyre_buffer_get_stats ().bytes - before.bytes, align * 4);
  gyre_buffer_unref (part);
  /* The whole goes in a job of its own, after its part's. */
  gyre_executor_drain ();
  ck_assert_uint_eq (gyre_buffer_get_stats ().bytes, before.bytes);
  ck_assert_uint_eq (gyre_buffer_get_stats ().objects, before.objects);
}
END_TEST

START_TEST (wrong_parts_are_refused)
{
  gsize align = gyre_device_get_align (device);
  GError *error = NULL;
  g_autoptr (GyreBuffer) whole = gyre_buffer_new (device, align * 2, &error);
  g_autoptr (GyreBuffer) part = gyre_buffer_new_sub (whole, align, align, &error);
  g_autoptr (GyreBuffer) nothing = gyre_buffer_new_sub (whole, align * 2, 0, &error);

  gyre_assert_no_error (error);
  ck_assert_uint_eq (gyre_buffer_get_size (nothing), 0);

  ck_assert_ptr_null (gyre_buffer_new_sub (whole, 4, 4, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, "multiples of");
  g_clear_error (&error);
  ck_assert_ptr_null (gyre_buffer_new_sub (whole, align, align + 1, &error));
  gyre_assert_error_says (error, "does not fit");
  g_clear_error (&error);
  ck_assert_ptr_null (gyre_buffer_new_sub (whole, align, G_MAXSIZE, &error));
  gyre_assert_error_says (error, "does not fit");
  g_clear_error (&error);
  ck_assert_ptr_null (gyre_buffer_new_sub (part, 0, 4, &error));
  gyre_assert_error_says (error, "sub-buffer of a sub-buffer");
  g_clear_error (&error);
}
END_TEST

/* There, across the queues of the context, and back. */
#define N 1000

typedef struct
{
  GyreBuffer *a, *b;
  guint32     sent[N], got[N];
} Trip;

static gboolean
travel (gpointer   data,
        GError   **error)
{
  Trip *trip = data;
  GyreDevice *other = g_ptr_array_index (devices, 1);
  cl_event written = NULL;
  guint32 *mapped;
  gboolean done;

  done = gyre_device_write (device, trip->a, 0, sizeof trip->sent, trip->sent, NULL, 0,
                            &written, error) &&
         gyre_device_flush (device, error) &&
         gyre_device_copy (other, trip->a, 4, trip->b, 0, sizeof trip->sent - 4,
                           &written, 1, NULL, error) &&
         gyre_device_fill (other, trip->b, sizeof trip->sent - 4, 4, 0xdeadbeef, NULL, 0,
                           NULL, error) &&
         gyre_device_copy (other, trip->b, 0, trip->a, 0, 0, NULL, 0, NULL, error) &&
         gyre_device_read (other, trip->b, 0, sizeof trip->got, trip->got, NULL, 0, NULL,
                           error) &&
         gyre_check_wait (other, error);
  clReleaseEvent (written);
  if (!done)
    return FALSE;

  mapped = gyre_device_map (other, trip->b, CL_MAP_READ | CL_MAP_WRITE, 8, 4, NULL, 0,
                            NULL, error);
  if (mapped == NULL || !gyre_check_wait (other, error))
    return FALSE;
  *mapped += 1;
  return gyre_device_unmap (other, trip->b, mapped, NULL, 0, NULL, error) &&
         gyre_device_read (other, trip->b, 8, 4, &trip->got[2], NULL, 0, NULL, error) &&
         gyre_check_wait (other, error);
}

START_TEST (bytes_travel)
{
  GError *error = NULL;
  Trip *trip = g_new0 (Trip, 1);

  for (guint i = 0; i < N; i++)
    trip->sent[i] = i * 2654435761u;
  trip->a = gyre_buffer_new (device, sizeof trip->sent, &error);
  gyre_assert_no_error (error);
  trip->b = gyre_buffer_new_pinned (device, sizeof trip->sent, &error);
  gyre_assert_no_error (error);

  error = gyre_check_on_executor (travel, trip);
  gyre_assert_no_error (error);
  for (guint i = 0; i < N - 1; i++)
    ck_assert_uint_eq (trip->got[i], trip->sent[i + 1] + (i == 2));
  ck_assert_uint_eq (trip->got[N - 1], 0xdeadbeef);

  gyre_buffer_unref (trip->a);
  gyre_buffer_unref (trip->b);
  g_free (trip);
}
END_TEST

START_TEST (a_lost_device_leaks)
{
  g_autoptr (GPtrArray) doomed = gyre_check_open ("pocl");
  GError *error = NULL;
  GyreBuffer *buffer = gyre_buffer_new (g_ptr_array_index (doomed, 0), 64, &error);
  cl_mem mem = gyre_buffer_get_mem (buffer);
  cl_uint refs = 0;

  error = g_error_new_literal (GYRE_ERROR, GYRE_ERROR_DEVICE, "gone");
  gyre_device_set_lost (g_ptr_array_index (doomed, 0), error);
  g_clear_error (&error);
  gyre_buffer_unref (buffer);
  gyre_executor_drain ();
  ck_assert_int_eq (clGetMemObjectInfo (mem, CL_MEM_REFERENCE_COUNT, sizeof refs, &refs,
                                        NULL), CL_SUCCESS);
  ck_assert_uint_eq (refs, 1);
  clReleaseMemObject (mem);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "buffer", set_up, tear_down);

  tcase_add_test (tcase, live_bytes_are_counted);
  tcase_add_test (tcase, too_large_is_an_error);
  tcase_add_test (tcase, a_part_keeps_its_whole);
  tcase_add_test (tcase, wrong_parts_are_refused);
  tcase_add_test (tcase, bytes_travel);
  tcase_add_test (tcase, a_lost_device_leaks);
}

GYRE_CHECK_MAIN ("buffer", add_tests)
