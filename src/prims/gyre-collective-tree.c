/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-ops.h>
#include <gyre/gyre-tree.h>

#include "ir/gyre-graph-private.h"

/* Collectives of all leaves of a tree of tensors. */

typedef struct
{
  const char *axis;
  GyreTensor *count;
  GyreTensor *(*function) (GyreTensor *x, GyreTensor *count, const char *axis);
} Cross;

static GyreTensor *
apply_psum (GyreTensor *x,
            GyreTensor *count,
            const char *axis)
{
  return gyre_psum (x, axis);
}

static GyreTensor *
apply_pmean (GyreTensor *x,
             GyreTensor *count,
             const char *axis)
{
  return gyre_pmean (x, axis);
}

#define APPLY(NAME)                                \
  static GyreTensor *                              \
  apply_##NAME (GyreTensor *x, GyreTensor *count,  \
                const char *axis)                  \
  {                                                \
    return gyre_##NAME (x, axis);                  \
  }

APPLY (pmax)
APPLY (pmin)
APPLY (all_gather)
APPLY (psum_scatter)
APPLY (all_to_all)

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
      cross->function (gyre_tree_as_tensor (leaves[0]), cross->count, cross->axis));
}

static GyreTree *
map_tree (GyreTree    *tree,
          const Cross *cross)
{
  GyreGraph *graph = gyre_graph_get_current ();
  GError *error = NULL;
  GyreTree *result;

  g_return_val_if_fail (tree != NULL && cross->axis != NULL && graph != NULL, NULL);

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
  return map_tree (tree, &(Cross) { axis, NULL, apply_psum });
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
  return map_tree (tree, &(Cross) { axis, NULL, apply_pmean });
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
  return map_tree (tree, &(Cross) { axis, count, gyre_pmean_weighted });
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
  return map_tree (tree, &(Cross) { axis, NULL, apply_pmax });
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
  return map_tree (tree, &(Cross) { axis, NULL, apply_pmin });
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
  return map_tree (tree, &(Cross) { axis, NULL, apply_all_gather });
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
  return map_tree (tree, &(Cross) { axis, NULL, apply_psum_scatter });
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
  return map_tree (tree, &(Cross) { axis, NULL, apply_all_to_all });
}
