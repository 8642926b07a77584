/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>

#include "gyre-check.h"
#include "ir/gyre-emit-private.h"

static const float floats[] = {
  0.0f,    0.1f,    1.0f,        -2.5f,         3.14159274f,
  FLT_MAX, FLT_MIN, FLT_MIN / 8, -FLT_TRUE_MIN, 1e-7f,
};

START_TEST (floats_read_back)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  GyreEmit emit = { NULL, arena };
  const char *literal = gyre_emit_literal (&emit, GYRE_F32, floats[_i]);
  gboolean negative = literal[0] == '(';

  ck_assert (g_str_has_suffix (literal, negative ? "f)" : "f"));
  ck_assert (g_ascii_strtod (literal + (negative ? 1 : 0), NULL) == floats[_i]);
}
END_TEST

START_TEST (literals_of_all_dtypes)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  GyreEmit emit = { NULL, arena };

  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_F32, 0.1f), "0x1.99999ap-4f");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_F32, -1), "(-0x1.0p0f)");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_F32, INFINITY), "INFINITY");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_F32, -INFINITY), "(-INFINITY)");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_F32, NAN), "NAN");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_I32, -7), "(-7)");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_I32, G_MININT32), "(-2147483647 - 1)");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_U32, G_MAXUINT32), "4294967295u");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_U8, 200), "((uchar) 200)");
  ck_assert_str_eq (gyre_emit_literal (&emit, GYRE_BOOL, 1), "((uchar) 1)");
}
END_TEST

START_TEST (ctypes)
{
  ck_assert_str_eq (gyre_dtype_ctype (GYRE_F32), "float");
  ck_assert_str_eq (gyre_dtype_ctype (GYRE_U32), "uint");
  ck_assert_str_eq (gyre_dtype_ctype (GYRE_BOOL), "uchar");
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "floats", floats_read_back, G_N_ELEMENTS (floats));
  gyre_check_add (suite, "literals", literals_of_all_dtypes);
  gyre_check_add (suite, "ctypes", ctypes);
}

GYRE_CHECK_MAIN ("emit", add_tests)
