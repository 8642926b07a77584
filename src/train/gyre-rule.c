/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-rule-private.h"

#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

static GQuark
row_quark (void)
{
  return g_quark_from_static_string ("gyre-rule-row");
}

static const GyreRuleRow *
get_row (GyreOptimizer *self)
{
  return g_type_get_qdata (G_OBJECT_TYPE (self), row_quark ());
}

static guint
count_slots (GyreOptimizer *optimizer)
{
  const GyreRuleRow *row = get_row (optimizer);
  guint n = 0;

  if (row->needs_slots != NULL && !row->needs_slots ((GyreRule *) optimizer))
    return 0;
  while (n < GYRE_RULE_MAX_SLOTS && row->slots[n] != NULL)
    n++;

  return n;
}

/* Updates are counted where a formula or a schedule asks how many there were. */
static gboolean
keeps_count (GyreOptimizer *optimizer)
{
  return get_row (optimizer)->counts || ((GyreRule *) optimizer)->schedule != NULL;
}

static GyreTree *
gyre_rule_init_state (GyreOptimizer *optimizer,
                      GyreTree      *params)
{
  GyreRule *self = (GyreRule *) optimizer;

  return gyre_optimizer_make_state (params, get_row (optimizer)->slots,
                                    count_slots (optimizer), self->initial_value,
                                    keeps_count (optimizer));
}

/* The leaves of each slot: before, and those that come after. */
typedef struct
{
  guint      n;
  GPtrArray *before[GYRE_RULE_MAX_SLOTS];
  GPtrArray *after[GYRE_RULE_MAX_SLOTS];
} Slots;

static void
open_slots (Slots         *slots,
            GyreOptimizer *optimizer,
            GyreTree      *state)
{
  slots->n = count_slots (optimizer);
  for (guint i = 0; i < slots->n; i++)
    {
      GyreTree *tree = gyre_tree_get_tree (state, get_row (optimizer)->slots[i]);

      slots->before[i] = gyre_tree_flatten (tree, NULL);
      slots->after[i] = g_ptr_array_new ();
    }
}

static void
close_slots (Slots         *slots,
             GyreOptimizer *optimizer,
             GyreTree      *params,
             GyreTree      *state_out)
{
  for (guint i = 0; i < slots->n; i++)
    {
      gyre_tree_set (state_out, get_row (optimizer)->slots[i],
                     gyre_tree_unflatten (params, slots->after[i], NULL));
      g_ptr_array_unref (slots->before[i]);
      g_ptr_array_unref (slots->after[i]);
    }
}

static GyreTensor *
nth_tensor (GPtrArray *leaves,
            guint      i)
{
  return gyre_tree_as_tensor (g_ptr_array_index (leaves, i));
}

static GyreTree *
update_leaf (GyreOptimizer *optimizer,
             GyreRuleStep  *step,
             GyreTensor    *rate,
             GyreTensor    *param,
             Slots         *slots,
             guint          i)
{
  const GyreRuleRow *row = get_row (optimizer);
  GyreTensor *values[GYRE_RULE_MAX_SLOTS];
  GyreTensor *update;

  for (guint s = 0; s < slots->n; s++)
    values[s] = nth_tensor (slots->before[s], i);

  update = row->leaf ((GyreRule *) optimizer, step, nth_tensor (step->grads, i), param,
                      values);
  if (rate != NULL)
    update = gyre_mul (update, gyre_neg (rate));

  for (guint s = 0; s < slots->n; s++)
    g_ptr_array_add (slots->after[s], gyre_tree_new_tensor (values[s]));

  return gyre_tree_new_tensor (update);
}

static GyreTensor *
get_rate (const GyreRule    *self,
          const GyreRuleRow *row,
          GyreTensor        *count)
{
  if (!row->has_rate)
    return NULL;
  if (self->schedule != NULL)
    return gyre_schedule_value (self->schedule, count);

  return gyre_constant (GYRE_F32, self->learning_rate);
}

static GyreTensor *
advance_count (GyreOptimizer *optimizer,
               GyreRuleStep  *step,
               GyreTree      *state,
               GyreTree      *state_out)
{
  GyreTensor *count, *next;

  if (!keeps_count (optimizer))
    return NULL;

  count = gyre_tree_get_tensor (state, "count");
  next = gyre_add (count, gyre_constant (GYRE_I32, 1));
  gyre_tree_set_tensor (state_out, "count", next);
  step->time = gyre_convert (next, GYRE_F32);

  return count;
}

static GyreTree *
gyre_rule_update (GyreOptimizer  *optimizer,
                  GyreTree       *grads,
                  GyreTree       *state,
                  GyreTree       *params,
                  GyreTree      **state_out)
{
  const GyreRuleRow *row = get_row (optimizer);
  g_autoptr (GPtrArray) grad_leaves = gyre_tree_flatten (grads, NULL);
  g_autoptr (GPtrArray) paths = NULL;
  g_autoptr (GPtrArray) param_leaves = gyre_tree_flatten (params, &paths);
  g_autoptr (GPtrArray) updates = g_ptr_array_new ();
  GyreRuleStep step = { .grads = grad_leaves };
  GyreTensor *count, *rate;
  Slots slots = { 0 };

  *state_out = gyre_tree_new_dict ();
  count = advance_count (optimizer, &step, state, *state_out);
  rate = get_rate ((GyreRule *) optimizer, row, count);
  if (row->prepare != NULL && grad_leaves->len > 0)
    row->prepare ((GyreRule *) optimizer, &step);

  open_slots (&slots, optimizer, state);
  for (guint i = 0; i < grad_leaves->len; i++)
    {
      step.path = g_ptr_array_index (paths, i);
      g_ptr_array_add (updates, update_leaf (optimizer, &step, rate,
                                             nth_tensor (param_leaves, i), &slots, i));
    }
  close_slots (&slots, optimizer, params, *state_out);

  return gyre_tree_unflatten (grads, updates, NULL);
}

static void
gyre_rule_class_init (gpointer klass,
                      gpointer data)
{
  const GyreRuleRow *row = data;
  GyreOptimizerClass *optimizer_class = klass;

  optimizer_class->init = gyre_rule_init_state;
  optimizer_class->update = gyre_rule_update;
  if (row->add_properties != NULL)
    row->add_properties (klass);
  if (row->has_rate)
    gyre_property_add_object (klass, "learning-rate-schedule",
                              "What the learning rate is at each update, in its place",
                              G_STRUCT_OFFSET (GyreRule, schedule), GYRE_TYPE_SCHEDULE);
}

static void
register_row (const GyreRuleRow *row)
{
  const GTypeInfo info = {
    .class_size = sizeof (GyreOptimizerClass),
    .class_init = gyre_rule_class_init,
    .class_data = row,
    .instance_size = sizeof (GyreRule)
  };
  GType type = g_type_register_static (GYRE_TYPE_OPTIMIZER, row->type_name, &info, 0);

  g_type_set_qdata (type, row_quark (), (gpointer) row);
  gyre_registry_add (GYRE_TYPE_OPTIMIZER, row->name, type, NULL);
}

void
gyre_rule_ensure_types (void)
{
  static gsize done = 0;

  if (!g_once_init_enter (&done))
    return;

  for (guint i = 0; i < gyre_rule_n_rows; i++)
    register_row (&gyre_rule_rows[i]);
  gyre_registry_add (GYRE_TYPE_OPTIMIZER, "chain", GYRE_TYPE_CHAIN, NULL);
  g_once_init_leave (&done, 1);
}

GType
gyre_rule_get_type_of (const char *name)
{
  gyre_rule_ensure_types ();

  return gyre_registry_find (GYRE_TYPE_OPTIMIZER, "optimizer", name, NULL);
}
