/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-arena-private.h"
#include "base/gyre-tree-private.h"

#include <string.h>

G_DEFINE_BOXED_TYPE (GyreTree, gyre_tree, gyre_tree_ref, gyre_tree_unref)

static GyreTree *
tree_new (GyreTreeKind kind,
          gpointer     leaf)
{
  GyreTree *self = g_new0 (GyreTree, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->kind = kind;
  self->leaf = leaf;
  gyre_owner_adopt (self, (GDestroyNotify) gyre_tree_unref);

  return self;
}

/**
 * gyre_tree_new_none:
 *
 * Makes a tree that holds nothing. It has no leaves, but is part of the structure.
 *
 * Returns: (transfer full): a new tree
 */
GyreTree *
gyre_tree_new_none (void)
{
  return tree_new (GYRE_TREE_NONE, NULL);
}

/**
 * gyre_tree_new_dict:
 *
 * Makes an empty dictionary, to be filled by gyre_tree_set() and its kin.
 *
 * Returns: (transfer full): a new tree
 */
GyreTree *
gyre_tree_new_dict (void)
{
  return tree_new (GYRE_TREE_DICT, NULL);
}

/**
 * gyre_tree_new_list:
 *
 * Makes an empty list, to be filled by gyre_tree_append().
 *
 * Returns: (transfer full): a new tree
 */
GyreTree *
gyre_tree_new_list (void)
{
  return tree_new (GYRE_TREE_LIST, NULL);
}

/**
 * gyre_tree_new_array:
 * @array: an array; the tree takes a reference of its own
 *
 * Returns: (transfer full): a new tree that is a leaf
 */
GyreTree *
gyre_tree_new_array (GyreArray *array)
{
  g_return_val_if_fail (array != NULL, NULL);

  return tree_new (GYRE_TREE_ARRAY, gyre_tree_leaf_ref (GYRE_TREE_ARRAY, array));
}

/**
 * gyre_tree_new_tensor:
 * @tensor: a tensor, which its trace owns
 *
 * Returns: (transfer full): a new tree that is a leaf
 */
GyreTree *
gyre_tree_new_tensor (GyreTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  return tree_new (GYRE_TREE_TENSOR, tensor);
}

/**
 * gyre_tree_new_node:
 * @node: (type GyreNode): a node; the tree takes a reference of its own
 *
 * Returns: (transfer full): a new tree that stands for what @node flattens to
 */
GyreTree *
gyre_tree_new_node (gpointer node)
{
  g_return_val_if_fail (GYRE_IS_NODE (node), NULL);

  return tree_new (GYRE_TREE_NODE, gyre_tree_leaf_ref (GYRE_TREE_NODE, node));
}

/**
 * gyre_tree_ref:
 * @self: a tree
 *
 * Takes one more reference. Any thread may.
 *
 * Returns: (transfer full): @self
 */
GyreTree *
gyre_tree_ref (GyreTree *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/* Puts a tree that lost its last reference on the list. */
static void
lose (GyreTree  *self,
      GyreTree **dying)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  self->next_dying = *dying;
  *dying = self;
}

/**
 * gyre_tree_unref:
 * @self: (nullable) (transfer full): a tree
 *
 * Gives up a reference; with the last one the tree is freed, and its children lose one
 * each. A tree of any depth takes no more stack than a leaf.
 */
void
gyre_tree_unref (GyreTree *self)
{
  GyreTree *dying = NULL;

  lose (self, &dying);

  while (dying != NULL)
    {
      GyreTree *tree = dying;

      dying = tree->next_dying;
      for (guint i = 0; i < tree->n_entries; i++)
        {
          lose (tree->entries[i].child, &dying);
          g_free (tree->entries[i].name);
        }
      lose (tree->view, &dying);
      gyre_tree_leaf_unref (tree->kind, tree->leaf);
      g_free (tree->entries);
      g_free (tree->sorted);
      g_free (tree);
    }
}

/**
 * gyre_tree_replace:
 * @place: (inout) (nullable): where a tree is held
 * @tree: (nullable): another
 *
 * Drops the tree that @place holds and refs @tree in its place: for a loop that hands a
 * step's result to the next run.
 */
void
gyre_tree_replace (GyreTree **place,
                   GyreTree  *tree)
{
  GyreTree *before;

  g_return_if_fail (place != NULL);

  before = *place;
  *place = tree != NULL ? gyre_tree_ref (tree) : NULL;
  if (before != NULL)
    gyre_tree_unref (before);
}

void
gyre_tree_drop (GyreTree *self)
{
  if (gyre_owner_get () == NULL)
    gyre_tree_unref (self);
}

static void
insert_entry (GyreTree   *self,
              const char *name,
              GyreTree   *child)
{
  if (self->n_entries == self->n_allocated)
    {
      self->n_allocated = MAX (4, 2 * self->n_allocated);
      self->entries = g_renew (GyreTreeEntry, self->entries, self->n_allocated);
      if (self->kind == GYRE_TREE_DICT)
        self->sorted = g_renew (guint, self->sorted, self->n_allocated);
    }

  self->entries[self->n_entries].name = g_strdup (name);
  self->entries[self->n_entries].child = gyre_tree_ref (child);
  self->n_entries++;
}

guint
gyre_tree_find_rank (GyreTree   *self,
                     const char *name,
                     gsize       length,
                     gboolean   *found)
{
  guint low = 0, high = self->n_entries;

  *found = FALSE;
  while (low < high && !*found)
    {
      guint middle = low + (high - low) / 2;
      const char *other = self->entries[self->sorted[middle]].name;
      int order = strncmp (other, name, length);

      if (order == 0 && other[length] != '\0')
        order = 1;
      *found = order == 0;
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }

  return high;
}

/**
 * gyre_tree_set:
 * @self: a dictionary
 * @name: a name without '/'
 * @child: a tree, of which @self takes a reference
 *
 * Adds @child under @name, or puts it in the place of what stood there.
 */
void
gyre_tree_set (GyreTree   *self,
               const char *name,
               GyreTree   *child)
{
  gboolean found;
  guint rank;

  g_return_if_fail (self != NULL && self->kind == GYRE_TREE_DICT);
  g_return_if_fail (name != NULL && name[0] != '\0' && strchr (name, '/') == NULL);
  g_return_if_fail (child != NULL && child != self);

  rank = gyre_tree_find_rank (self, name, strlen (name), &found);
  if (found)
    {
      GyreTreeEntry *entry = &self->entries[self->sorted[rank]];
      GyreTree *old = entry->child;

      entry->child = gyre_tree_ref (child);
      gyre_tree_unref (old);
      return;
    }

  insert_entry (self, name, child);
  memmove (self->sorted + rank + 1, self->sorted + rank,
           (self->n_entries - 1 - rank) * sizeof (guint));
  self->sorted[rank] = self->n_entries - 1;
}

/**
 * gyre_tree_append:
 * @self: a list
 * @child: a tree, of which @self takes a reference
 *
 * Adds @child at the end of the list.
 */
void
gyre_tree_append (GyreTree *self,
                  GyreTree *child)
{
  g_return_if_fail (self != NULL && self->kind == GYRE_TREE_LIST);
  g_return_if_fail (child != NULL && child != self);

  insert_entry (self, NULL, child);
}

/**
 * gyre_tree_get_kind:
 * @self: a tree
 *
 * Returns: what the tree is at its top
 */
GyreTreeKind
gyre_tree_get_kind (GyreTree *self)
{
  g_return_val_if_fail (self != NULL, GYRE_TREE_NONE);

  return self->kind;
}

/**
 * gyre_tree_get_n:
 * @self: a tree
 *
 * Returns: the number of children of a dictionary or a list; 0 for all else
 */
guint
gyre_tree_get_n (GyreTree *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_entries;
}

/**
 * gyre_tree_get_nth:
 * @self: a dictionary or a list
 * @i: index in the order of insertion
 *
 * Returns: (transfer none): the @i-th child
 */
GyreTree *
gyre_tree_get_nth (GyreTree *self,
                   guint     i)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (i < self->n_entries, NULL);

  return self->entries[i].child;
}

/**
 * gyre_tree_get_nth_name:
 * @self: a dictionary or a list
 * @i: index in the order of insertion
 *
 * Returns: (nullable): the name of the @i-th child; %NULL in a list
 */
const char *
gyre_tree_get_nth_name (GyreTree *self,
                        guint     i)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (i < self->n_entries, NULL);

  return self->entries[i].name;
}

GyreTreeEntry *
gyre_tree_get_sorted (GyreTree *self,
                      guint     i)
{
  return &self->entries[self->kind == GYRE_TREE_DICT ? self->sorted[i] : i];
}
