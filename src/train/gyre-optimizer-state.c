/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-rule-private.h"

#include "base/gyre-arena-private.h"
#include "base/gyre-tree-private.h"
#include "nn/gyre-property-private.h"

#include <stdarg.h>

/* What optimizers share: their state, and a learning rate that may be a schedule. */

#define RATE "learning-rate"
#define RATE_SCHEDULE "learning-rate-schedule"

static GyreTree *
new_array_leaf (GyreArray *array)
{
  GyreTree *leaf = gyre_tree_new_array (array);

  if (gyre_owner_get () == NULL)
    gyre_array_unref (array);
  return leaf;
}

static GyreTree *
fill_array (GyreArray *like,
            double     value)
{
  GyreShape shape = gyre_array_get_shape (like);
  gsize n = (gsize) gyre_shape_n_elements (&shape);
  g_autofree float *numbers = g_new (float, MAX (n, 1));

  for (gsize i = 0; i < n; i++)
    numbers[i] = (float) value;

  return new_array_leaf (gyre_array_new (GYRE_F32, shape, numbers));
}

/* One value in the shape of a parameter, be it an array or a tensor. */
static GyreTree *
fill_like (const char       *path,
           GyreTree *const  *leaves,
           guint             n_trees,
           gpointer          data,
           GError          **error)
{
  double value = *(double *) data;

  if (gyre_tree_get_kind (leaves[0]) == GYRE_TREE_TENSOR)
    return gyre_tree_new_tensor (gyre_full_like (gyre_tree_as_tensor (leaves[0]), value));

  return fill_array (gyre_tree_as_array (leaves[0]), value);
}

static GyreTree *
zero_count (GyreTree *params)
{
  if (gyre_train_find_graph (params) != NULL)
    return gyre_tree_new_tensor (gyre_constant (GYRE_I32, 0));

  return new_array_leaf (gyre_array_new_scalar (GYRE_I32, 0));
}

static void
take_entry (GyreTree   *state,
            const char *name,
            GyreTree   *entry)
{
  gyre_tree_set (state, name, entry);
  gyre_tree_drop (entry);
}

GyreTree *
gyre_optimizer_make_state (GyreTree          *params,
                           const char *const *slots,
                           guint              n_slots,
                           double             value,
                           gboolean           counts)
{
  GyreTree *state = gyre_tree_new_dict ();

  if (counts)
    take_entry (state, "count", zero_count (params));
  for (guint i = 0; i < n_slots; i++)
    take_entry (state, slots[i], gyre_tree_map (&params, 1, fill_like, &value, NULL));

  return state;
}

/**
 * gyre_optimizer_new_state: (skip)
 * @params: f32 parameters: arrays, or tensors inside a traced function
 * @counts: whether updates are counted
 * @first_slot: (nullable): the name of what is kept for each parameter, such as "m"
 * @...: more names, and %NULL
 *
 * The state that most optimizers begin with: {"count": i32[] 0, "m": zeros in the shapes
 * of the parameters, …}, of the same kind as @params; for init.
 *
 * Returns: (transfer full): the state
 */
GyreTree *
gyre_optimizer_new_state (GyreTree   *params,
                          gboolean    counts,
                          const char *first_slot,
                          ...)
{
  g_autoptr (GPtrArray) slots = g_ptr_array_new ();
  va_list args;

  g_return_val_if_fail (params != NULL, NULL);

  va_start (args, first_slot);
  for (const char *slot = first_slot; slot != NULL; slot = va_arg (args, const char *))
    g_ptr_array_add (slots, (gpointer) slot);
  va_end (args);

  return gyre_optimizer_make_state (params, (const char *const *) slots->pdata,
                                    slots->len, 0, counts);
}

/**
 * gyre_optimizer_class_add_rate: (skip)
 * @klass: a class of optimizers, in its class_init
 * @rate: offset of a double in the instance, by G_STRUCT_OFFSET()
 * @schedule: offset of a #GyreSchedule * in the instance
 * @value: the rate's default
 *
 * Gives optimizers the property "learning-rate", that a line sets to a number or to a
 * schedule as a call, learning-rate=cosine-decay(…).
 */
void
gyre_optimizer_class_add_rate (GyreOptimizerClass *klass,
                               gsize               rate,
                               gsize               schedule,
                               double              value)
{
  gyre_property_add_double (G_OBJECT_CLASS (klass), RATE,
                            "How far an update goes; a number, or a schedule as a call",
                            rate, 0, G_MAXDOUBLE, value);
  gyre_property_add_object (G_OBJECT_CLASS (klass), RATE_SCHEDULE,
                            "What the learning rate is at each update, in its place",
                            schedule, GYRE_TYPE_SCHEDULE);
}

/**
 * gyre_optimizer_get_rate: (skip)
 * @self: an optimizer whose class has gyre_optimizer_class_add_rate()
 * @count: i32[]: how many updates there were, "count" of the state
 *
 * Traces the learning rate of this update: the number, or the schedule at @count.
 *
 * Returns: (transfer none): f32[]
 */
GyreTensor *
gyre_optimizer_get_rate (GyreOptimizer *self,
                         GyreTensor    *count)
{
  g_autoptr (GyreSchedule) schedule = NULL;
  double rate = 0;

  g_return_val_if_fail (GYRE_IS_OPTIMIZER (self) && count != NULL, count);

  g_object_get (self, RATE, &rate, RATE_SCHEDULE, &schedule, NULL);
  if (schedule != NULL)
    return gyre_schedule_value (schedule, count);

  return gyre_constant (GYRE_F32, rate);
}
