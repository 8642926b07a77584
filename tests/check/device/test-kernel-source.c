/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-device.h"

#include <gio/gio.h>
#include <gyre/gyre-error.h>

/* How often one text is in another. */
static guint
count_text (const char *text,
            const char *part)
{
  guint n = 0;

  for (const char *at = text; (at = strstr (at, part)) != NULL; at++)
    n++;
  return n;
}

START_TEST (a_core_kernel_is_found_by_its_name)
{
  GError *error = NULL;
  g_autofree char *source = gyre_kernel_source_load ("admit.cl", &error);

  gyre_assert_no_error (error);
  ck_assert_uint_eq (count_text (source, "gyre_admit_vector ("), 1);
}
END_TEST

START_TEST (includes_are_replaced_once)
{
  GError *error = NULL;
  g_autofree char *source = gyre_kernel_source_load ("/org/gyre/test/main.cl", &error);

  gyre_assert_no_error (error);
  ck_assert_uint_eq (count_text (source, "#include"), 0);
  ck_assert_uint_eq (count_text (source, "int shared_thing"), 1);
  ck_assert_uint_eq (count_text (source, "int nested_thing"), 1);
  ck_assert_uint_eq (count_text (source, "__kernel"), 1);
  /* In the place of the line. */
  ck_assert (strstr (source, "shared_thing") < strstr (source, "__kernel"));
  ck_assert (strstr (source, "nested_thing") < strstr (source, "shared_thing"));
}
END_TEST

START_TEST (the_core_has_headers_for_all)
{
  GError *error = NULL;
  g_autofree char *source = gyre_kernel_source_load ("/org/gyre/test/core.cl", &error);

  gyre_assert_no_error (error);
  ck_assert_uint_gt (count_text (source, "threefry"), 0);
}
END_TEST

START_TEST (what_is_missing_is_named)
{
  GError *error = NULL;

  ck_assert_ptr_null (gyre_kernel_source_load ("absent.cl", &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_BUILD);
  gyre_assert_error_says (error, "/org/gyre/cl/absent.cl");
  g_clear_error (&error);

  ck_assert_ptr_null (gyre_kernel_source_load ("/org/gyre/test/broken.cl", &error));
  gyre_assert_error_says (error, "included from /org/gyre/test/broken.cl");
  gyre_assert_error_says (error, "absent.clh");
  g_clear_error (&error);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "core", a_core_kernel_is_found_by_its_name);
  gyre_check_add (suite, "includes", includes_are_replaced_once);
  gyre_check_add (suite, "core-headers", the_core_has_headers_for_all);
  gyre_check_add (suite, "missing", what_is_missing_is_named);
}

GYRE_CHECK_MAIN ("kernel-source", add_tests)
