/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-tree-private.h"

#include <string.h>

static gboolean
differ (const char  *path,
        const char  *a,
        const char  *b,
        GError     **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
               "tree structures differ at \"%s\": %s in the first, %s in the second",
               path, a, b);

  return FALSE;
}

/* The first name that only one of two dictionaries has. */
static gboolean
differ_by_name (GyreTree  *a,
                GyreTree  *b,
                guint      i,
                GString   *path,
                GError   **error)
{
  GyreTreeEntry *in_a = i < a->n_entries ? gyre_tree_get_sorted (a, i) : NULL;
  GyreTreeEntry *in_b = i < b->n_entries ? gyre_tree_get_sorted (b, i) : NULL;
  gboolean only_a = in_b == NULL || (in_a != NULL && strcmp (in_a->name, in_b->name) < 0);
  GyreTreeEntry *entry = only_a ? in_a : in_b;
  g_autofree char *what = gyre_tree_describe (entry->child);

  gyre_tree_push_step (path, entry->name, i);
  return differ (path->str, only_a ? what : "missing", only_a ? "missing" : what, error);
}

static gboolean
same_kind (GyreTree *a,
           GyreTree *b)
{
  if (gyre_tree_is_leaf (a) && gyre_tree_is_leaf (b))
    return TRUE;
  if (a->kind == GYRE_TREE_NODE && b->kind == GYRE_TREE_NODE)
    return G_OBJECT_TYPE (a->leaf) == G_OBJECT_TYPE (b->leaf);
  if (a->kind == GYRE_TREE_LIST && b->kind == GYRE_TREE_LIST)
    return a->n_entries == b->n_entries;

  return a->kind == b->kind;
}

static gboolean same_trees (GyreTree *a, GyreTree *b, GString *path, GError **error);

static gboolean
same_children (GyreTree  *a,
               GyreTree  *b,
               GString   *path,
               GError   **error)
{
  for (guint i = 0; i < MAX (a->n_entries, b->n_entries); i++)
    {
      gsize length;

      if (a->kind == GYRE_TREE_DICT &&
          (i >= a->n_entries || i >= b->n_entries ||
           strcmp (gyre_tree_get_sorted (a, i)->name, gyre_tree_get_sorted (b, i)->name)))
        return differ_by_name (a, b, i, path, error);

      length = gyre_tree_push_step (path, gyre_tree_get_sorted (a, i)->name, i);
      if (!same_trees (gyre_tree_get_sorted (a, i)->child,
                       gyre_tree_get_sorted (b, i)->child, path, error))
        return FALSE;
      g_string_truncate (path, length);
    }

  return TRUE;
}

static gboolean
same_trees (GyreTree  *a,
            GyreTree  *b,
            GString   *path,
            GError   **error)
{
  if (!same_kind (a, b))
    {
      g_autofree char *in_a = gyre_tree_describe (a);
      g_autofree char *in_b = gyre_tree_describe (b);

      return differ (path->str, in_a, in_b, error);
    }
  if (a->kind == GYRE_TREE_NODE)
    return same_trees (gyre_tree_get_view (a), gyre_tree_get_view (b), path, error);

  return same_children (a, b, path, error);
}

/**
 * gyre_tree_same_structure:
 * @a: a tree
 * @b: a tree
 * @error: %GYRE_ERROR_TREE, with the first path that differs and what each side has
 *
 * Compares all but the leaves: names, lengths of lists, types of nodes, and where there
 * are leaves. An array stands for a tensor, and the order of insertion doesn't matter.
 *
 * Returns: whether the structures are the same
 */
gboolean
gyre_tree_same_structure (GyreTree  *a,
                          GyreTree  *b,
                          GError   **error)
{
  GString *path;
  gboolean same;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  path = g_string_new (NULL);
  same = same_trees (a, b, path, error);
  g_string_free (path, TRUE);

  return same;
}
