/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-layer.h>
#include <gyre/gyre-step.h>

G_BEGIN_DECLS

#define GYRE_TYPE_OPTIMIZER (gyre_optimizer_get_type ())
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreOptimizer, gyre_optimizer, GYRE, OPTIMIZER, GObject)

/**
 * GyreOptimizerClass:
 * @init: (transfer full): the state for params (host arrays or tensors alike)
 * @update: inside a traced function: turns gradients into updates to be added to params
 *
 * A gradient transformation, in the manner of Optax.
 */
struct _GyreOptimizerClass
{
  GObjectClass parent_class;

  GyreTree *(*init)   (GyreOptimizer  *self,
                       GyreTree       *params);
  GyreTree *(*update) (GyreOptimizer  *self,
                       GyreTree       *grads,
                       GyreTree       *state,
                       GyreTree       *params,
                       GyreTree      **state_out);

  gpointer padding[8];
};

GYRE_API const char    *gyre_optimizer_get_type_name (GyreOptimizer *self);
GYRE_API GyreTree      *gyre_optimizer_init      (GyreOptimizer  *self,
                                                  GyreTree       *params);
GYRE_API GyreTree      *gyre_optimizer_update    (GyreOptimizer  *self,
                                                  GyreTree       *grads,
                                                  GyreTree       *state,
                                                  GyreTree       *params,
                                                  GyreTree      **state_out);
/* params + updates */
GYRE_API GyreTree      *gyre_apply_updates       (GyreTree       *params,
                                                  GyreTree       *updates);
/* For optimizers of plugins: what most of them have */
GYRE_API GyreTree      *gyre_optimizer_new_state (GyreTree       *params,
                                                  gboolean        counts,
                                                  const char     *first_slot,
                                                  ...);
GYRE_API GyreTensor    *gyre_optimizer_get_rate  (GyreOptimizer  *self,
                                                  GyreTensor     *count);
GYRE_API void      gyre_optimizer_class_add_rate (GyreOptimizerClass *klass,
                                                  gsize               rate,
                                                  gsize               schedule,
                                                  double              value);
/* Types by name; the plugin that has it is loaded. */
GYRE_API GType          gyre_optimizer_type_find (const char     *name,
                                                  GError        **error);
GYRE_API char         **gyre_optimizer_type_list (void);
/* "adam learning-rate=1e-3", "clip-by-global-norm max-norm=1 ! adam" */
GYRE_API GyreOptimizer *gyre_optimizer_parse     (const char     *line,
                                                  GError        **error);
GYRE_API char          *gyre_optimizer_to_string (GyreOptimizer  *self);
GYRE_API GyreOptimizer *gyre_sgd_new             (double          learning_rate,
                                                  double          momentum,
                                                  gboolean        nesterov);
GYRE_API GyreOptimizer *gyre_adam_new            (double          learning_rate);
GYRE_API GyreOptimizer *gyre_chain_new           (GyreOptimizer  *first,
                                                  ...) G_GNUC_NULL_TERMINATED;

#define GYRE_TYPE_SCHEDULE (gyre_schedule_get_type ())
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreSchedule, gyre_schedule, GYRE, SCHEDULE, GObject)

/**
 * GyreScheduleClass:
 * @value: inside a traced function: f32[] at a count of updates, f32[]
 *
 * A number that depends on how many updates there were, such as a learning rate.
 */
struct _GyreScheduleClass
{
  GObjectClass parent_class;

  GyreTensor *(*value) (GyreSchedule *self,
                        GyreTensor   *count);

  gpointer padding[4];
};

/* "cosine-decay(init-value=1e-3,decay-steps=10000)" */
GYRE_API GyreSchedule *gyre_schedule_parse     (const char    *text,
                                                GError       **error);
GYRE_API char         *gyre_schedule_to_string (GyreSchedule  *self);
GYRE_API GyreTensor   *gyre_schedule_value     (GyreSchedule  *self,
                                                GyreTensor    *count);
GYRE_API GType          gyre_schedule_type_find (const char    *name,
                                                 GError       **error);
GYRE_API char        **gyre_schedule_type_list (void);

#define GYRE_TYPE_TRAIN_STATE (gyre_train_state_get_type ())

/**
 * GyreTrainState:
 *
 * step (i32[]), params, opt_state, model_state, and the model and optimizer: a GyreNode,
 * so it passes through steps like any tree. A program adds trees of its own by
 * gyre_train_state_with_field(); or by a subclass that overrides flatten and unflatten.
 */
GYRE_API
G_DECLARE_DERIVABLE_TYPE (GyreTrainState, gyre_train_state, GYRE, TRAIN_STATE, GObject)

/**
 * GyreTrainStateClass:
 * @flatten: adds the entries of a subclass to the dictionary tree
 * @unflatten: of a new object: takes those entries from tree, and what isn't in trees
 *   from like
 *
 * A subclass calls its parent's functions first.
 */
struct _GyreTrainStateClass
{
  GObjectClass parent_class;

  void (*flatten)   (GyreTrainState *self,
                     GyreTree       *tree);
  void (*unflatten) (GyreTrainState *self,
                     GyreTrainState *like,
                     GyreTree       *tree);

  gpointer padding[8];
};

/* Initialises the model's parameters from seed, on the host. */
GYRE_API GyreTrainState *gyre_train_state_new (GyreLayer      *model,
                                               GyreOptimizer  *optimizer,
                                               GyreShape       input_shape,
                                               GyreDtype       input_dtype,
                                               guint64         seed,
                                               GError        **error);
/* The state of a program's own parameters, without a model. */
GYRE_API GyreTrainState *gyre_train_state_new_from_params (GyreTree      *params,
                                                           GyreTree      *model_state,
                                                           GyreOptimizer *optimizer);
GYRE_API GyreTensor     *gyre_train_state_get_step        (GyreTrainState *self);
GYRE_API GyreTree       *gyre_train_state_get_params      (GyreTrainState *self);
GYRE_API GyreTree       *gyre_train_state_get_model_state (GyreTrainState *self);
GYRE_API GyreTree       *gyre_train_state_get_opt_state   (GyreTrainState *self);
GYRE_API GyreLayer      *gyre_train_state_get_model       (GyreTrainState *self);
GYRE_API GyreOptimizer  *gyre_train_state_get_optimizer   (GyreTrainState *self);
/* Inside a traced function: the state after an update (owned by the trace). */
GYRE_API GyreTrainState *gyre_train_state_apply_gradients  (GyreTrainState  *self,
                                                            GyreTree        *grads);
GYRE_API GyreTrainState *gyre_train_state_with_model_state (GyreTrainState  *self,
                                                            GyreTree        *model_state);
/* What the model gives for x, with params or, where that is NULL, its own. */
GYRE_API GyreTensor     *gyre_train_state_apply            (GyreTrainState  *self,
                                                            GyreTree        *params,
                                                            GyreTensor      *x,
                                                            gboolean         training,
                                                            GyreTensor      *key,
                                                            GyreTree       **model_state);
/* A field of the program's own; of no subclass. */
GYRE_API GyreTrainState *gyre_train_state_with_field       (GyreTrainState  *self,
                                                            const char      *name,
                                                            GyreTree        *tree);
GYRE_API GyreTree       *gyre_train_state_get_field        (GyreTrainState  *self,
                                                            const char      *name);
/* One copy a device with a leading device axis, for pmap. */
GYRE_API GyreTrainState *gyre_train_state_replicate        (GyreTrainState  *self,
                                                            GyreMesh        *mesh,
                                                            GError         **error);

G_END_DECLS
