/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>

#include <gyre/gyre-tree.h>

G_BEGIN_DECLS

typedef struct
{
  char     *name;   /* NULL in a list */
  GyreTree *child;
} GyreTreeEntry;

struct _GyreTree
{
  GyreTreeKind    kind;
  gatomicrefcount ref_count;

  gpointer       leaf;        /* the array, tensor or node */
  GyreTree      *view;        /* what the node flattens to; NULL until it is asked for */

  GyreTreeEntry *entries;     /* of a dictionary or list, as inserted */
  guint         *sorted;      /* of a dictionary: indices into entries, by name */
  guint          n_entries;
  guint          n_allocated;

  GyreTree      *next_dying;  /* links those that are being destroyed */
};

/* What a leaf needs to know about arrays, which are above this folder: src/array sets
 * these once, before the first tree of arrays is made.  to_string gives "f32[3, 4]". */
typedef char *(*GyreTreeToStringFunc) (gconstpointer leaf);

void gyre_tree_set_array_funcs      (GBoxedCopyFunc       ref,
                                     GBoxedFreeFunc       unref,
                                     GyreTreeToStringFunc to_string);
void gyre_tree_set_tensor_to_string (GyreTreeToStringFunc to_string);

gpointer gyre_tree_leaf_ref       (GyreTreeKind kind, gpointer leaf);
void     gyre_tree_leaf_unref     (GyreTreeKind kind, gpointer leaf);
char    *gyre_tree_leaf_to_string (GyreTree *self);

/* Inside of traces: takes an error for which a call has no other way out, and gives a
 * tensor that stands for what there would have been. */
typedef GyreTensor *(*GyreTreeErrorFunc) (GError *error);

void        gyre_tree_set_keep_error (GyreTreeErrorFunc func);
gboolean    gyre_tree_keeps_errors   (void);            /* a trace is running */
GyreTensor *gyre_tree_keep_error     (GError *error);   /* takes it */

/* "an array", "a list of 3"…, for messages. */
char     *gyre_tree_describe  (GyreTree *self);
/* An array or a tensor. */
gboolean  gyre_tree_is_leaf   (GyreTree *self);
/* What a node flattens to; all other trees are their own view. */
GyreTree *gyre_tree_get_view  (GyreTree *self);

/* For code that runs both inside and outside of traces: gives up what a constructor, map
 * or node returned.  Inside of a trace that was never ours. */
void      gyre_tree_drop      (GyreTree *self);

/* Adds the entries of a list of arguments as of gyre_tree_build (). */
void      gyre_tree_set_entries (GyreTree *self, const char *first_name, va_list args);

/* Children in the order of flattening: sorted names, or the list's. */
GyreTreeEntry *gyre_tree_get_sorted (GyreTree *self, guint i);
/* The rank of a name among a dictionary's sorted ones, or the one it would have. */
guint          gyre_tree_find_rank  (GyreTree *self, const char *name, gsize length,
                                     gboolean *found);
/* The child at one step of a path, nodes being looked into; NULL if there is none. */
GyreTree      *gyre_tree_get_child  (GyreTree *self, const char *name, gsize length);
/* Lengthens a path by the step to the i-th child; returns the length to truncate to. */
gsize          gyre_tree_push_step  (GString *path, const char *name, guint i);

G_END_DECLS
