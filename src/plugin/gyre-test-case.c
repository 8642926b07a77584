/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/gyre-test-private.h"

#include <math.h>
#include <string.h>

/* Central differences in double: the error of order h² and the rounding of the reference
 * are both far below what f32 holds. */
#define STEP 1e-5

void
gyre_test_numbers_free (gpointer data)
{
  GyreTestNumbers *self = data;

  if (self == NULL)
    return;

  g_free (self->path);
  g_free (self->data);
  g_free (self);
}

GyreTestNumbers *
gyre_test_numbers_new (const char *path,
                       GyreShape   shape)
{
  GyreTestNumbers *self = g_new0 (GyreTestNumbers, 1);

  self->path = g_strdup (path);
  self->shape = shape;
  self->data = g_new0 (double, gyre_shape_n_elements (&shape) + 1);

  return self;
}

static double
read_f32 (gconstpointer data,
          gint64        i)
{
  return ((const float *) data)[i];
}

static double
read_i32 (gconstpointer data,
          gint64        i)
{
  return ((const gint32 *) data)[i];
}

static double
read_u32 (gconstpointer data,
          gint64        i)
{
  return ((const guint32 *) data)[i];
}

static double
read_u8 (gconstpointer data,
         gint64        i)
{
  return ((const guint8 *) data)[i];
}

static double (*const readers[GYRE_N_DTYPES]) (gconstpointer data, gint64 i) = {
  [GYRE_F32] = read_f32, [GYRE_I32] = read_i32, [GYRE_U32] = read_u32,
  [GYRE_U8] = read_u8, [GYRE_BOOL] = read_u8,
};

GyreTestNumbers *
gyre_test_numbers_read (const char  *path,
                        GyreArray   *array,
                        GError     **error)
{
  g_autoptr (GBytes) bytes = gyre_array_get (array, error);
  GyreShape shape = gyre_array_get_shape (array);
  GyreTestNumbers *self;

  if (bytes == NULL)
    return NULL;

  self = gyre_test_numbers_new (path, shape);
  for (gint64 i = 0; i < gyre_shape_n_elements (&shape); i++)
    self->data[i] = readers[gyre_array_get_dtype (array)](g_bytes_get_data (bytes, NULL),
                                                          i);

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
  g_clear_pointer (&self->states, g_ptr_array_unref);
  gyre_test_numbers_free (self->y);
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

/* State, too, from 0.5 up: it may be a variance. */
static void
draw_state (const char *path,
            GyreTree   *leaf,
            gpointer    data)
{
  GyreShape shape = gyre_array_get_shape (gyre_tree_as_array (leaf));
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  g_autofree float *numbers = g_new (float, MAX (n, 1));
  g_autoptr (GyreArray) array = NULL;
  g_autoptr (GyreTree) drawn = NULL;

  gyre_key_uniform (gyre_key_fold_in_path (gyre_key_new (8), path), 0.5f, 2, n, numbers);
  array = gyre_array_new (GYRE_F32, shape, numbers);
  drawn = gyre_tree_new_array (array);
  gyre_tree_set_path (data, path, drawn);
}

static gint64
get_limit (const GyreLayerTest *test)
{
  return test->limit > 0 ? test->limit : 10;
}

/* Whole numbers from 0 to the limit, both ends among them where there is room */
static GyreArray *
draw_integers (const GyreLayerTest *test)
{
  gsize n = (gsize) gyre_shape_n_elements (&test->input);
  g_autofree gint32 *wide = g_new (gint32, MAX (n, 2));
  g_autofree guint8 *narrow = g_new (guint8, MAX (n, 2));

  gyre_key_randint (gyre_key_new (9), 0, (gint32) get_limit (test), n, wide);
  wide[n / 2] = 0;
  wide[0] = (gint32) get_limit (test) - 1;
  for (gsize i = 0; i < n; i++)
    narrow[i] = (guint8) wide[i];

  return gyre_array_new (test->dtype, test->input,
                         gyre_dtype_size (test->dtype) == 1 ? (gpointer) narrow : wide);
}

static void
set_x (GyreTestCase *self)
{
  g_autoptr (GyreArray) x = NULL;

  if (self->test->dtype == GYRE_F32)
    {
      set_normal (self->args, "x", self->test->input);
      return;
    }

  x = draw_integers (self->test);
  gyre_tree_set_array (self->args, "x", x);
}

static gboolean
make_args (GyreTestCase  *self,
           GError       **error)
{
  g_autoptr (GyreTree) trees =
      gyre_model_init (self->model, self->test->input, self->test->dtype,
                       gyre_key_new (0), error);
  g_autoptr (GyreTree) params = gyre_tree_new_dict ();
  g_autoptr (GyreTree) state = gyre_tree_new_dict ();
  g_autoptr (GyreArray) key = gyre_array_new_key (gyre_key_new (1));

  if (trees == NULL)
    return FALSE;

  gyre_tree_foreach (gyre_tree_get_tree (trees, "params"), draw_param, params);
  gyre_tree_foreach (gyre_tree_get_tree (trees, "state"), draw_state, state);
  self->args = gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                                GYRE_TREE_ENTRY ("state", state),
                                GYRE_ARRAY_ENTRY ("key", key), NULL);
  set_x (self);
  set_normal (self->args, "dy", self->test->output);

  return TRUE;
}

static gboolean
add_input (GyreTestCase  *self,
           const char    *path,
           GyreArray     *array,
           GError       **error)
{
  GyreTestNumbers *numbers = gyre_test_numbers_read (path, array, error);

  if (numbers == NULL)
    return FALSE;

  g_ptr_array_add (self->inputs, numbers);
  return TRUE;
}

static gboolean
add_inputs (GyreTestCase  *self,
            const char    *of,
            GError       **error)
{
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves =
    gyre_tree_flatten (gyre_tree_get_tree (self->args, of), &paths);
  g_autoptr (GPtrArray) owned = paths;

  for (guint i = 0; i < leaves->len; i++)
    if (!add_input (self, paths->pdata[i], gyre_tree_as_array (leaves->pdata[i]), error))
      return FALSE;

  return TRUE;
}

static gboolean
read_inputs (GyreTestCase  *self,
             GError       **error)
{
  return add_input (self, "x", gyre_tree_get_array (self->args, "x"), error)
         && add_inputs (self, "params", error) && add_inputs (self, "state", error)
         && add_input (self, "key", gyre_tree_get_array (self->args, "key"), error);
}

static GyreTestNumbers *
list_inputs (GyreTestCase *self)
{
  GyreTestNumbers *inputs = g_new (GyreTestNumbers, self->inputs->len);

  for (guint i = 0; i < self->inputs->len; i++)
    inputs[i] = *(GyreTestNumbers *) self->inputs->pdata[i];

  return inputs;
}

static void
run_reference (GyreTestCase    *self,
               GyreTestNumbers *y)
{
  g_autofree GyreTestNumbers *inputs = list_inputs (self);

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
  GyreTestNumbers *gradient = gyre_test_numbers_new (path, input->shape);
  GyreTestNumbers *y = gyre_test_numbers_new ("y", self->test->output);

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
  gyre_test_numbers_free (y);

  return gradient;
}

static gboolean
differentiate_all (GyreTestCase  *self,
                   GError       **error)
{
  guint n_params = gyre_tree_n_leaves (gyre_tree_get_tree (self->args, "params"));
  GyreTestNumbers *dy =
      gyre_test_numbers_read ("dy", gyre_tree_get_array (self->args, "dy"), error);

  if (dy == NULL)
    return FALSE;

  for (guint i = self->test->dtype == GYRE_F32 ? 0 : 1; i <= n_params; i++)
    g_ptr_array_add (self->gradients,
                     differentiate (self, self->inputs->pdata[i], dy));
  gyre_test_numbers_free (dy);

  return TRUE;
}

/* What the state becomes by the author's function, if there is one. */
static void
run_state (GyreTestCase *self)
{
  guint n_params = gyre_tree_n_leaves (gyre_tree_get_tree (self->args, "params"));
  g_autofree GyreTestNumbers *inputs = list_inputs (self);

  if (self->test->state == NULL)
    return;

  self->states = g_ptr_array_new_with_free_func (gyre_test_numbers_free);
  for (guint i = n_params + 1; i + 1 < self->inputs->len; i++)
    {
      const GyreTestNumbers *before = self->inputs->pdata[i];
      GyreTestNumbers *next = gyre_test_numbers_new (before->path, before->shape);

      memcpy (next->data, before->data,
              sizeof (double) * gyre_shape_n_elements (&before->shape));
      self->test->state (inputs, self->inputs->len, before->path, next, self->test->data);
      g_ptr_array_add (self->states, next);
    }
}

GyreTestCase *
gyre_test_case_new (const GyreLayerTest  *test,
                    GError              **error)
{
  g_autoptr (GyreTestCase) self = g_new0 (GyreTestCase, 1);

  self->test = test;
  self->inputs = g_ptr_array_new_with_free_func (gyre_test_numbers_free);
  self->gradients = g_ptr_array_new_with_free_func (gyre_test_numbers_free);
  self->model = gyre_model_parse (test->line, error);
  if (self->model == NULL || !gyre_test_case_check_shape (self, error)
      || !make_args (self, error) || !read_inputs (self, error))
    return NULL;

  self->y = gyre_test_numbers_new ("y", test->output);
  run_reference (self, self->y);
  run_state (self);

  return differentiate_all (self, error) ? g_steal_pointer (&self) : NULL;
}
