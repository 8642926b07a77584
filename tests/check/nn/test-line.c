/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre.h>
#include <glib/gstdio.h>

/* Model lines, with the layers of the plugins. */

static const struct
{
  const char *line;
  int         code;
  const char *says;
} wrong[] = {
  { "", GYRE_ERROR_SYNTAX, "column 1: a name is missing at the end" },
  { "relu !", GYRE_ERROR_SYNTAX, "column 7: a name is missing at the end" },
  { "! relu", GYRE_ERROR_SYNTAX, "column 1: expected a name" },
  { "relu relu", GYRE_ERROR_SYNTAX, "column 10: expected NAME=VALUE" },
  { "relu )", GYRE_ERROR_SYNTAX, "column 6: this parenthesis was never opened" },
  { "sequential ( relu", GYRE_ERROR_SYNTAX,
    "column 12: this parenthesis is never closed" },
  { "sequential ( ( relu ) )", GYRE_ERROR_SYNTAX, "column 14: expected a name" },
  { "dense features=", GYRE_ERROR_SYNTAX, "column 16: a value is missing after '='" },
  { "dense features='8", GYRE_ERROR_SYNTAX,
    "column 16: this quotation mark has no partner" },
  { "dense features=8 features=9", GYRE_ERROR_SYNTAX,
    "column 18: this property is given" },
  { "relu ( relu )", GYRE_ERROR_SYNTAX, "column 1: relu holds no layers" },
  { "relu ! dens features=8", GYRE_ERROR_UNKNOWN,
    "column 8: unknown layer \"dens\"; did you mean \"dense\"?" },
  { "relu ! transmogrify", GYRE_ERROR_UNKNOWN, "dense, dropout" },
  { "dense feature=8", GYRE_ERROR_UNKNOWN,
    "column 7: dense has no property \"feature\": did you mean \"features\"?" },
  { "dense colour=8", GYRE_ERROR_UNKNOWN, "it has name, features, use-bias" },
  { "relu colour=8", GYRE_ERROR_UNKNOWN, "it has name" },
  { "dense", GYRE_ERROR_INVALID, "column 1: dense needs features=" },
  { "dense features=0", GYRE_ERROR_INVALID,
    "column 7: dense: features=0: it takes an integer from 1 to 2147483647" },
  { "dense features=many", GYRE_ERROR_INVALID, "features=many: it takes an integer" },
  { "dense features=8.5", GYRE_ERROR_INVALID, "features=8.5: it takes an integer" },
  { "dense features=8 use-bias=perhaps", GYRE_ERROR_INVALID,
    "column 18: dense: use-bias=perhaps: it takes true or false" },
  { "dropout rate=1.5", GYRE_ERROR_INVALID, "rate=1.5: it takes a number from 0 to 1" },
  { "dropout rate=0,5", GYRE_ERROR_INVALID, "rate=0,5: it takes a number" },
  { "conv2d features=1 kernel-size=3,0", GYRE_ERROR_INVALID,
    "column 19: conv2d: kernel-size=3,0: it takes 1 to 2 integers from 1" },
  { "conv2d features=1 kernel-size=3,3,3", GYRE_ERROR_INVALID, "kernel-size=3,3,3" },
  { "conv2d features=1 strides=two", GYRE_ERROR_INVALID, "strides=two: it takes 1 to 2" },
  { "conv2d features=1 padding=SOME", GYRE_ERROR_INVALID,
    "padding=SOME: it takes SAME, VALID, or 1 to 4 integers from" },
  { "relu !\n  # an ï\n  rélu", GYRE_ERROR_SYNTAX, "line 3, column 4" },
  { "relu ! ünknown", GYRE_ERROR_SYNTAX, "column 8: expected a name" },
  { "\xff", GYRE_ERROR_SYNTAX, "not UTF-8" },
  { "@/nowhere/model", GYRE_ERROR_FILE, "/nowhere/model" },
};

START_TEST (says_what_is_wrong_and_where)
{
  g_autoptr (GError) error = NULL;
  GyreLayer *model = gyre_model_parse (wrong[_i].line, &error);

  ck_assert_msg (model == NULL, "no error: %s", wrong[_i].line);
  gyre_assert_error (error, GYRE_ERROR, wrong[_i].code);
  gyre_assert_error_says (error, wrong[_i].says);
}
END_TEST

static const struct
{
  const char *line;
  const char *printed;
} right[] = {
  { "relu", "relu" },
  { "  flatten!dense features=512!relu ", "flatten ! dense features=512 ! relu" },
  { "dense\n features=8 # eight\n use_bias=false\n! relu", NULL },
  { "dense features=8 use-bias=no ! relu", "dense features=8 use-bias=false ! relu" },
  { "dense use-bias=true features='8'", "dense features=8" },
  { "gelu approximate=FALSE", "gelu approximate=false" },
  { "leaky-relu negative-slope=2e-1", "leaky-relu negative-slope=0.2" },
  { "leaky_relu", "leaky-relu" },
  { "elu alpha=-0.30000000000000004", "elu alpha=-0.30000000000000004" },
  { "sequential ( relu ! sequential ( tanh ) ) ! mish",
    "sequential ( relu ! sequential ( tanh ) ) ! mish" },
};

START_TEST (reads_and_prints)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse (right[_i].line, &error);
  g_autoptr (GyreLayer) again = NULL;
  g_autofree char *printed = NULL;
  g_autofree char *twice = NULL;

  gyre_assert_no_error (error);
  printed = gyre_model_to_string (model);
  if (right[_i].printed != NULL)
    ck_assert_str_eq (printed, right[_i].printed);

  again = gyre_model_parse (printed, &error);
  gyre_assert_no_error (error);
  twice = gyre_model_to_string (again);
  ck_assert_str_eq (printed, twice);
}
END_TEST

START_TEST (reads_a_file)
{
  g_autofree char *file = g_build_filename (g_get_tmp_dir (), "gyre-model-XXXXXX", NULL);
  g_autofree char *line = NULL;
  g_autofree char *printed = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = NULL;
  int fd = g_mkstemp (file);

  ck_assert_int_ge (fd, 0);
  g_close (fd, NULL);
  ck_assert (
      g_file_set_contents (file, "# small\nrelu ! # then\ndense features=x\n", -1, NULL));
  line = g_strconcat (" @", file, "\n", NULL);
  ck_assert_ptr_null (gyre_model_parse (line, &error));
  gyre_assert_error_says (error, file);
  gyre_assert_error_says (error, "line 3, column 7");
  g_clear_error (&error);

  ck_assert (
      g_file_set_contents (file, "# small\nrelu ! # then\ndense features=3\n", -1, NULL));
  model = gyre_model_parse (line, &error);
  gyre_assert_no_error (error);
  printed = gyre_model_to_string (model);
  ck_assert_str_eq (printed, "relu ! dense features=3");
  g_remove (file);
}
END_TEST

START_TEST (lists_layers)
{
  g_auto (GStrv) names = gyre_layer_type_list ();

  ck_assert (g_strv_contains ((const char *const *) names, "sequential"));
  ck_assert (g_strv_contains ((const char *const *) names, "dense"));
  ck_assert (g_strv_contains ((const char *const *) names, "log-softmax"));
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "errors", says_what_is_wrong_and_where,
                       G_N_ELEMENTS (wrong));
  gyre_check_add_loop (suite, "lines", reads_and_prints, G_N_ELEMENTS (right));
  gyre_check_add (suite, "file", reads_a_file);
  gyre_check_add (suite, "list", lists_layers);
}

GYRE_CHECK_MAIN ("line", add_tests)
