/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-test-private.h"

#include <math.h>
#include <string.h>

#include "base/gyre-arena-private.h"
#include "ir/gyre-graph-private.h"
#include "nn/gyre-scope-private.h"

/* Names the mistake where a layer and its reference differ. */

static char *
print_index (const GyreShape *shape,
             gint64           flat)
{
  GyreShape index = *shape;

  for (int i = shape->rank - 1; i >= 0; i--)
    {
      index.dims[i] = flat % shape->dims[i];
      flat /= shape->dims[i];
    }

  return gyre_shape_to_string (&index);
}

/* How many are wrong, and where that says something: a kernel that leaves the end out. */
static char *
describe_extent (const GyreTestNumbers *due,
                 const GyreTestNumbers *is,
                 double                 bound)
{
  gint64 n = gyre_shape_n_elements (&due->shape), wrong = 0, first = n;

  for (gint64 i = 0; i < n; i++)
    if (!(fabs (is->data[i] - due->data[i]) <= bound))
      {
        first = MIN (first, i);
        wrong++;
      }

  return g_strdup_printf ("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " are wrong%s",
                          wrong, n,
                          wrong < n && wrong == n - first
                              ? ", all from there to the end: does the kernel make as "
                                "many as the shape rule says?" : "");
}

typedef struct
{
  double      tolerance;
  const char *mistake;
  const char *judge;
  const char *where;
} Judgement;

static gboolean
compare (const GyreTestNumbers  *due,
         GyreArray              *array,
         const Judgement        *by,
         GError                **error)
{
  GyreTestNumbers *is = gyre_test_numbers_read ("", array, error);
  double largest = 0, bound;
  gboolean good = is != NULL;

  if (!good)
    return FALSE;

  for (gint64 i = 0; i < gyre_shape_n_elements (&due->shape); i++)
    largest = MAX (largest, fabs (due->data[i]));
  bound = by->tolerance * MAX (largest, 1e-3);
  for (gint64 i = 0; good && i < gyre_shape_n_elements (&due->shape); i++)
    if (!(fabs (is->data[i] - due->data[i]) <= bound))
      {
        g_autofree char *index = print_index (&due->shape, i);
        g_autofree char *extent = describe_extent (due, is, bound);

        g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA,
                     "%s: %s%s is %.9g where %s %.9g; %s (%s)", by->mistake, due->path,
                     index, is->data[i], by->judge, due->data[i], extent, by->where);
        good = FALSE;
      }
  gyre_test_numbers_free (is);

  return good;
}

/* What the state became on the first device is what it has to become on all. */
static gboolean
keep_states (GyreTestCase  *self,
             GyreTree      *states,
             GError       **error)
{
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (states, &paths);
  g_autoptr (GPtrArray) owned = paths;

  self->states = g_ptr_array_new_with_free_func (gyre_test_numbers_free);
  for (guint i = 0; i < leaves->len; i++)
    {
      GyreTestNumbers *numbers = gyre_test_numbers_read (
          paths->pdata[i], gyre_tree_as_array (leaves->pdata[i]), error);

      if (numbers == NULL)
        return FALSE;
      g_ptr_array_add (self->states, numbers);
    }

  return TRUE;
}

static gboolean
compare_states (GyreTestCase  *self,
                GyreTree      *states,
                Judgement      by,
                GError       **error)
{
  by.mistake = "wrong state";
  if (self->test->state == NULL)
    by.judge = "on the first device it is";
  if (self->states == NULL)
    return keep_states (self, states, error);

  for (guint i = 0; i < self->states->len; i++)
    {
      const GyreTestNumbers *due = self->states->pdata[i];

      if (!compare (due, gyre_tree_get_array (states, due->path), &by, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
gyre_test_case_compare (GyreTestCase  *self,
                        GyreTree      *results,
                        const char    *where,
                        GError       **error)
{
  double tolerance = self->test->tolerance > 0 ? self->test->tolerance : 1e-4;
  Judgement by = { tolerance, "wrong value", "the reference has", where };

  if (!compare (self->y, gyre_tree_get_array (results, "y"), &by, error)
      || !compare_states (self, gyre_tree_get_tree (results, "state"), by, error))
    return FALSE;

  by = (Judgement){ 10 * tolerance, "wrong gradient",
                    "finite differences of the reference give", where };
  for (guint i = 0; i < self->gradients->len; i++)
    {
      g_autofree char *name = g_strdup_printf ("gradients/%u", i);

      if (!compare (self->gradients->pdata[i], gyre_tree_get_array (results, name), &by,
                    error))
        return FALSE;
    }

  return TRUE;
}

/* y as the layer's own rules have it, on the host */
static GyreTensor *
trace_output (GyreTestCase *self,
              GyreGraph    *graph,
              GPtrArray    *declarations)
{
  GyreModelScope scope = { .graph = graph, .declarations = declarations };
  GyreTensor *y;

  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
  y = gyre_model_scope_apply (&scope, self->model,
                              gyre_graph_input (graph, "x", self->test->dtype,
                                                &self->test->input));
  gyre_graph_pop ();
  gyre_owner_pop ();

  return y;
}

gboolean
gyre_test_case_check_shape (GyreTestCase  *self,
                            GError       **error)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GPtrArray) declarations = g_ptr_array_new ();
  GyreTensor *y = trace_output (self, graph, declarations);
  g_autofree char *is = NULL;
  g_autofree char *due = NULL;

  if (graph->error != NULL)
    {
      g_propagate_error (error, g_error_copy (graph->error));
      if (strstr (graph->error->message, "its shape rule says") != NULL)
        g_prefix_error (error, "wrong shape rule: ");
      return FALSE;
    }
  if (y->dtype == GYRE_F32 && gyre_shape_equal (&y->shape, &self->test->output))
    return TRUE;

  is = gyre_shape_to_string (&y->shape);
  due = gyre_shape_to_string (&self->test->output);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
               "wrong shape rule: it says that the result is %s%s, the reference makes "
               "f32%s", gyre_dtype_name (y->dtype), is, due);
  return FALSE;
}

/**
 * gyre_test_find:
 * @inputs: (array length=n_inputs): what a reference was given
 * @n_inputs: how many
 * @name: the end of a path, "kernel" or "dense_0/kernel"
 *
 * Returns: (transfer none): the numbers of the first of that name; the program ends where
 *   there is none
 */
const double *
gyre_test_find (const GyreTestNumbers *inputs,
                guint                  n_inputs,
                const char            *name)
{
  g_autofree char *end = g_strconcat ("/", name, NULL);

  for (guint i = 0; i < n_inputs; i++)
    if (g_str_equal (inputs[i].path, name) || g_str_has_suffix (inputs[i].path, end))
      return inputs[i].data;

  g_error ("the layer has no parameter \"%s\"", name);
}

/**
 * gyre_test_key:
 * @inputs: (array length=n_inputs): what a reference was given
 * @n_inputs: how many
 * @layer: a layer's path, "dropout_0"
 *
 * The key that the layer draws by in this test: gyre_key_bernoulli() and its kin give the
 * numbers that it gets.
 *
 * Returns: the key
 */
GyreKey
gyre_test_key (const GyreTestNumbers *inputs,
               guint                  n_inputs,
               const char            *layer)
{
  const double *words = gyre_test_find (inputs, n_inputs, "key");
  GyreKey key = { { (guint32) words[0], (guint32) words[1] } };

  return gyre_key_fold_in_path (key, layer);
}
