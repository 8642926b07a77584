/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-arena-private.h"
#include "base/gyre-tree-private.h"

/* A row for each kind of tree; src/array and src/trace fill in theirs. */
static struct
{
  const char          *article;
  GBoxedCopyFunc       ref;
  GBoxedFreeFunc       unref;
  GyreTreeToStringFunc to_string;
} kinds[] = {
  [GYRE_TREE_NONE]   = { "nothing", NULL, NULL, NULL },
  [GYRE_TREE_DICT]   = { "a dictionary", NULL, NULL, NULL },
  [GYRE_TREE_LIST]   = { "a list", NULL, NULL, NULL },
  [GYRE_TREE_ARRAY]  = { "an array", NULL, NULL, NULL },
  [GYRE_TREE_TENSOR] = { "a tensor", NULL, NULL, NULL },
  [GYRE_TREE_NODE]   = { "a node", g_object_ref, g_object_unref, NULL },
};

void
gyre_tree_set_array_funcs (GBoxedCopyFunc       ref,
                           GBoxedFreeFunc       unref,
                           GyreTreeToStringFunc to_string)
{
  kinds[GYRE_TREE_ARRAY].ref = ref;
  kinds[GYRE_TREE_ARRAY].unref = unref;
  kinds[GYRE_TREE_ARRAY].to_string = to_string;
}

void
gyre_tree_set_tensor_to_string (GyreTreeToStringFunc to_string)
{
  kinds[GYRE_TREE_TENSOR].to_string = to_string;
}

gpointer
gyre_tree_leaf_ref (GyreTreeKind kind,
                    gpointer     leaf)
{
  return kinds[kind].ref != NULL ? kinds[kind].ref (leaf) : leaf;
}

void
gyre_tree_leaf_unref (GyreTreeKind kind,
                      gpointer     leaf)
{
  if (kinds[kind].unref != NULL)
    kinds[kind].unref (leaf);
}

char *
gyre_tree_leaf_to_string (GyreTree *self)
{
  GyreTreeToStringFunc to_string = kinds[self->kind].to_string;

  return to_string != NULL ? to_string (self->leaf) : gyre_tree_describe (self);
}

char *
gyre_tree_describe (GyreTree *self)
{
  const char *article = kinds[self->kind].article;

  if (self->kind == GYRE_TREE_DICT || self->kind == GYRE_TREE_LIST)
    return g_strdup_printf ("%s of %u", article, self->n_entries);
  if (self->kind == GYRE_TREE_NODE)
    return g_strdup_printf ("%s %s", article, G_OBJECT_TYPE_NAME (self->leaf));

  return g_strdup (article);
}

gboolean
gyre_tree_is_leaf (GyreTree *self)
{
  return self->kind == GYRE_TREE_ARRAY || self->kind == GYRE_TREE_TENSOR;
}

/* A node is flattened once for each tree that holds it, so that what a look-up returns
 * lives as long as that tree.  Two threads may both flatten it: the first one stays. */
GyreTree *
gyre_tree_get_view (GyreTree *self)
{
  GyreTree *view;

  if (self->kind != GYRE_TREE_NODE)
    return self;

  if (g_atomic_pointer_get (&self->view) == NULL)
    {
      view = gyre_node_flatten (self->leaf);
      gyre_tree_ref (view);
      if (!g_atomic_pointer_compare_and_exchange (&self->view, NULL, view))
        gyre_tree_unref (view);
      gyre_tree_drop (view);
    }

  return g_atomic_pointer_get (&self->view);
}

static GyreTreeErrorFunc keep_error;

void
gyre_tree_set_keep_error (GyreTreeErrorFunc func)
{
  keep_error = func;
}

gboolean
gyre_tree_keeps_errors (void)
{
  return keep_error != NULL && gyre_owner_get () != NULL;
}

GyreTensor *
gyre_tree_keep_error (GError *error)
{
  return keep_error (error);
}
