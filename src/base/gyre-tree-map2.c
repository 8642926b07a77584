/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-tree-private.h"

#include <gyre/gyre-error.h>

typedef struct
{
  GyreTensorFunc2 func;
} Map2;

static GyreTree *
map_pair (const char       *path,
          GyreTree *const  *leaves,
          guint             n_trees,
          gpointer          data,
          GError          **error)
{
  const Map2 *map = data;
  GyreTensor *result;

  for (guint i = 0; i < n_trees; i++)
    if (leaves[i]->kind != GYRE_TREE_TENSOR)
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
                     "\"%s\" of the %s tree is an array, and must be a "
                     "tensor: hand it to the step as an argument", path,
                     i == 0 ? "first" : "second");
        return NULL;
      }

  result = map->func (leaves[0]->leaf, leaves[1]->leaf);
  if (result != NULL)
    return gyre_tree_new_tensor (result);

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
               "\"%s\": the function returned NULL: it must return a tensor", path);
  return NULL;
}

/**
 * gyre_tree_map2: (skip)
 * @func: makes a tensor of two, such as gyre_add()
 * @a: a tree of tensors
 * @b: another of the same structure
 *
 * For use inside of a traced function: @func of each two tensors at one path, as
 * `jax.tree.map (func, a, b)`. Structures that differ are an error of the trace that
 * names the first path that does; @a then stands for the result.
 *
 * Returns: (transfer none): a tree of the structure of @a, which belongs to the trace
 */
GyreTree *
gyre_tree_map2 (GyreTensorFunc2  func,
                GyreTree        *a,
                GyreTree        *b)
{
  GyreTree *trees[] = { a, b };
  Map2 map = { func };
  GError *error = NULL;
  GyreTree *result;

  g_return_val_if_fail (func != NULL && a != NULL, a);
  g_return_val_if_fail (gyre_tree_keeps_errors (), NULL);

  if (b == NULL)
    g_set_error_literal (&error, GYRE_ERROR, GYRE_ERROR_TREE, "the second tree is NULL");
  else if ((result = gyre_tree_map (trees, 2, map_pair, &map, &error)) != NULL)
    return result;

  g_prefix_error (&error, "gyre_tree_map2: ");
  gyre_tree_keep_error (error);
  return a;
}
