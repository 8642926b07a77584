/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <gyre/gyre-array.h>

/* Trees with a leading device axis, as gyre_step_pmap () takes and gives them. */

typedef GyreArray *(*ChangeFunc) (GyreArray *array, gint64 n, GyreSharding *sharding,
                                  GError **error);

typedef struct
{
  ChangeFunc    change;
  gint64        n;
  GyreSharding *sharding;
} Change;

static GyreTree *
change_leaf (const char       *path,
             GyreTree *const  *leaves,
             guint             n_trees,
             gpointer          data,
             GError          **error)
{
  Change               *change = data;
  g_autoptr (GyreArray) array  = NULL;

  (void) n_trees;
  if (gyre_tree_get_kind (leaves[0]) != GYRE_TREE_ARRAY)
    return gyre_tree_ref (leaves[0]);
  array =
      change->change (gyre_tree_as_array (leaves[0]), change->n, change->sharding, error);
  if (array)
    return gyre_tree_new_array (array);
  g_prefix_error (error, "%s: ", *path ? path : "the array");
  return NULL;
}

static GyreTree *
change_tree (GyreTree      *tree,
             ChangeFunc     func,
             gint64         n,
             GyreSharding  *sharding,
             GError       **error)
{
  Change change = { func, n, sharding };

  return gyre_tree_map (&tree, 1, change_leaf, &change, error);
}

static GyreArray *
tile (GyreArray *array, gint64 n, GyreSharding *sharding, GError **error)
{
  GyreShape             shape = gyre_array_get_shape (array);
  GyreShape             tiled = { shape.rank + 1, { n } };
  g_autoptr (GBytes)    bytes = gyre_array_get (array, error);
  g_autofree guint8    *data  = NULL;
  g_autoptr (GyreArray) host  = NULL;
  gsize                 size;

  if (!bytes)
    return NULL;
  if (shape.rank == GYRE_MAX_RANK)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "an array of %d dimensions has no room for a device axis",
                   GYRE_MAX_RANK);
      return NULL;
    }
  memcpy (tiled.dims + 1, shape.dims, sizeof (gint64) * (gsize) shape.rank);
  size = g_bytes_get_size (bytes);
  data = g_malloc (size * (gsize) n + 1);
  for (gint64 i = 0; size > 0 && i < n; i++)
    memcpy (data + (gsize) i * size, g_bytes_get_data (bytes, NULL), size);
  host = gyre_array_new (gyre_array_get_dtype (array), tiled, data);
  return gyre_device_put (host, sharding, error);
}

/**
 * gyre_replicate:
 * @tree: a tree of arrays
 * @mesh: a mesh, of any axes
 * @error: return location for an error
 *
 * Puts a copy of each leaf on each device: a leaf of shape [...] becomes [devices, ...],
 * one row a device, as gyre_step_pmap() takes it.
 *
 * Returns: (transfer full): the new tree, or %NULL
 */
GyreTree *
gyre_replicate (GyreTree  *tree,
                GyreMesh  *mesh,
                GError   **error)
{
  g_autoptr (GString)      spec     = g_string_new (NULL);
  g_autoptr (GyreSharding) sharding = NULL;

  g_return_val_if_fail (tree != NULL, NULL);
  g_return_val_if_fail (GYRE_IS_MESH (mesh), NULL);
  for (guint a = 0; a < gyre_mesh_get_n_axes (mesh); a++)
    g_string_append_printf (spec, "%c%s", a == 0 ? '[' : '+',
                            gyre_mesh_get_axis_name (mesh, a));
  g_string_append_c (spec, ']');
  sharding = gyre_sharding_new (mesh, spec->str, error);
  if (!sharding)
    return NULL;
  return change_tree (tree, tile, gyre_mesh_get_n_devices (mesh), sharding, error);
}

static GyreArray *
first_row (GyreArray *array, gint64 n, GyreSharding *sharding, GError **error)
{
  GyreShape          shape = gyre_array_get_shape (array);
  GyreShape          row   = { shape.rank - 1, { 0 } };
  g_autoptr (GBytes) bytes = NULL;

  (void) n;
  (void) sharding;
  if (shape.rank == 0 || shape.dims[0] == 0)
    {
      g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                           "it has no leading device axis: was it replicated?");
      return NULL;
    }
  if (!(bytes = gyre_array_get (array, error)))
    return NULL;
  memcpy (row.dims, shape.dims + 1, sizeof (gint64) * (gsize) row.rank);
  return gyre_array_new (gyre_array_get_dtype (array), row,
                         g_bytes_get_data (bytes, NULL));
}

/**
 * gyre_unreplicate:
 * @tree: a tree of arrays with a leading device axis
 * @error: return location for an error
 *
 * Takes the first device's copy of each leaf: [devices, ...] becomes [...], on the host.
 *
 * Returns: (transfer full): the new tree, or %NULL
 */
GyreTree *
gyre_unreplicate (GyreTree  *tree,
                  GError   **error)
{
  g_return_val_if_fail (tree != NULL, NULL);
  return change_tree (tree, first_row, 0, NULL, error);
}

static GyreArray *
split_rows (GyreArray *array, gint64 n, GyreSharding *sharding, GError **error)
{
  GyreShape          shape = gyre_array_get_shape (array);
  GyreShape          split = { shape.rank + 1, { n } };
  g_autoptr (GBytes) bytes = NULL;

  (void) sharding;
  if (shape.rank == 0 || shape.rank == GYRE_MAX_RANK || shape.dims[0] % n != 0)
    {
      g_autofree char *text = gyre_shape_to_string (&shape);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "%s can't be cut in %" G_GINT64_FORMAT
                   " equal parts along its first dimension; name the entry "
                   "as ragged in gyre_step_pmap () for parts that differ",
                   text, n);
      return NULL;
    }
  if (!(bytes = gyre_array_get (array, error)))
    return NULL;
  split.dims[1] = shape.dims[0] / n;
  if (shape.rank > 1)
    memcpy (split.dims + 2, shape.dims + 1, sizeof (gint64) * (gsize) (shape.rank - 1));
  return gyre_array_new_bytes (gyre_array_get_dtype (array), split, bytes, error);
}

/**
 * gyre_shard_batch:
 * @batch: a tree of arrays of any nesting
 * @n_devices: 1 or more
 * @error: return location for an error
 *
 * Gives each leaf a leading device axis: [B, ...] becomes [devices, B / devices, ...].
 *
 * Returns: (transfer full): the new tree, on the host, or %NULL where a leading dimension
 *   can't be divided
 */
GyreTree *
gyre_shard_batch (GyreTree  *batch,
                  guint      n_devices,
                  GError   **error)
{
  g_return_val_if_fail (batch != NULL, NULL);
  g_return_val_if_fail (n_devices > 0, NULL);
  return change_tree (batch, split_rows, n_devices, NULL, error);
}
