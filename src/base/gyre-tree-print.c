/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-tree-private.h"

static void print_tree (GString *text, GyreTree *tree);

static void
print_entries (GString  *text,
               GyreTree *tree)
{
  for (guint i = 0; i < tree->n_entries; i++)
    {
      if (i > 0)
        g_string_append (text, ", ");
      if (tree->entries[i].name != NULL)
        g_string_append_printf (text, "%s: ", tree->entries[i].name);
      print_tree (text, tree->entries[i].child);
    }
}

static void
print_leaf (GString  *text,
            GyreTree *tree)
{
  g_autofree char *leaf = gyre_tree_leaf_to_string (tree);

  g_string_append (text, leaf);
}

static void
print_tree (GString  *text,
            GyreTree *tree)
{
  static const char *const brackets[][2] = {
    [GYRE_TREE_NONE] = { "none", "" },
    [GYRE_TREE_DICT] = { "{", "}" },
    [GYRE_TREE_LIST] = { "[", "]" },
    [GYRE_TREE_NODE] = { "", "" },
    [GYRE_TREE_ARRAY] = { "", "" },
    [GYRE_TREE_TENSOR] = { "", "" },
  };

  if (tree->kind == GYRE_TREE_NODE)
    g_string_append_printf (text, "%s ", G_OBJECT_TYPE_NAME (tree->leaf));

  g_string_append (text, brackets[tree->kind][0]);
  if (gyre_tree_is_leaf (tree))
    print_leaf (text, tree);
  if (tree->kind == GYRE_TREE_NODE)
    print_tree (text, gyre_tree_get_view (tree));
  print_entries (text, tree);
  g_string_append (text, brackets[tree->kind][1]);
}

/**
 * gyre_tree_to_string:
 * @self: a tree
 *
 * Writes a tree on one line, as `{params: {kernel: f32[3, 4]}, layers: [none, none]}`.
 * Dictionaries have the order of insertion; a node is its type and what it flattens to.
 *
 * Returns: (transfer full): the text
 */
char *
gyre_tree_to_string (GyreTree *self)
{
  GString *text;

  g_return_val_if_fail (self != NULL, NULL);

  text = g_string_new (NULL);
  print_tree (text, self);

  return g_string_free (text, FALSE);
}
