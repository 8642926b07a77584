/* SPDX-License-Identifier: Apache-2.0 */

/* What happens when a driver's call fails: the layer makes them. */
#include "gyre-check-device.h"

#include <dlfcn.h>
#include <gyre/gyre-error.h>

static unsigned long (*count) (const char *name);
static void (*make_fail) (const char *name, unsigned long n, int status);

static GPtrArray *devices;
static GyreDevice *device;

static void
set_up (void)
{
  devices = gyre_check_open ("pocl");
  device = g_ptr_array_index (devices, 0);
}

static void
tear_down (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

static const char source[] =
  "__kernel void twice (__global float *y) { y[get_global_id (0)] *= 2.0f; }\n";

static gboolean
launch_three (gpointer   data,
              GError   **error)
{
  gsize global = 16;
  GyreKernelArg arg = GYRE_BUFFER_ARG (data);
  GyreKernel *kernel = gyre_device_get_kernel (device, source, NULL, "twice", error);

  for (guint i = 0; kernel != NULL && i < 3; i++)
    if (!gyre_device_launch (device, kernel, &arg, 1, 1, &global, NULL, NULL, 0, NULL,
                             error))
      return FALSE;
  return kernel != NULL && gyre_check_wait (device, error);
}

static GyreBuffer *
make_buffer (void)
{
  GError *error = NULL;
  GyreBuffer *buffer = gyre_buffer_new (device, 64, &error);

  gyre_assert_no_error (error);
  return buffer;
}

START_TEST (a_failed_launch_is_named)
{
  g_autoptr (GyreBuffer) buffer = make_buffer ();
  GError *error;

  make_fail ("clEnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
  error = gyre_check_on_executor (launch_three, buffer);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE);
  gyre_assert_error_says (error, "clEnqueueNDRangeKernel of twice on pthread");
  gyre_assert_error_says (error, "global 16 x 1 x 1");
  gyre_assert_error_says (error, "CL_OUT_OF_RESOURCES (-5)");
  g_clear_error (&error);

  /* And then it goes on. */
  error = gyre_check_on_executor (launch_three, buffer);
  gyre_assert_no_error (error);
}
END_TEST

START_TEST (only_changed_arguments_are_set)
{
  g_autoptr (GyreBuffer) buffer = make_buffer ();
  g_autoptr (GyreBuffer) other = make_buffer ();
  unsigned long before = count ("clSetKernelArg");
  GError *error;

  error = gyre_check_on_executor (launch_three, buffer);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (count ("clSetKernelArg") - before, 1);
  error = gyre_check_on_executor (launch_three, buffer);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (count ("clSetKernelArg") - before, 1);
  error = gyre_check_on_executor (launch_three, other);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (count ("clSetKernelArg") - before, 2);
}
END_TEST

START_TEST (a_failed_argument_is_set_again)
{
  g_autoptr (GyreBuffer) buffer = make_buffer ();
  GError *error;

  make_fail ("clSetKernelArg", 1, CL_OUT_OF_HOST_MEMORY);
  error = gyre_check_on_executor (launch_three, buffer);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY);
  gyre_assert_error_says (error, "clSetKernelArg 0 of twice");
  g_clear_error (&error);
  error = gyre_check_on_executor (launch_three, buffer);
  gyre_assert_no_error (error);
}
END_TEST

START_TEST (a_failed_allocation_is_named)
{
  GyreBufferStats before = gyre_buffer_get_stats ();
  GError *error = NULL;

  make_fail ("clCreateBuffer", 1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  ck_assert_ptr_null (gyre_buffer_new (device, 64, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY);
  gyre_assert_error_says (error, "clCreateBuffer of 64 bytes on pthread");
  gyre_assert_error_says (error, "CL_MEM_OBJECT_ALLOCATION_FAILURE");
  g_clear_error (&error);
  ck_assert_uint_eq (gyre_buffer_get_stats ().objects, before.objects);
}
END_TEST

START_TEST (a_failed_queue_closes_what_was_opened)
{
  GError *error = NULL;
  unsigned long made, released;

  gyre_executor_drain ();   /* what the test before this one closed */
  made = count ("clCreateCommandQueue");
  released = count ("clReleaseCommandQueue");
  make_fail ("clCreateCommandQueue", 2, CL_OUT_OF_HOST_MEMORY);
  ck_assert_ptr_null (gyre_devices_open ("pocl*3", &error));
  gyre_assert_error_says (error, "clCreateCommandQueue on pthread");
  g_clear_error (&error);
  gyre_executor_drain ();
  ck_assert_uint_eq (count ("clCreateCommandQueue") - made, 2);
  ck_assert_uint_eq (count ("clReleaseCommandQueue") - released, 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "faults", set_up, tear_down);

  tcase_add_test (tcase, a_failed_launch_is_named);
  tcase_add_test (tcase, only_changed_arguments_are_set);
  tcase_add_test (tcase, a_failed_argument_is_set_again);
  tcase_add_test (tcase, a_failed_allocation_is_named);
  tcase_add_test (tcase, a_failed_queue_closes_what_was_opened);
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
  return gyre_check_main ("faults", add_tests);
}
