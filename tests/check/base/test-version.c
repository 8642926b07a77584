/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre.h>

#include "gyre-check.h"

START_TEST (library_is_of_its_headers)
{
  ck_assert_str_eq (gyre_version (), GYRE_VERSION_STRING);
}
END_TEST

START_TEST (check_version_compares)
{
  ck_assert (GYRE_CHECK_VERSION (GYRE_MAJOR_VERSION, GYRE_MINOR_VERSION, 0));
  ck_assert (GYRE_CHECK_VERSION (0, 0, 99));
  ck_assert (!GYRE_CHECK_VERSION (GYRE_MAJOR_VERSION + 1, 0, 0));
  ck_assert (!GYRE_CHECK_VERSION (GYRE_MAJOR_VERSION, GYRE_MINOR_VERSION + 1, 0));
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "library", library_is_of_its_headers);
  gyre_check_add (suite, "compare", check_version_compares);
}

GYRE_CHECK_MAIN ("version", add_tests)
