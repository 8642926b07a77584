/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-layer.h>

#include "base/gyre-tree-private.h"
#include "nn/gyre-init-private.h"
#include "nn/gyre-scope-private.h"
#include "nn/gyre-sequential-private.h"

GyreTensor *
gyre_model_scope_apply (GyreModelScope *self,
                        GyreLayer      *model,
                        GyreTensor     *x)
{
  GyreScope *root = gyre_scope_new_root (self);

  if (GYRE_IS_SEQUENTIAL (model))
    return GYRE_LAYER_GET_CLASS (model)->apply (model, root, x);

  return gyre_layer_apply (model, root, x);
}

/* Traces the model on an input of this shape, to find what it declares. */
static gboolean
trace_declarations (GyreModelScope   *scope,
                    GyreLayer        *model,
                    const GyreShape  *input_shape,
                    GyreDtype         input_dtype,
                    GError          **error)
{
  gyre_owner_push (scope->graph->arena);
  gyre_graph_push (scope->graph);
  gyre_model_scope_apply (scope, model, gyre_graph_input (scope->graph, "x", input_dtype,
                                                          input_shape));
  gyre_graph_pop ();
  gyre_owner_pop ();

  if (scope->graph->error == NULL)
    return TRUE;

  g_propagate_error (error, g_error_copy (scope->graph->error));
  return FALSE;
}

static gboolean
make_numbers (const GyreDeclaration  *declaration,
              GyreTree               *into,
              GyreKey                 root,
              GError                **error)
{
  GyreKey key = gyre_key_fold_in_path (root, declaration->path);
  g_autofree float *numbers =
    gyre_init_make (&declaration->init, &declaration->shape, key, error);
  g_autoptr (GyreArray) array = NULL;
  GyreTree *leaf;

  if (numbers == NULL)
    {
      g_prefix_error (error, "%s: ", declaration->path);
      return FALSE;
    }

  array = gyre_array_new (GYRE_F32, declaration->shape, numbers);
  leaf = gyre_tree_new_array (array);
  gyre_tree_set_path (into, declaration->path, leaf);
  gyre_tree_drop (leaf);

  return TRUE;
}

static GyreTree *
make_trees (GPtrArray  *declarations,
            GyreKey     root,
            GError    **error)
{
  g_autoptr (GyreTree) params = gyre_tree_new_dict ();
  g_autoptr (GyreTree) state = gyre_tree_new_dict ();

  for (guint i = 0; i < declarations->len; i++)
    {
      const GyreDeclaration *declaration = g_ptr_array_index (declarations, i);
      GyreTree *into = declaration->kind == GYRE_SCOPE_PARAM ? params : state;

      if (!make_numbers (declaration, into, root, error))
        return NULL;
    }

  return gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                          GYRE_TREE_ENTRY ("state", state), NULL);
}

/**
 * gyre_model_init:
 * @model: a model
 * @input_shape: of a batch of any size; only what comes after the first dimension counts
 * @input_dtype: its dtype
 * @key: the root of all parameters' keys
 * @error: what the layers say of the input: %GYRE_ERROR_SHAPE, …
 *
 * Finds what the model declares by tracing it, and makes the numbers on the host: a
 * parameter's key is fold_in (key, crc32 (path)), so it doesn't depend on other layers.
 *
 * Returns: (transfer full): {"params": {…}, "state": {…}} of f32 arrays, or %NULL
 */
GyreTree *
gyre_model_init (GyreLayer  *model,
                 GyreShape   input_shape,
                 GyreDtype   input_dtype,
                 GyreKey     key,
                 GError    **error)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GPtrArray) declarations = g_ptr_array_new ();
  GyreModelScope scope = { .graph = graph, .declarations = declarations };
  GyreTree *trees = NULL;

  g_return_val_if_fail (GYRE_IS_LAYER (model), NULL);

  gyre_owner_push (NULL);
  if (trace_declarations (&scope, model, &input_shape, input_dtype, error))
    trees = make_trees (declarations, key, error);
  gyre_owner_pop ();

  return trees;
}

static void
copy_leaf (const char *path,
           GyreTree   *leaf,
           gpointer    data)
{
  gyre_tree_set_path (data, path, leaf);
}

/* The state after: what was set, and the rest as it was. */
static GyreTree *
collect_state (GyreModelScope *scope)
{
  GyreTree *after = gyre_tree_new_dict ();

  if (scope->state != NULL)
    gyre_tree_foreach (scope->state, copy_leaf, after);

  for (guint i = 0; i < scope->declarations->len; i++)
    {
      const GyreDeclaration *declaration = g_ptr_array_index (scope->declarations, i);

      if (declaration->kind == GYRE_SCOPE_STATE && declaration->next != NULL)
        gyre_tree_set_path (after, declaration->path,
                            gyre_tree_new_tensor (declaration->next));
    }

  return after;
}

/**
 * gyre_model_apply: (skip)
 * @model: a model
 * @params: "params" of what gyre_model_init() made, as tensors
 * @state: (nullable): "state" of it
 * @x: the input
 * @training: whether this is a training step: dropout drops, statistics are updated
 * @key: (nullable): u32[2], from which each layer's key is folded; may be %NULL where
 *   nothing is random
 * @state_out: (out) (optional): the model state after the step
 *
 * Traces what the model computes; for use inside a traced function. An error (a missing
 * parameter, shapes that don't fit) is kept on the trace and names the layer's path.
 *
 * Returns: (transfer none): the output
 */
GyreTensor *
gyre_model_apply (GyreLayer   *model,
                  GyreTree    *params,
                  GyreTree    *state,
                  GyreTensor  *x,
                  gboolean     training,
                  GyreTensor  *key,
                  GyreTree   **state_out)
{
  g_autoptr (GPtrArray) declarations = g_ptr_array_new ();
  GyreModelScope scope = { .params = params, .state = state, .key = key,
                           .training = training, .declarations = declarations };
  GyreTensor *y;

  g_return_val_if_fail (GYRE_IS_LAYER (model), x);
  g_return_val_if_fail (params != NULL && x != NULL, x);

  scope.graph = x->graph;
  y = gyre_model_scope_apply (&scope, model, x);
  if (state_out != NULL)
    *state_out = collect_state (&scope);

  return y;
}
