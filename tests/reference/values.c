/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>

JsonNode *
reference_load (Reference   *self,
                const char  *file,
                JsonParser **parser)
{
  g_autofree char *path = g_build_filename (self->folder, file, NULL);
  g_autoptr (GError) error = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return NULL;

  *parser = json_parser_new ();
  if (json_parser_load_from_file (*parser, path, &error) &&
      json_parser_get_root (*parser) != NULL)
    return json_parser_get_root (*parser);

  reference_fail (self, file, "%s", error != NULL ? error->message : "the file is empty");
  return NULL;
}

GyreShape
reference_shape (JsonArray *array)
{
  GyreShape shape = GYRE_SCALAR;

  for (guint i = 0; i < json_array_get_length (array) && i < GYRE_MAX_RANK; i++)
    shape.dims[shape.rank++] = json_array_get_int_element (array, i);

  return shape;
}

/* The extents of lists in lists, by the first of each. */
static GyreShape
shape_of_lists (JsonNode *node)
{
  GyreShape shape = GYRE_SCALAR;

  while (JSON_NODE_HOLDS_ARRAY (node) && shape.rank < GYRE_MAX_RANK)
    {
      JsonArray *array = json_node_get_array (node);

      shape.dims[shape.rank++] = json_array_get_length (array);
      if (json_array_get_length (array) == 0)
        break;
      node = json_array_get_element (array, 0);
    }

  return shape;
}

/* json-glib's numbers are of two kinds. */
static double
node_number (JsonNode *node)
{
  if (json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    return json_node_get_boolean (node) ? 1 : 0;
  if (json_node_get_value_type (node) == G_TYPE_INT64)
    return (double) json_node_get_int (node);

  return json_node_get_double (node);
}

static void
append_numbers (JsonNode *node,
                GArray   *numbers)
{
  double number;

  if (JSON_NODE_HOLDS_ARRAY (node))
    {
      JsonArray *array = json_node_get_array (node);

      for (guint i = 0; i < json_array_get_length (array); i++)
        append_numbers (json_array_get_element (array, i), numbers);
      return;
    }

  number = JSON_NODE_HOLDS_VALUE (node) ? node_number (node) : NAN;
  g_array_append_val (numbers, number);
}

static void
put_number (GyreDtype dtype,
            gpointer  data,
            guint     i,
            double    number)
{
  if (dtype == GYRE_F32)
    ((float *) data)[i] = (float) number;
  else if (dtype == GYRE_I32)
    ((gint32 *) data)[i] = (gint32) number;
  else if (dtype == GYRE_U32)
    ((guint32 *) data)[i] = (guint32) number;
  else
    ((guint8 *) data)[i] = (guint8) number;
}

GyreArray *
reference_array (JsonNode   *node,
                 GyreDtype   dtype,
                 GError    **error)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (double));
  g_autofree char *data = NULL;
  GyreShape shape = shape_of_lists (node);

  append_numbers (node, numbers);
  if (numbers->len != gyre_shape_n_elements (&shape))
    {
      g_autofree char *text = gyre_shape_to_string (&shape);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                   "lists of %u numbers are no array of shape %s", numbers->len, text);
      return NULL;
    }

  data = g_malloc0 (gyre_dtype_size (dtype) * (numbers->len + 1));
  for (guint i = 0; i < numbers->len; i++)
    put_number (dtype, data, i, g_array_index (numbers, double, i));

  return gyre_array_new (dtype, shape, data);
}

GyreTree *
reference_tree (JsonObject *object,
                GError    **error)
{
  g_autoptr (GyreTree) tree = gyre_tree_new_dict ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &node))
    {
      g_autoptr (GyreArray) array = reference_array (node, GYRE_F32, error);

      if (array == NULL)
        return NULL;
      gyre_tree_set_array (tree, name, array);
    }

  return g_steal_pointer (&tree);
}

static double
get_number (GyreDtype     dtype,
            gconstpointer data,
            gsize         i)
{
  if (dtype == GYRE_F32)
    return (double) ((const float *) data)[i];
  if (dtype == GYRE_I32)
    return ((const gint32 *) data)[i];
  if (dtype == GYRE_U32)
    return ((const guint32 *) data)[i];

  return ((const guint8 *) data)[i];
}

double *
reference_numbers (GyreArray  *array,
                   gsize      *n,
                   GError    **error)
{
  GyreShape shape = gyre_array_get_shape (array);
  g_autoptr (GBytes) bytes = gyre_array_get (array, error);
  double *numbers;

  if (bytes == NULL)
    return NULL;

  *n = (gsize) gyre_shape_n_elements (&shape);
  numbers = g_new (double, *n + 1);
  for (gsize i = 0; i < *n; i++)
    numbers[i] = get_number (gyre_array_get_dtype (array),
                             g_bytes_get_data (bytes, NULL), i);

  return numbers;
}

gboolean
reference_get_double (JsonObject  *object,
                      const char  *name,
                      double      *value,
                      GError     **error)
{
  JsonNode *node = json_object_get_member (object, name);

  if (node != NULL && JSON_NODE_HOLDS_VALUE (node))
    {
      *value = node_number (node);
      return TRUE;
    }

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "there is no number \"%s\"", name);
  return FALSE;
}
