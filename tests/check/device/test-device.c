/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-device.h"

#include <gyre/gyre-error.h>

START_TEST (one_is_described)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl:0=0.25");
  GyreDevice *device = g_ptr_array_index (devices, 0);
  g_autofree char *text = gyre_device_describe (device);
  g_autofree char *name = NULL;
  GyreDeviceKind kind;
  double share;

  ck_assert_uint_eq (devices->len, 1);
  ck_assert_str_eq (gyre_device_get_platform (device), "Portable Computing Language");
  ck_assert_uint_ge (gyre_device_get_compute_units (device), 1);
  ck_assert_uint_gt (gyre_device_get_memory (device), 0);
  ck_assert_uint_le (gyre_device_get_max_allocation (device),
                     gyre_device_get_memory (device));
  ck_assert (gyre_device_get_has_compiler (device));
  ck_assert (gyre_device_get_unified_memory (device));
  ck_assert (!gyre_device_is_lost (device));
  ck_assert_uint_ge (gyre_device_get_align (device), 128);

  g_object_get (device, "name", &name, "type", &kind, "share", &share, NULL);
  ck_assert_str_eq (name, gyre_device_get_name (device));
  ck_assert_int_eq (kind, GYRE_DEVICE_CPU);
  ck_assert (share == 0.25);
  ck_assert_ptr_nonnull (strstr (text, name));
}
END_TEST

START_TEST (three_share_a_context)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl*3");
  g_autoptr (GPtrArray) again = gyre_check_open ("pocl*2");
  GyreDevice *first = g_ptr_array_index (devices, 0);

  ck_assert_uint_eq (devices->len, 3);
  for (guint i = 0; i < 3; i++)
    {
      GyreDevice *device = g_ptr_array_index (devices, i);

      ck_assert_uint_eq (gyre_device_get_index (device), i);
      ck_assert (gyre_devices_share_context (first, device));
      ck_assert (device == first ||
                 gyre_device_get_queue (device) != gyre_device_get_queue (first));
    }
  ck_assert (gyre_devices_share_context (first, g_ptr_array_index (again, 1)));
}
END_TEST

START_TEST (sub_devices_split_the_units)
{
  g_autoptr (GPtrArray) whole = gyre_check_open ("pocl");
  g_autoptr (GPtrArray) parts = NULL;
  guint units = gyre_device_get_compute_units (g_ptr_array_index (whole, 0));
  guint sum = 0;

  if (units < 2)
    return; /* nothing to split: the error below is what is to be tested */

  parts = gyre_check_open ("pocl/2*2");
  ck_assert_uint_eq (parts->len, 4);
  for (guint i = 0; i < 4; i += 2)
    sum += gyre_device_get_compute_units (g_ptr_array_index (parts, i));
  ck_assert_uint_eq (sum, units);
  ck_assert (gyre_device_get_id (g_ptr_array_index (parts, 0)) ==
             gyre_device_get_id (g_ptr_array_index (parts, 1)));
  ck_assert (gyre_device_get_id (g_ptr_array_index (parts, 1)) !=
             gyre_device_get_id (g_ptr_array_index (parts, 2)));
  ck_assert (gyre_devices_share_context (g_ptr_array_index (parts, 0),
                                         g_ptr_array_index (parts, 3)));
}
END_TEST

START_TEST (too_many_sub_devices_are_refused)
{
  GError *error = NULL;

  ck_assert_ptr_null (gyre_devices_open ("pocl/1024", &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, "1024 sub-devices");
  gyre_assert_error_says (error, "compute unit");
  g_clear_error (&error);
}
END_TEST

START_TEST (the_environment_names_devices)
{
  g_autoptr (GPtrArray) devices = NULL;

  g_setenv ("GYRE_DEVICES", "pocl*2", TRUE);
  devices = gyre_check_open (NULL);
  g_unsetenv ("GYRE_DEVICES");
  ck_assert_uint_eq (devices->len, 2);
}
END_TEST

START_TEST (the_first_reason_of_a_loss_stays)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl");
  GyreDevice *device = g_ptr_array_index (devices, 0);
  GError *first = g_error_new_literal (GYRE_ERROR, GYRE_ERROR_DEVICE, "first");
  GError *second = g_error_new_literal (GYRE_ERROR, GYRE_ERROR_DEVICE, "second");
  GError *error = NULL;

  gyre_device_set_lost (device, first);
  gyre_device_set_lost (device, second);
  ck_assert (gyre_device_is_lost (device));
  ck_assert_str_eq (gyre_device_get_lost (device)->message, "first");
  ck_assert_ptr_null (gyre_buffer_new (device, 64, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE);
  gyre_assert_error_says (error, "is lost: first");
  g_clear_error (&error);
  g_error_free (first);
  g_error_free (second);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "describe", one_is_described);
  gyre_check_add (suite, "three", three_share_a_context);
  gyre_check_add (suite, "sub-devices", sub_devices_split_the_units);
  gyre_check_add (suite, "too-many", too_many_sub_devices_are_refused);
  gyre_check_add (suite, "environment", the_environment_names_devices);
  gyre_check_add (suite, "lost", the_first_reason_of_a_loss_stays);
}

GYRE_CHECK_MAIN ("device", add_tests)
