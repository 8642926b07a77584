/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/interpret.h"
#include "ir/gyre-simplify-private.h"

#include <string.h>

/* A gradient of a gradient: the Hessian-vector product of a network 10-32-1 with tanh is
 * compared with finite differences of its gradient. */

#define N_ROWS    6
#define N_PARAMS  (10 * 32 + 32 + 32 + 1)
#define N_NUMBERS (2 * N_PARAMS + N_ROWS * 10 + N_ROWS)

static const GyreShape shapes[] = {
  { 2, { 10, 32 } }, { 1, { 32 } }, { 2, { 32, 1 } }, { 1, { 1 } },
};

static GyreGraph *graph;
static GyreTensor *params[4], *vectors[4];

static GyreTensor *
make_loss (void)
{
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (N_ROWS, 10));
  GyreTensor *y = gyre_graph_input (graph, "y", GYRE_F32, &GYRE_SHAPE (N_ROWS, 1));
  GyreTensor *hidden = gyre_tanh (gyre_add (gyre_matmul (x, params[0]), params[1]));
  GyreTensor *error = gyre_sub (gyre_add (gyre_matmul (hidden, params[2]), params[3]), y);

  return gyre_mean (gyre_mul (error, error));
}

static GyreTensor *
dot (GyreTensor *const *a,
     GyreTensor *const *b)
{
  GyreTensor *sum = gyre_constant (GYRE_F32, 0);

  for (int i = 0; i < 4; i++)
    sum = gyre_add (sum, gyre_sum (gyre_mul (a[i], b[i])));

  return sum;
}

/* Outputs: the gradient, and H·v as the gradient of gradient · v. */
static void
build (void)
{
  GyreTensor *grads[4], *products[4];

  graph = gyre_graph_new ();
  gyre_graph_push (graph);
  for (int i = 0; i < 4; i++)
    params[i] = gyre_graph_input (graph, "param", GYRE_F32, &shapes[i]);
  for (int i = 0; i < 4; i++)
    vectors[i] = gyre_graph_input (graph, "vector", GYRE_F32, &shapes[i]);

  gyre_grad_of (make_loss (), params, 4, grads);
  gyre_grad_of (dot (grads, vectors), params, 4, products);
  for (int i = 0; i < 4; i++)
    gyre_graph_add_output (graph, grads[i]);
  for (int i = 0; i < 4; i++)
    gyre_graph_add_output (graph, products[i]);
  gyre_graph_pop ();
  gyre_assert_no_error (graph->error);
}

static double *
gradient_at (const double *numbers,
             double        step)
{
  g_autofree double *moved = g_memdup2 (numbers, N_NUMBERS * sizeof (double));

  for (int i = 0; i < N_PARAMS; i++)
    moved[i] += step * numbers[N_PARAMS + i];

  return interpret (graph, moved);
}

START_TEST (hessian_vector_product)
{
  const double h = 1e-5;
  double numbers[N_NUMBERS];
  g_autoptr (GyreGraph) simple = NULL;
  g_autofree double *exact = NULL;
  g_autofree double *simplified = NULL;
  g_autofree double *after = NULL;
  g_autofree double *before = NULL;
  double largest = 0;

  build ();
  fill_numbers (numbers, N_NUMBERS, 7);
  exact = interpret (graph, numbers);
  after = gradient_at (numbers, h);
  before = gradient_at (numbers, -h);
  simple = gyre_graph_simplify (graph);
  simplified = interpret (simple, numbers);

  /* The third derivative times h² is below 1e-8 here, and so is rounding over h.  A
   * constant that is folded is rounded to f32: a few times 6e-8 of values of about 2. */
  for (int i = 0; i < N_PARAMS; i++)
    {
      gyre_assert_near (exact[N_PARAMS + i], (after[i] - before[i]) / (2 * h), 1e-7);
      gyre_assert_near (simplified[N_PARAMS + i], exact[N_PARAMS + i], 1e-6);
      largest = MAX (largest, fabs (exact[N_PARAMS + i]));
    }
  ck_assert (largest > 0.1);
  gyre_graph_free (graph);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "product", hessian_vector_product);
}

GYRE_CHECK_MAIN ("hessian", add_tests)
