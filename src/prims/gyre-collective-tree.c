/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-ops.h>
#include <gyre/gyre-tree.h>

#include "ir/gyre-graph-private.h"

/* Collectives of all leaves of a tree of tensors. */

typedef struct Cross Cross;

struct Cross
{
  GyreTensor  *(*function) (GyreTensor  *x,
                            const Cross *self);
  const char  *axis;
  GyreTensor  *count;
  const guint *pairs;
  guint        n_pairs;
};

#define APPLY(NAME)                     \
  static GyreTensor *                   \
  apply_##NAME (GyreTensor  *x,         \
                const Cross *self)      \
  {                                     \
    return gyre_##NAME (x, self->axis); \
  }

APPLY (psum)
APPLY (pmean)
APPLY (pmax)
APPLY (pmin)
APPLY (all_gather)
APPLY (psum_scatter)
APPLY (all_to_all)

static GyreTensor *
apply_pmean_weighted (GyreTensor  *x,
                      const Cross *self)
{
  return gyre_pmean_weighted (x, self->count, self->axis);
}

static GyreTensor *
apply_ppermute (GyreTensor  *x,
                const Cross *self)
{
  return gyre_ppermute (x, self->axis, self->pairs, self->n_pairs);
}

static GyreTree *
map_leaf (const char       *path,
          GyreTree *const  *leaves,
          guint             n_trees,
          gpointer          data,
          GError          **error)
{
  const Cross *cross = data;

  if (gyre_tree_get_kind (leaves[0]) != GYRE_TREE_TENSOR)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
                   "the leaf '%s' is not a tensor: only "
                   "values of the function being traced can be reduced over '%s'",
                   path, cross->axis);
      return NULL;
    }

  return gyre_tree_new_tensor (
      cross->function (gyre_tree_as_tensor (leaves[0]), cross));
}

static GyreTree *
map_tree (GyreTree    *tree,
          const Cross *cross)
{
  GyreGraph *graph = gyre_graph_require ("a collective over an axis");
  GError *error = NULL;
  GyreTree *result;

  g_return_val_if_fail (tree != NULL && cross->axis != NULL, tree);
  if (graph == NULL)
    return tree;

  result = gyre_tree_map (&tree, 1, map_leaf, (gpointer) cross, &error);
  if (result != NULL)
    return result;

  gyre_graph_fail (graph, error);
  return tree;
}

/**
 * gyre_psum_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis
 *
 * Returns: (transfer none): @tree with gyre_psum() of each leaf; it belongs to the trace
 */
GyreTree *
gyre_psum_tree (GyreTree   *tree,
                const char *axis)
{
  return map_tree (tree, &(Cross) { apply_psum, axis });
}

/**
 * gyre_pmean_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis
 *
 * Returns: (transfer none): @tree with gyre_pmean() of each leaf; it belongs to the trace
 */
GyreTree *
gyre_pmean_tree (GyreTree   *tree,
                 const char *axis)
{
  return map_tree (tree, &(Cross) { apply_pmean, axis });
}

/**
 * gyre_pmean_weighted_tree:
 * @tree: a tree of tensors
 * @count: over how many samples the member's leaves are means
 * @axis: the name of a manual axis
 *
 * Returns: (transfer none): @tree with gyre_pmean_weighted() of each leaf; it belongs to
 *   the trace
 */
GyreTree *
gyre_pmean_weighted_tree (GyreTree   *tree,
                          GyreTensor *count,
                          const char *axis)
{
  return map_tree (tree, &(Cross) { apply_pmean_weighted, axis, count });
}

/**
 * gyre_pmax_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis, or of several
 *
 * Returns: (transfer none): @tree with gyre_pmax() of each leaf; it belongs to the trace
 */
GyreTree *
gyre_pmax_tree (GyreTree   *tree,
                const char *axis)
{
  return map_tree (tree, &(Cross) { apply_pmax, axis });
}

/**
 * gyre_pmin_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis, or of several
 *
 * Returns: (transfer none): @tree with gyre_pmin() of each leaf; it belongs to the trace
 */
GyreTree *
gyre_pmin_tree (GyreTree   *tree,
                const char *axis)
{
  return map_tree (tree, &(Cross) { apply_pmin, axis });
}

/**
 * gyre_all_gather_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis, or of several
 *
 * Returns: (transfer none): @tree with gyre_all_gather() of each leaf; it belongs to
 *   the trace
 */
GyreTree *
gyre_all_gather_tree (GyreTree   *tree,
                      const char *axis)
{
  return map_tree (tree, &(Cross) { apply_all_gather, axis });
}

/**
 * gyre_psum_scatter_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis, or of several
 *
 * Returns: (transfer none): @tree with gyre_psum_scatter() of each leaf; it belongs to
 *   the trace
 */
GyreTree *
gyre_psum_scatter_tree (GyreTree   *tree,
                        const char *axis)
{
  return map_tree (tree, &(Cross) { apply_psum_scatter, axis });
}

/**
 * gyre_all_to_all_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis, or of several
 *
 * Returns: (transfer none): @tree with gyre_all_to_all() of each leaf; it belongs to
 *   the trace
 */
GyreTree *
gyre_all_to_all_tree (GyreTree   *tree,
                      const char *axis)
{
  return map_tree (tree, &(Cross) { apply_all_to_all, axis });
}

/**
 * gyre_ppermute_tree:
 * @tree: a tree of tensors
 * @axis: the name of a manual axis, or of several
 * @pairs: (array): source and destination, one pair after the other
 * @n_pairs: number of pairs
 *
 * Returns: (transfer none): @tree with gyre_ppermute() of each leaf; it belongs to the
 *   trace
 */
GyreTree *
gyre_ppermute_tree (GyreTree    *tree,
                    const char  *axis,
                    const guint *pairs,
                    guint        n_pairs)
{
  g_return_val_if_fail (pairs != NULL || n_pairs == 0, NULL);

  return map_tree (tree, &(Cross) { apply_ppermute, axis, NULL, pairs, n_pairs });
}
