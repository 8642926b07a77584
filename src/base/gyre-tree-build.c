/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-tree-private.h"

#include <stdarg.h>
#include <string.h>

#include "base/gyre-arena-private.h"

static GyreTree *
new_leaf (GyreTreeKind kind,
          gpointer     leaf)
{
  if (kind == GYRE_TREE_ARRAY)
    return gyre_tree_new_array (leaf);
  if (kind == GYRE_TREE_TENSOR)
    return gyre_tree_new_tensor (leaf);

  return gyre_tree_new_node (leaf);
}

static void
set_leaf (GyreTree     *self,
          const char   *name,
          GyreTreeKind  kind,
          gpointer      leaf)
{
  GyreTree *child = new_leaf (kind, leaf);

  if (child == NULL)
    return;

  gyre_tree_set (self, name, child);
  gyre_tree_drop (child);
}

/**
 * gyre_tree_set_array:
 * @self: a dictionary
 * @name: a name without '/'
 * @array: an array, of which @self takes a reference
 *
 * As gyre_tree_set(), with an array.
 */
void
gyre_tree_set_array (GyreTree   *self,
                     const char *name,
                     GyreArray  *array)
{
  set_leaf (self, name, GYRE_TREE_ARRAY, array);
}

/**
 * gyre_tree_set_tensor:
 * @self: a dictionary
 * @name: a name without '/'
 * @tensor: a tensor
 *
 * As gyre_tree_set(), with a tensor.
 */
void
gyre_tree_set_tensor (GyreTree   *self,
                      const char *name,
                      GyreTensor *tensor)
{
  set_leaf (self, name, GYRE_TREE_TENSOR, tensor);
}

/**
 * gyre_tree_set_node:
 * @self: a dictionary
 * @name: a name without '/'
 * @node: (type GyreNode): a node, of which @self takes a reference
 *
 * As gyre_tree_set(), with a node.
 */
void
gyre_tree_set_node (GyreTree   *self,
                    const char *name,
                    gpointer    node)
{
  set_leaf (self, name, GYRE_TREE_NODE, node);
}

static void
set_entry (GyreTree   *self,
           const char *name,
           int         form,
           gpointer    value)
{
  GyreTreeKind kind = (GyreTreeKind) (form & ~GYRE_TREE_TAKE);
  GyreTree *none;

  if (kind != GYRE_TREE_DICT)
    {
      set_leaf (self, name, kind, value);
      if (form != (int) kind && gyre_owner_get () == NULL)
        gyre_tree_leaf_unref (kind, value);
      return;
    }
  if (value != NULL)
    {
      gyre_tree_set (self, name, value);
      return;
    }

  none = gyre_tree_new_none ();
  gyre_tree_set (self, name, none);
  gyre_tree_drop (none);
}

void
gyre_tree_set_entries (GyreTree   *self,
                       const char *first_name,
                       va_list     args)
{
  for (const char *name = first_name; name != NULL; name = va_arg (args, const char *))
    {
      int form = va_arg (args, int);

      set_entry (self, name, form, va_arg (args, gpointer));
    }
}

/**
 * gyre_tree_build: (skip)
 * @first_name: (nullable): the first name
 * @...: the first value, and more of both, by the macros GYRE_TREE_ENTRY(),
 *   GYRE_ARRAY_ENTRY(), GYRE_NEW_ARRAY_ENTRY(), GYRE_TENSOR_ENTRY() and
 *   GYRE_NODE_ENTRY(), then %NULL
 *
 * Makes a dictionary in one go. It takes a reference of what it is given, except that a
 * new array is taken over; a tree that is %NULL becomes nothing, as of
 * gyre_tree_new_none().
 *
 * Returns: (transfer full): a new tree
 */
GyreTree *
gyre_tree_build (const char *first_name,
                 ...)
{
  GyreTree *self = gyre_tree_new_dict ();
  va_list args;

  va_start (args, first_name);
  gyre_tree_set_entries (self, first_name, args);
  va_end (args);

  return self;
}

/* The dictionary at one step of a path, which is made if there is nothing. */
static GyreTree *
enter (GyreTree   *self,
       const char *name)
{
  GyreTree *child = NULL;

  if (self->kind != GYRE_TREE_NODE)
    child = gyre_tree_get_child (self, name, strlen (name));

  if (child == NULL && self->kind == GYRE_TREE_DICT)
    {
      child = gyre_tree_new_dict ();
      gyre_tree_set (self, name, child);
      gyre_tree_drop (child);
    }

  return child;
}

/**
 * gyre_tree_set_path:
 * @self: a dictionary
 * @path: a path, such as "dense_0/kernel"
 * @child: a tree, of which @self takes a reference
 *
 * Sets what is at @path, making dictionaries on the way where there is nothing. What
 * is there on the way has to be a dictionary, or a list that is long enough.
 */
void
gyre_tree_set_path (GyreTree   *self,
                    const char *path,
                    GyreTree   *child)
{
  g_auto (GStrv) steps = NULL;
  guint n = 0;

  g_return_if_fail (self != NULL);
  g_return_if_fail (path != NULL && path[0] != '\0');
  g_return_if_fail (child != NULL);

  steps = g_strsplit (path, "/", -1);
  for (; self != NULL && steps[n + 1] != NULL; n++)
    self = enter (self, steps[n]);

  if (self == NULL || self->kind != GYRE_TREE_DICT)
    g_critical ("gyre_tree_set_path: \"%s\": there is no dictionary at its step \"%s\"",
                path, steps[n]);
  else
    gyre_tree_set (self, steps[n], child);
}
