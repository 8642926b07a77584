/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>
#include <string.h>

#include "ir/gyre-prim-private.h"
#include "trace/gyre-trace-private.h"

/* The interpreter runs a program in double, a member a device where axes are manual. */
typedef struct
{
  const ReferenceProgram *program;
  guint                   n_members;
  GPtrArray              *leaves;     /* GyreTree *, of the arguments */
  GyreTrace              *trace;
  GyreRef                *inputs;     /* n_members * leaves->len */
  GyreRef                *outputs;
} Oracle;

static GyreShape
drop_leading (GyreShape shape)
{
  memmove (shape.dims, shape.dims + 1, sizeof shape.dims[0] * (GYRE_MAX_RANK - 1));
  shape.dims[--shape.rank] = 0;

  return shape;
}

static gboolean
trace (Oracle    *self,
       GyreTree  *args,
       GError   **error)
{
  g_autofree GyreAval *avals = g_new0 (GyreAval, self->leaves->len + 1);

  for (guint i = 0; i < self->leaves->len; i++)
    {
      GyreArray *array = gyre_tree_as_array (g_ptr_array_index (self->leaves, i));

      avals[i].dtype = gyre_array_get_dtype (array);
      avals[i].shape = gyre_array_get_shape (array);
      if (self->program->manual)
        avals[i].shape = drop_leading (avals[i].shape);
    }

  if (self->program->manual)
    {
      g_autofree char *axis =
        g_strndup (self->program->layout, strcspn (self->program->layout, "="));

      gyre_trace_add_axis (self->trace, axis, self->n_members, TRUE, FALSE);
    }

  return gyre_trace_run (self->trace, self->program->func, self->program->data, args,
                         avals, error);
}

/* Leaf i is a list of the members' inputs; the numbers are owned by the first. */
static gboolean
fill_input (Oracle  *self,
            guint    i,
            GError **error)
{
  GyreArray *array = gyre_tree_as_array (g_ptr_array_index (self->leaves, i));
  GyreShape shape = gyre_array_get_shape (array);
  gsize n;
  double *numbers = reference_numbers (array, &n, error);

  if (numbers == NULL)
    return FALSE;
  if (self->program->manual)
    shape = drop_leading (shape);
  for (guint m = 0; m < self->n_members; m++)
    self->inputs[m * self->leaves->len + i] = (GyreRef) {
      gyre_array_get_dtype (array), shape, numbers + m * (n / self->n_members)
    };

  return TRUE;
}

static gboolean
interpret (Oracle  *self,
           GError **error)
{
  guint n_inputs = self->leaves->len, n_outputs = self->trace->graph->outputs->len;

  self->inputs = g_new0 (GyreRef, n_inputs * self->n_members + 1);
  self->outputs = g_new0 (GyreRef, n_outputs * self->n_members + 1);
  for (guint i = 0; i < n_inputs; i++)
    if (!fill_input (self, i, error))
      return FALSE;

  if (self->program->manual)
    return gyre_interpret_mesh (self->trace->graph, self->n_members, self->inputs,
                                self->outputs, error);

  return gyre_interpret (self->trace->graph, self->inputs, self->outputs, error);
}

static void
put (GyreDtype dtype,
     char     *bytes,
     gsize     i,
     double    value)
{
  if (dtype == GYRE_F32)
    ((float *) bytes)[i] = (float) value;
  else if (dtype == GYRE_I32)
    ((gint32 *) bytes)[i] = (gint32) value;
  else if (dtype == GYRE_U32)
    ((guint32 *) bytes)[i] = (guint32) value;
  else
    ((guint8 *) bytes)[i] = (guint8) value;
}

/* Output i of all members, stacked where the program is manual. */
static GyreTree *
take_output (Oracle *self,
             guint   i)
{
  guint n_outputs = self->trace->graph->outputs->len;
  GyreRef *first = &self->outputs[i];
  gsize n = (gsize) gyre_shape_n_elements (&first->shape);
  g_autofree char *bytes =
    g_malloc0 (gyre_dtype_size (first->dtype) * (n * self->n_members + 1));
  GyreShape shape = first->shape;
  g_autoptr (GyreArray) array = NULL;

  for (guint m = 0; m < self->n_members; m++)
    for (gsize k = 0; k < n; k++)
      put (first->dtype, bytes, m * n + k, self->outputs[m * n_outputs + i].data[k]);
  if (self->program->manual)
    {
      memmove (shape.dims + 1, shape.dims, sizeof shape.dims[0] * (GYRE_MAX_RANK - 1));
      shape.dims[0] = self->n_members;
      shape.rank++;
    }
  array = gyre_array_new (first->dtype, shape, bytes);

  return gyre_tree_new_array (array);
}

static void
clear (Oracle *self)
{
  guint n_inputs = self->leaves->len, n_outputs;

  for (guint i = 0; self->inputs != NULL && i < n_inputs; i++)
    g_free (self->inputs[i].data);
  n_outputs = self->trace->graph->outputs->len * self->n_members;
  for (guint i = 0; self->outputs != NULL && i < n_outputs; i++)
    g_free (self->outputs[i].data);
  g_free (self->inputs);
  g_free (self->outputs);
  gyre_trace_free (self->trace);
  g_ptr_array_unref (self->leaves);
}

GyreTree *
reference_interpret (const ReferenceProgram  *program,
                     GyreTree                *args,
                     GError                 **error)
{
  Oracle self = { .program = program,
                  .n_members = program->manual ? reference_layout_n (program->layout) : 1,
                  .leaves = gyre_tree_flatten (args, NULL),
                  .trace = gyre_trace_new () };
  GyreTree *results = NULL;

  if (trace (&self, args, error) && interpret (&self, error))
    {
      g_autoptr (GPtrArray) outputs =
        g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_tree_unref);

      for (guint i = 0; i < self.trace->graph->outputs->len; i++)
        g_ptr_array_add (outputs, take_output (&self, i));
      results = gyre_trace_unflatten (self.trace, outputs, error);
    }
  clear (&self);

  return results;
}
