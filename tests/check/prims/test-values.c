/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-ops.h>

#include "ir/gyre-prim-private.h"

/* The reference of primitives against numbers that were worked out apart from it; what
 * simplify rules make; and gradients where differences don't tell them. */

static GyreGraph *graph;

static void
set_up (void)
{
  graph = gyre_graph_new ();
  gyre_graph_push (graph);
}

static void
tear_down (void)
{
  gyre_graph_pop ();
  g_clear_pointer (&graph, gyre_graph_free);
}

static struct
{
  GyreRef refs[4];
  guint   n;
} given;

static GyreTensor *
give (GyreDtype  dtype,
      GyreShape  shape,
      double    *numbers)
{
  if (graph->inputs->len == 0)
    given.n = 0;
  given.refs[given.n++] = (GyreRef) { dtype, shape, numbers };
  return gyre_graph_input (graph, "x", dtype, &shape);
}

/* Differences are roundings of double. */
static void
expect (GyreTensor   *result,
        const double *expected,
        gsize         n)
{
  GyreRef out;
  g_autoptr (GError) error = NULL;

  g_ptr_array_set_size (graph->outputs, 0);
  gyre_assert_no_error (graph->error);
  gyre_graph_add_output (graph, result);
  gyre_interpret (graph, given.refs, &out, &error);
  gyre_assert_no_error (error);
  ck_assert_int_eq (gyre_shape_n_elements (&out.shape), (gint64) n);
  for (gsize i = 0; i < n; i++)
    gyre_assert_near (out.data[i], expected[i], 1e-12 * (1 + fabs (expected[i])));
  g_free (out.data);
}

#define NUMBERS(...) ((double[]) { __VA_ARGS__ })
#define EXPECT(RESULT, ...) \
  expect ((RESULT), NUMBERS (__VA_ARGS__), sizeof NUMBERS (__VA_ARGS__) / sizeof (double))

START_TEST (special_floats)
{
  GyreTensor *x =
      give (GYRE_F32, GYRE_SHAPE (5), NUMBERS (NAN, -INFINITY, INFINITY, -0.5, 2));
  GyreTensor *one = gyre_full_like (x, 1);

  EXPECT (gyre_max (x, one), NAN, 1, INFINITY, 1, 2);
  EXPECT (gyre_max (one, x), NAN, 1, INFINITY, 1, 2);
  EXPECT (gyre_min (x, one), NAN, -INFINITY, 1, -0.5, 1);
  EXPECT (gyre_sign (x), NAN, -1, 1, -1, 1);
  EXPECT (gyre_is_finite (x), 0, 0, 0, 1, 1);
  EXPECT (gyre_convert (x, GYRE_I32), 0, G_MININT32, G_MAXINT32, 0, 2);
  EXPECT (gyre_convert (x, GYRE_U8), 0, 0, 255, 0, 2);
  EXPECT (gyre_convert (x, GYRE_BOOL), 1, 1, 1, 1, 1);
  EXPECT (gyre_not_equal (x, x), 1, 0, 0, 0, 0);
  EXPECT (gyre_less_equal (x, one), 0, 1, 0, 1, 0);
  EXPECT (gyre_rem (gyre_mul_scalar (x, 2.75), one), NAN, NAN, NAN, -0.375, 0.5);
  EXPECT (gyre_arg_max (x, 0), 0);
  EXPECT (gyre_max_axis (x, 0, FALSE), NAN);
  EXPECT (gyre_logistic (gyre_mul_scalar (x, 500)), NAN, 0, 1, 1 / (1 + exp (250)), 1);
  EXPECT (gyre_floor (x), NAN, -INFINITY, INFINITY, -1, 2);
  EXPECT (gyre_erf_inv (gyre_constant (GYRE_F32, 1)), INFINITY);
}
END_TEST

START_TEST (integers_wrap)
{
  GyreTensor *i =
      give (GYRE_I32, GYRE_SHAPE (4), NUMBERS (G_MAXINT32, G_MININT32, -7, 7));
  GyreTensor *u = give (GYRE_U32, GYRE_SHAPE (2), NUMBERS (4294967295.0, 3));
  GyreTensor *b = give (GYRE_U8, GYRE_SHAPE (2), NUMBERS (200, 3));
  GyreTensor *two = gyre_full_like (i, 2), *zero = gyre_full_like (i, 0);
  GyreTensor *minus = gyre_full_like (i, -1);

  EXPECT (gyre_add (i, two), G_MININT32 + 1.0, G_MININT32 + 2.0, -5, 9);
  EXPECT (gyre_mul (i, i), 1, 0, 49, 49);
  EXPECT (gyre_neg (i), -2147483647.0, G_MININT32, 7, -7);
  EXPECT (gyre_abs (i), G_MAXINT32, G_MININT32, 7, 7);
  EXPECT (gyre_div (i, two), 1073741823, -1073741824, -3, 3);
  EXPECT (gyre_rem (i, two), 1, 0, -1, 1);
  EXPECT (gyre_div (i, zero), 0, 0, 0, 0);
  EXPECT (gyre_rem (i, zero), G_MAXINT32, G_MININT32, -7, 7);
  EXPECT (gyre_div (i, minus), -2147483647.0, G_MININT32, 7, -7);
  EXPECT (gyre_shift_right (i, two), 536870911, -536870912, -2, 1);
  EXPECT (gyre_shift_left (i, two), -4, 0, -28, 28);
  EXPECT (gyre_add (u, u), 4294967294.0, 6);
  EXPECT (gyre_shift_right (u, gyre_full_like (u, 31)), 1, 0);
  EXPECT (gyre_shift_left (u, gyre_full_like (u, 32)), 0, 0);
  EXPECT (gyre_convert (u, GYRE_I32), -1, 3);
  EXPECT (gyre_add (b, b), 144, 6);
  EXPECT (gyre_sum (b), 203);
  EXPECT (gyre_sum (gyre_add (b, b)), 150);
  EXPECT (gyre_bitcast (gyre_constant (GYRE_F32, 1.5), GYRE_U32), 0x3fc00000);
}
END_TEST

START_TEST (shapes)
{
  GyreTensor *x = give (GYRE_F32, GYRE_SHAPE (2, 3), NUMBERS (1, 2, 3, 4, 5, 6));
  gint64 low[] = { 0, -1 }, high[] = { 1, 1 }, interior[] = { 1, 0 };
  gint64 start[] = { 0, 0 }, limit[] = { 2, 3 }, strides[] = { 1, 2 };
  int dims[] = { 0, 2 };

  EXPECT (gyre_transpose (x, NULL), 1, 4, 2, 5, 3, 6);
  EXPECT (gyre_reshape (x, GYRE_SHAPE (-1, 2)), 1, 2, 3, 4, 5, 6);
  EXPECT (gyre_broadcast_in_dim (x, GYRE_SHAPE (2, 2, 3), dims), 1, 2, 3, 1, 2, 3, 4, 5,
          6, 4, 5, 6);
  EXPECT (gyre_pad (x, 9, low, high, interior), 2, 3, 9, 9, 9, 9, 5, 6, 9, 9, 9, 9);
  EXPECT (gyre_slice (x, start, limit, strides), 1, 3, 4, 6);
  EXPECT (gyre_concatenate ((GyreTensor *[]){ x, x }, 2, 1), 1, 2, 3, 1, 2, 3, 4, 5, 6, 4,
          5, 6);
  EXPECT (gyre_sum_axis (x, 0, FALSE), 5, 7, 9);
  EXPECT (gyre_mean_axis (x, 1, TRUE), 2, 5);
  EXPECT (gyre_min_dims (x, NULL, 0, TRUE), 1);
  EXPECT (gyre_iota (GYRE_SHAPE (2, 3), GYRE_I32, -1), 0, 1, 2, 0, 1, 2);
  EXPECT (gyre_matmul_full (x, FALSE, x, TRUE), 14, 32, 32, 77);
  EXPECT (gyre_matmul_full (x, TRUE, x, FALSE), 17, 22, 27, 22, 29, 36, 27, 36, 45);
  EXPECT (gyre_one_hot (gyre_convert (gyre_sum_axis (x, 1, FALSE), GYRE_I32), 7), 0, 0, 0,
          0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST (rows)
{
  GyreTensor *x = give (GYRE_F32, GYRE_SHAPE (3, 2), NUMBERS (1, 2, 3, 4, 5, 6));
  GyreTensor *i = give (GYRE_I32, GYRE_SHAPE (4), NUMBERS (2, -5, 7, 1));

  EXPECT (gyre_gather_rows (x, i), 5, 6, 1, 2, 5, 6, 3, 4);
  EXPECT (gyre_scatter_add_rows (3, i, gyre_gather_rows (x, i)), 1, 2, 3, 4, 10, 12);
}
END_TEST

/* exp (1000) is infinite in f32, and its reciprocal 0. */
START_TEST (softmax_is_stable)
{
  GyreTensor *x = give (GYRE_F32, GYRE_SHAPE (2, 2), NUMBERS (1000, 0, -1000, -1000));
  GyreTensor *low = gyre_full (GYRE_SHAPE (1, 2), GYRE_F32, -INFINITY);

  EXPECT (gyre_log_softmax (x, -1), 0, -1000, -G_LN2, -G_LN2);
  EXPECT (gyre_softmax (x, -1), 1, 0, 0.5, 0.5);
  EXPECT (gyre_log_sum_exp (x, -1, FALSE), 1000, -1000 + G_LN2);
  EXPECT (gyre_log_sum_exp (low, -1, FALSE), -INFINITY);
}
END_TEST

/* As in JAX: equals share. */
START_TEST (gradients_at_ties)
{
  GyreTensor *x = give (GYRE_F32, GYRE_SHAPE (4), NUMBERS (0, 1, -1, 1)), *grad;
  GyreTensor *zero = gyre_full_like (x, 0);

  gyre_grad_of (gyre_sum (gyre_max (x, zero)), &x, 1, &grad);
  EXPECT (grad, 0.5, 1, 0, 1);
  gyre_grad_of (gyre_max_axis (x, 0, FALSE), &x, 1, &grad);
  EXPECT (grad, 0, 0.5, 0, 0.5);
  gyre_grad_of (gyre_sum (gyre_abs (x)), &x, 1, &grad);
  EXPECT (grad, 0, 1, -1, 1);
  gyre_grad_of (gyre_sum (gyre_select (gyre_greater (x, zero), x, zero)), &x, 1, &grad);
  EXPECT (grad, 0, 1, 0, 1);
  gyre_grad_of (gyre_sum (gyre_pow (x, gyre_full_like (x, 2))), &x, 1, &grad);
  EXPECT (grad, 0, 2, -2, 2);
}
END_TEST

static GyreTensor *
simplify (GyreTensor *x)
{
  GyreTensor *simple = x->prim->simplify (graph, x);

  ck_assert_msg (simple != NULL, "%s was not made simpler", x->prim->name);
  ck_assert_int_eq (simple->dtype, x->dtype);
  ck_assert (gyre_shape_equal (&simple->shape, &x->shape));
  return simple;
}

START_TEST (simpler_equals)
{
  GyreTensor *x = give (GYRE_F32, GYRE_SHAPE (2, 3), NUMBERS (1, 2, 3, 4, 5, 6));
  GyreTensor *i = give (GYRE_I32, GYRE_SHAPE (2), NUMBERS (1, 2));
  GyreTensor *t = gyre_transpose (x, NULL);

  ck_assert_ptr_eq (simplify (gyre_add_scalar (x, 0)), x);
  ck_assert_ptr_eq (simplify (gyre_mul (gyre_full_like (x, 1), x)), x);
  ck_assert_ptr_eq (simplify (gyre_neg (gyre_neg (x))), x);
  ck_assert_ptr_eq (simplify (simplify (gyre_transpose (t, NULL))), x);
  ck_assert_ptr_eq (simplify (gyre_stop_gradient (x)), x);
  ck_assert_ptr_eq (simplify (gyre_concatenate (&x, 1, 0)), x);
  ck_assert_ptr_eq (simplify (gyre_select (gyre_full (GYRE_SHAPE (2, 3), GYRE_BOOL, 1), x,
                                           gyre_full_like (x, 0))), x);
  ck_assert_ptr_null (
      gyre_mul_scalar (x, 0)->prim->simplify (graph, gyre_mul_scalar (x, 0)));
  EXPECT (simplify (gyre_mul_scalar (i, 0)), 0, 0);
  EXPECT (simplify (gyre_exp (gyre_full_like (x, 0))), 1, 1, 1, 1, 1, 1);
  EXPECT (simplify (gyre_sum_axis (gyre_full_like (x, 2), 1, FALSE)), 6, 6);
  EXPECT (simplify (gyre_sub (gyre_constant (GYRE_F32, 5), gyre_constant (GYRE_F32, 3))),
          2);
  EXPECT (simplify (gyre_pow (x, gyre_full_like (x, 2))), 1, 4, 9, 16, 25, 36);
  ck_assert_str_eq (simplify (gyre_pow (x, gyre_full_like (x, 2)))->prim->name, "square");
}
END_TEST

/* No transpose is left where a product takes its operands transposed. */
START_TEST (products_take_transposes)
{
  GyreTensor *x = give (GYRE_F32, GYRE_SHAPE (2, 3), NUMBERS (1, 2, 3, 4, 5, 6));
  GyreTensor *simple = simplify (gyre_matmul (x, gyre_transpose (x, NULL)));
  GString *text = g_string_new (NULL);

  simple->prim->print (simple, text);
  ck_assert_str_eq (text->str, " {trans_b}");
  ck_assert_ptr_eq (simple->operands[1], x);
  EXPECT (simple, 14, 32, 32, 77);
  g_string_free (text, TRUE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "values", set_up, tear_down);

  tcase_add_test (tcase, special_floats);
  tcase_add_test (tcase, integers_wrap);
  tcase_add_test (tcase, shapes);
  tcase_add_test (tcase, rows);
  tcase_add_test (tcase, softmax_is_stable);
  tcase_add_test (tcase, gradients_at_ties);
  tcase_add_test (tcase, simpler_equals);
  tcase_add_test (tcase, products_take_transposes);
}

GYRE_CHECK_MAIN ("prims-values", add_tests)
