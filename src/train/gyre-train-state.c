/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-train-state-private.h"

#include "base/gyre-arena-private.h"
#include "base/gyre-tree-private.h"

static void gyre_train_state_node_init (GyreNodeInterface *iface);

G_DEFINE_TYPE_WITH_CODE (
  GyreTrainState, gyre_train_state, G_TYPE_OBJECT,
  G_ADD_PRIVATE (GyreTrainState)
  G_IMPLEMENT_INTERFACE (GYRE_TYPE_NODE, gyre_train_state_node_init))

GyreTrainStatePrivate *
gyre_train_state_get_private (GyreTrainState *self)
{
  return gyre_train_state_get_instance_private (self);
}

static GyreTrainStatePrivate *
get_private (gpointer self)
{
  return gyre_train_state_get_instance_private (self);
}

/* JAX's names, and with them JAX's order of leaves. */
static void
gyre_train_state_real_flatten (GyreTrainState *self,
                               GyreTree       *tree)
{
  GyreTrainStatePrivate *priv = get_private (self);

  gyre_tree_set (tree, "step", priv->step);
  gyre_tree_set (tree, "params", priv->params);
  gyre_tree_set (tree, "opt_state", priv->opt_state);
  gyre_tree_set (tree, "model_state", priv->model_state);
  for (guint i = 0; i < gyre_tree_get_n (priv->fields); i++)
    gyre_tree_set (tree, gyre_tree_get_nth_name (priv->fields, i),
                   gyre_tree_get_nth (priv->fields, i));
}

/* Which entries are fields, and not a subclass's, is known from the state before. */
static void
take_fields (GyreTrainStatePrivate *priv,
             GyreTree              *like,
             GyreTree              *tree)
{
  for (guint i = 0; i < gyre_tree_get_n (like); i++)
    {
      const char *name = gyre_tree_get_nth_name (like, i);

      gyre_tree_set (priv->fields, name, gyre_tree_get_tree (tree, name));
    }
}

static void
gyre_train_state_real_unflatten (GyreTrainState *self,
                                 GyreTrainState *like,
                                 GyreTree       *tree)
{
  GyreTrainStatePrivate *priv = get_private (self);

  gyre_tree_replace (&priv->step, gyre_tree_get_tree (tree, "step"));
  gyre_tree_replace (&priv->params, gyre_tree_get_tree (tree, "params"));
  gyre_tree_replace (&priv->opt_state, gyre_tree_get_tree (tree, "opt_state"));
  gyre_tree_replace (&priv->model_state, gyre_tree_get_tree (tree, "model_state"));
  take_fields (priv, get_private (like)->fields, tree);
  g_set_object (&priv->model, get_private (like)->model);
  g_set_object (&priv->optimizer, get_private (like)->optimizer);
}

static GyreTree *
gyre_train_state_flatten (GyreNode *node)
{
  GyreTrainState *self = GYRE_TRAIN_STATE (node);
  GyreTree *tree = gyre_tree_new_dict ();

  GYRE_TRAIN_STATE_GET_CLASS (self)->flatten (self, tree);

  return tree;
}

static GyreNode *
gyre_train_state_unflatten (GyreNode *node,
                            GyreTree *tree)
{
  GyreTrainState *like = GYRE_TRAIN_STATE (node);
  GyreTrainState *self = g_object_new (G_OBJECT_TYPE (like), NULL);

  GYRE_TRAIN_STATE_GET_CLASS (self)->unflatten (self, like, tree);
  gyre_owner_adopt (self, g_object_unref);

  return GYRE_NODE (self);
}

static void
gyre_train_state_node_init (GyreNodeInterface *iface)
{
  iface->flatten = gyre_train_state_flatten;
  iface->unflatten = gyre_train_state_unflatten;
}

static void
gyre_train_state_finalize (GObject *object)
{
  GyreTrainStatePrivate *priv = get_private (object);

  gyre_tree_replace (&priv->step, NULL);
  gyre_tree_replace (&priv->params, NULL);
  gyre_tree_replace (&priv->opt_state, NULL);
  gyre_tree_replace (&priv->model_state, NULL);
  gyre_tree_replace (&priv->fields, NULL);
  g_clear_object (&priv->model);
  g_clear_object (&priv->optimizer);

  G_OBJECT_CLASS (gyre_train_state_parent_class)->finalize (object);
}

static void
gyre_train_state_class_init (GyreTrainStateClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gyre_train_state_finalize;
  klass->flatten = gyre_train_state_real_flatten;
  klass->unflatten = gyre_train_state_real_unflatten;
}

static void
gyre_train_state_init (GyreTrainState *self)
{
  /* not even inside of a traced function is it the trace's */
  gyre_owner_push (NULL);
  get_private (self)->fields = gyre_tree_new_dict ();
  gyre_owner_pop ();
}

static GyreTree *
new_step (void)
{
  g_autoptr (GyreArray) zero = gyre_array_new_scalar (GYRE_I32, 0);

  return gyre_tree_new_array (zero);
}

/**
 * gyre_train_state_new_from_params:
 * @params: f32 arrays
 * @model_state: (nullable): arrays
 * @optimizer: an optimizer
 *
 * The state of a program that makes its own parameters, before the first update.
 *
 * Returns: (transfer full): a new state
 */
GyreTrainState *
gyre_train_state_new_from_params (GyreTree      *params,
                                  GyreTree      *model_state,
                                  GyreOptimizer *optimizer)
{
  GyreTrainState *self = g_object_new (GYRE_TYPE_TRAIN_STATE, NULL);
  GyreTrainStatePrivate *priv = get_private (self);

  g_return_val_if_fail (params != NULL && GYRE_IS_OPTIMIZER (optimizer), self);

  /* not even inside a traced function is it the trace's */
  gyre_owner_push (NULL);
  priv->step = new_step ();
  priv->params = gyre_tree_ref (params);
  priv->opt_state = gyre_optimizer_init (optimizer, params);
  priv->model_state =
      model_state != NULL ? gyre_tree_ref (model_state) : gyre_tree_new_dict ();
  priv->optimizer = g_object_ref (optimizer);
  gyre_owner_pop ();

  return self;
}

/**
 * gyre_train_state_new:
 * @model: a model
 * @optimizer: an optimizer
 * @input_shape: of a batch, as for gyre_model_init()
 * @input_dtype: its dtype
 * @seed: the root key of the parameters is that of gyre_key_new()
 * @error: what gyre_model_init() says
 *
 * Makes the parameters, the model state and the optimizer's state on the host, before the
 * first update.
 *
 * Returns: (transfer full): a new state, or %NULL
 */
GyreTrainState *
gyre_train_state_new (GyreLayer      *model,
                      GyreOptimizer  *optimizer,
                      GyreShape       input_shape,
                      GyreDtype       input_dtype,
                      guint64         seed,
                      GError        **error)
{
  g_autoptr (GyreTree) trees = NULL;
  GyreTrainState *self;

  g_return_val_if_fail (GYRE_IS_LAYER (model), NULL);
  g_return_val_if_fail (GYRE_IS_OPTIMIZER (optimizer), NULL);

  trees = gyre_model_init (model, input_shape, input_dtype, gyre_key_new (seed), error);
  if (trees == NULL)
    return NULL;

  self =
      gyre_train_state_new_from_params (gyre_tree_get_tree (trees, "params"),
                                        gyre_tree_get_tree (trees, "state"), optimizer);
  get_private (self)->model = g_object_ref (model);

  return self;
}

/**
 * gyre_train_state_get_step: (skip)
 * @self: a state inside a traced function
 *
 * Returns: (transfer none): i32[]: how many updates there were
 */
GyreTensor *
gyre_train_state_get_step (GyreTrainState *self)
{
  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);

  return gyre_tree_as_tensor (get_private (self)->step);
}

/**
 * gyre_train_state_get_params:
 * @self: a state
 *
 * Returns: (transfer none): the parameters
 */
GyreTree *
gyre_train_state_get_params (GyreTrainState *self)
{
  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);

  return get_private (self)->params;
}

/**
 * gyre_train_state_get_model_state:
 * @self: a state
 *
 * Returns: (transfer none): what the model keeps beside parameters, such as running
 *   statistics; an empty dictionary if it keeps nothing
 */
GyreTree *
gyre_train_state_get_model_state (GyreTrainState *self)
{
  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);

  return get_private (self)->model_state;
}

/**
 * gyre_train_state_get_opt_state:
 * @self: a state
 *
 * Returns: (transfer none): what the optimizer remembers
 */
GyreTree *
gyre_train_state_get_opt_state (GyreTrainState *self)
{
  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);

  return get_private (self)->opt_state;
}

/**
 * gyre_train_state_get_model:
 * @self: a state
 *
 * Returns: (transfer none) (nullable): the model
 */
GyreLayer *
gyre_train_state_get_model (GyreTrainState *self)
{
  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);

  return get_private (self)->model;
}

/**
 * gyre_train_state_get_optimizer:
 * @self: a state
 *
 * Returns: (transfer none): the optimizer
 */
GyreOptimizer *
gyre_train_state_get_optimizer (GyreTrainState *self)
{
  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);

  return get_private (self)->optimizer;
}

/**
 * gyre_train_state_replicate:
 * @self: a state of arrays
 * @mesh: a mesh of one axis
 * @error: what gyre_device_put() says
 *
 * Puts a copy on each device: each leaf gets a leading dimension, one a device along the
 * first axis of @mesh, as gyre_step_pmap() takes it.
 *
 * Returns: (transfer full): a new state, or %NULL
 */
GyreTrainState *
gyre_train_state_replicate (GyreTrainState  *self,
                            GyreMesh        *mesh,
                            GError         **error)
{
  g_autoptr (GyreTree) tree = NULL;
  g_autoptr (GyreTree) copies = NULL;

  g_return_val_if_fail (GYRE_IS_TRAIN_STATE (self), NULL);
  g_return_val_if_fail (GYRE_IS_MESH (mesh), NULL);

  tree = gyre_tree_new_node (self);
  copies = gyre_replicate (tree, mesh, error);
  if (copies == NULL)
    return NULL;

  return g_object_ref (gyre_tree_as_node (copies));
}
