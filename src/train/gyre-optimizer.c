/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-optimizer.h>

#include "ir/gyre-graph-private.h"
#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"
#include "train/gyre-rule-private.h"

/**
 * GyreOptimizer:
 *
 * Turns gradients into updates of parameters.  What it remembers from one update to the
 * next is a tree, of which it is itself no part: the object holds hyperparameters alone.
 */

static void
class_init (gpointer klass,
            gpointer data)
{
  gyre_property_class_init (klass);
}

/* Not by G_DEFINE_TYPE: gyre_optimizer_init () is a function of its own. */
GType
gyre_optimizer_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type))
    {
      const GTypeInfo info = {
        .class_size = sizeof (GyreOptimizerClass),
        .class_init = class_init,
        .instance_size = sizeof (GyreOptimizer)
      };

      g_once_init_leave (&type, g_type_register_static (G_TYPE_OBJECT, "GyreOptimizer",
                                                        &info, G_TYPE_FLAG_ABSTRACT));
    }

  return type;
}

static void
find_tensor (const char *path,
             GyreTree   *leaf,
             gpointer    data)
{
  GyreGraph **graph = data;

  if (gyre_tree_get_kind (leaf) == GYRE_TREE_TENSOR)
    *graph = gyre_tree_as_tensor (leaf)->graph;
}

GyreGraph *
gyre_train_find_graph (GyreTree *tree)
{
  GyreGraph *graph = NULL;

  gyre_tree_foreach (tree, find_tensor, &graph);
  return graph;
}

/**
 * gyre_optimizer_get_type_name:
 * @self: an optimizer
 *
 * Returns: its type's name in lines, such as "adam"
 */
const char *
gyre_optimizer_get_type_name (GyreOptimizer *self)
{
  g_return_val_if_fail (GYRE_IS_OPTIMIZER (self), NULL);

  return gyre_registry_get_name (G_OBJECT_TYPE (self));
}

/**
 * gyre_optimizer_init:
 * @self: an optimizer
 * @params: f32 parameters: arrays, or tensors inside a traced function
 *
 * What @self remembers before the first update, of the same kind as @params: moments in
 * the shapes of the parameters, a count i32[].
 *
 * Returns: (transfer full): the optimizer's state
 */
GyreTree *
gyre_optimizer_init (GyreOptimizer *self,
                     GyreTree      *params)
{
  g_return_val_if_fail (GYRE_IS_OPTIMIZER (self), NULL);
  g_return_val_if_fail (params != NULL, NULL);

  return GYRE_OPTIMIZER_GET_CLASS (self)->init (self, params);
}

/* A structure that differs is an error of the trace. */
static gboolean
check_grads (GyreTree *grads,
             GyreTree *params)
{
  GyreGraph *graph = gyre_train_find_graph (grads);
  GError *error = NULL;

  if (gyre_tree_same_structure (grads, params, &error))
    return TRUE;

  g_prefix_error (&error,
                  "gyre_optimizer_update: gradients (first) and parameters (second): ");
  if (graph == NULL)
    graph = gyre_graph_get_current ();
  gyre_graph_fail (graph, error);

  return FALSE;
}

/**
 * gyre_optimizer_update: (skip)
 * @self: an optimizer
 * @grads: f32 gradients, of the structure of @params
 * @state: what gyre_optimizer_init() or the last update gave
 * @params: the parameters
 * @state_out: (out): the state after the update
 *
 * Turns gradients into updates, element by element; for use inside a traced function.
 * Structures that differ are an error of the trace that names the first path.
 *
 * Returns: (transfer none): the updates, for gyre_apply_updates()
 */
GyreTree *
gyre_optimizer_update (GyreOptimizer  *self,
                       GyreTree       *grads,
                       GyreTree       *state,
                       GyreTree       *params,
                       GyreTree      **state_out)
{
  g_return_val_if_fail (GYRE_IS_OPTIMIZER (self), grads);
  g_return_val_if_fail (grads != NULL && state != NULL && params != NULL, grads);
  g_return_val_if_fail (state_out != NULL, grads);

  *state_out = state;
  if (!check_grads (grads, params))
    return grads;

  return GYRE_OPTIMIZER_GET_CLASS (self)->update (self, grads, state, params, state_out);
}

static GyreTree *
add_leaf (const char       *path,
          GyreTree *const  *leaves,
          guint             n_trees,
          gpointer          data,
          GError          **error)
{
  return gyre_tree_new_tensor (gyre_add (gyre_tree_as_tensor (leaves[0]),
                                         gyre_tree_as_tensor (leaves[1])));
}

/**
 * gyre_apply_updates: (skip)
 * @params: f32 parameters
 * @updates: what gyre_optimizer_update() gave
 *
 * Adds updates to parameters; for use inside a traced function.
 *
 * Returns: (transfer none): the new parameters
 */
GyreTree *
gyre_apply_updates (GyreTree *params,
                    GyreTree *updates)
{
  GyreTree *const trees[] = { params, updates };
  GError *error = NULL;
  GyreTree *sum;

  g_return_val_if_fail (params != NULL && updates != NULL, params);

  sum = gyre_tree_map (trees, 2, add_leaf, NULL, &error);
  if (sum != NULL)
    return sum;

  g_prefix_error (&error, "gyre_apply_updates: ");
  gyre_graph_fail (gyre_graph_get_current (), error);
  return params;
}

/**
 * gyre_optimizer_type_find:
 * @name: a name in lines, such as "adam"
 * @error: %GYRE_ERROR_UNKNOWN, with the nearest name there is
 *
 * Returns: the type, whose plugin is loaded now if it is of one; 0 on error
 */
GType
gyre_optimizer_type_find (const char  *name,
                          GError     **error)
{
  g_return_val_if_fail (name != NULL, 0);

  gyre_rule_ensure_types ();
  return gyre_registry_find (GYRE_TYPE_OPTIMIZER, "optimizer", name, error);
}

/**
 * gyre_optimizer_type_list:
 *
 * Returns: (transfer full): the names of all optimizers, sorted
 */
char **
gyre_optimizer_type_list (void)
{
  gyre_rule_ensure_types ();
  return gyre_registry_list (GYRE_TYPE_OPTIMIZER);
}

/**
 * gyre_sgd_new:
 * @learning_rate: 0 or more
 * @momentum: 0 to 1; 0: none
 * @nesterov: whether momentum looks ahead
 *
 * t = g + momentum t; the update is -rate t, or with Nesterov's -rate (g + momentum t).
 *
 * Returns: (transfer full): a new optimizer
 */
GyreOptimizer *
gyre_sgd_new (double   learning_rate,
              double   momentum,
              gboolean nesterov)
{
  return g_object_new (gyre_rule_get_type_of ("sgd"), "learning-rate", learning_rate,
                       "momentum", momentum, "nesterov", nesterov, NULL);
}

/**
 * gyre_adam_new:
 * @learning_rate: 0 or more
 *
 * Adam with b1 0.9, b2 0.999 and eps 1e-8, which are properties of the object.
 *
 * Returns: (transfer full): a new optimizer
 */
GyreOptimizer *
gyre_adam_new (double learning_rate)
{
  return g_object_new (gyre_rule_get_type_of ("adam"), "learning-rate", learning_rate,
                       NULL);
}
