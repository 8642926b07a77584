/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <json-glib/json-glib.h>

#include <gyre/gyre-ops.h>

#include "ir/gyre-prim-private.h"

/* Random tensors against the numbers of JAX in prng.json.  The key is an input of the
 * graph, as it is in a step. */

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
}

static void
unload (void)
{
  g_clear_object (&parser);
}

static double
number (JsonObject *object,
        const char *name)
{
  ck_assert_msg (json_object_has_member (object, name), "a case has no \"%s\"", name);
  return json_object_get_double_member (object, name);
}

static GyreShape
get_shape (JsonObject *object)
{
  JsonArray *extents = json_object_get_array_member (object, "shape");
  GyreShape shape = GYRE_SCALAR;

  for (guint i = 0; i < json_array_get_length (extents); i++)
    shape.dims[shape.rank++] = json_array_get_int_element (extents, i);

  return shape;
}

static GyreTensor *
draw_split (GyreTensor *key, JsonObject *object)
{
  return gyre_random_split (key, (gint64) number (object, "n"));
}

static GyreTensor *
draw_fold_in (GyreTensor *key, JsonObject *object)
{
  return gyre_random_fold_in (key, gyre_constant (GYRE_U32, number (object, "data")));
}

static GyreTensor *
draw_bits (GyreTensor *key, JsonObject *object)
{
  return gyre_random_bits (key, get_shape (object));
}

static GyreTensor *
draw_uniform (GyreTensor *key, JsonObject *object)
{
  return gyre_random_uniform (key, get_shape (object), number (object, "minval"),
                              number (object, "maxval"));
}

static GyreTensor *
draw_normal (GyreTensor *key, JsonObject *object)
{
  return gyre_random_normal (key, get_shape (object));
}

static GyreTensor *
draw_truncated_normal (GyreTensor *key, JsonObject *object)
{
  return gyre_random_truncated_normal (key, get_shape (object), number (object, "lower"),
                                       number (object, "upper"));
}

static GyreTensor *
draw_bernoulli (GyreTensor *key, JsonObject *object)
{
  return gyre_random_bernoulli (key, get_shape (object), number (object, "p"));
}

static GyreTensor *
draw_randint (GyreTensor *key, JsonObject *object)
{
  return gyre_random_randint (key, get_shape (object), (gint32) number (object, "minval"),
                              (gint32) number (object, "maxval"));
}

static GyreTensor *
draw_gumbel (GyreTensor *key, JsonObject *object)
{
  return gyre_random_gumbel (key, get_shape (object));
}

static GyreTensor *
draw_exponential (GyreTensor *key, JsonObject *object)
{
  return gyre_random_exponential (key, get_shape (object));
}

/* The weights of classes are one row, for all. */
static GyreTensor *
draw_categorical (GyreTensor *key, JsonObject *object)
{
  JsonArray *weights = json_object_get_array_member (object, "probs");
  guint n = json_array_get_length (weights);
  g_autofree GyreTensor **parts = g_new (GyreTensor *, n);
  GyreTensor *logits;
  GyreShape shape = get_shape (object);

  for (guint i = 0; i < n; i++)
    parts[i] =
        gyre_full (GYRE_SHAPE (1), GYRE_F32, json_array_get_double_element (weights, i));

  logits = gyre_log (gyre_concatenate (parts, n, 0));
  shape.dims[shape.rank++] = n;
  return gyre_random_categorical (key, gyre_broadcast_to (logits, shape));
}

static const struct
{
  const char *op;
  gboolean    near;     /* 4 ulp or 1e-6, whichever is more; else exact */
  GyreTensor *(*draw) (GyreTensor *key, JsonObject *object);
} ops[] = {
  { "split", FALSE, draw_split },
  { "fold_in", FALSE, draw_fold_in },
  { "bits", FALSE, draw_bits },
  { "uniform", FALSE, draw_uniform },
  { "normal", TRUE, draw_normal },
  { "truncated_normal", TRUE, draw_truncated_normal },
  { "bernoulli", FALSE, draw_bernoulli },
  { "randint", FALSE, draw_randint },
  { "gumbel", TRUE, draw_gumbel },
  { "exponential", TRUE, draw_exponential },
  { "categorical", FALSE, draw_categorical },
};

static void
compare (const char   *op,
         gboolean      near,
         const double *drawn,
         JsonArray    *values)
{
  for (guint i = 0; i < json_array_get_length (values); i++)
    {
      double expected = json_array_get_double_element (values, i), bound = 0;

      /* The decimals are the shortest that read back to the same float. */
      if (near || strcmp (op, "uniform") == 0)
        expected = (float) expected;
      if (near)
        bound = MAX (1e-6, 4 * ldexp (1, ilogb (expected == 0 ? 1e-30 : expected) - 23));
      if (!gyre_check_near (drawn[i], expected, bound))
        ck_abort_msg ("%s: element %u is %.9g, not %.9g", op, i, drawn[i], expected);
    }
}

static void
check_case (guint       which,
            JsonObject *object)
{
  double seed = number (object, "seed"), key[2] = { 0, seed };
  GyreGraph *graph = gyre_graph_new ();
  GyreRef input = { GYRE_U32, GYRE_SHAPE (2), key }, out;
  GyreShape shape = get_shape (object);
  g_autoptr (GError) error = NULL;
  gint64 n;

  gyre_graph_push (graph);
  gyre_graph_add_output (
      graph, ops[which].draw (gyre_graph_input (graph, "key", GYRE_U32, &GYRE_SHAPE (2)),
                              object));
  gyre_interpret (graph, &input, &out, &error);
  gyre_assert_no_error (error);
  n = gyre_shape_n_elements (&out.shape);
  ck_assert (gyre_shape_equal (&out.shape, &shape));

  if (json_object_has_member (object, "values"))
    {
      compare (ops[which].op, ops[which].near, out.data,
               json_object_get_array_member (object, "values"));
    }
  else
    {
      compare (ops[which].op, ops[which].near, out.data,
               json_object_get_array_member (object, "first"));
      compare (ops[which].op, ops[which].near, out.data + n - 8,
               json_object_get_array_member (object, "last"));
    }

  g_free (out.data);
  gyre_graph_pop ();
  gyre_graph_free (graph);
}

START_TEST (draws_what_jax_draws)
{
  guint n_checked = 0;

  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      JsonObject *object = json_array_get_object_element (cases, i);

      if (g_str_equal (json_object_get_string_member (object, "op"), ops[_i].op))
        {
          check_case ((guint) _i, object);
          n_checked++;
        }
    }

  ck_assert_uint_gt (n_checked, 0);
}
END_TEST

/* The host's and the tensor's keys are the same. */
START_TEST (paths_are_folded_in)
{
  GyreGraph *graph = gyre_graph_new ();
  GyreKey key = gyre_key_new (42),
          expected = gyre_key_fold_in_path (key, "dense_0/kernel");
  GyreRef out;

  gyre_graph_push (graph);
  gyre_graph_add_output (graph, gyre_random_fold_in_path (gyre_random_key (key),
                                                          "dense_0/kernel"));
  ck_assert (gyre_interpret (graph, NULL, &out, NULL));
  ck_assert_uint_eq ((guint32) out.data[0], expected.words[0]);
  ck_assert_uint_eq ((guint32) out.data[1], expected.words[1]);
  g_free (out.data);
  gyre_graph_pop ();
  gyre_graph_free (graph);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "random", load, unload);

  tcase_add_loop_test (tcase, draws_what_jax_draws, 0, G_N_ELEMENTS (ops));
  tcase_add_test (tcase, paths_are_folded_in);
}

GYRE_CHECK_MAIN ("prims-random", add_tests)
