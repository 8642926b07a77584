/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include "plan/gyre-buckets-private.h"

#define KIB 1024

static void
add (GArray             *exchanges,
     GyreCollectiveKind  kind,
     guint               ready,
     guint               used,
     gint64              n_elements,
     guint16             group)
{
  GyreExchange exchange = { { kind, GYRE_REDUCE_SUM, 1, -1 },
                            exchanges->len + 50,
                            ready,
                            ready,
                            used,
                            GYRE_F32,
                            n_elements,
                            group };

  g_array_append_val (exchanges, exchange);
}

static GArray *
make_backward (void)
{
  GArray *exchanges = g_array_new (FALSE, TRUE, sizeof (GyreExchange));

  /* the last layer's gradient is there first */
  add (exchanges, GYRE_COLLECTIVE_REDUCE_SCATTER, 30, 60, 400 * KIB, 1);
  add (exchanges, GYRE_COLLECTIVE_REDUCE_SCATTER, 20, 70, 256 * KIB, 2);
  add (exchanges, GYRE_COLLECTIVE_REDUCE_SCATTER, 10, 80, 5 * KIB, 3);
  add (exchanges, GYRE_COLLECTIVE_ALL_GATHER, 65, 100, 400 * KIB, 1);
  add (exchanges, GYRE_COLLECTIVE_ALL_GATHER, 75, 100, 256 * KIB, 2);
  add (exchanges, GYRE_COLLECTIVE_ALL_GATHER, 85, 100, 5 * KIB, 3);
  return exchanges;
}

static const GyreBucket *
bucket_of (const GyreBuckets *buckets,
           guint              exchange)
{
  return g_ptr_array_index (buckets->buckets,
                            g_array_index (buckets->bucket_of, guint, exchange));
}

START_TEST (fill_in_the_order_of_backward)
{
  const guint homes[6] = { 0 };
  g_autoptr (GArray) exchanges = make_backward ();
  g_autoptr (GyreBuckets) buckets = gyre_buckets_new (exchanges, homes, 128, NULL);

  ck_assert_ptr_eq (bucket_of (buckets, 2), bucket_of (buckets, 1));
  ck_assert_ptr_ne (bucket_of (buckets, 1), bucket_of (buckets, 0));
  ck_assert_uint_eq (gyre_bucket_get_offset (bucket_of (buckets, 2), 2), 0);
  ck_assert_uint_eq (gyre_bucket_get_offset (bucket_of (buckets, 1), 1), 20 * KIB);
  ck_assert_uint_eq (bucket_of (buckets, 1)->begin, GYRE_KEY_AFTER (20));
  ck_assert_uint_eq (bucket_of (buckets, 1)->finish, GYRE_KEY_BEFORE (70));
  ck_assert_uint_eq (bucket_of (buckets, 1)->acquire, GYRE_KEY_BEFORE (10));
}
END_TEST

START_TEST (gather_as_they_were_scattered)
{
  const guint homes[6] = { 0 };
  g_autoptr (GArray) exchanges = make_backward ();
  g_autoptr (GyreBuckets) buckets = gyre_buckets_new (exchanges, homes, 128, NULL);

  for (guint i = 0; i < 3; i++)
    {
      ck_assert_uint_eq (bucket_of (buckets, 3 + i)->size, bucket_of (buckets, i)->size);
      ck_assert_uint_eq (gyre_bucket_get_offset (bucket_of (buckets, 3 + i), 3 + i),
                         gyre_bucket_get_offset (bucket_of (buckets, i), i));
    }
}
END_TEST

/* A result that is read before the next value is made can't wait for it. */
START_TEST (never_wait_for_what_comes_later)
{
  const guint homes[2] = { 0 };
  g_autoptr (GArray) exchanges = g_array_new (FALSE, TRUE, sizeof (GyreExchange));
  g_autoptr (GyreBuckets) buckets = NULL;

  add (exchanges, GYRE_COLLECTIVE_ALL_REDUCE, 10, 15, 4, 0);
  add (exchanges, GYRE_COLLECTIVE_ALL_REDUCE, 15, 20, 4, 0);
  buckets = gyre_buckets_new (exchanges, homes, 128, NULL);
  ck_assert_uint_eq (buckets->buckets->len, 2);
}
END_TEST

START_TEST (follow_another_program)
{
  const guint homes[6] = { 0 };
  g_autoptr (GArray) exchanges = make_backward (), other = make_backward ();
  g_autoptr (GyreBuckets) buckets = gyre_buckets_new (exchanges, homes, 128, NULL);
  g_autoptr (GyreBuckets) alike = NULL;

  /* here the first layer's gradient is there at once */
  g_array_index (other, GyreExchange, 0).ready = 5;
  alike = gyre_buckets_new (other, homes, 128, buckets);
  for (guint i = 0; i < exchanges->len; i++)
    {
      ck_assert_uint_eq (g_array_index (alike->bucket_of, guint, i),
                         g_array_index (buckets->bucket_of, guint, i));
      ck_assert_uint_eq (gyre_bucket_get_offset (bucket_of (alike, i), i),
                         gyre_bucket_get_offset (bucket_of (buckets, i), i));
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "fill", fill_in_the_order_of_backward);
  gyre_check_add (suite, "mirror", gather_as_they_were_scattered);
  gyre_check_add (suite, "wait", never_wait_for_what_comes_later);
  gyre_check_add (suite, "alike", follow_another_program);
}

GYRE_CHECK_MAIN ("buckets", add_tests)
