/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What every test shares: assertions on errors and floats, and main ().
 *
 *   START_TEST (adds_up)
 *   {
 *     ...
 *   }
 *   END_TEST
 *
 *   static void
 *   add_tests (Suite *suite)
 *   {
 *     gyre_check_add (suite, "sums", adds_up);
 *   }
 *
 *   GYRE_CHECK_MAIN ("arena", add_tests)
 */

#include <check.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The call went well: no error, and if there is one its message is shown. */
#define gyre_assert_no_error(error)                                           \
  G_STMT_START {                                                              \
    if ((error) != NULL)                                                      \
      ck_abort_msg ("unexpected error: %s (%s, %d)", (error)->message,        \
                    g_quark_to_string ((error)->domain), (error)->code);      \
  } G_STMT_END

/* The call failed with this domain and code; the message is the next check's. */
#define gyre_assert_error(error, error_domain, error_code)                    \
  G_STMT_START {                                                              \
    if ((error) == NULL)                                                      \
      ck_abort_msg ("no error where %s was due", #error_code);                \
    if (!g_error_matches ((error), (error_domain), (error_code)))             \
      ck_abort_msg ("error of another kind than %s: %s (%s, %d)",             \
                    #error_code, (error)->message,                            \
                    g_quark_to_string ((error)->domain), (error)->code);      \
  } G_STMT_END

/* The message names this: a file, a shape, the remedy. */
#define gyre_assert_error_says(error, text)                                   \
  G_STMT_START {                                                              \
    if ((error) == NULL)                                                      \
      ck_abort_msg ("no error where one that says '%s' was due", (text));     \
    if (g_strstr_len ((error)->message, -1, (text)) == NULL)                  \
      ck_abort_msg ("the error does not say '%s': %s", (text),                \
                    (error)->message);                                        \
  } G_STMT_END

/* |actual - expected| <= tolerance; two NaNs, and equal infinities, agree. */
#define gyre_assert_near(actual, expected, tolerance)                         \
  G_STMT_START {                                                              \
    double gyre_a = (actual), gyre_e = (expected), gyre_t = (tolerance);      \
    if (!gyre_check_near (gyre_a, gyre_e, gyre_t))                            \
      ck_abort_msg ("%s is %.9g, not %.9g within %.3g", #actual, gyre_a,      \
                    gyre_e, gyre_t);                                          \
  } G_STMT_END

/* Every float within atol + rtol * |expected|, as numpy.allclose. */
#define gyre_assert_floats_near(actual, expected, n, rtol, atol)              \
  G_STMT_START {                                                              \
    const float *gyre_fa = (actual), *gyre_fe = (expected);                   \
    double gyre_rtol = (rtol), gyre_atol = (atol);                            \
    for (gsize gyre_i = 0; gyre_i < (gsize) (n); gyre_i++)                    \
      {                                                                       \
        double gyre_t = gyre_atol + gyre_rtol * fabs ((double) gyre_fe[gyre_i]); \
        if (!gyre_check_near (gyre_fa[gyre_i], gyre_fe[gyre_i], gyre_t))      \
          ck_abort_msg ("%s[%" G_GSIZE_FORMAT "] is %.9g, not %.9g within %.3g", \
                        #actual, gyre_i, (double) gyre_fa[gyre_i],            \
                        (double) gyre_fe[gyre_i], gyre_t);                    \
      }                                                                       \
  } G_STMT_END

static inline gboolean
gyre_check_near (double actual,
                 double expected,
                 double tolerance)
{
  if (isnan (actual) || isnan (expected))
    return isnan (actual) && isnan (expected);
  if (isinf (actual) || isinf (expected))
    return actual == expected;
  return fabs (actual - expected) <= tolerance;
}

/* A file of tests/data/. */
static inline char *
gyre_check_data (const char *name)
{
  const char *folder = g_getenv ("GYRE_TEST_DATA");

  return g_build_filename (folder != NULL ? folder : "tests/data", name, NULL);
}

/* Tests open devices of "pocl"; GYRE_TEST_PLATFORM puts another in its place, such as
 * "oclgrind". */
static inline char *
gyre_check_device_spec (const char *spec)
{
  const char *platform = g_getenv ("GYRE_TEST_PLATFORM");

  if (platform == NULL || spec == NULL || !g_str_has_prefix (spec, "pocl"))
    return g_strdup (spec);
  return g_strconcat (platform, spec + strlen ("pocl"), NULL);
}

/* One test in a test case of its own, so that the case's name is the test's. */
static inline void
gyre_check_add (Suite        *suite,
                const char   *name,
                const TTest  *test)
{
  TCase *tcase = tcase_create (name);

  tcase_set_timeout (tcase, 0); /* meson keeps the time */
  tcase_add_test (tcase, test);
  suite_add_tcase (suite, tcase);
}

/* The same once for each i in [0, n): the test sees it as _i. */
static inline void
gyre_check_add_loop (Suite        *suite,
                     const char   *name,
                     const TTest  *test,
                     int           n)
{
  TCase *tcase = tcase_create (name);

  tcase_set_timeout (tcase, 0);
  tcase_add_loop_test (tcase, test, 0, n);
  suite_add_tcase (suite, tcase);
}

/* A test case with fixtures around each of its tests. */
static inline TCase *
gyre_check_case (Suite      *suite,
                 const char *name,
                 SFun        setup,
                 SFun        teardown)
{
  TCase *tcase = tcase_create (name);

  tcase_set_timeout (tcase, 0);
  if (setup != NULL || teardown != NULL)
    tcase_add_checked_fixture (tcase, setup, teardown);
  suite_add_tcase (suite, tcase);
  return tcase;
}

static inline int
gyre_check_main (const char *name,
                 void      (*add_tests) (Suite *suite))
{
  Suite *suite = suite_create (name);
  SRunner *runner = srunner_create (suite);
  int n_failed;

  add_tests (suite);
  srunner_run_all (runner, CK_ENV);
  n_failed = srunner_ntests_failed (runner);
  srunner_free (runner);

  return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define GYRE_CHECK_MAIN(name, add_tests)                                      \
  int                                                                         \
  main (void)                                                                 \
  {                                                                           \
    return gyre_check_main ((name), (add_tests));                             \
  }
