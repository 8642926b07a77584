/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include "plan/gyre-pack-private.h"

static void
assert_apart (const GyreInterval *intervals,
              guint               n,
              const GArray       *blocks,
              gsize               align)
{
  for (guint i = 0; i < n; i++)
    {
      const GyreInterval *a = &intervals[i];

      ck_assert_uint_eq (a->offset % align, 0);
      ck_assert_uint_le (a->offset + a->size, g_array_index (blocks, gsize, a->block));
      for (guint k = 0; k < i; k++)
        {
          const GyreInterval *b = &intervals[k];

          if (a->block != b->block || a->first > b->last || b->first > a->last)
            continue;
          ck_assert (a->offset + a->size <= b->offset ||
                     b->offset + b->size <= a->offset);
        }
    }
}

START_TEST (shares_memory)
{
  GyreInterval intervals[] = {
    { 1000, 0, 2 }, { 500, 1, 3 }, { 900, 3, 5 }, { 600, 4, 6 }, { 100, 0, 6 },
  };
  g_autoptr (GArray) blocks =
      gyre_pack (intervals, G_N_ELEMENTS (intervals), 128, G_MAXSIZE);

  assert_apart (intervals, G_N_ELEMENTS (intervals), blocks, 128);
  ck_assert_uint_eq (blocks->len, 1);
  /* at no time more than 1024 + 640 + 128 are alive */
  ck_assert_uint_le (g_array_index (blocks, gsize, 0), 1024 + 640 + 128);
}
END_TEST

START_TEST (splits_what_is_too_large)
{
  GyreInterval intervals[] = {
    { 1000, 0, 2 }, { 1000, 0, 2 }, { 1000, 1, 2 }, { 5000, 0, 1 }
  };
  g_autoptr (GArray) blocks = gyre_pack (intervals, G_N_ELEMENTS (intervals), 128, 2048);

  assert_apart (intervals, G_N_ELEMENTS (intervals), blocks, 128);
  for (guint b = 0; b < blocks->len; b++)
    ck_assert (g_array_index (blocks, gsize, b) <= 2048
               || g_array_index (blocks, gsize, b) == gyre_align_up (5000, 128));
}
END_TEST

/* Intervals drawn by lot never overlap, and waste little. */
START_TEST (packs_at_random)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i + 1);
  GyreInterval intervals[60];
  g_autoptr (GArray) blocks = NULL;
  gsize most = 0;

  for (guint i = 0; i < 60; i++)
    {
      intervals[i].size = (gsize) g_rand_int_range (rand, 1, 100000);
      intervals[i].first = (guint) g_rand_int_range (rand, 0, 50);
      intervals[i].last = intervals[i].first + (guint) g_rand_int_range (rand, 0, 10);
    }
  blocks = gyre_pack (intervals, 60, 64, G_MAXSIZE);
  assert_apart (intervals, 60, blocks, 64);

  for (guint t = 0; t < 60; t++)
    {
      gsize alive = 0;

      for (guint i = 0; i < 60; i++)
        if (intervals[i].first <= t && t <= intervals[i].last)
          alive += gyre_align_up (intervals[i].size, 64);
      most = MAX (most, alive);
    }
  ck_assert_uint_ge (g_array_index (blocks, gsize, 0), most);
  ck_assert_uint_le (g_array_index (blocks, gsize, 0), most + most / 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "shares", shares_memory);
  gyre_check_add (suite, "splits", splits_what_is_too_large);
  gyre_check_add_loop (suite, "random", packs_at_random, 20);
}

GYRE_CHECK_MAIN ("pack", add_tests)
