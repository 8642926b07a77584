/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <glib-object.h>

#include <gyre/gyre-types.h>

G_BEGIN_DECLS

#define GYRE_TYPE_TREE (gyre_tree_get_type ())

/**
 * GyreTree:
 *
 * A pytree: a nested structure of dictionaries, lists and leaves.  A leaf is a
 * #GyreArray (a value), a #GyreTensor (inside a traced function), nothing, or a
 * *node*: an object that implements #GyreNode and stands for the tree that it
 * flattens to.  Dictionaries keep the order of insertion for printing; flattening
 * visits keys in sorted order, as JAX does.  Reference counted.
 *
 * A tree made inside a traced function belongs to the trace: nothing is to be freed.
 */
typedef enum
{
  GYRE_TREE_NONE,
  GYRE_TREE_DICT,
  GYRE_TREE_LIST,
  GYRE_TREE_ARRAY,
  GYRE_TREE_TENSOR,
  GYRE_TREE_NODE
} GyreTreeKind;

#define GYRE_TYPE_NODE (gyre_node_get_type ())
GYRE_API
G_DECLARE_INTERFACE (GyreNode, gyre_node, GYRE, NODE, GObject)

/**
 * GyreNodeInterface:
 * @flatten: (transfer full): the node's contents as a tree
 * @unflatten: (transfer full): a new node like @self with the contents @tree, of the
 *   structure that @flatten gave
 *
 * A registered node of trees: an object that passes through steps like any tree. Its
 * contents don't change once it is in a tree: what @flatten gave is kept.
 */
struct _GyreNodeInterface
{
  GTypeInterface parent_iface;

  GyreTree *(*flatten)   (GyreNode *self);
  GyreNode *(*unflatten) (GyreNode *self,
                          GyreTree *tree);
};

GYRE_API GyreTree *gyre_node_flatten   (GyreNode *self);
GYRE_API GyreNode *gyre_node_unflatten (GyreNode *self,
                                        GyreTree *tree);

/* Called for each leaf; returns the new leaf's tree (transfer full), or NULL + error.
 * That is a new tree, or a reference of one of the leaves. */
typedef GyreTree *(*GyreTreeMapFunc)     (const char      *path,
                                          GyreTree *const *leaves,
                                          guint            n_trees,
                                          gpointer         data,
                                          GError         **error);
/* Such as gyre_add () */
typedef GyreTensor *(*GyreTensorFunc2)   (GyreTensor *a,
                                          GyreTensor *b);
typedef void      (*GyreTreeForeachFunc) (const char *path,
                                          GyreTree   *leaf,
                                          gpointer    data);

GYRE_API GType     gyre_tree_get_type   (void);
GYRE_API GyreTree *gyre_tree_ref        (GyreTree *self);
GYRE_API void      gyre_tree_unref      (GyreTree *self);
/* As g_set_object (): *place holds tree from here on, and drops what it held. */
GYRE_API void      gyre_tree_replace    (GyreTree **place, GyreTree *tree);

GYRE_API GyreTree *gyre_tree_new_none   (void);
GYRE_API GyreTree *gyre_tree_new_dict   (void);
GYRE_API GyreTree *gyre_tree_new_list   (void);
GYRE_API GyreTree *gyre_tree_new_array  (GyreArray  *array);   /* refs */
GYRE_API GyreTree *gyre_tree_new_tensor (GyreTensor *tensor);
GYRE_API GyreTree *gyre_tree_new_node   (gpointer    node);    /* refs; a GyreNode */

/* gyre_tree_build (GYRE_TENSOR_ENTRY ("loss", loss), GYRE_NODE_ENTRY ("state", state),
 *                  NULL) */
#define GYRE_TREE_TAKE                 0x100   /* beside a kind: not ref'ed */
#define GYRE_TREE_ENTRY(name, tree)    (name), GYRE_TREE_DICT, (gpointer) (tree)
#define GYRE_ARRAY_ENTRY(name, array)  (name), GYRE_TREE_ARRAY, (gpointer) (array)
/* An array that the tree takes over, for GYRE_NEW_ARRAY_ENTRY ("x", gyre_array_new …). */
#define GYRE_NEW_ARRAY_ENTRY(name, array) \
  (name), (GYRE_TREE_ARRAY | GYRE_TREE_TAKE), (gpointer) (array)
#define GYRE_TENSOR_ENTRY(name, value) (name), GYRE_TREE_TENSOR, (gpointer) (value)
#define GYRE_NODE_ENTRY(name, node)    (name), GYRE_TREE_NODE, (gpointer) (node)
GYRE_API GyreTree *gyre_tree_build (const char *first_name,
                                    ...) G_GNUC_NULL_TERMINATED;

/* Setters ref what they are given; they are for a tree that is still being built. */
GYRE_API void gyre_tree_set        (GyreTree *self, const char *name, GyreTree   *child);
GYRE_API void gyre_tree_set_array  (GyreTree *self, const char *name, GyreArray  *array);
GYRE_API void gyre_tree_set_tensor (GyreTree *self, const char *name, GyreTensor *tensor);
GYRE_API void gyre_tree_set_node   (GyreTree *self, const char *name, gpointer    node);
GYRE_API void gyre_tree_append     (GyreTree *self, GyreTree *child);
/* Sets the leaf at a path such as "dense_0/kernel", making dictionaries on the way. */
GYRE_API void gyre_tree_set_path   (GyreTree *self, const char *path, GyreTree *child);

GYRE_API GyreTreeKind gyre_tree_get_kind     (GyreTree *self);
GYRE_API guint        gyre_tree_get_n        (GyreTree *self);
GYRE_API GyreTree    *gyre_tree_get_nth      (GyreTree *self, guint i);
GYRE_API const char  *gyre_tree_get_nth_name (GyreTree *self, guint i);

/* Look-ups by path ("params/dense_0/kernel", "layers/0"; nodes are looked into).
 * A missing path or another kind is a programmer error (critical, NULL) except for
 * gyre_tree_lookup (), which returns NULL.  Nothing is transferred. */
GYRE_API GyreTree   *gyre_tree_lookup     (GyreTree *self, const char *path);
GYRE_API GyreTree   *gyre_tree_get_tree   (GyreTree *self, const char *path);
GYRE_API GyreTensor *gyre_tree_get_tensor (GyreTree *self, const char *path);
GYRE_API GyreArray  *gyre_tree_get_array  (GyreTree *self, const char *path);
GYRE_API gpointer    gyre_tree_get_node   (GyreTree *self, const char *path);
#define gyre_tree_get(self, path) gyre_tree_get_tensor (self, path)

/* A NULL path is the tree itself: for a tree that is a leaf. */
GYRE_API GyreTensor *gyre_tree_as_tensor  (GyreTree *self);
GYRE_API GyreArray  *gyre_tree_as_array   (GyreTree *self);
GYRE_API gpointer    gyre_tree_as_node    (GyreTree *self);

/* Leaves (arrays, tensors) in JAX's order; nodes are looked into, NONE has no leaves. */
GYRE_API guint       gyre_tree_n_leaves       (GyreTree            *self);
GYRE_API GPtrArray  *gyre_tree_flatten        (GyreTree            *self,
                                               GPtrArray          **paths);
GYRE_API GyreTree   *gyre_tree_unflatten      (GyreTree            *structure,
                                               GPtrArray           *leaves,
                                               GError             **error);
GYRE_API void        gyre_tree_foreach        (GyreTree            *self,
                                               GyreTreeForeachFunc  func,
                                               gpointer             data);
GYRE_API GyreTree   *gyre_tree_map            (GyreTree *const     *trees,
                                               guint                n_trees,
                                               GyreTreeMapFunc      func,
                                               gpointer             data,
                                               GError             **error);
/* Inside a traced function: gyre_tree_map2 (sgd, params, grads) */
GYRE_API GyreTree   *gyre_tree_map2           (GyreTensorFunc2      func,
                                               GyreTree            *a,
                                               GyreTree            *b);
GYRE_API gboolean    gyre_tree_same_structure (GyreTree            *a,
                                               GyreTree            *b,
                                               GError             **error);
GYRE_API char       *gyre_tree_to_string      (GyreTree            *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreTree, gyre_tree_unref)

G_END_DECLS
