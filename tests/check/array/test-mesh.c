/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include "array/gyre-sharding-private.h"

#include <gyre/gyre-error.h>

static GPtrArray *devices;

static void
open_devices (void)
{
  g_autoptr (GError) error = NULL;

  devices = gyre_devices_open ("pocl*4", &error);
  gyre_assert_no_error (error);
}

static void
close_devices (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

START_TEST (lays_out)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreMesh) mesh = gyre_mesh_new ("data=*, model=2", devices, &error);
  g_autofree char *text = NULL;

  gyre_assert_no_error (error);
  text = gyre_mesh_to_string (mesh);
  ck_assert_str_eq (text, "data=2,model=2");
  ck_assert_uint_eq (gyre_mesh_get_n_axes (mesh), 2);
  ck_assert_ptr_eq (gyre_mesh_get_device (mesh, 3), g_ptr_array_index (devices, 3));
}
END_TEST

static const struct
{
  const char *layout;
  int         code;
  const char *says;
} bad_layouts[] = {
  { "data", GYRE_ERROR_SYNTAX, "NAME=SIZE" },
  { "data=x", GYRE_ERROR_SYNTAX, "'x'" },
  { "data=2,data=2", GYRE_ERROR_SYNTAX, "twice" },
  { "data=3", GYRE_ERROR_SHARDING, "there are 4" },
  { "data=*,model=3", GYRE_ERROR_SHARDING, "divide" },
  { "data=*,model=*", GYRE_ERROR_SHARDING, "at most one" },
};

START_TEST (rejects_layouts)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreMesh) mesh = gyre_mesh_new (bad_layouts[_i].layout, devices, &error);

  ck_assert_ptr_null (mesh);
  gyre_assert_error (error, GYRE_ERROR, bad_layouts[_i].code);
  gyre_assert_error_says (error, bad_layouts[_i].says);
}
END_TEST

START_TEST (cuts_by_shares)
{
  const double weights[] = { 5, 2, 1, 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreMesh) mesh = gyre_mesh_new ("data=*", devices, &error);
  gint64 bounds[5];

  gyre_mesh_cut (mesh, 0, 10, bounds);
  ck_assert_int_eq (bounds[1], 3);
  ck_assert_int_eq (bounds[2], 6);

  ck_assert (gyre_mesh_set_shares (mesh, "data", weights, &error));
  gyre_mesh_cut (mesh, 0, 10, bounds);
  ck_assert_int_eq (bounds[1], 6);
  ck_assert_int_eq (bounds[3], 10);
  ck_assert_int_eq (bounds[4], 10);
}
END_TEST

START_TEST (opens_devices)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreMesh) mesh = gyre_mesh_open ("data=2,model=*", "pocl*6", &error);

  gyre_assert_no_error (error);
  ck_assert_uint_eq (gyre_mesh_get_n_devices (mesh), 6);
  ck_assert_uint_eq (gyre_mesh_get_axis_size (mesh, 1), 3);

  ck_assert_ptr_null (gyre_mesh_open ("data=*", "no-such-vendor", &error));
  gyre_assert_error_says (error, "no-such-vendor");
  g_clear_error (&error);
  ck_assert_ptr_null (gyre_mesh_open ("data=4", "pocl*3", &error));
  gyre_assert_error_says (error, "data=4");
}
END_TEST

START_TEST (rejects_shares)
{
  const double bad[] = { 1, -1, 1, 1 }, none[] = { 0, 0, 0, 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreMesh) mesh = gyre_mesh_new ("data=*", devices, &error);

  ck_assert (!gyre_mesh_set_shares (mesh, "data", bad, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, "share 1");
  g_clear_error (&error);
  ck_assert (!gyre_mesh_set_shares (mesh, "data", none, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  g_clear_error (&error);
  ck_assert (!gyre_mesh_set_shares (mesh, "rows", bad, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN);
}
END_TEST

START_TEST (resolves_shardings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreMesh) mesh = gyre_mesh_new ("data=2,model=2", devices, &error);
  g_autoptr (GyreSharding) sharding = gyre_sharding_new (mesh, "data,model", &error);
  GyreShape shape = GYRE_SHAPE (6, 4), small = GYRE_SHAPE (6);
  GyreSpec spec;

  ck_assert (gyre_sharding_resolve (sharding, &shape, &spec, &error));
  ck_assert_uint_eq (spec.axes[0], 1);
  ck_assert_uint_eq (spec.axes[1], 2);
  ck_assert_int_eq (spec.base[0], 6);
  ck_assert (!gyre_sharding_resolve (sharding, &small, &spec, &error));
  gyre_assert_error_says (error, "[6]");
  g_clear_error (&error);

  ck_assert_ptr_null (gyre_sharding_new (mesh, "rows", &error));
  gyre_assert_error_says (error, "not of the mesh");
  g_clear_error (&error);
  ck_assert_ptr_null (gyre_sharding_new (mesh, "data,data", &error));
  gyre_assert_error_says (error, "splits dimension 0 already");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "mesh", open_devices, close_devices);

  tcase_add_test (tcase, lays_out);
  tcase_add_loop_test (tcase, rejects_layouts, 0, G_N_ELEMENTS (bad_layouts));
  tcase_add_test (tcase, cuts_by_shares);
  tcase_add_test (tcase, rejects_shares);
  tcase_add_test (tcase, opens_devices);
  tcase_add_test (tcase, resolves_shardings);
}

GYRE_CHECK_MAIN ("mesh", add_tests)
