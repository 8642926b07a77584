/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-collective.h"

#include "collective/gyre-collective-object-private.h"

static guint n_critical;
static char *said;

static void
count_critical (const char     *domain,
                GLogLevelFlags  level,
                const char     *message,
                gpointer        data)
{
  n_critical++;
  g_free (said);
  said = g_strdup (message);
}

static GLogLevelFlags fatal_before;
static guint handler;

static void
set_up (void)
{
  n_critical = 0;
  fatal_before = g_log_set_always_fatal (G_LOG_FATAL_MASK);
  handler = g_log_set_handler ("Gyre", G_LOG_LEVEL_CRITICAL, count_critical, NULL);
}

static void
tear_down (void)
{
  g_log_remove_handler ("Gyre", handler);
  g_log_set_always_fatal (fatal_before);
  g_clear_pointer (&said, g_free);
}

START_TEST (a_race_is_seen)
{
  GyreHazards *self = gyre_hazards_new (2);

  gyre_hazards_command (self, 0);
  gyre_hazards_use (self, 0, 0, 1, TRUE);
  gyre_hazards_command (self, 1);
  gyre_hazards_use (self, 1, 0, 0, FALSE);   /* another chunk */
  gyre_hazards_use (self, 1, 1, 1, FALSE);   /* another's chunk */
  ck_assert_uint_eq (n_critical, 0);
  gyre_hazards_use (self, 1, 0, 1, FALSE);
  ck_assert_uint_eq (n_critical, 1);
  ck_assert_ptr_nonnull (strstr (said, "chunk 1 of member 0"));
  gyre_hazards_free (self);
}
END_TEST

START_TEST (an_event_orders)
{
  GyreHazards *self = gyre_hazards_new (3);

  gyre_hazards_command (self, 0);
  gyre_hazards_use (self, 0, 0, 0, TRUE);
  gyre_hazards_turn (self);
  gyre_hazards_command (self, 1);
  gyre_hazards_wait (self, 1, 0);
  gyre_hazards_use (self, 1, 0, 0, FALSE);
  gyre_hazards_turn (self);
  /* Behind 1, and so behind 0. */
  gyre_hazards_command (self, 2);
  gyre_hazards_wait (self, 2, 1);
  gyre_hazards_use (self, 2, 0, 0, TRUE);
  ck_assert_uint_eq (n_critical, 0);

  /* A command after the one with the event isn't waited for. */
  gyre_hazards_command (self, 0);
  gyre_hazards_use (self, 0, 1, 1, FALSE);
  gyre_hazards_command (self, 1);
  gyre_hazards_wait (self, 1, 0);
  gyre_hazards_use (self, 1, 1, 1, TRUE);
  ck_assert_uint_eq (n_critical, 1);
  gyre_hazards_free (self);
}
END_TEST

/* The halves of the bucket with a step's writes, acquired or not. */
static gboolean
two_steps (gpointer   data,
           GError   **error)
{
  Bucket *self = data;

  for (guint step = 0; step < 2; step++)
    {
      for (guint i = 0; self->seed && i < self->n; i++)
        if (!gyre_collective_acquire (self->collective, i, error))
          return FALSE;
      if (!bucket_phase (self, GYRE_PHASE_REDUCE_SCATTER, error))
        return FALSE;
    }
  return bucket_wait (self, error);
}

START_TEST (a_missing_acquire_is_seen)
{
  static const char *const algorithms[] = { "ring", "direct" };
  g_autoptr (GPtrArray) devices = gyre_check_open ("pocl*3");
  Bucket bucket = { devices, 3, GYRE_F32, GYRE_REDUCE_SUM, 1000 };
  GError *error;

  bucket_open (&bucket, algorithms[_i], NULL);
  bucket.seed = TRUE;
  error = gyre_check_on_executor (two_steps, &bucket);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (n_critical, 0);
  bucket_close (&bucket);

  bucket_open (&bucket, algorithms[_i], NULL);
  bucket.seed = FALSE;
  error = gyre_check_on_executor (two_steps, &bucket);
  gyre_assert_no_error (error);
  ck_assert_uint_gt (n_critical, 0);
  bucket_close (&bucket);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "hazards", set_up, tear_down);

  tcase_add_test (tcase, a_race_is_seen);
  tcase_add_test (tcase, an_event_orders);
  tcase_add_loop_test (tcase, a_missing_acquire_is_seen, 0, 2);
}

GYRE_CHECK_MAIN ("hazards", add_tests)
