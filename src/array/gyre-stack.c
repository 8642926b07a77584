/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <gyre/gyre-array.h>

/* Trees, one a device or one a step, as one tree with a leading dimension. */

static gboolean
check_alike (GyreTree *const *leaves,
             guint            n,
             GError         **error)
{
  for (guint i = 0; i < n; i++)
    {
      GyreArray *first = gyre_tree_as_array (leaves[0]);
      GyreArray *array = gyre_tree_as_array (leaves[i]);
      GyreShape a = gyre_array_get_shape (first), b = gyre_array_get_shape (array);
      g_autofree char *in_first = gyre_shape_to_string (&a);
      g_autofree char *here = gyre_shape_to_string (&b);

      if (a.rank < GYRE_MAX_RANK && gyre_shape_equal (&a, &b) &&
          gyre_array_get_dtype (first) == gyre_array_get_dtype (array))
        continue;
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "gyre_stack: tree %u has %s%s, and the first has %s%s: they must be "
                   "alike, and of at most %d dimensions", i,
                   gyre_dtype_name (gyre_array_get_dtype (array)), here,
                   gyre_dtype_name (gyre_array_get_dtype (first)), in_first,
                   GYRE_MAX_RANK - 1);
      return FALSE;
    }

  return TRUE;
}

static GyreArray *
join_rows (GyreTree *const  *leaves,
           guint             n,
           GError          **error)
{
  GyreArray *first = gyre_tree_as_array (leaves[0]);
  GyreShape shape = gyre_array_get_shape (first), joined = { shape.rank + 1, { n } };
  g_autoptr (GByteArray) rows = g_byte_array_new ();
  g_autoptr (GBytes) all = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GBytes) bytes = gyre_array_get (gyre_tree_as_array (leaves[i]), error);
      gsize size;
      const guint8 *data;

      if (bytes == NULL)
        return NULL;
      data = g_bytes_get_data (bytes, &size);
      if (size > 0)
        g_byte_array_append (rows, data, (guint) size);
    }

  if (shape.rank > 0)
    memcpy (joined.dims + 1, shape.dims, sizeof (gint64) * (gsize) shape.rank);
  all = g_byte_array_free_to_bytes (g_steal_pointer (&rows));
  return gyre_array_new_bytes (gyre_array_get_dtype (first), joined, all, error);
}

static GyreTree *
stack_leaf (const char       *path,
            GyreTree *const  *leaves,
            guint             n_trees,
            gpointer          data,
            GError          **error)
{
  g_autoptr (GyreArray) array = NULL;

  if (check_alike (leaves, n_trees, error))
    array = join_rows (leaves, n_trees, error);
  if (array != NULL)
    return gyre_tree_new_array (array);

  g_prefix_error (error, "%s: ", *path != '\0' ? path : "the array");
  return NULL;
}

/**
 * gyre_stack:
 * @trees: (array length=n_trees): trees of arrays, of one structure
 * @n_trees: 1 or more
 * @error: return location for an error
 *
 * Joins leaves along a new leading dimension: those of shape [...] become [n_trees, ...].
 * Trees of unlike values, one a device, so become an argument of gyre_step_pmap().
 *
 * Errors: %GYRE_ERROR_TREE for structures that differ, %GYRE_ERROR_SHAPE for leaves that
 * do; both name the path.
 *
 * Returns: (transfer full): a tree of that structure, on the host, or %NULL
 */
GyreTree *
gyre_stack (GyreTree *const  *trees,
            guint             n_trees,
            GError          **error)
{
  g_return_val_if_fail (trees != NULL && n_trees > 0, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return gyre_tree_map (trees, n_trees, stack_leaf, NULL, error);
}
