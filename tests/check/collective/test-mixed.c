/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check-collective.h"

/* Every device of the machine at once: skipped where all are of one platform. */

static GPtrArray *devices;
static guint order[MOST];

static void
set_up (void)
{
  devices = gyre_check_open ("all");
  if (devices->len > MOST)
    g_ptr_array_set_size (devices, MOST);
}

static void
tear_down (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

static gboolean
is_mixed (void)
{
  for (guint i = 1; i < devices->len; i++)
    if (!gyre_devices_share_context (g_ptr_array_index (devices, 0),
                                     g_ptr_array_index (devices, i)))
      return TRUE;

  g_print ("# one platform: skipped\n");
  return FALSE;
}

/* Members of a context side by side, contexts as they first come. */
static void
make_order (GPtrArray *of)
{
  guint n = 0;

  for (guint i = 0; i < of->len; i++)
    {
      gboolean first = TRUE;

      for (guint j = 0; j < i; j++)
        first = first && !gyre_devices_share_context (g_ptr_array_index (of, i),
                                                      g_ptr_array_index (of, j));
      for (guint j = i; first && j < of->len; j++)
        if (gyre_devices_share_context (g_ptr_array_index (of, i),
                                        g_ptr_array_index (of, j)))
          order[n++] = j;
    }
}

static const char *const algorithms[] = { "host", "staged", "auto" };

static void
check_with (GPtrArray  *of,
            const char *algorithm,
            gsize       length)
{
  for (guint two = 0; two < 2; two++)
    {
      Bucket bucket = { of, of->len, GYRE_F32, GYRE_REDUCE_SUM, length, .order = order,
                        .two_phases = two };

      make_order (of);
      bucket_open (&bucket, algorithm, NULL);
      for (guint step = 0; step < 10; step++)
        bucket_check (&bucket, step);
      bucket_close (&bucket);
    }
}

START_TEST (all_platforms)
{
  if (!is_mixed ())
    return;
  check_with (devices, algorithms[_i], 7);
  check_with (devices, algorithms[_i], 100003);
}
END_TEST

/* Each device three times and not side by side: some hops stay in a context. */
START_TEST (several_of_each)
{
  g_autoptr (GPtrArray) some = NULL;

  if (!is_mixed ())
    return;
  some = gyre_check_open ("all*3");
  for (guint i = 1; i + 2 < some->len; i += 2)
    {
      gpointer swapped = some->pdata[i];

      some->pdata[i] = some->pdata[some->len - 1 - i];
      some->pdata[some->len - 1 - i] = swapped;
    }
  g_ptr_array_set_size (some, MIN (some->len, MOST));
  check_with (some, algorithms[_i], 40000);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "mixed", set_up, tear_down);

  tcase_add_loop_test (tcase, all_platforms, 0, G_N_ELEMENTS (algorithms));
  tcase_add_loop_test (tcase, several_of_each, 0, G_N_ELEMENTS (algorithms));
}

GYRE_CHECK_MAIN ("mixed", add_tests)
