/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <float.h>
#include <locale.h>

#include <gyre/gyre-error.h>

#include "base/gyre-text-private.h"

static void
assert_prints (double      value,
               const char *expected)
{
  g_autofree char *text = gyre_float_to_string (value);

  ck_assert_str_eq (text, expected);
}

START_TEST (floats_have_nine_digits)
{
  assert_prints (0.0, "0");
  assert_prints (1.0, "1");
  assert_prints (2.302585092994046, "2.30258509");
  assert_prints (-0.1f, "-0.100000001");
  assert_prints (1e-30, "1e-30");
  assert_prints (NAN, "null");
  assert_prints (-INFINITY, "null");
}
END_TEST

START_TEST (floats_read_back)
{
  static const float values[] = { 0.1f, 1.0f / 3.0f, FLT_MAX, FLT_MIN, -1.17549435e-38f,
                                  16777217.0f, 3.14159274f, 1e-45f };
  g_autofree char *text = gyre_float_to_string (values[_i]);
  g_autoptr (GError) error = NULL;
  double value = 0.0;

  ck_assert (gyre_text_parse_double (text, &value, &error));
  gyre_assert_no_error (error);
  ck_assert ((float) value == values[_i]);
}
END_TEST

/* Where a locale with a decimal comma is there, it must change nothing. */
START_TEST (locale_does_not_matter)
{
  static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE" };
  g_autoptr (GError) error = NULL;
  double value = 0.0;

  for (guint i = 0; i < G_N_ELEMENTS (locales); i++)
    if (setlocale (LC_ALL, locales[i]) != NULL)
      break;

  assert_prints (0.5, "0.5");
  ck_assert (gyre_text_parse_double ("0.25", &value, &error));
  ck_assert (value == 0.25);
  ck_assert (!gyre_text_parse_double ("0,25", &value, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  setlocale (LC_ALL, "C");
}
END_TEST

static const char *const no_numbers[] = {
  "", " 1", "1 ", "1e", "one", "0x10", "inf", "nan", "1.5f", "1e400", "-", "1,5",
};

START_TEST (refuses_what_is_no_number)
{
  g_autoptr (GError) error = NULL;
  double value = 77.0;

  ck_assert_msg (!gyre_text_parse_double (no_numbers[_i], &value, &error),
                 "\"%s\" was read as %g", no_numbers[_i], value);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, no_numbers[_i]);
  ck_assert (value == 77.0);
}
END_TEST

START_TEST (reads_integers)
{
  g_autoptr (GError) error = NULL;
  gint64 value = 0;

  ck_assert (gyre_text_parse_int ("-12", -20, 5, &value, &error));
  ck_assert_int_eq (value, -12);
  ck_assert (gyre_text_parse_int ("9223372036854775807", 0, G_MAXINT64, &value, &error));
  ck_assert_int_eq (value, G_MAXINT64);
  gyre_assert_no_error (error);
}
END_TEST

static const char *const no_integers[] = {
  "", " 3", "3 ", "3.0", "0x3", "three", "6", "0", "99999999999999999999", "-",
};

START_TEST (refuses_what_is_no_integer_or_out_of_range)
{
  g_autoptr (GError) error = NULL;
  gint64 value = 77;

  ck_assert_msg (!gyre_text_parse_int (no_integers[_i], 1, 5, &value, &error),
                 "\"%s\" was read", no_integers[_i]);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (error, no_integers[_i]);
  ck_assert_int_eq (value, 77);
}
END_TEST

START_TEST (range_is_in_the_error)
{
  g_autoptr (GError) error = NULL;
  gint64 value;

  ck_assert (!gyre_text_parse_int ("0", 1, 65536, &value, &error));
  gyre_assert_error_says (error, "1 to 65536");
}
END_TEST

static const char *const layers[] = { "dense", "dropout", "flatten", "relu", NULL };
static const struct
{
  const char *word;
  const char *suggestion;
} words[] = {
  { "dens", "dense" },     { "desne", "dense" }, { "droput", "dropout" },
  { "flaten", "flatten" }, { "rely", "relu" },   { "dense", "dense" },
  { "convolution", NULL }, { "", NULL },         { "x", NULL },
};

START_TEST (suggests_what_is_near)
{
  g_autofree char *suggestion = gyre_text_suggest (words[_i].word, layers);

  ck_assert_pstr_eq (suggestion, words[_i].suggestion);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "digits", floats_have_nine_digits);
  gyre_check_add_loop (suite, "read-back", floats_read_back, 8);
  gyre_check_add (suite, "locale", locale_does_not_matter);
  gyre_check_add_loop (suite, "no-number", refuses_what_is_no_number,
                       G_N_ELEMENTS (no_numbers));
  gyre_check_add (suite, "integer", reads_integers);
  gyre_check_add_loop (suite, "no-integer", refuses_what_is_no_integer_or_out_of_range,
                       G_N_ELEMENTS (no_integers));
  gyre_check_add (suite, "range", range_is_in_the_error);
  gyre_check_add_loop (suite, "suggestion", suggests_what_is_near, G_N_ELEMENTS (words));
}

GYRE_CHECK_MAIN ("text", add_tests)
