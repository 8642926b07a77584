/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-device.h"

#include <glib/gstdio.h>
#include <gyre/gyre-error.h>

#include "device/gyre-program-private.h"

#define N 300

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

/* A program that no earlier run has left in the cache. */
static char *
fresh_source (void)
{
  return g_strdup_printf (
    "/* %u-%" G_GINT64_FORMAT " */\n"
    "__kernel void scale (__global float *y, __global const float *x, const float a,\n"
    "                     const int b, __local float *scratch)\n"
    "{\n"
    "  const int i = get_global_id (0);\n"
    "  scratch[get_local_id (0)] = x[i];\n"
    "  y[i] = a * scratch[get_local_id (0)] + (float) b;\n"
    "}\n"
    "__kernel void other (__global float *y) { y[get_global_id (0)] = 1.0f; }\n",
    g_random_int (), g_get_real_time ());
}

typedef struct
{
  GyreKernel   *kernel;
  GyreKernelArg args[5];
  guint         n_args;
  gsize         global;
  float         out[N];
} Launch;

static gboolean
launch (gpointer   data,
        GError   **error)
{
  Launch *self = data;
  gsize local = 100;

  return gyre_device_launch (device, self->kernel, self->args, self->n_args, 1,
                             &self->global, &local, NULL, 0, NULL, error) &&
         gyre_device_read (device, self->args[0].value.buffer, 0, sizeof self->out,
                           self->out, NULL, 0, NULL, error) &&
         gyre_check_wait (device, error);
}

static gboolean
write_ramp (gpointer   data,
            GError   **error)
{
  float ramp[N];

  for (guint i = 0; i < N; i++)
    ramp[i] = i;
  return gyre_device_write (device, data, 0, sizeof ramp, ramp, NULL, 0, NULL, error) &&
         gyre_check_wait (device, error);
}

static GyreBuffer *
make_ramp (void)
{
  GError *error = NULL;
  GyreBuffer *buffer = gyre_buffer_new (device, N * sizeof (float), &error);

  gyre_assert_no_error (error);
  error = gyre_check_on_executor (write_ramp, buffer);
  gyre_assert_no_error (error);
  return buffer;
}

static void
expect (Launch *self,
        float   a,
        gint32  b)
{
  GError *error = NULL;

  self->args[2] = GYRE_F32_ARG (a);
  self->args[3] = GYRE_I32_ARG (b);
  error = gyre_check_on_executor (launch, self);
  gyre_assert_no_error (error);
  for (guint i = 0; i < N; i++)
    ck_assert (self->out[i] == a * i + b); /* small integers: exact */
}

START_TEST (arguments_change)
{
  g_autofree char *source = fresh_source ();
  g_autoptr (GyreBuffer) x = make_ramp ();
  GyreBuffer *y = make_ramp ();
  GError *error = NULL;
  Launch self = { .n_args = 5, .global = N };

  self.kernel = gyre_device_get_kernel (device, source, NULL, "scale", &error);
  gyre_assert_no_error (error);
  self.args[0] = GYRE_BUFFER_ARG (y);
  self.args[1] = GYRE_BUFFER_ARG (x);
  self.args[4] = GYRE_LOCAL_ARG (100 * sizeof (float));
  expect (&self, 2, 1);
  expect (&self, 2, 5);
  expect (&self, 3, 5);

  /* A buffer that may well get the address of the one before. */
  gyre_buffer_unref (y);
  gyre_executor_drain ();
  y = make_ramp ();
  self.args[0] = GYRE_BUFFER_ARG (y);
  expect (&self, 3, 5);
  self.args[1] = GYRE_BUFFER_ARG (y);
  error = gyre_check_on_executor (launch, &self);
  gyre_assert_no_error (error);
  ck_assert (self.out[2] == 3 * (3 * 2 + 5) + 5);
  gyre_buffer_unref (y);
}
END_TEST

START_TEST (a_wrong_number_of_arguments_is_an_error)
{
  g_autofree char *source = fresh_source ();
  g_autoptr (GyreBuffer) x = make_ramp ();
  GError *error = NULL;
  Launch self = { .n_args = 2, .global = N };

  self.kernel = gyre_device_get_kernel (device, source, NULL, "scale", &error);
  gyre_assert_no_error (error);
  self.args[0] = self.args[1] = GYRE_BUFFER_ARG (x);
  error = gyre_check_on_executor (launch, &self);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE);
  gyre_assert_error_says (error, "kernel scale");
  gyre_assert_error_says (error, "takes 5 arguments, not 2");
  g_clear_error (&error);
}
END_TEST

static gboolean
launch_nothing (gpointer   data,
                GError   **error)
{
  gsize global[2] = { 7, 0 };
  cl_event event = NULL;
  gboolean done = gyre_device_launch (device, data, NULL, 0, 2, global, NULL, NULL, 0,
                                      &event, error);

  if (!done)
    return FALSE;
  ck_assert_ptr_nonnull (event);
  ck_assert_int_eq (clWaitForEvents (1, &event), CL_SUCCESS);
  clReleaseEvent (event);
  return TRUE;
}

START_TEST (zero_extent_is_skipped)
{
  g_autofree char *source = fresh_source ();
  GError *error = NULL;
  GyreKernel *kernel = gyre_device_get_kernel (device, source, NULL, "other", &error);
  guint before = gyre_kernel_get_stats ().launches;

  gyre_assert_no_error (error);
  error = gyre_check_on_executor (launch_nothing, kernel);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (gyre_kernel_get_stats ().launches, before);
}
END_TEST

START_TEST (kernels_and_programs_are_shared)
{
  g_autofree char *source = fresh_source ();
  GError *error = NULL;
  GyreKernelStats before = gyre_kernel_get_stats ();
  GyreKernel *scale = gyre_device_get_kernel (device, source, "", "scale", &error);
  GyreKernel *again = gyre_device_get_kernel (device, source, NULL, "scale", &error);
  GyreKernel *other = gyre_device_get_kernel (device, source, NULL, "other", &error);
  GyreKernel *next = gyre_device_get_kernel (g_ptr_array_index (devices, 1), source, NULL,
                                             "scale", &error);
  GyreKernelStats now = gyre_kernel_get_stats ();

  gyre_assert_no_error (error);
  ck_assert_ptr_eq (scale, again);
  ck_assert_ptr_ne (scale, other);
  ck_assert_ptr_ne (scale, next);
  ck_assert_uint_eq (now.programs_built - before.programs_built, 1);
  ck_assert_uint_eq (now.kernels_created - before.kernels_created, 3);
  ck_assert_uint_ge (gyre_kernel_get_max_work_group (scale), 1);
}
END_TEST

START_TEST (a_broken_kernel_shows_the_log)
{
  GError *error = NULL;

  ck_assert_ptr_null (gyre_device_get_kernel (device, "__kernel void f () { nonsense; }",
                                              "-DX=1", "f", &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_BUILD);
  gyre_assert_error_says (error, "kernel f");
  gyre_assert_error_says (error, "-DX=1");
  gyre_assert_error_says (error, "CL_BUILD_PROGRAM_FAILURE");
  gyre_assert_error_says (error, "nonsense");
  g_clear_error (&error);
}
END_TEST

START_TEST (a_missing_kernel_is_named)
{
  g_autofree char *source = fresh_source ();
  GError *error = NULL;

  ck_assert_ptr_null (gyre_device_get_kernel (device, source, NULL, "absent", &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_BUILD);
  gyre_assert_error_says (error, "absent");
  gyre_assert_error_says (error, "CL_INVALID_KERNEL_NAME");
  g_clear_error (&error);
}
END_TEST

/* The disk. */

START_TEST (a_binary_is_checked)
{
  g_autofree char *key = gyre_cache_key ("test", "binary", NULL);
  g_autofree char *name = g_strconcat (key, ".bin", NULL);
  g_autofree char *path = gyre_cache_path ("programs", name);
  g_autoptr (GBytes) binary = g_bytes_new ("0123456789", 10);
  g_autoptr (GBytes) loaded = NULL;
  g_autofree char *contents = NULL;
  gsize size;

  gyre_binary_cache_save (key, binary);
  loaded = gyre_binary_cache_load (key);
  ck_assert_ptr_nonnull (loaded);
  ck_assert (g_bytes_equal (loaded, binary));

  ck_assert (g_file_get_contents (path, &contents, &size, NULL));
  contents[size - 1] ^= 1;
  ck_assert (g_file_set_contents (path, contents, size, NULL));
  ck_assert_ptr_null (gyre_binary_cache_load (key));
  ck_assert (g_file_set_contents (path, contents, 7, NULL));
  ck_assert_ptr_null (gyre_binary_cache_load (key));
  g_unlink (path);
  ck_assert_ptr_null (gyre_binary_cache_load (key));
}
END_TEST

/* A driver may compile otherwise under another environment. */
START_TEST (the_environment_is_in_keys)
{
  g_autofree char *before = gyre_cache_environment ();
  g_autofree char *with = NULL;
  g_autofree char *without = NULL;

  g_setenv ("CL_CONFIG_TEST", "1", TRUE);
  g_setenv ("POCL_TEST_CACHE_DIR", "1", TRUE);
  with = gyre_cache_environment ();
  g_unsetenv ("CL_CONFIG_TEST");
  g_unsetenv ("POCL_TEST_CACHE_DIR");
  without = gyre_cache_environment ();
  ck_assert_ptr_nonnull (strstr (with, "CL_CONFIG_TEST=1\n"));
  ck_assert_ptr_null (strstr (with, "POCL_TEST_CACHE_DIR"));
  ck_assert_str_eq (before, without);
}
END_TEST

/* How many programs a new process builds and loads for this source. */
static void
count_in_child (const char *source,
                guint      *built,
                guint      *loaded)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = { self, source, NULL };
  g_autofree char *output = NULL;
  GError *error = NULL;

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL,
                NULL, &error);
  gyre_assert_no_error (error);
  ck_assert_int_eq (sscanf (output, "%u %u", built, loaded), 2);
}

static int
run_child (const char *source)
{
  GyreKernelStats stats;
  GError *error = NULL;

  set_up ();
  gyre_device_get_kernel (device, source, NULL, "scale", &error);
  if (error != NULL)
    g_printerr ("%s\n", error->message);
  stats = gyre_kernel_get_stats ();
  g_print ("%u %u\n", stats.programs_built, stats.programs_loaded);
  tear_down ();
  return 0;
}

START_TEST (the_next_process_loads)
{
  g_autofree char *source = fresh_source ();
  guint built, loaded;

  count_in_child (source, &built, &loaded);
  ck_assert_uint_eq (built, 1);
  ck_assert_uint_eq (loaded, 0);
  count_in_child (source, &built, &loaded);
  ck_assert_uint_eq (built, 0);
  ck_assert_uint_eq (loaded, 1);
  g_setenv ("GYRE_CACHE", "off", TRUE);
  count_in_child (source, &built, &loaded);
  g_unsetenv ("GYRE_CACHE");
  ck_assert_uint_eq (built, 1);
  ck_assert_uint_eq (loaded, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "kernel", set_up, tear_down);

  tcase_add_test (tcase, arguments_change);
  tcase_add_test (tcase, a_wrong_number_of_arguments_is_an_error);
  tcase_add_test (tcase, zero_extent_is_skipped);
  tcase_add_test (tcase, kernels_and_programs_are_shared);
  tcase_add_test (tcase, a_broken_kernel_shows_the_log);
  tcase_add_test (tcase, a_missing_kernel_is_named);
  gyre_check_add (suite, "binary", a_binary_is_checked);
  gyre_check_add (suite, "environment", the_environment_is_in_keys);
  gyre_check_add (suite, "next-process", the_next_process_loads);
}

int
main (int    argc,
      char **argv)
{
  if (argc > 1)
    return run_child (argv[1]);
  return gyre_check_main ("kernel", add_tests);
}
