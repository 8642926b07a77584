/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include "base/gyre-env-private.h"

/* A variable with a value that can't be is as if it weren't set, and one line says so. */

static const struct
{
  const char *name, *value;
  const char *says;        /* NULL: it is a value of it */
} cases[] = {
  { "GYRE_CACHE", "off", NULL },       { "GYRE_CACHE", "on", NULL },
  { "GYRE_CACHE", "", NULL },          { "GYRE_CACHE", NULL, NULL },
  { "GYRE_CACHE", "OFF", "on or off" }, { "GYRE_CACHE", "0", "on or off" },
  { "GYRE_FUSE", "0", NULL },          { "GYRE_FUSE", "yes", "0 or 1" },
  { "GYRE_DEBUG", "hazards", NULL },   { "GYRE_DEBUG", "hazard", "may be hazards;" },
  { "GYRE_STEP_SYNC", "2", "0 or 1" },
  { "GYRE_DEVICE_TIMEOUT", "0", NULL },
  { "GYRE_DEVICE_TIMEOUT", "-1", "from 0 to 1000000" },
  { "GYRE_DEVICE_TIMEOUT", "5 s", "from 0 to 1000000" },
};

START_TEST (complains_of_nonsense)
{
  const char *value = cases[_i].value;
  g_autofree char *text = gyre_env_complain (cases[_i].name, value);

  if (cases[_i].says == NULL)
    ck_assert_pstr_eq (text, NULL);
  else
    {
      g_autofree char *named = g_strdup_printf ("%s=%s ", cases[_i].name, value);

      ck_assert_ptr_nonnull (text);
      ck_assert (g_str_has_prefix (text, named));
      ck_assert_msg (strstr (text, cases[_i].says) != NULL, "%s", text);
    }
}
END_TEST

START_TEST (nonsense_is_as_if_unset)
{
  g_setenv ("GYRE_CACHE", "OFF", TRUE);
  ck_assert (!gyre_env_is ("GYRE_CACHE", "off"));
  g_setenv ("GYRE_CACHE", "off", TRUE);
  ck_assert (gyre_env_is ("GYRE_CACHE", "off"));
  g_unsetenv ("GYRE_CACHE");

  ck_assert_int_eq (gyre_env_get_number ("GYRE_DEVICE_TIMEOUT", 7), 7);
  g_setenv ("GYRE_DEVICE_TIMEOUT", "-1", TRUE);
  ck_assert_int_eq (gyre_env_get_number ("GYRE_DEVICE_TIMEOUT", 7), 7);
  g_setenv ("GYRE_DEVICE_TIMEOUT", "30", TRUE);
  ck_assert_int_eq (gyre_env_get_number ("GYRE_DEVICE_TIMEOUT", 7), 30);
  g_unsetenv ("GYRE_DEVICE_TIMEOUT");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "complaint", complains_of_nonsense, G_N_ELEMENTS (cases));
  gyre_check_add (suite, "unset", nonsense_is_as_if_unset);
}

GYRE_CHECK_MAIN ("env", add_tests)
