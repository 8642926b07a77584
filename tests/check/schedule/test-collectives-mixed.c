/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-calls.h"

#include <gyre/gyre-device.h>

/* Collectives over devices of several platforms: skipped where there is one alone. */

static const char *const specs[] = { "all", "all*2" };

static GPtrArray *
open_mixed (const char *spec)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = gyre_devices_open (spec, &error);
  gboolean mixed = FALSE;

  gyre_assert_no_error (error);
  g_ptr_array_set_size (devices, MIN (devices->len, 8));
  for (guint i = 1; i < devices->len; i++)
    mixed = mixed || g_strcmp0 (gyre_device_get_platform (devices->pdata[0]),
                                gyre_device_get_platform (devices->pdata[i])) != 0;
  if (mixed)
    return g_steal_pointer (&devices);

  g_print ("# one platform: skipped\n");
  return NULL;
}

START_TEST (values)
{
  g_autoptr (GPtrArray) devices = open_mixed (specs[_i / 4]);
  g_autoptr (GyreMesh) mesh = NULL;

  if (devices == NULL)
    return;
  mesh = make_mesh_of ("data=*", devices);
  check_length (mesh, devices->len, "data", (gsize[]) { 0, 1, 7, 10003 }[_i % 4]);
}
END_TEST

START_TEST (gradients)
{
  g_autoptr (GPtrArray) devices = open_mixed (specs[_i / N_CALLS]);
  g_autoptr (GyreMesh) mesh = NULL;

  if (devices == NULL)
    return;
  mesh = make_mesh_of ("data=*", devices);
  check_gradient (mesh, &(Setting) { (Call) (_i % N_CALLS), devices->len, "data" });
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "collectives-mixed", NULL, NULL);

  tcase_add_loop_test (tcase, values, 0, 4 * G_N_ELEMENTS (specs));
  tcase_add_loop_test (tcase, gradients, 0, N_CALLS * G_N_ELEMENTS (specs));
}

GYRE_CHECK_MAIN ("collectives-mixed", add_tests)
