/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-calls.h"

#include <stdio.h>

START_TEST (on_short_lengths)
{
  static const gsize lengths[] = { 0, 1, 7 };

  guint n = (guint) _i / 3 + 1;
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", n);

  check_length (mesh, n, "data", lengths[_i % 3]);
}
END_TEST

START_TEST (on_a_long_length)
{
  guint n = (guint) _i + 1;
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", n);

  check_length (mesh, n, "data", 1000003);
}
END_TEST

/* What is moved through the host's memory is the same. */
START_TEST (through_the_host)
{
  guint n = (guint[]) { 2, 3, 8 }[_i];
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", n);

  g_setenv ("GYRE_ALL_REDUCE", "staged", TRUE);
  check_length (mesh, n, "data", 1003);
  g_unsetenv ("GYRE_ALL_REDUCE");
}
END_TEST

/* Rows of seven bytes, in trees: no words, and nothing is aligned. */
static GyreTree *
move_bytes (GyreTree *args,
            gpointer  data)
{
  const guint pairs[] = { 0, 2, 2, 1 };
  GyreTensor *x = gyre_tree_get (args, "x");   /* u8[3, 7] */
  GyreTree *tree = gyre_tree_build (GYRE_TENSOR_ENTRY ("x", x), NULL);
  GyreTree *sent = gyre_ppermute_tree (tree, "data", pairs, 2);
  GyreTree *swapped = gyre_all_to_all_tree (tree, "data");
  GyreTensor *all = gyre_reshape (gyre_all_gather (x, "data"), GYRE_SHAPE (9, 7));
  GyreTensor *rows[] = { gyre_tree_get (sent, "x"), gyre_tree_get (swapped, "x"), all };

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", gyre_concatenate (rows, 3, 0)), NULL);
}

START_TEST (bytes_in_odd_rows)
{
  enum { N = 3, ROW = 7, ALL = N * ROW };
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", N);
  guint8 numbers[N * ALL];
  g_autoptr (GyreArray) x = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const guint8 *y;

  for (guint i = 0; i < N * ALL; i++)
    numbers[i] = (guint8) (3 * i + 1);
  if (_i == 1)
    g_setenv ("GYRE_ALL_REDUCE", "staged", TRUE);
  x = gyre_array_new (GYRE_U8, GYRE_SHAPE (N, N, ROW), numbers);
  bytes = run (mesh, "data", move_bytes, NULL, x);
  g_unsetenv ("GYRE_ALL_REDUCE");
  y = g_bytes_get_data (bytes, NULL);
  for (guint m = 0; m < N; m++, y += (2 + N) * ALL)
    for (guint i = 0; i < ALL; i++)
      {
        guint from = i / ROW;

        ck_assert_uint_eq (y[i], m == 0 ? 0 : numbers[(m == 1 ? 2 : 0) * ALL + i]);
        ck_assert_uint_eq (y[ALL + i], numbers[from * ALL + m * ROW + i % ROW]);
        for (guint k = 0; k < N; k++)
          ck_assert_uint_eq (y[(2 + k) * ALL + i], numbers[k * ALL + i]);
      }
}
END_TEST

/* --- bytes --- */

/* The sum of the bytes that members get from others. */
static gsize
count_moved (const char *schedule)
{
  g_auto (GStrv) lines = g_strsplit (schedule, "\n", -1);
  gsize moved = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *gets = strstr (lines[i], "gets ");
      guint to, from;
      gsize bytes;

      if (gets != NULL && sscanf (lines[i], "routes: member %u", &to) == 1 &&
          sscanf (gets, "gets %" G_GSIZE_FORMAT " bytes from member %u", &bytes,
                  &from) == 2 && to != from)
        moved += bytes;
    }
  return moved;
}

/* What the members of a reduce-scatter read of the others' chunks. */
static gsize
count_scattered (const char *schedule,
                 guint       n)
{
  g_auto (GStrv) lines = g_strsplit (schedule, "\n", -1);
  gsize moved = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *chunk = strstr (lines[i], " chunk ");
      gsize bytes;

      if (chunk != NULL && strstr (lines[i], "reduce-scatter hop") != NULL &&
          sscanf (chunk, " chunk %*u, %" G_GSIZE_FORMAT " bytes", &bytes) == 1)
        moved += bytes * (strstr (chunk, "of all members") != NULL ? n - 1 : 1);
    }
  return moved;
}

/* Four members with rows of 128 floats; a reduce-scatter has no second half. */
START_TEST (moves_no_more_than_it_must)
{
  Setting setting = { (Call[]) { ALL_TO_ALL, PPERMUTE, PSUM_SCATTER }[_i], 4, "data" };
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", 4);
  g_autoptr (GyreArray) x =
      gyre_array_new_normal (gyre_key_new (1), GYRE_SHAPE (4, 128), 1);
  g_autoptr (GyreStep) step = gyre_step_pmap (call_step, mesh, "data", NULL, NULL, NULL,
                                              &setting, NULL, NULL);
  g_autoptr (GyreTree) result = gyre_step_run (step, NULL, GYRE_ARRAY_ENTRY ("x", x),
                                               NULL);
  g_autofree char *schedule = gyre_step_describe (step, "schedule");

  ck_assert_ptr_nonnull (result);
  ck_assert_ptr_null (strstr (schedule, "all-reduce"));
  ck_assert_ptr_null (strstr (schedule, "all-gather"));
  if (setting.call == ALL_TO_ALL)
    ck_assert_uint_eq (count_moved (schedule), 4 * 3 * 512);
  else if (setting.call == PPERMUTE)
    ck_assert_uint_eq (count_moved (schedule), 3 * 512);
  else
    ck_assert_uint_eq (count_scattered (schedule, 4), 4 * 3 * 512);
}
END_TEST

START_TEST (gradients)
{
  Setting setting = { (Call) (_i % N_CALLS), (guint) _i / N_CALLS + 1, "data" };
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", setting.n);

  check_gradient (mesh, &setting);
}
END_TEST

/* --- what is mistaken --- */

static GyreTree *
bad_axis (GyreTree *args,
          gpointer  data)
{
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", gyre_psum (gyre_tree_get (args, "x"), data)), NULL);
}

static GyreTree *
bad_rows (GyreTree *args,
          gpointer  data)
{
  return gyre_tree_build (
      GYRE_TENSOR_ENTRY ("y", gyre_all_to_all (gyre_tree_get (args, "x"), "data")), NULL);
}

static GyreTree *
bad_pairs (GyreTree *args,
           gpointer  data)
{
  const guint pairs[] = { 0, 1, 1, 1 };

  GyreTensor *y = gyre_ppermute (gyre_tree_get (args, "x"), "data", pairs, 2);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", y), NULL);
}

static GyreTree *
bad_mean (GyreTree *args,
          gpointer  data)
{
  GyreTensor *mean = gyre_mean (gyre_tree_get (args, "x"));

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("y", gyre_pmean (mean, "data")), NULL);
}

static const struct
{
  GyreStepFunc func;
  const char  *data;
  const char  *form;     /* jit, pmap, or ragged */
  gint64       rows;
  const char  *says;
} mistakes[] = {
  { bad_axis, "dat", "pmap", 3,
    "'dat' is not a manual axis of this function, which has: 'data'" },
  { bad_axis, "data+data", "pmap", 3, "'data' stands twice" },
  { bad_axis, "data", "jit", 3,
    "has none: collectives by name are for gyre_step_pmap ()" },
  { bad_axis, "data", "pmap", 4, "argument x" },
  { bad_axis, "data", "pmap", 4, "leading dimension of 3" },
  { bad_rows, NULL, "pmap", 3, "a row for each member along 'data'" },
  { bad_pairs, NULL, "pmap", 3, "same destination" },
  { bad_mean, NULL, "ragged", 7, "gyre_pmean_weighted" },
};

START_TEST (says_what_is_mistaken)
{
  gboolean jit = g_str_equal (mistakes[_i].form, "jit");
  const char *ragged = g_str_equal (mistakes[_i].form, "ragged") ? "x" : NULL;
  g_autoptr (GyreMesh) mesh = make_mesh ("data=*", 3);
  g_autoptr (GyreArray) x =
      gyre_array_new_normal (gyre_key_new (0), GYRE_SHAPE (mistakes[_i].rows, 2), 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreStep) step =
      jit ? gyre_step_jit (mistakes[_i].func, mesh, NULL, NULL,
                           (gpointer) mistakes[_i].data, NULL, &error)
          : gyre_step_pmap (mistakes[_i].func, mesh, "data", NULL, ragged, NULL,
                            (gpointer) mistakes[_i].data, NULL, &error);

  gyre_assert_no_error (error);
  ck_assert_ptr_null (gyre_step_run (step, &error, GYRE_ARRAY_ENTRY ("x", x), NULL));
  gyre_assert_error_says (error, mistakes[_i].says);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "collectives", NULL, NULL);

  tcase_add_loop_test (tcase, on_short_lengths, 0, 3 * 8);
  tcase_add_loop_test (tcase, on_a_long_length, 0, 8);
  tcase_add_loop_test (tcase, moves_no_more_than_it_must, 0, 3);
  tcase_add_loop_test (tcase, gradients, 0, 8 * N_CALLS);
  tcase_add_loop_test (tcase, says_what_is_mistaken, 0, G_N_ELEMENTS (mistakes));

  tcase = gyre_check_case (suite, "host", NULL, NULL);
  tcase_add_loop_test (tcase, through_the_host, 0, 3);
  tcase_add_loop_test (tcase, bytes_in_odd_rows, 0, 2);
}

GYRE_CHECK_MAIN ("collectives", add_tests)
