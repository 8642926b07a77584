/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-ops.h>

#include "gyre-check.h"
#include "ir/gyre-simplify-private.h"

#include <string.h>

/* Graphs drawn by lot, with gradients, compute the same after they were simplified: what
 * the rules of all primitives promise. */

#define N_NODES  40
#define N_VALUES 12

static guint32 seed;

static guint
draw (guint n)
{
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 10) % n;
}

/* All make f32[3, 4] of it. */

static GyreTensor *
make_constant (GyreTensor *a,
               GyreTensor *b)
{
  static const double values[] = { 0, 1, -1, 2, 0.5 };

  return gyre_full_like (a, values[draw (G_N_ELEMENTS (values))]);
}

static GyreTensor *
make_scaled (GyreTensor *a,
             GyreTensor *b)
{
  return gyre_mul_scalar (a, (double) draw (3));
}

static GyreTensor *
make_shifted (GyreTensor *a,
              GyreTensor *b)
{
  return gyre_add_scalar (a, (double) draw (2));
}

static GyreTensor *
make_choice (GyreTensor *a,
             GyreTensor *b)
{
  return gyre_select (gyre_less (a, b), a, gyre_neg (b));
}

static GyreTensor *
make_transposed (GyreTensor *a,
                 GyreTensor *b)
{
  GyreTensor *t = gyre_transpose (a, NULL);

  return gyre_transpose (gyre_tanh (draw (2) ? t : gyre_transpose (b, NULL)), NULL);
}

static GyreTensor *
make_reshaped (GyreTensor *a,
               GyreTensor *b)
{
  GyreTensor *flat = gyre_reshape (a, GYRE_SHAPE (12));

  return gyre_reshape (gyre_reshape (flat, GYRE_SHAPE (2, 6)), GYRE_SHAPE (3, -1));
}

static GyreTensor *
make_mean (GyreTensor *a,
           GyreTensor *b)
{
  return gyre_sub (a, gyre_mean_axis (b, (int) draw (2), TRUE));
}

static GyreTensor *
make_largest (GyreTensor *a,
              GyreTensor *b)
{
  return gyre_sub (a, gyre_max_axis (b, -1, TRUE));
}

static GyreTensor *
make_product (GyreTensor *a,
              GyreTensor *b)
{
  return gyre_tanh (gyre_matmul (gyre_matmul_full (a, FALSE, b, TRUE), b));
}

static GyreTensor *
make_halves (GyreTensor *a,
             GyreTensor *b)
{
  GyreTensor *left = gyre_slice (a, (gint64[]) { 0, 0 }, (gint64[]) { 3, 2 }, NULL);
  GyreTensor *right = gyre_slice (b, (gint64[]) { 0, 2 }, (gint64[]) { 3, 4 }, NULL);

  return gyre_concatenate ((GyreTensor *[]) { left, right }, 2, 1);
}

static GyreTensor *
make_padded (GyreTensor *a,
             GyreTensor *b)
{
  static const gint64 in[] = { -1, 0 }, out[] = { 1, 0 }, none[] = { 0, 0 };

  return gyre_pad (gyre_pad (a, 0, in, none, NULL), 1, out, none, NULL);
}

static GyreTensor *
make_exponential (GyreTensor *a,
                  GyreTensor *b)
{
  return gyre_exp (gyre_neg (gyre_abs (a)));
}

static GyreTensor *(*const makers[]) (GyreTensor *a, GyreTensor *b) = {
  gyre_add, gyre_sub, gyre_mul, gyre_max, gyre_min, make_constant, make_scaled,
  make_shifted,
  make_choice, make_transposed, make_reshaped, make_mean, make_largest, make_product,
  make_halves, make_padded, make_exponential,
};

static GyreGraph *
draw_graph (void)
{
  GyreGraph *graph = gyre_graph_new ();
  GyreTensor *values[N_VALUES], *grads[2], *loss;

  gyre_graph_push (graph);
  values[0] = gyre_graph_input (graph, "a", GYRE_F32, &GYRE_SHAPE (3, 4));
  values[1] = gyre_graph_input (graph, "b", GYRE_F32, &GYRE_SHAPE (3, 4));
  for (guint i = 2; i < N_VALUES; i++)
    values[i] = values[i % 2];
  for (guint i = 0; i < N_NODES; i++)
    {
      GyreTensor *a = values[draw (N_VALUES)], *b = values[draw (N_VALUES)];
      GyreTensor *made = makers[draw (G_N_ELEMENTS (makers))](a, b);

      /* A value that grows is brought back, so that rounding stays small. */
      values[draw (N_VALUES - 2) + 2] = draw (3) == 0 ? gyre_tanh (made) : made;
    }

  loss = gyre_sum (gyre_tanh (values[2]));
  for (guint i = 3; i < N_VALUES; i++)
    loss = gyre_add (loss, gyre_mean (gyre_tanh (values[i])));
  gyre_grad_of (loss, values, 2, grads);
  gyre_graph_add_output (graph, loss);
  gyre_graph_add_output (graph, grads[0]);
  gyre_graph_add_output (graph, grads[1]);
  gyre_graph_pop ();

  return graph;
}

static void
run (const GyreGraph *graph,
     double          *results)
{
  double numbers[24];
  GyreRef inputs[2], outputs[3];
  g_autoptr (GError) error = NULL;

  for (int i = 0; i < 24; i++)
    numbers[i] = draw (2000) / 1000.0 - 1;
  for (int i = 0; i < 2; i++)
    inputs[i] = (GyreRef) { GYRE_F32, GYRE_SHAPE (3, 4), numbers + 12 * i };

  gyre_interpret (graph, inputs, outputs, &error);
  gyre_assert_no_error (error);
  results[0] = outputs[0].data[0];
  memcpy (results + 1, outputs[1].data, 12 * sizeof (double));
  memcpy (results + 13, outputs[2].data, 12 * sizeof (double));
  for (int i = 0; i < 3; i++)
    g_free (outputs[i].data);
}

START_TEST (computes_the_same)
{
  g_autoptr (GyreGraph) graph = NULL;
  g_autoptr (GyreGraph) simple = NULL;
  double before[25], after[25], largest = 1;
  guint32 numbers_seed;

  seed = 1000 + _i;
  graph = draw_graph ();
  gyre_assert_no_error (graph->error);
  numbers_seed = seed;
  run (graph, before);

  simple = gyre_graph_simplify (graph);
  ck_assert_uint_lt (simple->nodes->len, graph->nodes->len);
  seed = numbers_seed;
  run (simple, after);

  /* Constants that are folded are rounded to f32, and that grows on its way. */
  for (int i = 0; i < 25; i++)
    largest = MAX (largest, fabs (before[i]));
  for (int i = 0; i < 25; i++)
    gyre_assert_near (after[i], before[i], 1e-5 * largest);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "same", computes_the_same, 200);
}

GYRE_CHECK_MAIN ("simplify-random", add_tests)
