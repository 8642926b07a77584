/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/interpret.h"

static GyreGraph *graph;
static GyreTensor *x, *y, *labels;   /* f32[3], f32[3], i32[3] */

static void
setup (void)
{
  graph = gyre_graph_new ();
  gyre_graph_push (graph);
  x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (3));
  y = gyre_graph_input (graph, "y", GYRE_F32, &GYRE_SHAPE (3));
  labels = gyre_graph_input (graph, "labels", GYRE_I32, &GYRE_SHAPE (3));
}

static void
teardown (void)
{
  gyre_graph_pop ();
  g_clear_pointer (&graph, gyre_graph_free);
}

static const double numbers[9] = { 0.5, -1.5, 2, 3, 0.25, -0.75, 1, 0, 2 };

/* Runs the graph and compares all outputs.  Rounding in double alone. */
static void
assert_outputs (const double *expected,
                guint         n)
{
  g_autofree double *actual = NULL;

  gyre_assert_no_error (graph->error);
  actual = interpret (graph, numbers);
  for (guint i = 0; i < n; i++)
    gyre_assert_near (actual[i], expected[i], 1e-12);
}

START_TEST (adds_what_all_uses_give)
{
  /* Σ x² y + x: 2 x y + 1 and x² */
  GyreTensor *loss = gyre_sum (gyre_add (gyre_mul (gyre_mul (x, x), y), x));
  GyreTensor *grads[2];
  double expected[6];

  gyre_grad_of (loss, (GyreTensor *[]) { x, y }, 2, grads);
  for (int i = 0; i < 3; i++)
    {
      expected[i] = 2 * numbers[i] * numbers[3 + i] + 1;
      expected[3 + i] = numbers[i] * numbers[i];
    }
  gyre_graph_add_output (graph, grads[0]);
  gyre_graph_add_output (graph, grads[1]);
  assert_outputs (expected, 6);
}
END_TEST

START_TEST (differentiates_by_a_value_on_the_way)
{
  GyreTensor *half = gyre_mul_scalar (x, 0.5);
  GyreTensor *loss = gyre_sum (gyre_mul (half, half));
  GyreTensor *grads[3];
  double expected[9] = { 0.5, -1.5, 2, 0.25, -0.75, 1, 0, 0, 0 };

  gyre_grad_of (loss, (GyreTensor *[]) { half, x, y }, 3, grads);
  for (int i = 0; i < 3; i++)
    gyre_graph_add_output (graph, grads[i]);
  assert_outputs (expected, 9);
}
END_TEST

START_TEST (what_comes_later_has_no_gradient)
{
  GyreTensor *loss = gyre_sum (x);
  GyreTensor *later = gyre_exp (x), *grad;

  gyre_grad_of (loss, &later, 1, &grad);
  gyre_graph_add_output (graph, grad);
  assert_outputs ((double[]) { 0, 0, 0 }, 3);
}
END_TEST

START_TEST (takes_a_vector_and_zeros)
{
  /* y is the cotangent of 2x; that of exp (x) is zero. */
  GyreTensor *outputs[] = { gyre_mul_scalar (x, 2), gyre_exp (x) };
  GyreTensor *cotangents[] = { y, NULL };
  GyreTensor *grad;

  gyre_vjp (outputs, cotangents, 2, &x, 1, &grad);
  gyre_graph_add_output (graph, grad);
  assert_outputs ((double[]) { 6, 0.5, -1.5 }, 3);
}
END_TEST

START_TEST (stops_at_stop_gradient_and_integers)
{
  /* Σ x · stop (x) + float (int (x)) · y: the gradient by x is x. */
  GyreTensor *held = gyre_mul (x, gyre_stop_gradient (x));
  GyreTensor *steps = gyre_convert (gyre_convert (x, GYRE_I32), GYRE_F32);
  GyreTensor *loss = gyre_sum (gyre_add (held, gyre_mul (steps, y)));
  GyreTensor *grad;

  gyre_grad_of (loss, &x, 1, &grad);
  gyre_graph_add_output (graph, grad);
  assert_outputs (numbers, 3);
}
END_TEST

START_TEST (differentiates_again)
{
  /* tanh: t' = 1 - t², t'' = -2 t t', t''' = -2 (t'² + t t'') */
  GyreTensor *first, *second, *third;
  double expected[9];

  gyre_grad_of (gyre_sum (gyre_tanh (x)), &x, 1, &first);
  gyre_grad_of (gyre_sum (first), &x, 1, &second);
  gyre_grad_of (gyre_sum (second), &x, 1, &third);
  for (int i = 0; i < 3; i++)
    {
      double t = tanh (numbers[i]), d = 1 - t * t, d2 = -2 * t * d;

      expected[i] = d;
      expected[3 + i] = d2;
      expected[6 + i] = -2 * (d * d + t * d2);
    }
  gyre_graph_add_output (graph, first);
  gyre_graph_add_output (graph, second);
  gyre_graph_add_output (graph, third);
  assert_outputs (expected, 9);
}
END_TEST

static gboolean
rough_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;
  return TRUE;
}

static void
rough_vjp_of_another_shape (GyreTensor  *node,
                            GyreTensor  *ct,
                            GyreTensor **cts)
{
  cts[0] = gyre_sum (ct);
}

static const GyrePrim rough = { .name = "rough", .n_operands = 1, .infer = rough_infer };
static const GyrePrim wrong = { .name = "wrong", .n_operands = 1, .infer = rough_infer,
                                .vjp = rough_vjp_of_another_shape };

static GyreTensor *
apply (const GyrePrim *prim,
       GyreTensor     *operand)
{
  return gyre_graph_emit (graph, prim, &operand, 1, NULL);
}

START_TEST (looks_at_nothing_beside_the_way)
{
  /* rough has no gradient, and stands beside the way from x to the loss, and after it. */
  GyreTensor *loss = gyre_sum (gyre_mul (x, apply (&rough, y)));
  GyreTensor *grad;

  apply (&rough, loss);
  gyre_grad_of (loss, &x, 1, &grad);
  ck_assert (!grad->poison);
  gyre_assert_no_error (graph->error);
}
END_TEST

START_TEST (keeps_the_path_of_layers)
{
  GyreTensor *loss, *grad;

  graph->path = g_intern_string ("dense_0");
  loss = gyre_sum (gyre_exp (x));
  graph->path = "";
  gyre_grad_of (loss, &x, 1, &grad);
  ck_assert_str_eq (grad->path, "dense_0");
  ck_assert_str_eq (graph->path, "");
}
END_TEST

static GyreTensor *
missing_rule (void)
{
  return gyre_sum (apply (&rough, gyre_exp (x)));
}
static GyreTensor *
wrong_rule (void)
{
  return gyre_sum (apply (&wrong, gyre_exp (x)));
}
static GyreTensor *vector_loss (void)    { return gyre_exp (x); }
static GyreTensor *integer_loss (void)   { return gyre_constant (GYRE_I32, 1); }

static const struct
{
  GyreTensor *(*loss) (void);
  GyreError   code;
  const char *says;
} failures[] = {
  { missing_rule, GYRE_ERROR_TRACE, "gyre_vjp: rough in dense_0 has no gradient" },
  { wrong_rule, GYRE_ERROR_SHAPE, "rule of wrong gave operand 0" },
  { vector_loss, GYRE_ERROR_SHAPE, "the loss is f32[3], and must be a scalar" },
  { integer_loss, GYRE_ERROR_SHAPE, "the loss is i32[], and must be a scalar f32[]" },
};

START_TEST (says_what_is_wrong_with_the_loss)
{
  GyreTensor *loss, *grad;

  graph->path = g_intern_string ("dense_0");
  loss = failures[_i].loss ();
  gyre_grad_of (loss, &x, 1, &grad);
  ck_assert (grad->poison);
  gyre_assert_error (graph->error, GYRE_ERROR, failures[_i].code);
  gyre_assert_error_says (graph->error, failures[_i].says);
  ck_assert_str_eq (graph->path, "dense_0");
}
END_TEST

START_TEST (refuses_integers)
{
  GyreTensor *grads[2];

  gyre_grad_of (gyre_sum (x), (GyreTensor *[]) { x, labels }, 2, grads);
  ck_assert (grads[0]->poison && grads[1]->poison);
  gyre_assert_error (graph->error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (graph->error, "wrt 1 is i32[3], and only f32 has gradients");
}
END_TEST

START_TEST (refuses_cotangents_of_another_shape)
{
  GyreTensor *output = gyre_exp (x), *cotangent = gyre_sum (y), *grad;

  gyre_vjp (&output, &cotangent, 1, &x, 1, &grad);
  ck_assert (grad->poison);
  gyre_assert_error_says (graph->error, "cotangent 0 is f32[], and output 0 is f32[3]");
}
END_TEST

START_TEST (poison_stays_poison)
{
  GyreTensor *bad = gyre_graph_fail_with (graph, GYRE_ERROR_SHAPE, "the first"), *grad;

  gyre_grad_of (bad, &x, 1, &grad);
  ck_assert (grad->poison);
  ck_assert_str_eq (graph->error->message, "the first");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "vjp", setup, teardown);

  tcase_add_test (tcase, adds_what_all_uses_give);
  tcase_add_test (tcase, differentiates_by_a_value_on_the_way);
  tcase_add_test (tcase, what_comes_later_has_no_gradient);
  tcase_add_test (tcase, takes_a_vector_and_zeros);
  tcase_add_test (tcase, stops_at_stop_gradient_and_integers);
  tcase_add_test (tcase, differentiates_again);
  tcase_add_test (tcase, looks_at_nothing_beside_the_way);
  tcase_add_test (tcase, keeps_the_path_of_layers);
  tcase_add_loop_test (tcase, says_what_is_wrong_with_the_loss, 0,
                       G_N_ELEMENTS (failures));
  tcase_add_test (tcase, refuses_integers);
  tcase_add_test (tcase, refuses_cotangents_of_another_shape);
  tcase_add_test (tcase, poison_stays_poison);
}

GYRE_CHECK_MAIN ("vjp", add_tests)
