/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"
#include "prims/gyre-prim-cases.h"

/* The gradient of each primitive, and the gradient of that, against central
 * differences of the reference in double.
 *
 * s = Σ c · f (x) is differentiated; then t = Σ w · ∂s/∂x, with fixed c and w. */

#define STEP 1e-5

typedef struct
{
  GyreGraph *graph;
  guint n_inputs; /* of the case; then come c, and w of each */
  GyreRef numbers[8];
  guint n_numbers;
} Problem;

static GyreTensor *
add_number (Problem *self, GyreTensor *like)
{
  GyrePrimInput input = { GYRE_F32, like->shape, -1, 1 };

  self->numbers[self->n_numbers] =
      gyre_prim_case_numbers (&input, 1000 + self->n_numbers);
  self->n_numbers++;
  return gyre_graph_input (self->graph, "c", GYRE_F32, &like->shape);
}

static GyreTensor *
weigh (Problem *self, GyreTensor *sum, GyreTensor *x)
{
  GyreTensor *term = gyre_sum (gyre_mul (x, add_number (self, x)));

  return sum == NULL ? term : gyre_add (sum, term);
}

/* Its inputs that have gradients */
static guint
find_floats (const Problem *self, GyreTensor **wrt, guint *indices)
{
  guint n = 0;

  for (guint i = 0; i < self->n_inputs; i++)
    {
      GyreTensor *x = g_ptr_array_index (self->graph->inputs, i);

      if (x->dtype != GYRE_F32)
        continue;
      indices[n] = i;
      wrt[n++] = x;
    }

  return n;
}

static double *
run (const Problem *self)
{
  GyreRef outputs[8] = { 0 };
  g_autoptr (GError) error = NULL;
  GArray *all = g_array_new (FALSE, FALSE, sizeof (double));

  gyre_interpret (self->graph, self->numbers, outputs, &error);
  gyre_assert_no_error (error);
  for (guint o = 0; o < self->graph->outputs->len; o++)
    {
      g_array_append_vals (all, outputs[o].data,
                           (guint) gyre_shape_n_elements (&outputs[o].shape));
      g_free (outputs[o].data);
    }

  return (double *) g_array_free (all, FALSE);
}

/* Output 0 is the sum, those after it its gradients by the inputs given. */
static void
check_against_differences (const GyrePrimCase *which,
                           Problem *self,
                           const guint *indices,
                           guint n,
                           const char *what)
{
  g_autofree double *at = run (self);
  double slack = which->slack > 0 ? which->slack : 1e-6;
  gsize position = 1;

  for (guint k = 0; k < n; k++)
    {
      GyreRef *x = &self->numbers[indices[k]];

      for (gint64 i = 0; i < gyre_shape_n_elements (&x->shape); i++, position++)
        {
          double value = x->data[i], expected;
          g_autofree double *above = NULL, *below = NULL;

          x->data[i] = value + STEP;
          above = run (self);
          x->data[i] = value - STEP;
          below = run (self);
          x->data[i] = value;
          expected = (above[0] - below[0]) / (2 * STEP);
          if (!gyre_check_near (at[position], expected, slack * (1 + fabs (expected))))
            ck_abort_msg ("%s: the %s by input %u, element %d, is %.9g, not %.9g",
                          which->name, what, indices[k], (int) i, at[position], expected);
        }
    }
}

static void
set_outputs (Problem *self, GyreTensor *sum, GyreTensor **grads, guint n)
{
  g_ptr_array_set_size (self->graph->outputs, 0);
  gyre_graph_add_output (self->graph, sum);
  for (guint i = 0; i < n; i++)
    gyre_graph_add_output (self->graph, grads[i]);
}

START_TEST (gradients_are_those_of_differences)
{
  const GyrePrimCase *which = &gyre_prim_cases[_i];
  Problem self = { 0 };
  GyreTensor *y, *wrt[3], *grads[3], *seconds[3], *sum, *second = NULL;
  guint indices[3], n;

  if ((which->flags & GYRE_CASE_SMOOTH) == 0)
    return;

  self.graph = gyre_prim_case_graph (which, &y);
  self.n_inputs = self.n_numbers = which->n_inputs;
  for (guint i = 0; i < which->n_inputs; i++)
    self.numbers[i] = gyre_prim_case_input (which, i);

  n = find_floats (&self, wrt, indices);
  ck_assert_msg (n > 0, "%s has no f32 input to differentiate by", which->name);
  sum = weigh (&self, NULL, y);
  gyre_grad_of (sum, wrt, n, grads);
  gyre_assert_no_error (self.graph->error);
  set_outputs (&self, sum, grads, n);
  check_against_differences (which, &self, indices, n, "gradient");

  for (guint i = 0; i < n; i++)
    second = weigh (&self, second, grads[i]);
  gyre_grad_of (second, wrt, n, seconds);
  gyre_assert_no_error (self.graph->error);
  set_outputs (&self, second, seconds, n);
  check_against_differences (which, &self, indices, n, "second gradient");

  for (guint i = 0; i < self.n_numbers; i++)
    g_free (self.numbers[i].data);
  gyre_graph_pop ();
  gyre_graph_free (self.graph);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "differences", gradients_are_those_of_differences,
                       (int) gyre_prim_n_cases);
}

GYRE_CHECK_MAIN ("prims-gradients", add_tests)
