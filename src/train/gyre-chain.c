/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-rule-private.h"

#include "base/gyre-tree-private.h"

#include <stdarg.h>

/* Each optimizer gets what the one before it gave; the state is a list of theirs. */
struct _GyreChain
{
  GyreOptimizer  parent_instance;
  GPtrArray     *optimizers;
};

G_DEFINE_FINAL_TYPE (GyreChain, gyre_chain, GYRE_TYPE_OPTIMIZER)

static GyreTree *
gyre_chain_init_state (GyreOptimizer *optimizer,
                       GyreTree      *params)
{
  GyreChain *self = GYRE_CHAIN (optimizer);
  GyreTree *state = gyre_tree_new_list ();

  for (guint i = 0; i < self->optimizers->len; i++)
    {
      GyreTree *child =
          gyre_optimizer_init (g_ptr_array_index (self->optimizers, i), params);

      gyre_tree_append (state, child);
      gyre_tree_drop (child);
    }

  return state;
}

static GyreTree *
gyre_chain_update (GyreOptimizer  *optimizer,
                   GyreTree       *grads,
                   GyreTree       *state,
                   GyreTree       *params,
                   GyreTree      **state_out)
{
  GyreChain *self = GYRE_CHAIN (optimizer);

  *state_out = gyre_tree_new_list ();
  for (guint i = 0; i < self->optimizers->len; i++)
    {
      GyreTree *child;

      grads = gyre_optimizer_update (g_ptr_array_index (self->optimizers, i), grads,
                                     gyre_tree_get_nth (state, i), params, &child);
      gyre_tree_append (*state_out, child);
    }

  return grads;
}

static void
gyre_chain_finalize (GObject *object)
{
  g_ptr_array_unref (GYRE_CHAIN (object)->optimizers);

  G_OBJECT_CLASS (gyre_chain_parent_class)->finalize (object);
}

static void
gyre_chain_class_init (GyreChainClass *klass)
{
  GyreOptimizerClass *optimizer_class = GYRE_OPTIMIZER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gyre_chain_finalize;
  optimizer_class->init = gyre_chain_init_state;
  optimizer_class->update = gyre_chain_update;
}

static void
gyre_chain_init (GyreChain *self)
{
  self->optimizers = g_ptr_array_new_with_free_func (g_object_unref);
}

void
gyre_chain_add (GyreChain     *self,
                GyreOptimizer *optimizer)
{
  g_ptr_array_add (self->optimizers, g_object_ref (optimizer));
}

GPtrArray *
gyre_chain_list (GyreChain *self)
{
  return self->optimizers;
}

/**
 * gyre_chain_new: (skip)
 * @first: (nullable): an optimizer
 * @...: more, then %NULL
 *
 * Optimizers one after the other, each taking the updates of the one before as its
 * gradients, such as clipping before adam; it takes references of them.
 *
 * Returns: (transfer full): a new optimizer
 */
GyreOptimizer *
gyre_chain_new (GyreOptimizer *first,
                ...)
{
  GyreChain *self = g_object_new (GYRE_TYPE_CHAIN, NULL);
  va_list args;

  va_start (args, first);
  for (GyreOptimizer *next = first; next != NULL; next = va_arg (args, GyreOptimizer *))
    gyre_chain_add (self, next);
  va_end (args);

  return GYRE_OPTIMIZER (self);
}
