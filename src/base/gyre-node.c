/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-tree.h>

G_DEFINE_INTERFACE (GyreNode, gyre_node, G_TYPE_OBJECT)

static void
gyre_node_default_init (GyreNodeInterface *iface)
{
}

/**
 * gyre_node_flatten:
 * @self: a node
 *
 * Gives the contents of a node: its leaves, and what structure they are in.
 *
 * Returns: (transfer full): a tree
 */
GyreTree *
gyre_node_flatten (GyreNode *self)
{
  g_return_val_if_fail (GYRE_IS_NODE (self), NULL);

  return GYRE_NODE_GET_IFACE (self)->flatten (self);
}

/**
 * gyre_node_unflatten:
 * @self: a node
 * @tree: contents, of the structure that gyre_node_flatten() gave
 *
 * Makes a node like @self with other contents.
 *
 * Returns: (transfer full): a new node
 */
GyreNode *
gyre_node_unflatten (GyreNode *self,
                     GyreTree *tree)
{
  g_return_val_if_fail (GYRE_IS_NODE (self), NULL);
  g_return_val_if_fail (tree != NULL, NULL);

  return GYRE_NODE_GET_IFACE (self)->unflatten (self, tree);
}
