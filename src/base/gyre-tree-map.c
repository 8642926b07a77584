/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-arena-private.h"
#include "base/gyre-tree-private.h"

typedef struct
{
  GString          *path;
  guint             n_trees;
  GyreTreeMapFunc   func;
  gboolean          func_refs;  /* what func returns always has a reference for us */
  gpointer          data;
  GError          **error;
} Map;

static GyreTree *map_trees (Map *map, GyreTree *const *trees);

/* The i-th child of each tree, in the order of flattening. */
static GyreTree *
map_child (Map             *map,
           GyreTree *const *trees,
           guint            i)
{
  g_autofree GyreTree **children = g_new (GyreTree *, map->n_trees);
  gsize length = gyre_tree_push_step (map->path,
                                      gyre_tree_get_sorted (trees[0], i)->name, i);
  GyreTree *child;

  for (guint n = 0; n < map->n_trees; n++)
    children[n] = gyre_tree_get_sorted (trees[n], i)->child;
  child = map_trees (map, children);
  g_string_truncate (map->path, length);

  return child;
}

/* Leaves are visited in the order of flattening, and the result has that order too. */
static GyreTree *
map_container (Map             *map,
               GyreTree *const *trees)
{
  gboolean is_dict = trees[0]->kind == GYRE_TREE_DICT;
  GyreTree *result = is_dict ? gyre_tree_new_dict () : gyre_tree_new_list ();

  for (guint i = 0; i < trees[0]->n_entries; i++)
    {
      GyreTree *child = map_child (map, trees, i);

      if (child == NULL)
        {
          gyre_tree_drop (result);
          return NULL;
        }
      if (is_dict)
        gyre_tree_set (result, gyre_tree_get_sorted (trees[0], i)->name, child);
      else
        gyre_tree_append (result, child);
      gyre_tree_drop (child);
    }

  return result;
}

static GyreTree *
map_node (Map             *map,
          GyreTree *const *trees)
{
  g_autofree GyreTree **views = g_new (GyreTree *, map->n_trees);
  GyreTree *view, *result;
  GyreNode *node;

  for (guint n = 0; n < map->n_trees; n++)
    views[n] = gyre_tree_get_view (trees[n]);
  view = map_trees (map, views);
  if (view == NULL)
    return NULL;

  node = gyre_node_unflatten (trees[0]->leaf, view);
  gyre_tree_drop (view);
  if (node == NULL)
    {
      g_set_error (map->error, GYRE_ERROR, GYRE_ERROR_TREE,
                   "\"%s\": a %s can't be made of this", map->path->str,
                   G_OBJECT_TYPE_NAME (trees[0]->leaf));
      return NULL;
    }

  result = gyre_tree_new_node (node);
  if (gyre_owner_get () == NULL)
    g_object_unref (node);

  return result;
}

/* A function may hand back a leaf that it was given, with a reference as it has to do
 * outside of traces.  Inside, such a reference is given to the trace. */
static GyreTree *
map_leaf (Map             *map,
          GyreTree *const *trees)
{
  g_autofree int *counts = g_new (int, map->n_trees);
  gboolean has_reference = map->func_refs;
  GyreTree *result;

  for (guint n = 0; n < map->n_trees; n++)
    counts[n] = trees[n]->ref_count;

  result = map->func (map->path->str, trees, map->n_trees, map->data, map->error);

  for (guint n = 0; n < map->n_trees; n++)
    if (result == trees[n] && trees[n]->ref_count > counts[n])
      has_reference = TRUE;
  if (has_reference)
    gyre_owner_adopt (result, (GDestroyNotify) gyre_tree_unref);

  return result;
}

static GyreTree *
map_trees (Map             *map,
           GyreTree *const *trees)
{
  GyreTreeKind kind = trees[0]->kind;

  if (gyre_tree_is_leaf (trees[0]))
    return map_leaf (map, trees);
  if (kind == GYRE_TREE_NODE)
    return map_node (map, trees);
  if (kind == GYRE_TREE_NONE)
    return gyre_tree_new_none ();

  return map_container (map, trees);
}

static GyreTree *
run_map (Map             *map,
         GyreTree *const *trees)
{
  GyreTree *result;

  map->path = g_string_new (NULL);
  result = map_trees (map, trees);
  g_string_free (map->path, TRUE);

  return result;
}

static GyreTree *
map_alike (GyreTree *const  *trees,
           guint             n_trees,
           GyreTreeMapFunc   func,
           gpointer          data,
           GError          **error)
{
  Map map = { NULL, n_trees, func, FALSE, data, error };

  for (guint n = 1; n < n_trees; n++)
    if (!gyre_tree_same_structure (trees[0], trees[n], error))
      return NULL;

  return run_map (&map, trees);
}

/**
 * gyre_tree_map:
 * @trees: (array length=n_trees): trees of the same structure
 * @n_trees: how many, at least 1
 * @func: (scope call): makes a leaf of the result of the leaves at one path
 * @data: handed to @func
 * @error: %GYRE_ERROR_TREE if structures differ, or what @func sets
 *
 * Maps trees leaf by leaf to one of the same structure, in the order of
 * gyre_tree_flatten(). Where there are nodes, the first tree's makes the new one. @func
 * returns a new tree, or a reference of one of the leaves that it is given.  Inside of a
 * traced function @error may be left %NULL: the trace keeps the error, and the first tree
 * stands for the result.
 *
 * Returns: (transfer full): a new tree, or %NULL
 */
GyreTree *
gyre_tree_map (GyreTree *const  *trees,
               guint             n_trees,
               GyreTreeMapFunc   func,
               gpointer          data,
               GError          **error)
{
  GError *local = NULL;
  GyreTree *result;

  g_return_val_if_fail (trees != NULL && n_trees > 0, NULL);
  g_return_val_if_fail (func != NULL, NULL);

  result = map_alike (trees, n_trees, func, data, &local);
  if (result != NULL)
    return result;

  if (error == NULL && gyre_tree_keeps_errors ())
    {
      gyre_tree_keep_error (local);
      return trees[0];
    }

  g_propagate_error (error, local);
  return NULL;
}

typedef struct
{
  GPtrArray *leaves;
  guint      next;
} Unflatten;

static GyreTree *
take_leaf (const char       *path,
           GyreTree *const  *leaves,
           guint             n_trees,
           gpointer          data,
           GError          **error)
{
  Unflatten *unflatten = data;

  return gyre_tree_ref (g_ptr_array_index (unflatten->leaves, unflatten->next++));
}

/**
 * gyre_tree_unflatten:
 * @structure: a tree
 * @leaves: (element-type GyreTree): as many trees as @structure has leaves
 * @error: %GYRE_ERROR_TREE if there are more or fewer
 *
 * Makes a tree like @structure with other leaves, which are in the order of
 * gyre_tree_flatten().
 *
 * Returns: (transfer full): a new tree, or %NULL
 */
GyreTree *
gyre_tree_unflatten (GyreTree   *structure,
                     GPtrArray  *leaves,
                     GError    **error)
{
  Unflatten unflatten = { leaves, 0 };
  Map map = { NULL, 1, take_leaf, TRUE, &unflatten, error };
  guint n_leaves;

  g_return_val_if_fail (structure != NULL, NULL);
  g_return_val_if_fail (leaves != NULL, NULL);

  n_leaves = gyre_tree_n_leaves (structure);
  if (n_leaves != leaves->len)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
                   "gyre_tree_unflatten: %u leaves for a structure of %u",
                   leaves->len, n_leaves);
      return NULL;
    }

  return run_map (&map, &structure);
}
