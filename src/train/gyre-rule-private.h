/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-optimizer.h>

G_BEGIN_DECLS

/* The optimizers of the library: each is a row of a table.  They share one struct of
 * hyperparameters; a row says which of them are properties, what state there is for each
 * parameter, and what the update of a parameter is. */

#define GYRE_RULE_MAX_SLOTS 2

typedef struct
{
  GyreOptimizer  parent_instance;

  double         learning_rate;
  GyreSchedule  *schedule;          /* in its place, if not NULL */
  double         momentum;
  gboolean       nesterov;
  double         b1;
  double         b2;
  double         eps;
  double         eps_root;
  double         weight_decay;
  int            mask;              /* a GyreDecayMask */
  double         decay;
  double         initial_value;     /* of the slots */
  double         max_norm;
  double         max_delta;
} GyreRule;

/* Which parameters decay: all, or those that aren't biases or the scales of norms. */
typedef enum
{
  GYRE_DECAY_ALL,
  GYRE_DECAY_KERNELS
} GyreDecayMask;

/* One update of all parameters, while it is traced. */
typedef struct
{
  GPtrArray  *grads;                /* leaves, of GyreTree */
  GyreTensor *time;                 /* f32[]: which update this is, from 1 */
  GyreTensor *scalars[2];           /* what prepare keeps for the leaves */
  const char *path;                 /* of the parameter that is updated now */
} GyreRuleStep;

typedef struct
{
  const char *name;
  const char *type_name;
  const char *slots[GYRE_RULE_MAX_SLOTS];   /* names in the state */
  gboolean    counts;                       /* keeps a count of updates */
  gboolean    has_rate;                     /* what leaf gives is multiplied by -rate */
  void      (*add_properties) (GObjectClass *klass);
  /* Optional: whether the slots are needed with these properties. */
  gboolean  (*needs_slots)    (const GyreRule *self);
  /* Optional: what is computed once for all parameters. */
  void      (*prepare)        (const GyreRule *self, GyreRuleStep *step);
  /* slots: before, to be replaced by what they are after */
  GyreTensor *(*leaf)         (const GyreRule *self, GyreRuleStep *step, GyreTensor *grad,
                               GyreTensor *param, GyreTensor **slots);
} GyreRuleRow;

extern const GyreRuleRow gyre_rule_rows[];
extern const guint       gyre_rule_n_rows;

/* The type of a row, registered once. */
GType gyre_rule_get_type_of (const char *name);
/* Registers all optimizers of the library. */
void  gyre_rule_ensure_types (void);

#define GYRE_TYPE_CHAIN (gyre_chain_get_type ())
G_DECLARE_FINAL_TYPE (GyreChain, gyre_chain, GYRE, CHAIN, GyreOptimizer)
void       gyre_chain_add  (GyreChain *self, GyreOptimizer *optimizer);
GPtrArray *gyre_chain_list (GyreChain *self);

/* {"count", slots…}: the count where updates are counted, the slots of one value in the
 * shapes of the parameters. (transfer full) */
GyreTree *gyre_optimizer_make_state (GyreTree *params, const char *const *slots,
                                     guint n_slots, double value, gboolean counts);

/* The graph that the tensors of a tree belong to; NULL where there are none. */
struct _GyreGraph *gyre_train_find_graph (GyreTree *tree);

G_END_DECLS
