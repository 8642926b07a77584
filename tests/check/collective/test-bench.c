/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-collective.h"

#include <gyre/gyre-error.h>

static GPtrArray *devices;

static void
set_up (void)
{
  const char *spec = g_getenv ("GYRE_BENCH_DEVICES");

  devices = gyre_check_open (spec != NULL ? spec : "pocl*2");
}

static void
tear_down (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

static gsize
bench_bytes (void)
{
  const char *text = g_getenv ("GYRE_BENCH_BYTES");

  return text != NULL ? g_ascii_strtoull (text, NULL, 10) : 100000;
}

/* GYRE_BENCH_DEVICES=pocl*4 GYRE_BENCH_BYTES=16777216 makes it a measurement. */
START_TEST (a_line_for_each)
{
  g_autoptr (GString) report = g_string_new (NULL);
  GError *error = NULL;

  ck_assert (gyre_collective_bench (devices, bench_bytes (), NULL, report, &error));
  gyre_assert_no_error (error);
  ck_assert_ptr_nonnull (strstr (report->str, "host"));
  ck_assert_ptr_nonnull (strstr (report->str, "staged"));
  if (g_getenv ("GYRE_BENCH_DEVICES") == NULL)
    {
      ck_assert_ptr_nonnull (strstr (report->str, "ring"));
      ck_assert_ptr_nonnull (strstr (report->str, "direct"));
    }
  else
    g_printerr ("%s", report->str);
}
END_TEST

START_TEST (one_algorithm)
{
  g_autoptr (GString) report = g_string_new (NULL);
  GError *error = NULL;

  ck_assert (gyre_collective_bench (devices, 1000, "host", report, &error));
  gyre_assert_no_error (error);
  ck_assert (g_str_has_prefix (report->str, "host"));
  ck_assert (!gyre_collective_bench (devices, 1000, "rign", report, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, "rign");
  g_clear_error (&error);
}
END_TEST

/* A pebibyte on each is asked of no machine. */
START_TEST (more_than_there_is)
{
  g_autoptr (GString) report = g_string_new (NULL);
  GError *error = NULL;

  ck_assert (!gyre_collective_bench (devices, (gsize) 1 << 50, NULL, report, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY);
  gyre_assert_error_says (error, "take at most");
  g_clear_error (&error);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "bench", set_up, tear_down);

  tcase_add_test (tcase, a_line_for_each);
  tcase_add_test (tcase, one_algorithm);
  tcase_add_test (tcase, more_than_there_is);
}

GYRE_CHECK_MAIN ("bench", add_tests)
