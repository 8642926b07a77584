/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre.h>

/* A program that keeps what it was told, and fails if there is something to say. */

static char *devices, *mesh;
static gint64 seed;
static int n_runs;
static const char *complaint;
static GString *printed;

static void
keep_print (const char *text)
{
  g_string_append (printed, text);
}

static void
set_up (void)
{
  printed = g_string_new (NULL);
  complaint = NULL;
  n_runs = 0;
  g_set_printerr_handler (keep_print);
}

static void
tear_down (void)
{
  g_set_printerr_handler (NULL);
  g_string_free (printed, TRUE);
  g_clear_pointer (&devices, g_free);
  g_clear_pointer (&mesh, g_free);
}

static gboolean
program (const GyreOptions *options,
         GError           **error)
{
  n_runs++;
  devices = g_strdup (options->devices);
  mesh = g_strdup (options->mesh);
  seed = options->seed;
  if (complaint == NULL)
    return TRUE;

  g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_DATA, complaint);
  return FALSE;
}

/* words: the arguments, with spaces between them */
static int
run_program (GyreOptions *options,
             const char  *words)
{
  g_auto (GStrv) argv = g_strsplit (words, " ", -1);
  g_autofree char **copy = g_memdup2 (argv, (g_strv_length (argv) + 1) * sizeof (char *));

  return gyre_options_run (options, (int) g_strv_length (copy), copy, program);
}

START_TEST (parses_what_is_given)
{
  GyreOptions options = { .mesh = "dp=*", .seed = 3 };

  ck_assert_int_eq (
      run_program (&options, "p --devices=pocl*4 --mesh dp=2,tp=2 --seed 12"), 0);
  ck_assert_int_eq (n_runs, 1);
  ck_assert_str_eq (devices, "pocl*4");
  ck_assert_str_eq (mesh, "dp=2,tp=2");
  ck_assert_int_eq (seed, 12);

  /* for another run the defaults are there again */
  ck_assert_ptr_null (options.devices);
  ck_assert_str_eq (options.mesh, "dp=*");
  ck_assert_int_eq (options.seed, 3);
}
END_TEST

START_TEST (keeps_defaults)
{
  GyreOptions options = { .mesh = "dp=*", .seed = 3 };

  ck_assert_int_eq (run_program (&options, "p"), 0);
  ck_assert_ptr_null (devices);
  ck_assert_str_eq (mesh, "dp=*");
  ck_assert_int_eq (seed, 3);
}
END_TEST

static const struct
{
  const char *words;
  const char *complaint;
  int         status;
  int         n_runs;
  const char *says;
} failures[] = {
  { "p --mesh dp=2", NULL, 2, 0, "--mesh" },      /* of a program without a layout */
  { "p --seed two", NULL, 2, 0, "two" },
  { "p --seed 1 more", NULL, 2, 0, "more: not an option" },
  { "p", "row 7 has no label", 1, 1, ": row 7 has no label\n" },
};

START_TEST (tells_failures_apart)
{
  GyreOptions options = { NULL };

  complaint = failures[_i].complaint;
  ck_assert_int_eq (run_program (&options, failures[_i].words), failures[_i].status);
  ck_assert_int_eq (n_runs, failures[_i].n_runs);
  ck_assert_ptr_nonnull (strstr (printed->str, failures[_i].says));
  /* one line */
  ck_assert_ptr_eq (strchr (printed->str, '\n'), printed->str + printed->len - 1);
}
END_TEST

START_TEST (is_a_group_for_others)
{
  GyreOptions options = { .seed = 3 };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) argv = g_strsplit ("p --seed -5 --devices all", " ", -1);

  g_option_context_add_group (context, gyre_options_new_group (&options));
  ck_assert (g_option_context_parse_strv (context, &argv, &error));
  gyre_assert_no_error (error);
  ck_assert_int_eq (options.seed, -5);
  ck_assert_str_eq (options.devices, "all");
  g_free ((char *) options.devices);
}
END_TEST

START_TEST (takes_entries_of_the_program)
{
  gint epochs = 3;
  const GOptionEntry entries[] = {
    { "epochs", 0, 0, G_OPTION_ARG_INT, &epochs, "Over the data", "N" },
    { NULL }
  };
  GyreOptions options = { .seed = 5, .entries = entries };

  ck_assert_int_eq (run_program (&options, "prog --epochs 7 --devices gpu"), 0);
  ck_assert_int_eq (epochs, 7);
  ck_assert_str_eq (devices, "gpu");
  ck_assert_int_eq (seed, 5);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "options", set_up, tear_down);

  tcase_add_test (tcase, takes_entries_of_the_program);
  tcase_add_test (tcase, parses_what_is_given);
  tcase_add_test (tcase, keeps_defaults);
  tcase_add_loop_test (tcase, tells_failures_apart, 0, G_N_ELEMENTS (failures));
  tcase_add_test (tcase, is_a_group_for_others);
}

GYRE_CHECK_MAIN ("options", add_tests)
