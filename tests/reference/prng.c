/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

/* How numbers are compared: near is 4 ulp, or 1e-6 where that is more. */
typedef enum
{
  SAME,
  NEAR
} Closeness;

/* A case, with what it says. */
typedef struct
{
  JsonObject *object;
  GyreShape   shape;
  GyreKey     key;
  gint64      n;
  double      low;      /* minval, lower, or p */
  double      high;
  GyreArray  *logits;   /* of categorical: f32[shape, classes] */
} Draw;

typedef struct
{
  const char *op;
  Closeness   closeness;
  GyreDtype   dtype;
  void      (*host) (const Draw *draw, gsize n, gpointer out);
  /* In a step; extra is the data of fold_in or the logits.  NULL: the host's alone. */
  GyreTensor *(*device) (const Draw *draw, GyreTensor *key, GyreTensor *extra);
} Op;

/* On the host */

static void
host_key (const Draw *draw, gsize n, gpointer out)
{
  memcpy (out, draw->key.words, 8);
}

static void
host_split (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_split (draw->key, (guint) n / 2, out);
}

static void
host_fold_in (const Draw *draw, gsize n, gpointer out)
{
  memcpy (out, gyre_key_fold_in (draw->key, (guint32) draw->n).words, 8);
}

static void
host_bits (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_bits (draw->key, 0, n, out);
}

static void
host_uniform (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_uniform (draw->key, (float) draw->low, (float) draw->high, n, out);
}

static void
host_normal (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_normal (draw->key, n, out);
}

static void
host_truncated_normal (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_truncated_normal (draw->key, (float) draw->low, (float) draw->high, n, out);
}

static void
host_bernoulli (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_bernoulli (draw->key, (float) draw->low, n, out);
}

static void
host_randint (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_randint (draw->key, (gint32) draw->low, (gint32) draw->high, n, out);
}

static void
host_permutation (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_permutation (draw->key, n, out);
}

static void
host_gumbel (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_gumbel (draw->key, n, out);
}

static void
host_exponential (const Draw *draw, gsize n, gpointer out)
{
  gyre_key_exponential (draw->key, n, out);
}

static void
host_categorical (const Draw *draw, gsize n, gpointer out)
{
  g_autoptr (GBytes) logits = gyre_array_get (draw->logits, NULL);
  gsize total = g_bytes_get_size (logits) / sizeof (float);

  gyre_key_categorical (draw->key, g_bytes_get_data (logits, NULL), n, total / MAX (n, 1),
                        out);
}

/* In a step */

static GyreTensor *
device_split (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_split (key, draw->shape.dims[0]);
}

static GyreTensor *
device_fold_in (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_fold_in (key, extra);
}

static GyreTensor *
device_bits (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_bits (key, draw->shape);
}

static GyreTensor *
device_uniform (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_uniform (key, draw->shape, draw->low, draw->high);
}

static GyreTensor *
device_normal (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_normal (key, draw->shape);
}

static GyreTensor *
device_truncated_normal (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_truncated_normal (key, draw->shape, draw->low, draw->high);
}

static GyreTensor *
device_bernoulli (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_bernoulli (key, draw->shape, draw->low);
}

static GyreTensor *
device_randint (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_randint (key, draw->shape, (gint32) draw->low, (gint32) draw->high);
}

static GyreTensor *
device_gumbel (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_gumbel (key, draw->shape);
}

static GyreTensor *
device_exponential (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_exponential (key, draw->shape);
}

static GyreTensor *
device_categorical (const Draw *draw, GyreTensor *key, GyreTensor *extra)
{
  return gyre_random_categorical (key, extra);
}

static const Op ops[] = {
  { "key", SAME, GYRE_U32, host_key, NULL },
  { "split", SAME, GYRE_U32, host_split, device_split },
  { "fold_in", SAME, GYRE_U32, host_fold_in, device_fold_in },
  { "bits", SAME, GYRE_U32, host_bits, device_bits },
  { "uniform", SAME, GYRE_F32, host_uniform, device_uniform },
  { "normal", NEAR, GYRE_F32, host_normal, device_normal },
  { "truncated_normal", NEAR, GYRE_F32, host_truncated_normal, device_truncated_normal },
  { "bernoulli", SAME, GYRE_BOOL, host_bernoulli, device_bernoulli },
  { "randint", SAME, GYRE_I32, host_randint, device_randint },
  { "permutation", SAME, GYRE_I32, host_permutation, NULL },
  { "gumbel", NEAR, GYRE_F32, host_gumbel, device_gumbel },
  { "categorical", SAME, GYRE_I32, host_categorical, device_categorical },
  { "exponential", NEAR, GYRE_F32, host_exponential, device_exponential },
};

/* The logarithms of the probabilities, once a draw. */
static GyreArray *
make_logits (JsonArray *probabilities,
             GyreShape  shape)
{
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  guint classes = json_array_get_length (probabilities);
  g_autofree float *logits = g_new (float, n * classes + 1);

  for (gsize i = 0; i < n * classes; i++)
    logits[i] =
      logf ((float) json_array_get_double_element (probabilities, (guint) (i % classes)));
  shape.dims[shape.rank++] = classes;

  return gyre_array_new (GYRE_F32, shape, logits);
}

static void
read_optional (JsonObject *object,
               const char *name,
               double     *value)
{
  if (json_object_has_member (object, name))
    reference_get_double (object, name, value, NULL);
}

static gboolean
read_draw (Draw        *draw,
           JsonObject  *object,
           GError     **error)
{
  double seed, data = 0;

  if (!json_object_has_member (object, "shape"))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "the case has no \"shape\"");
      return FALSE;
    }
  if (!reference_get_double (object, "seed", &seed, error))
    return FALSE;

  draw->object = object;
  draw->shape = reference_shape (json_object_get_array_member (object, "shape"));
  draw->key = gyre_key_new ((guint64) json_object_get_int_member (object, "seed"));
  draw->low = 0;
  draw->high = 1;
  read_optional (object, "minval", &draw->low);
  read_optional (object, "lower", &draw->low);
  read_optional (object, "p", &draw->low);
  read_optional (object, "maxval", &draw->high);
  read_optional (object, "upper", &draw->high);
  read_optional (object, "data", &data);
  draw->n = (gint64) data;
  if (json_object_has_member (object, "probs"))
    draw->logits =
      make_logits (json_object_get_array_member (object, "probs"), draw->shape);

  return TRUE;
}

/* Comparing */

static double
find_bound (Closeness closeness,
            double    expected)
{
  double magnitude = fabs (expected) > 1e-30 ? fabs (expected) : 1e-30;

  return closeness == SAME ? 0 : MAX (4 * ldexp (1.0, ilogb (magnitude) - 23), 1e-6);
}

static void
compare_part (Deviation  *worst,
              const Op   *op,
              JsonObject *object,
              const char *name,
              const double *drawn,
              gsize       n_drawn)
{
  JsonArray *values = json_object_get_array_member (object, name);
  gsize n = json_array_get_length (values);
  gsize first = g_str_equal (name, "last") ? n_drawn - n : 0;

  for (gsize i = 0; i < n && n <= n_drawn; i++)
    {
      double expected = json_array_get_double_element (values, (guint) i);

      /* the decimals are the shortest that read back to the same float */
      if (op->dtype == GYRE_F32)
        expected = (float) expected;
      deviation_add (worst, name, first + i, drawn[first + i], expected,
                     find_bound (op->closeness, expected));
    }
  if (n > n_drawn)
    deviation_add (worst, name, 0, (double) n_drawn, (double) n, 0);
}

static void
compare_sums (Deviation    *worst,
              const Op     *op,
              JsonObject   *object,
              const double *drawn,
              gsize         n)
{
  double sum = 0;

  if (json_object_has_member (object, "crc32"))
    {
      g_autofree guint32 *words = g_new (guint32, n + 1);

      for (gsize i = 0; i < n; i++)
        words[i] = drawn[i] < 0 ? (guint32) (gint32) drawn[i] : (guint32) drawn[i];
      deviation_add (worst, "crc32", 0, (double) crc32_z (0, (gpointer) words, 4 * n),
                     (double) json_object_get_int_member (object, "crc32"), 0);
    }
  if (!json_object_has_member (object, "sum_f64"))
    return;

  /* an exact draw has the very sum, up to the order of adding in double */
  for (gsize i = 0; i < n; i++)
    sum += drawn[i];
  deviation_add (worst, "sum_f64", 0, sum,
                 json_object_get_double_member (object, "sum_f64"),
                 (op->closeness == SAME ? 1e-10 : 1e-6) * (double) n);
}

static void
compare (Reference  *self,
         const char *name,
         const Op   *op,
         const Draw *draw,
         GyreArray  *array)
{
  static const char *const parts[] = { "values", "first", "last" };
  g_autoptr (GError) error = NULL;
  Deviation worst = { 0 };
  gsize n;
  g_autofree double *drawn = reference_numbers (array, &n, &error);

  if (drawn == NULL)
    {
      reference_error (self, name, error);
      return;
    }

  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    if (json_object_has_member (draw->object, parts[i]))
      compare_part (&worst, op, draw->object, parts[i], drawn, n);
  if (json_object_has_member (draw->object, "values"))
    deviation_add (
        &worst, "number of values", 0, (double) n,
        json_array_get_length (json_object_get_array_member (draw->object, "values")), 0);
  compare_sums (&worst, op, draw->object, drawn, n);
  reference_report (self, name, &worst);
}

static void
check_host (Reference  *self,
            const char *name,
            const Op   *op,
            const Draw *draw)
{
  gsize n = (gsize) gyre_shape_n_elements (&draw->shape);
  g_autofree char *out = g_malloc0 (4 * (n + 2));
  g_autoptr (GyreArray) array = NULL;

  op->host (draw, n, out);
  array = gyre_array_new (op->dtype, draw->shape, out);
  compare (self, name, op, draw, array);
}

/* A step that draws: cases that differ by seed alone share it. */
typedef struct
{
  const Op      *op;
  Draw           draw;
  ReferenceStep *step;
} DrawStep;

static GyreTree *
trace_draw (GyreTree *args,
            gpointer  data)
{
  DrawStep *self = data;
  GyreTree *extra = gyre_tree_lookup (args, "extra");
  GyreTensor *drawn =
    self->op->device (&self->draw, gyre_tree_get_tensor (args, "key"),
                      extra != NULL ? gyre_tree_as_tensor (extra) : NULL);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("drawn", drawn), NULL);
}

static void
draw_step_free (gpointer data)
{
  DrawStep *self = data;

  reference_step_free (self->step);
  g_free (self);
}

static DrawStep *
find_step (Reference   *self,
           GHashTable  *steps,
           const Op    *op,
           const Draw  *draw,
           GError     **error)
{
  g_autofree char *shape = gyre_shape_to_string (&draw->shape);
  g_autofree char *key =
    g_strdup_printf ("%s%s %.17g %.17g", op->op, shape, draw->low, draw->high);
  DrawStep *found = g_hash_table_lookup (steps, key);
  ReferenceProgram program = { .func = trace_draw };

  if (found != NULL)
    return found;

  found = g_new0 (DrawStep, 1);
  found->op = op;
  found->draw = *draw;
  program.data = found;
  found->step = reference_step_new (self, &program, error);
  if (found->step == NULL)
    {
      g_free (found);
      return NULL;
    }
  g_hash_table_insert (steps, g_steal_pointer (&key), found);

  return found;
}

static void
check_device (Reference  *self,
              GHashTable *steps,
              const char *name,
              const Op   *op,
              const Draw *draw)
{
  g_autoptr (GError) error = NULL;
  guint32 data = (guint32) draw->n;
  g_autoptr (GyreArray) key = gyre_array_new_key (draw->key);
  g_autoptr (GyreArray) folded = gyre_array_new (GYRE_U32, GYRE_SCALAR, &data);
  g_autoptr (GyreTree) args = gyre_tree_build (GYRE_ARRAY_ENTRY ("key", key), NULL);
  g_autoptr (GyreTree) results = NULL;
  DrawStep *step = find_step (self, steps, op, draw, &error);

  if (draw->logits != NULL)
    gyre_tree_set_array (args, "extra", draw->logits);
  else if (json_object_has_member (draw->object, "data"))
    gyre_tree_set_array (args, "extra", folded);

  if (step != NULL)
    results = reference_step_run (step->step, args, &error);
  if (results == NULL)
    reference_error (self, name, error);
  else
    compare (self, name, op, draw, gyre_tree_get_array (results, "drawn"));
}

static const Op *
find_op (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (ops); i++)
    if (g_strcmp0 (ops[i].op, name) == 0)
      return &ops[i];

  return NULL;
}

static void
check_case (Reference  *self,
            GHashTable *steps,
            guint       number,
            JsonObject *object)
{
  const char *op_name = json_object_get_string_member_with_default (object, "op", "");
  const Op *op = find_op (op_name);
  g_autofree char *host = g_strdup_printf ("prng/%03u.%s.host", number, op_name);
  g_autofree char *device = g_strdup_printf ("prng/%03u.%s.device", number, op_name);
  g_autoptr (GError) error = NULL;
  Draw draw = { 0 };

  if (!reference_wants (self, host) && !reference_wants (self, device))
    return;
  if (op == NULL)
    reference_fail (self, host, "there is no draw \"%s\"", op_name);
  else if (!read_draw (&draw, object, &error))
    reference_error (self, host, error);
  else
    {
      if (reference_wants (self, host))
        check_host (self, host, op, &draw);
      if (op->device != NULL && reference_wants (self, device))
        check_device (self, steps, device, op, &draw);
    }
  g_clear_pointer (&draw.logits, gyre_array_unref);
}

void
reference_check_prng (Reference *self)
{
  g_autoptr (JsonParser) parser = NULL;
  JsonNode *root = reference_load (self, "prng.json", &parser);
  g_autoptr (GHashTable) steps =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, draw_step_free);
  JsonArray *cases;

  if (root == NULL)
    return;

  cases = json_node_get_array (root);
  for (guint i = 0; i < json_array_get_length (cases); i++)
    check_case (self, steps, i, json_array_get_object_element (cases, i));
}
