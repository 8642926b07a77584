/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <json-glib/json-glib.h>
#include <string.h>
#include <zlib.h>

#include <gyre/gyre-key.h>

/* Every case of prng.json: numbers that JAX drew. */

static JsonParser *parser;
static JsonArray *cases;

static void
load (void)
{
  g_autofree char *file = gyre_check_data ("prng.json");
  g_autoptr (GError) error = NULL;

  parser = json_parser_new ();
  json_parser_load_from_file (parser, file, &error);
  gyre_assert_no_error (error);
  cases = json_node_get_array (json_parser_get_root (parser));
  ck_assert_uint_gt (json_array_get_length (cases), 0);
}

static void
unload (void)
{
  g_clear_object (&parser);
}

static gsize
count (JsonObject *object)
{
  JsonArray *shape = json_object_get_array_member (object, "shape");
  gsize n = 1;

  for (guint i = 0; i < json_array_get_length (shape); i++)
    n *= (gsize) json_array_get_int_element (shape, i);

  return n;
}

static double
number (JsonObject *object,
        const char *name)
{
  ck_assert_msg (json_object_has_member (object, name), "a case has no \"%s\"", name);

  return json_object_get_double_member (object, name);
}

static guint32
integer (JsonObject *object,
         const char *name)
{
  ck_assert_msg (json_object_has_member (object, name), "a case has no \"%s\"", name);

  return (guint32) json_object_get_int_member (object, name);
}

static GyreKey
key_of (JsonObject *object)
{
  return gyre_key_new (integer (object, "seed"));
}

/* Draws put their n numbers in one of these; that all are 4 bytes is relied upon. */
typedef union
{
  gpointer p;
  guint32 *u;
  gint32  *i;
  float   *f;
} Numbers;

static void
draw_key (JsonObject *object,
          gsize       n,
          Numbers     out)
{
  memcpy (out.u, key_of (object).words, 8);
}

static void
draw_split (JsonObject *object,
            gsize       n,
            Numbers     out)
{
  ck_assert_uint_eq (n, 2 * integer (object, "n"));
  gyre_key_split (key_of (object), (guint) n / 2, out.p);
}

static void
draw_fold_in (JsonObject *object,
              gsize       n,
              Numbers     out)
{
  memcpy (out.u, gyre_key_fold_in (key_of (object), integer (object, "data")).words, 8);
}

static void
draw_bits (JsonObject *object,
           gsize       n,
           Numbers     out)
{
  gyre_key_bits (key_of (object), 0, n, out.u);
}

static void
draw_randint (JsonObject *object,
              gsize       n,
              Numbers     out)
{
  gyre_key_randint (key_of (object), (gint32) integer (object, "minval"),
                    (gint32) integer (object, "maxval"), n, out.i);
}

static void
draw_permutation (JsonObject *object,
                  gsize       n,
                  Numbers     out)
{
  ck_assert_uint_eq (n, integer (object, "n"));
  gyre_key_permutation (key_of (object), n, out.i);
}

static void
draw_bernoulli (JsonObject *object,
                gsize       n,
                Numbers     out)
{
  g_autofree guint8 *drawn = g_new (guint8, n);

  gyre_key_bernoulli (key_of (object), (float) number (object, "p"), n, drawn);
  for (gsize i = 0; i < n; i++)
    out.u[i] = drawn[i];
}

static void
draw_categorical (JsonObject *object,
                  gsize       n,
                  Numbers     out)
{
  JsonArray *probabilities = json_object_get_array_member (object, "probs");
  guint classes = json_array_get_length (probabilities);
  g_autofree float *logits = g_new (float, n * classes);

  for (gsize i = 0; i < n * classes; i++)
    logits[i] =
      logf ((float) json_array_get_double_element (probabilities, (guint) (i % classes)));
  gyre_key_categorical (key_of (object), logits, n, classes, out.i);
}

static void
draw_uniform (JsonObject *object,
              gsize       n,
              Numbers     out)
{
  gyre_key_uniform (key_of (object), (float) number (object, "minval"),
                    (float) number (object, "maxval"), n, out.f);
}

static void
draw_normal (JsonObject *object,
             gsize       n,
             Numbers     out)
{
  gyre_key_normal (key_of (object), n, out.f);
}

static void
draw_truncated_normal (JsonObject *object,
                       gsize       n,
                       Numbers     out)
{
  gyre_key_truncated_normal (key_of (object), (float) number (object, "lower"),
                             (float) number (object, "upper"), n, out.f);
}

static void
draw_gumbel (JsonObject *object,
             gsize       n,
             Numbers     out)
{
  gyre_key_gumbel (key_of (object), n, out.f);
}

static void
draw_exponential (JsonObject *object,
                  gsize       n,
                  Numbers     out)
{
  gyre_key_exponential (key_of (object), n, out.f);
}

/* How numbers are compared.  The reference's libm is another one: near is 4 ulp, or
 * 1e-6 where that is more. */
typedef enum
{
  INTEGER,
  SAME_FLOAT,
  NEAR_FLOAT
} Kind;

static const struct
{
  const char *op;
  Kind        kind;
  void      (*draw) (JsonObject *object,
                     gsize       n,
                     Numbers     out);
} ops[] = {
  { "key", INTEGER, draw_key },
  { "split", INTEGER, draw_split },
  { "fold_in", INTEGER, draw_fold_in },
  { "bits", INTEGER, draw_bits },
  { "randint", INTEGER, draw_randint },
  { "permutation", INTEGER, draw_permutation },
  { "bernoulli", INTEGER, draw_bernoulli },
  { "categorical", INTEGER, draw_categorical },
  { "uniform", SAME_FLOAT, draw_uniform },
  { "normal", NEAR_FLOAT, draw_normal },
  { "truncated_normal", NEAR_FLOAT, draw_truncated_normal },
  { "gumbel", NEAR_FLOAT, draw_gumbel },
  { "exponential", NEAR_FLOAT, draw_exponential },
};

static void
compare (Kind     kind,
         Numbers  drawn,
         gsize    first,
         JsonArray *values,
         const char *what)
{
  for (guint n = 0; n < json_array_get_length (values); n++)
    {
      double expected = json_array_get_double_element (values, n);
      double actual = kind != INTEGER ? (double) drawn.f[first + n]
                      : expected < 0  ? (double) drawn.i[first + n]
                                      : (double) drawn.u[first + n];
      double ulp = ldexp (1.0, ilogb (expected == 0 ? 1e-30 : expected) - 23);
      double bound = kind == NEAR_FLOAT ? MAX (4 * ulp, 1e-6) : 0.0;

      /* The decimals are the shortest that read back to the same float. */
      if (kind != INTEGER)
        expected = (float) expected;
      ck_assert_msg (fabs (actual - expected) <= bound,
                     "%s: element %" G_GSIZE_FORMAT " is %.9g, not %.9g", what, first + n,
                     actual, expected);
    }
}

static void
compare_whole (JsonObject *object,
               Kind        kind,
               Numbers     drawn,
               gsize       n,
               const char *what)
{
  if (json_object_has_member (object, "crc32"))
    ck_assert_uint_eq (crc32_z (0, drawn.p, 4 * n), integer (object, "crc32"));

  if (json_object_has_member (object, "sum_f64"))
    {
      /* An exact draw has the very sum, up to the order of adding in double. */
      double bound = (kind == SAME_FLOAT ? 1e-10 : 1e-6) * (double) n;
      double sum = 0.0;

      for (gsize i = 0; i < n; i++)
        sum += drawn.f[i];
      ck_assert_msg (fabs (sum - number (object, "sum_f64")) <= bound, "%s: sum is %.17g",
                     what, sum);
    }
}

/* A case has all of its values, or the first and the last of them and a sum of all. */
static void
check_case (JsonObject *object,
            Kind        kind,
            Numbers     drawn,
            gsize       n,
            const char *what)
{
  JsonArray *part;

  if (json_object_has_member (object, "values"))
    {
      part = json_object_get_array_member (object, "values");
      ck_assert_uint_eq (json_array_get_length (part), n);
      compare (kind, drawn, 0, part, what);
      return;
    }

  ck_assert (json_object_has_member (object, "crc32") ||
             json_object_has_member (object, "sum_f64"));
  part = json_object_get_array_member (object, "first");
  ck_assert_uint_eq (json_array_get_length (part), 8);
  compare (kind, drawn, 0, part, what);
  part = json_object_get_array_member (object, "last");
  ck_assert_uint_eq (json_array_get_length (part), 8);
  compare (kind, drawn, n - 8, part, what);
  compare_whole (object, kind, drawn, n, what);
}

START_TEST (draws_what_jax_draws)
{
  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      JsonObject *object = json_array_get_object_element (cases, i);
      const char *op = json_object_get_string_member (object, "op");
      gsize n = count (object);
      g_autofree guint32 *out = g_new (guint32, n);
      g_autofree char *what = g_strdup_printf ("case %u, %s", i, op);
      guint known = 0;

      while (known < G_N_ELEMENTS (ops) && strcmp (op, ops[known].op) != 0)
        known++;
      ck_assert_msg (known < G_N_ELEMENTS (ops), "%s: there is no such draw", what);
      ops[known].draw (object, n, (Numbers) { out });
      check_case (object, ops[known].kind, (Numbers) { out }, n, what);
    }
}
END_TEST

START_TEST (every_draw_has_a_case)
{
  for (guint known = 0; known < G_N_ELEMENTS (ops); known++)
    {
      guint n = 0;

      for (guint i = 0; i < json_array_get_length (cases); i++)
        {
          JsonObject *object = json_array_get_object_element (cases, i);

          n += g_str_equal (json_object_get_string_member (object, "op"), ops[known].op);
        }
      ck_assert_msg (n > 0, "no case of %s", ops[known].op);
    }
}
END_TEST

START_TEST (a_part_is_drawn_alone)
{
  GyreKey key = gyre_key_new (42);
  guint32 whole[100], part[30];

  gyre_key_bits (key, 0, 100, whole);
  gyre_key_bits (key, 55, 30, part);
  ck_assert_mem_eq (part, whole + 55, sizeof part);
}
END_TEST

/* Past 2³² elements the upper word of the counter counts. */
START_TEST (index_has_64_bits)
{
  GyreKey key = gyre_key_new (42);
  guint32 across[2], low, high;

  gyre_key_bits (key, G_MAXUINT32, 2, across);
  gyre_key_bits (key, 0, 1, &low);
  gyre_key_bits (key, G_GUINT64_CONSTANT (1) << 32, 1, &high);
  ck_assert_uint_eq (across[1], high);
  ck_assert_uint_ne (high, low);
}
END_TEST

START_TEST (seed_has_64_bits)
{
  GyreKey key = gyre_key_new (G_GUINT64_CONSTANT (0x123456789abcdef0));

  ck_assert_uint_eq (key.words[0], 0x12345678);
  ck_assert_uint_eq (key.words[1], 0x9abcdef0);
}
END_TEST

/* CRC-32 of "123456789" is the check value of its definition. */
START_TEST (path_is_folded_in_by_its_crc)
{
  GyreKey key = gyre_key_new (7);
  GyreKey a = gyre_key_fold_in_path (key, "123456789");
  GyreKey b = gyre_key_fold_in (key, 0xcbf43926);

  ck_assert_mem_eq (a.words, b.words, sizeof a.words);
}
END_TEST

START_TEST (randint_of_an_empty_range_is_its_start)
{
  gint32 out[5];

  gyre_key_randint (gyre_key_new (1), 3, 3, 5, out);
  for (int i = 0; i < 5; i++)
    ck_assert_int_eq (out[i], 3);
  gyre_key_randint (gyre_key_new (1), G_MININT32, G_MAXINT32, 5, out);
  ck_assert (out[0] != out[1] || out[1] != out[2]);
}
END_TEST

START_TEST (nothing_is_drawn)
{
  gint32 none[1] = { 77 };

  gyre_key_permutation (gyre_key_new (1), 0, none);
  gyre_key_normal (gyre_key_new (1), 0, NULL);
  ck_assert_int_eq (none[0], 77);
}
END_TEST

START_TEST (next_splits_in_two)
{
  GyreKey key = gyre_key_new (42), pair[2], drawn;

  gyre_key_split (key, 2, pair);
  drawn = gyre_key_next (&key);
  ck_assert_mem_eq (&drawn, &pair[0], sizeof drawn);
  ck_assert_mem_eq (&key, &pair[1], sizeof key);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *reference = gyre_check_case (suite, "reference", load, unload);

  tcase_add_test (reference, draws_what_jax_draws);
  tcase_add_test (reference, every_draw_has_a_case);
  gyre_check_add (suite, "part", a_part_is_drawn_alone);
  gyre_check_add (suite, "index", index_has_64_bits);
  gyre_check_add (suite, "next", next_splits_in_two);
  gyre_check_add (suite, "seed", seed_has_64_bits);
  gyre_check_add (suite, "path", path_is_folded_in_by_its_crc);
  gyre_check_add (suite, "randint", randint_of_an_empty_range_is_its_start);
  gyre_check_add (suite, "nothing", nothing_is_drawn);
}

GYRE_CHECK_MAIN ("key", add_tests)
