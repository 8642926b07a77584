/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-test-private.h"

#include <math.h>
#include <string.h>

/* Central differences in double: the error of order h² and the rounding of the reference
 * are both far below what f32 holds. */
#define STEP 1e-5

static void
numbers_free (gpointer data)
{
  GyreTestNumbers *self = data;

  if (self == NULL)
    return;

  g_free (self->path);
  g_free (self->data);
  g_free (self);
}

static GyreTestNumbers *
numbers_new (const char *path,
             GyreShape   shape)
{
  GyreTestNumbers *self = g_new0 (GyreTestNumbers, 1);

  self->path = g_strdup (path);
  self->shape = shape;
  self->data = g_new0 (double, gyre_shape_n_elements (&shape) + 1);

  return self;
}

/* Of an array of f32 */
static GyreTestNumbers *
numbers_read (const char  *path,
              GyreArray   *array,
              GError     **error)
{
  g_autoptr (GBytes) bytes = gyre_array_get (array, error);
  GyreShape shape = gyre_array_get_shape (array);
  GyreTestNumbers *self;
  const float *data;

  if (bytes == NULL)
    return NULL;

  self = numbers_new (path, shape);
  data = g_bytes_get_data (bytes, NULL);
  for (gint64 i = 0; i < gyre_shape_n_elements (&shape); i++)
    self->data[i] = data[i];

  return self;
}

void
gyre_test_case_free (GyreTestCase *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->args, gyre_tree_unref);
  g_clear_pointer (&self->inputs, g_ptr_array_unref);
  g_clear_pointer (&self->gradients, g_ptr_array_unref);
  numbers_free (self->y);
  g_clear_object (&self->model);
  g_free (self);
}

static void
set_normal (GyreTree   *tree,
            const char *path,
            GyreShape   shape)
{
  g_autoptr (GyreArray) array =
      gyre_array_new_normal (gyre_key_fold_in_path (gyre_key_new (7), path), shape, 1);
  g_autoptr (GyreTree) leaf = gyre_tree_new_array (array);

  gyre_tree_set_path (tree, path, leaf);
}

/* Parameters that begin at zero or one would hide mistakes: all are drawn. */
static void
draw_param (const char *path,
            GyreTree   *leaf,
            gpointer    data)
{
  set_normal (data, path, gyre_array_get_shape (gyre_tree_as_array (leaf)));
}

static gboolean
make_args (GyreTestCase  *self,
           GError       **error)
{
  g_autoptr (GyreTree) trees = gyre_model_init (self->model, self->test->input, GYRE_F32,
                                                gyre_key_new (0), error);
  g_autoptr (GyreTree) params = gyre_tree_new_dict ();
  g_autoptr (GyreArray) key = gyre_array_new_key (gyre_key_new (1));

  if (trees == NULL)
    return FALSE;

  gyre_tree_foreach (gyre_tree_get_tree (trees, "params"), draw_param, params);
  self->args = gyre_tree_build (
      GYRE_TREE_ENTRY ("params", params),
      GYRE_TREE_ENTRY ("state", gyre_tree_get_tree (trees, "state")),
      GYRE_ARRAY_ENTRY ("key", key), NULL);
  set_normal (self->args, "x", self->test->input);
  set_normal (self->args, "dy", self->test->output);

  return TRUE;
}

static gboolean
read_inputs (GyreTestCase  *self,
             GError       **error)
{
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves =
    gyre_tree_flatten (gyre_tree_get_tree (self->args, "params"), &paths);
  g_autoptr (GPtrArray) owned = paths;

  g_ptr_array_add (self->inputs,
                   numbers_read ("x", gyre_tree_get_array (self->args, "x"), error));
  for (guint i = 0; i < leaves->len; i++)
    g_ptr_array_add (self->inputs,
                     numbers_read (paths->pdata[i], gyre_tree_as_array (leaves->pdata[i]),
                                   error));
  for (guint i = 0; i < self->inputs->len; i++)
    if (self->inputs->pdata[i] == NULL)
      return FALSE;

  return TRUE;
}

static void
run_reference (GyreTestCase    *self,
               GyreTestNumbers *y)
{
  g_autofree GyreTestNumbers *inputs = g_new (GyreTestNumbers, self->inputs->len);

  for (guint i = 0; i < self->inputs->len; i++)
    inputs[i] = *(GyreTestNumbers *) self->inputs->pdata[i];
  memset (y->data, 0, sizeof (double) * gyre_shape_n_elements (&y->shape));
  self->test->reference (inputs, self->inputs->len, y, self->test->data);
}

static double
weigh (const GyreTestNumbers *y,
       const GyreTestNumbers *dy)
{
  double sum = 0;

  for (gint64 i = 0; i < gyre_shape_n_elements (&y->shape); i++)
    sum += y->data[i] * dy->data[i];

  return sum;
}

static GyreTestNumbers *
differentiate (GyreTestCase          *self,
               GyreTestNumbers       *input,
               const GyreTestNumbers *dy)
{
  g_autofree char *path = g_strconcat ("d", input->path, NULL);
  GyreTestNumbers *gradient = numbers_new (path, input->shape);
  GyreTestNumbers *y = numbers_new ("y", self->test->output);

  for (gint64 i = 0; i < gyre_shape_n_elements (&input->shape); i++)
    {
      double value = input->data[i], above;

      input->data[i] = value + STEP;
      run_reference (self, y);
      above = weigh (y, dy);
      input->data[i] = value - STEP;
      run_reference (self, y);
      gradient->data[i] = (above - weigh (y, dy)) / (2 * STEP);
      input->data[i] = value;
    }
  numbers_free (y);

  return gradient;
}

GyreTestCase *
gyre_test_case_new (const GyreLayerTest  *test,
                    GError              **error)
{
  g_autoptr (GyreTestCase) self = g_new0 (GyreTestCase, 1);
  GyreTestNumbers *dy;

  self->test = test;
  self->inputs = g_ptr_array_new_with_free_func (numbers_free);
  self->gradients = g_ptr_array_new_with_free_func (numbers_free);
  self->model = gyre_model_parse (test->line, error);
  if (self->model == NULL || !make_args (self, error) || !read_inputs (self, error))
    return NULL;

  self->y = numbers_new ("y", test->output);
  run_reference (self, self->y);
  dy = numbers_read ("dy", gyre_tree_get_array (self->args, "dy"), error);
  for (guint i = 0; i < self->inputs->len; i++)
    g_ptr_array_add (self->gradients,
                     differentiate (self, self->inputs->pdata[i], dy));
  numbers_free (dy);

  return g_steal_pointer (&self);
}

/* Comparing */

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

static gboolean
compare (const GyreTestNumbers  *due,
         GyreArray              *array,
         double                  tolerance,
         const char             *mistake,
         const char             *judge,
         const char             *where,
         GError                **error)
{
  GyreTestNumbers *is = numbers_read ("", array, error);
  double largest = 0, bound;
  gboolean good = is != NULL;

  if (!good)
    return FALSE;

  for (gint64 i = 0; i < gyre_shape_n_elements (&due->shape); i++)
    largest = MAX (largest, fabs (due->data[i]));
  bound = tolerance * MAX (largest, 1e-3);
  for (gint64 i = 0; good && i < gyre_shape_n_elements (&due->shape); i++)
    if (!(fabs (is->data[i] - due->data[i]) <= bound))
      {
        g_autofree char *index = print_index (&due->shape, i);

        g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA,
                     "%s: %s%s is %.9g where %s %.9g (%s)", mistake, due->path, index,
                     is->data[i], judge, due->data[i], where);
        good = FALSE;
      }
  numbers_free (is);

  return good;
}

gboolean
gyre_test_case_compare (GyreTestCase  *self,
                        GyreTree      *results,
                        const char    *where,
                        GError       **error)
{
  double tolerance = self->test->tolerance > 0 ? self->test->tolerance : 1e-4;
  GyreArray *y = gyre_tree_get_array (results, "y");

  if (!compare (self->y, y, tolerance, "wrong value", "the reference has", where, error))
    return FALSE;

  for (guint i = 0; i < self->gradients->len; i++)
    {
      g_autofree char *name = g_strdup_printf ("gradients/%u", i);

      if (!compare (self->gradients->pdata[i], gyre_tree_get_array (results, name),
                    10 * tolerance, "wrong gradient",
                    "finite differences of the reference give", where, error))
        return FALSE;
    }

  return TRUE;
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
