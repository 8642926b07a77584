/* SPDX-License-Identifier: Apache-2.0 */

/* Verdicts are given once a process, so each case runs this program again, as a child
 * that opens a device under the layer that makes faults. */
#include "gyre-check-device.h"

#include <glib/gstdio.h>
#include <gyre/gyre-error.h>

static char *cache;

static void
set_up (void)
{
  cache = g_dir_make_tmp ("gyre-admission-XXXXXX", NULL);
}

static void
remove_tree (const char *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_clear_pointer (&dir, g_dir_close);
  g_remove (path);
}

static void
tear_down (void)
{
  remove_tree (cache);
  g_clear_pointer (&cache, g_free);
}

/* What the child says: the number of devices, the error, the reasons. */
static char *
open_in_child (const char *spec,
               ...)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = { self, spec, NULL };
  g_auto (GStrv) env = g_environ_setenv (g_get_environ (), "XDG_CACHE_HOME", cache, TRUE);
  char *output = NULL;
  GError *error = NULL;
  va_list settings;

  env = g_environ_setenv (env, "OPENCL_LAYERS", g_getenv ("GYRE_TEST_LAYER"), TRUE);
  va_start (settings, spec);
  for (const char *name; (name = va_arg (settings, const char *)) != NULL;)
    env = g_environ_setenv (env, name, va_arg (settings, const char *), TRUE);
  va_end (settings);
  g_spawn_sync (NULL, (char **) argv, env, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL,
                NULL, &error);
  gyre_assert_no_error (error);
  return output;
}

static int
run_child (const char *spec)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);
  g_auto (GStrv) rejected = gyre_devices_get_rejected ();

  g_print ("%u devices\n", devices != NULL ? devices->len : 0);
  if (error != NULL)
    g_print ("error %d: %s\n", error->code, error->message);
  for (guint i = 0; rejected[i] != NULL; i++)
    g_print ("rejected: %s\n", rejected[i]);
  if (devices != NULL && g_getenv ("TEST_KERNEL") != NULL)
    {
      gyre_device_get_kernel (g_ptr_array_index (devices, 0), "__kernel void f (void) {}",
                              NULL, "f", &error);
      g_print ("kernel: %s\n", error != NULL ? error->message : "built");
    }
  return 0;
}

static void
expect (char       *output,
        const char *says)
{
  if (strstr (output, says) == NULL)
    ck_abort_msg ("the child does not say '%s': %s", says, output);
}

static void
expect_and_free (char       *output,
                 const char *says)
{
  expect (output, says);
  g_free (output);
}

START_TEST (a_good_device_is_admitted_once)
{
  expect_and_free (open_in_child ("pocl", NULL), "1 devices");
  /* From the disk: there is no helper any more. */
  expect_and_free (open_in_child ("pocl", "GYRE_LIBEXEC", "/nowhere", NULL), "1 devices");
  expect_and_free (open_in_child ("pocl", "GYRE_LIBEXEC", "/nowhere", "GYRE_ADMISSION",
                                  "fresh", NULL),
                   "/nowhere/gyre-admit");
  expect_and_free (open_in_child ("pocl", "GYRE_LIBEXEC", "/nowhere", "GYRE_ADMISSION",
                                  "off", NULL),
                   "1 devices");
}
END_TEST

START_TEST (a_crash_costs_the_device)
{
  char *output = open_in_child ("pocl*2", "GYRE_LAYER_CRASH", "pthread", NULL);

  expect (output, "0 devices");
  expect (output, "no usable device");
  expect (output, "rejected: device pthread");
  expect_and_free (output, "left out: crashed in its self-test (signal 11)");
  /* The verdict stays, with the way out. */
  expect_and_free (open_in_child ("pocl", NULL),
                   "(signal 11); GYRE_ADMISSION=fresh tests it again");
  expect_and_free (open_in_child ("pocl", "GYRE_ADMISSION", "fresh", NULL), "1 devices");
  expect_and_free (open_in_child ("pocl", NULL), "1 devices");
}
END_TEST

START_TEST (a_hang_is_ended)
{
  expect_and_free (open_in_child ("pocl", "GYRE_LAYER_HANG", "pthread",
                                  "GYRE_ADMIT_TIMEOUT", "2", NULL),
                   "left out: hung in its self-test (killed after 2 s)");
  expect_and_free (open_in_child ("pocl", "GYRE_ADMIT_TIMEOUT", "2", NULL),
                   "(killed after 2 s); GYRE_ADMISSION=fresh");
  /* Given more time, it is tested again. */
  expect_and_free (open_in_child ("pocl", NULL), "1 devices");
}
END_TEST

START_TEST (a_lie_is_found_out)
{
  expect_and_free (open_in_child ("pocl", "GYRE_LAYER_LIE", "pthread", NULL),
                   "left out: failed its self-test: copied and mapped u32: [999] is");
}
END_TEST

START_TEST (an_error_of_the_driver_is_named)
{
  expect_and_free (open_in_child ("pocl", "GYRE_LAYER_FAIL",
                                  "clEnqueueNDRangeKernel:2:-5", NULL),
                   "clEnqueueNDRangeKernel of gyre_admit_reduce: CL_OUT_OF_RESOURCES");
}
END_TEST

START_TEST (without_a_compiler_it_is_admitted)
{
  char *output = open_in_child ("pocl", "GYRE_LAYER_HIDE_COMPILER", "1", "TEST_KERNEL",
                                "1", NULL);

  expect (output, "1 devices");
  expect (output, "kernel: kernel f: pthread");
  expect_and_free (output, "has no compiler, and no binary");
}
END_TEST

START_TEST (without_a_compiler_it_runs_what_was_built_ahead)
{
  expect_and_free (open_in_child ("pocl", "TEST_KERNEL", "1", NULL), "kernel: built");
  expect_and_free (open_in_child ("pocl", "GYRE_LAYER_HIDE_COMPILER", "1", "TEST_KERNEL",
                                  "1", NULL),
                   "kernel: built");
}
END_TEST

START_TEST (settings_are_checked)
{
  expect_and_free (open_in_child ("pocl", "GYRE_ADMISSION", "perhaps", NULL),
                   "GYRE_ADMISSION=perhaps is none of cached, fresh, off");
  expect_and_free (open_in_child ("pocl", "GYRE_ADMIT_TIMEOUT", "soon", NULL),
                   "GYRE_ADMIT_TIMEOUT=soon is not a number of seconds");
}
END_TEST

START_TEST (no_platform_says_what_to_install)
{
  expect_and_free (open_in_child ("all", "OCL_ICD_VENDORS", cache, NULL),
                   "no OpenCL platform found; install one, for example: apt install");
}
END_TEST

START_TEST (the_list_has_verdicts)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) infos = gyre_devices_list (&error);
  GyreDeviceInfo *info;

  gyre_assert_no_error (error);
  ck_assert_uint_ge (infos->len, 1);
  for (guint i = 0; i < infos->len; i++)
    {
      info = g_ptr_array_index (infos, i);
      ck_assert (info->admitted == (info->reason == NULL));
      ck_assert_uint_gt (strlen (info->name), 0);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "admission", set_up, tear_down);

  tcase_add_test (tcase, a_good_device_is_admitted_once);
  tcase_add_test (tcase, a_crash_costs_the_device);
  tcase_add_test (tcase, a_hang_is_ended);
  tcase_add_test (tcase, a_lie_is_found_out);
  tcase_add_test (tcase, an_error_of_the_driver_is_named);
  tcase_add_test (tcase, without_a_compiler_it_is_admitted);
  tcase_add_test (tcase, without_a_compiler_it_runs_what_was_built_ahead);
  tcase_add_test (tcase, settings_are_checked);
  tcase_add_test (tcase, no_platform_says_what_to_install);
  gyre_check_add (suite, "list", the_list_has_verdicts);
}

int
main (int    argc,
      char **argv)
{
  if (argc > 1)
    return run_child (argv[1]);
  return gyre_check_main ("admission", add_tests);
}
