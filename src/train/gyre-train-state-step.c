/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-train-state-private.h"

#include "base/gyre-tree-private.h"

/* What a step does with a state: it makes another. */

/* The same contents in a new object, the subclass's too. */
static GyreTrainState *
copy_state (GyreTrainState *self)
{
  GyreTree *tree = gyre_node_flatten (GYRE_NODE (self));
  GyreTrainState *copy = GYRE_TRAIN_STATE (gyre_node_unflatten (GYRE_NODE (self), tree));

  gyre_tree_drop (tree);
  return copy;
}

/**
 * gyre_train_state_apply: (skip)
 * @self: a state with a model, inside a traced function
 * @params: (nullable): parameters; %NULL for those of @self
 * @x: the input
 * @training: whether this is a training step: dropout drops, statistics are updated
 * @key: (nullable): u32[2], as for gyre_model_apply()
 * @model_state: (out) (optional): the model state after it, for
 *   gyre_train_state_with_model_state()
 *
 * gyre_model_apply() of the model and the model state of @self. A function that
 * gyre_value_and_grad() differentiates gives the parameters that it is handed.
 *
 * Returns: (transfer none): the output
 */
GyreTensor *
gyre_train_state_apply (GyreTrainState  *self,
                        GyreTree        *params,
                        GyreTensor      *x,
                        gboolean         training,
                        GyreTensor      *key,
                        GyreTree       **model_state)
{
  GyreTrainStatePrivate *priv;

  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), x);

  priv = gyre_train_state_get_private (self);
  g_return_val_if_fail (GYRE_IS_LAYER (priv->model), x);

  return gyre_model_apply (priv->model, params != NULL ? params : priv->params,
                           priv->model_state, x, training, key, model_state);
}

/**
 * gyre_train_state_apply_gradients: (skip)
 * @self: a state inside a traced function
 * @grads: gradients, of the structure of the parameters
 *
 * Traces an update: the optimizer's, and one more step.
 *
 * Returns: (transfer none): the state after it, which belongs to the trace
 */
GyreTrainState *
gyre_train_state_apply_gradients (GyreTrainState *self,
                                  GyreTree       *grads)
{
  GyreTrainState *after;
  GyreTrainStatePrivate *priv;
  GyreTree *updates, *opt_state;
  GyreTensor *step;

  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);
  g_return_val_if_fail (grads != NULL, self);

  after = copy_state (self);
  priv = gyre_train_state_get_private (after);
  step = gyre_add (gyre_train_state_get_step (self), gyre_constant (GYRE_I32, 1));
  updates = gyre_optimizer_update (priv->optimizer, grads, priv->opt_state, priv->params,
                                   &opt_state);
  gyre_tree_replace (&priv->step, gyre_tree_new_tensor (step));
  gyre_tree_replace (&priv->params, gyre_apply_updates (priv->params, updates));
  gyre_tree_replace (&priv->opt_state, opt_state);

  return after;
}

/**
 * gyre_train_state_with_model_state: (skip)
 * @self: a state inside a traced function
 * @model_state: what gyre_model_apply() gave as the state after
 *
 * Returns: (transfer none): @self with another model state, which belongs to the trace
 */
GyreTrainState *
gyre_train_state_with_model_state (GyreTrainState *self,
                                   GyreTree       *model_state)
{
  GyreTrainState *after;

  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);
  g_return_val_if_fail (model_state != NULL, self);

  after = copy_state (self);
  gyre_tree_replace (&gyre_train_state_get_private (after)->model_state, model_state);

  return after;
}

static gboolean
is_taken (const char *name)
{
  static const char *const names[] = { "step", "params", "opt_state", "model_state",
                                       NULL };

  return g_strv_contains (names, name);
}

/**
 * gyre_train_state_with_field: (skip)
 * @self: a state
 * @name: a name without '/', other than those that every state has
 * @tree: a tree
 *
 * A field of the program's own: it is replicated, sharded, donated and saved with the
 * rest of the state, and is at @name in its tree. (A field whose value should have a
 * type and a getter is better an entry of a subclass.)
 *
 * Returns: (transfer full): @self with @tree at @name; inside a traced function it
 *   belongs to the trace
 */
GyreTrainState *
gyre_train_state_with_field (GyreTrainState *self,
                             const char     *name,
                             GyreTree       *tree)
{
  GyreTrainState *after;

  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);
  g_return_val_if_fail (name != NULL && !is_taken (name) && tree != NULL, NULL);

  after = copy_state (self);
  gyre_tree_set (gyre_train_state_get_private (after)->fields, name, tree);

  return after;
}

/**
 * gyre_train_state_get_field:
 * @self: a state
 * @name: a name
 *
 * Returns: (transfer none) (nullable): what gyre_train_state_with_field() put there
 */
GyreTree *
gyre_train_state_get_field (GyreTrainState *self,
                            const char     *name)
{
  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self) && name != NULL, NULL);

  return gyre_tree_lookup (gyre_train_state_get_private (self)->fields, name);
}
