/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/gyre-autodiff-private.h"

#include "base/gyre-tree-private.h"

static void
drop_trees (GPtrArray *trees)
{
  for (guint i = 0; i < trees->len; i++)
    gyre_tree_drop (g_ptr_array_index (trees, i));
  g_ptr_array_unref (trees);
}

/* A tree of the structure of params with these leaves. */
static GyreTree *
rebuild (GyreTree          *params,
         GyreTensor *const *leaves,
         guint              n)
{
  GPtrArray *trees = g_ptr_array_new ();
  GyreTree *result;

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (trees, gyre_tree_new_tensor (leaves[i]));
  result = gyre_tree_unflatten (params, trees, NULL);
  drop_trees (trees);

  return result;
}

static void
fail_leaf (GyreGraph  *graph,
           const char *path,
           GyreTree   *leaf)
{
  g_autofree char *is = gyre_tree_leaf_to_string (leaf);

  gyre_graph_fail_with (graph, GYRE_ERROR_SHAPE,
                        "gyre_value_and_grad: the parameter \"%s\" is %s, and only f32 "
                        "tensors have gradients: leave it out of the params, or pass it "
                        "through data", path, is);
}

/* A copy of each parameter: what is differentiated is what func makes of those, whatever
 * else was computed from the parameters themselves. */
static GyreTensor **
copy_params (GyreTree  *params,
             GyreGraph *graph,
             guint     *n)
{
  g_autoptr (GPtrArray) paths = NULL;
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (params, &paths);
  GyreTensor **copies = g_new0 (GyreTensor *, leaves->len + 1);

  for (guint i = 0; i < leaves->len; i++)
    {
      GyreTree *leaf = g_ptr_array_index (leaves, i);
      GyreTensor *tensor = NULL;

      if (gyre_tree_get_kind (leaf) == GYRE_TREE_TENSOR)
        tensor = gyre_tree_as_tensor (leaf);
      if (tensor == NULL || (!tensor->poison && !gyre_dtype_is_float (tensor->dtype)))
        fail_leaf (graph, g_ptr_array_index (paths, i), leaf);

      copies[i] = tensor != NULL
                    ? gyre_graph_emit (graph, &gyre_prim_identity, &tensor, 1, NULL)
                    : gyre_graph_fail (graph, NULL);
    }
  *n = leaves->len;

  return copies;
}

/**
 * gyre_value_and_grad:
 * @func: (scope call): computes the loss of parameters
 * @params: a tree of f32 tensors; nodes are looked into
 * @data: handed to @func
 * @value: (out) (optional) (transfer none): the loss, f32[]
 * @aux: (out) (optional) (transfer none): what else @func gave
 *
 * Calls @func once, and differentiates the loss by the leaves of @params, and only by
 * those that it is handed: what @data holds is constant, be it computed from the same
 * parameters. For use inside of a traced function.  A parameter that isn't f32, and a
 * loss that is no scalar, are errors of the trace that say what to do.
 *
 * Returns: (transfer none): the gradient, a tree of the structure of @params
 */
GyreTree *
gyre_value_and_grad (GyreLossFunc  func,
                     GyreTree     *params,
                     gpointer      data,
                     GyreTensor  **value,
                     GyreTree    **aux)
{
  GyreGraph *graph = gyre_graph_require ("gyre_value_and_grad");
  g_autofree GyreTensor **wrt = NULL;
  g_autofree GyreTensor **grads = NULL;
  GyreTree *copies, *further = NULL, *result;
  GyreTensor *loss;
  guint n;

  if (value != NULL)
    *value = graph != NULL ? gyre_graph_fail (graph, NULL) : NULL;
  if (aux != NULL)
    *aux = NULL;
  g_return_val_if_fail (func != NULL && params != NULL, NULL);
  if (graph == NULL)
    return NULL;

  wrt = copy_params (params, graph, &n);
  copies = rebuild (params, wrt, n);
  loss = func (copies, &further, data);
  if (loss == NULL)
    loss = gyre_graph_fail_with (graph, GYRE_ERROR_TRACE,
                                 "gyre_value_and_grad: the function returned NULL: it "
                                 "must return the loss, f32[]");

  grads = g_new0 (GyreTensor *, n + 1);
  gyre_autodiff_check_loss (loss, "gyre_value_and_grad");
  gyre_grad_of (loss, wrt, n, grads);
  result = rebuild (params, grads, n);
  gyre_tree_drop (copies);

  if (value != NULL)
    *value = loss;
  if (aux != NULL)
    *aux = further;

  return result;
}
