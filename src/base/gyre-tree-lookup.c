/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-tree-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

static GyreTree *
get_element (GyreTree   *self,
             const char *name,
             gsize       length)
{
  gsize i = 0;

  if (length == 0 || length > 9 || (name[0] == '0' && length > 1))
    return NULL;

  for (gsize n = 0; n < length; n++)
    {
      if (!g_ascii_isdigit (name[n]))
        return NULL;
      i = 10 * i + (gsize) (name[n] - '0');
    }

  return i < self->n_entries ? self->entries[i].child : NULL;
}

GyreTree *
gyre_tree_get_child (GyreTree   *self,
                     const char *name,
                     gsize       length)
{
  GyreTree *view = gyre_tree_get_view (self);
  gboolean found;
  guint rank;

  while (view->kind == GYRE_TREE_NODE)
    view = gyre_tree_get_view (view);

  if (view->kind == GYRE_TREE_LIST)
    return get_element (view, name, length);
  if (view->kind != GYRE_TREE_DICT)
    return NULL;

  rank = gyre_tree_find_rank (view, name, length, &found);
  return found ? gyre_tree_get_sorted (view, rank)->child : NULL;
}

/**
 * gyre_tree_lookup:
 * @self: a tree
 * @path: a path, such as "params/dense_0/kernel" or "layers/0"; "" is @self
 *
 * Follows a path. Nodes on the way are looked into.
 *
 * Returns: (transfer none) (nullable): the tree at @path, or %NULL if there is none
 */
GyreTree *
gyre_tree_lookup (GyreTree   *self,
                  const char *path)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (path != NULL, NULL);

  while (self != NULL && *path != '\0')
    {
      gsize length = strcspn (path, "/");

      self = gyre_tree_get_child (self, path, length);
      path += length;
      if (*path == '/' && *++path == '\0')
        return NULL;
    }

  return self;
}

/* Inside of a trace it is the step's error, and a tensor stands for what isn't there. */
static gpointer G_GNUC_PRINTF (2, 3)
complain (GyreTreeKind  kind,
          const char   *format,
          ...)
{
  g_autofree char *text = NULL;
  GyreTensor *tensor;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);

  if (!gyre_tree_keeps_errors ())
    {
      g_critical ("%s", text);
      return NULL;
    }

  tensor = gyre_tree_keep_error (
      g_error_new_literal (GYRE_ERROR, GYRE_ERROR_TREE, text));
  return kind == GYRE_TREE_TENSOR ? tensor : NULL;
}

static gpointer
complain_of_path (GyreTree     *self,
                  const char   *path,
                  GyreTreeKind  kind)
{
  g_autofree char *text = gyre_tree_to_string (self);

  return complain (kind, "the tree has no \"%s\": %s", path, text);
}

/**
 * gyre_tree_get_tree:
 * @self: a tree
 * @path: (nullable): a path to something; %NULL is @self
 *
 * As gyre_tree_lookup(), but a path that leads nowhere is a programmer error; inside of a
 * traced function it is the error of the step.
 *
 * Returns: (transfer none): the tree at @path
 */
GyreTree *
gyre_tree_get_tree (GyreTree   *self,
                    const char *path)
{
  GyreTree *tree;

  g_return_val_if_fail (self != NULL, NULL);

  tree = path == NULL ? self : gyre_tree_lookup (self, path);

  return tree != NULL ? tree : complain_of_path (self, path, GYRE_TREE_NONE);
}

static gpointer
get_leaf (GyreTree     *self,
          const char   *path,
          GyreTreeKind  kind,
          const char   *wanted)
{
  GyreTree *tree;
  g_autofree char *found = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  tree = path == NULL ? self : gyre_tree_lookup (self, path);
  if (tree == NULL)
    return complain_of_path (self, path, kind);
  if (tree->kind == kind)
    return tree->leaf;

  found = gyre_tree_describe (tree);
  return complain (kind, "\"%s\" is %s, not %s", path != NULL ? path : "", found, wanted);
}

/**
 * gyre_tree_get_tensor:
 * @self: a tree
 * @path: (nullable): the path of a tensor; %NULL is @self
 *
 * A path that leads nowhere, or to something else, is the error of the step; a tensor
 * without a value stands for it.
 *
 * Returns: (transfer none): the tensor at @path, which must be there
 */
GyreTensor *
gyre_tree_get_tensor (GyreTree   *self,
                      const char *path)
{
  return get_leaf (self, path, GYRE_TREE_TENSOR, "a tensor");
}

/**
 * gyre_tree_get_array:
 * @self: a tree
 * @path: (nullable): the path of an array; %NULL is @self
 *
 * Returns: (transfer none): the array at @path, which must be there
 */
GyreArray *
gyre_tree_get_array (GyreTree   *self,
                     const char *path)
{
  return get_leaf (self, path, GYRE_TREE_ARRAY, "an array");
}

/**
 * gyre_tree_get_node:
 * @self: a tree
 * @path: (nullable): the path of a node; %NULL is @self
 *
 * Returns: (transfer none) (type GyreNode): the node at @path, which must be there
 */
gpointer
gyre_tree_get_node (GyreTree   *self,
                    const char *path)
{
  return get_leaf (self, path, GYRE_TREE_NODE, "a node");
}

/**
 * gyre_tree_as_tensor:
 * @self: a tree that is a tensor
 *
 * Returns: (transfer none): the tensor
 */
GyreTensor *
gyre_tree_as_tensor (GyreTree *self)
{
  return gyre_tree_get_tensor (self, NULL);
}

/**
 * gyre_tree_as_array:
 * @self: a tree that is an array
 *
 * Returns: (transfer none): the array
 */
GyreArray *
gyre_tree_as_array (GyreTree *self)
{
  return gyre_tree_get_array (self, NULL);
}

/**
 * gyre_tree_as_node:
 * @self: a tree that is a node
 *
 * Returns: (transfer none) (type GyreNode): the node
 */
gpointer
gyre_tree_as_node (GyreTree *self)
{
  return gyre_tree_get_node (self, NULL);
}
