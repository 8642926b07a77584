/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-dtype.h>
#include <gyre/gyre-error.h>
#include <gyre/gyre-shape.h>

START_TEST (counts_elements)
{
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SCALAR), 1);
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (7)), 7);
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (3, 4, 5)), 60);
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (3, 0, 5)), 0);
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (1, 1, 1, 1, 1, 1, 1, 2)), 2);
}
END_TEST

START_TEST (refuses_what_no_memory_could_hold)
{
  gint64 half = G_GINT64_CONSTANT (1) << 32;

  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (half, half)), -1);
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (G_MAXINT64, 1)), G_MAXINT64);
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (half, half, 0)), 0);
  ck_assert_int_eq (gyre_shape_n_elements (&GYRE_SHAPE (3, -1)), -1);
}
END_TEST

START_TEST (compares)
{
  GyreShape rest = GYRE_SHAPE (3, 4, 9);

  ck_assert (gyre_shape_equal (&GYRE_SHAPE (3, 4), &GYRE_SHAPE (3, 4)));
  ck_assert (!gyre_shape_equal (&GYRE_SHAPE (3, 4), &GYRE_SHAPE (4, 3)));
  ck_assert (!gyre_shape_equal (&GYRE_SHAPE (3, 4), &GYRE_SHAPE (3, 4, 1)));
  ck_assert (!gyre_shape_equal (&GYRE_SCALAR, &GYRE_SHAPE (1)));
  rest.rank = 2;
  ck_assert (gyre_shape_equal (&rest, &GYRE_SHAPE (3, 4)));
}
END_TEST

START_TEST (prints)
{
  g_autofree char *scalar = gyre_shape_to_string (&GYRE_SCALAR);
  g_autofree char *vector = gyre_shape_to_string (&GYRE_SHAPE (5));
  g_autofree char *matrix = gyre_shape_to_string (&GYRE_SHAPE (60000, 784));

  ck_assert_str_eq (scalar, "[]");
  ck_assert_str_eq (vector, "[5]");
  ck_assert_str_eq (matrix, "[60000, 784]");
}
END_TEST

START_TEST (dtype_names_read_back)
{
  static const char *const names[] = { "f32", "i32", "u32", "u8", "bool" };
  static const gsize sizes[] = { 4, 4, 4, 1, 1 };
  g_autoptr (GError) error = NULL;
  GyreDtype dtype;

  ck_assert (gyre_dtype_parse (names[_i], &dtype, &error));
  gyre_assert_no_error (error);
  ck_assert_int_eq (dtype, _i);
  ck_assert_str_eq (gyre_dtype_name (dtype), names[_i]);
  ck_assert_uint_eq (gyre_dtype_size (dtype), sizes[_i]);
  ck_assert_int_eq (gyre_dtype_is_float (dtype), _i == 0);
}
END_TEST

START_TEST (dtype_is_unknown)
{
  g_autoptr (GError) error = NULL;
  GyreDtype dtype;

  ck_assert (!gyre_dtype_parse ("f16", &dtype, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, "f16");
  gyre_assert_error_says (error, "f32");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "elements", counts_elements);
  gyre_check_add (suite, "overflow", refuses_what_no_memory_could_hold);
  gyre_check_add (suite, "equal", compares);
  gyre_check_add (suite, "text", prints);
  gyre_check_add_loop (suite, "dtype", dtype_names_read_back, GYRE_N_DTYPES);
  gyre_check_add (suite, "unknown-dtype", dtype_is_unknown);
}

GYRE_CHECK_MAIN ("shape", add_tests)
