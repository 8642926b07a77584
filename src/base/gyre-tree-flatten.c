/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-tree-private.h"

typedef struct
{
  GString             *path;
  GyreTreeForeachFunc  func;
  gpointer             data;
} Walk;

gsize
gyre_tree_push_step (GString    *path,
                     const char *name,
                     guint       i)
{
  gsize length = path->len;

  if (length > 0)
    g_string_append_c (path, '/');
  if (name != NULL)
    g_string_append (path, name);
  else
    g_string_append_printf (path, "%u", i);

  return length;
}

static void
walk_tree (Walk     *walk,
           GyreTree *tree)
{
  tree = gyre_tree_get_view (tree);
  if (tree->kind == GYRE_TREE_NODE)
    walk_tree (walk, tree);
  if (gyre_tree_is_leaf (tree))
    walk->func (walk->path->str, tree, walk->data);

  for (guint i = 0; i < tree->n_entries; i++)
    {
      GyreTreeEntry *entry = gyre_tree_get_sorted (tree, i);
      gsize length = gyre_tree_push_step (walk->path, entry->name, i);

      walk_tree (walk, entry->child);
      g_string_truncate (walk->path, length);
    }
}

/**
 * gyre_tree_foreach:
 * @self: a tree
 * @func: (scope call): what to call for each leaf, with its path
 * @data: handed to @func
 *
 * Visits the leaves, which are arrays and tensors, in the order of
 * gyre_tree_flatten(). The path of a tree that is a leaf itself is "".
 */
void
gyre_tree_foreach (GyreTree            *self,
                   GyreTreeForeachFunc  func,
                   gpointer             data)
{
  Walk walk = { NULL, func, data };

  g_return_if_fail (self != NULL);
  g_return_if_fail (func != NULL);

  walk.path = g_string_new (NULL);
  walk_tree (&walk, self);
  g_string_free (walk.path, TRUE);
}

static guint
count_leaves (GyreTree *tree)
{
  guint n = 0;

  tree = gyre_tree_get_view (tree);
  if (tree->kind == GYRE_TREE_NODE)
    return count_leaves (tree);

  for (guint i = 0; i < tree->n_entries; i++)
    n += count_leaves (tree->entries[i].child);

  return n + (gyre_tree_is_leaf (tree) ? 1 : 0);
}

/**
 * gyre_tree_n_leaves:
 * @self: a tree
 *
 * Returns: the number of arrays and tensors in @self, its nodes included
 */
guint
gyre_tree_n_leaves (GyreTree *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return count_leaves (self);
}

typedef struct
{
  GPtrArray *leaves;
  GPtrArray *paths;
} Flat;

static void
add_leaf (const char *path,
          GyreTree   *leaf,
          gpointer    data)
{
  Flat *flat = data;

  g_ptr_array_add (flat->leaves, gyre_tree_ref (leaf));
  if (flat->paths != NULL)
    g_ptr_array_add (flat->paths, g_strdup (path));
}

/**
 * gyre_tree_flatten:
 * @self: a tree
 * @paths: (out) (optional) (transfer container) (element-type utf8): the leaves' paths
 *
 * Lists the leaves in JAX's order: lists from the first to the last, dictionaries by
 * sorted names. Nodes are looked into; nothing, as of gyre_tree_new_none(), is no leaf.
 *
 * Returns: (transfer container) (element-type GyreTree): the leaves; both arrays own
 *   what is in them, inside a traced function too
 */
GPtrArray *
gyre_tree_flatten (GyreTree   *self,
                   GPtrArray **paths)
{
  Flat flat = { NULL, NULL };

  g_return_val_if_fail (self != NULL, NULL);

  flat.leaves = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_tree_unref);
  if (paths != NULL)
    flat.paths = *paths = g_ptr_array_new_with_free_func (g_free);
  gyre_tree_foreach (self, add_leaf, &flat);

  return flat.leaves;
}
