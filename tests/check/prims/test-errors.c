/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-ops.h>

#include "ir/gyre-graph-private.h"

/* Each shape rule refuses what doesn't fit, and says what, and what would. */

static GyreGraph *graph;
static GyreTensor *v3, *m34, *m43, *t234, *i3, *u2, *u8, *b34, *none;

static void
set_up (void)
{
  graph = gyre_graph_new ();
  graph->n_axes = 2;
  graph->axes[0] = (GyreAxis){ "data", 3, TRUE, TRUE };
  graph->axes[1] = (GyreAxis){ "model", 2, FALSE, FALSE };
  gyre_graph_push (graph);
  v3 = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (3));
  m34 = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (3, 4));
  m43 = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (4, 3));
  t234 = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2, 3, 4));
  i3 = gyre_graph_input (graph, "x", GYRE_I32, &GYRE_SHAPE (3));
  u2 = gyre_graph_input (graph, "x", GYRE_U32, &GYRE_SHAPE (2));
  u8 = gyre_graph_input (graph, "x", GYRE_U8, &GYRE_SHAPE (3));
  b34 = gyre_graph_input (graph, "x", GYRE_BOOL, &GYRE_SHAPE (3, 4));
  none = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (0, 4));
}

static void
tear_down (void)
{
  gyre_graph_pop ();
  g_clear_pointer (&graph, gyre_graph_free);
}

/* The last result is poison, and the error says both. */
static void
expect (GyreTensor *result, GyreError code, const char *first, const char *second)
{
  ck_assert_msg (graph->error != NULL, "no error that says '%s'", first);
  gyre_assert_error (graph->error, GYRE_ERROR, (int) code);
  gyre_assert_error_says (graph->error, first);
  gyre_assert_error_says (graph->error, second);
  ck_assert (result->poison);
  ck_assert_int_eq (gyre_tensor_dim (result, 2), 1);
  g_clear_error (&graph->error);
}

#define SHAPE(CALL, FIRST, SECOND) expect ((CALL), GYRE_ERROR_SHAPE, (FIRST), (SECOND))
#define SHARDING(CALL, FIRST, SECOND) \
  expect ((CALL), GYRE_ERROR_SHARDING, (FIRST), (SECOND))
#define INTS(...) ((const int[]){ __VA_ARGS__ })
#define LONGS(...) ((const gint64[]){ __VA_ARGS__ })

START_TEST (elements)
{
  SHAPE (gyre_add (m34, m43), "add: operand 0 is f32[3, 4] and operand 1 is f32[4, 3]",
         "or one of them 1");
  SHAPE (gyre_add (v3, i3), "f32[3] and operand 1 is i32[3]", "gyre_convert ()");
  SHAPE (gyre_exp (i3), "exp: operand 0 is i32[3]", "one of f32: use gyre_convert ()");
  SHAPE (gyre_pow (i3, i3), "pow: operand 0 is i32[3]", "gyre_convert ()");
  SHAPE (gyre_and (v3, v3), "and: operand 0 is f32[3]", "i32, u32, u8, bool");
  SHAPE (gyre_shift_left (u8, u8), "shift_left: operand 0 is u8[3]", "i32, u32");
  SHAPE (gyre_not (i3), "not: operand 0 is i32[3]", "bool");
  SHAPE (gyre_neg (b34), "neg: operand 0 is bool[3, 4]", "f32, i32, u32, u8");
  SHAPE (gyre_is_finite (i3), "is_finite: operand 0 is i32[3]", "f32");
  SHAPE (gyre_less (v3, m34), "less: operand 0 is f32[3] and operand 1 is f32[3, 4]",
         "or one of them 1");
  SHAPE (gyre_equal (v3, i3), "equal: operand 0 is f32[3]", "gyre_convert ()");
  SHAPE (gyre_select (m34, m34, m34), "select: operand 0 is f32[3, 4]",
         "a condition is bool");
  SHAPE (gyre_select (b34, m34, gyre_convert (m34, GYRE_I32)),
         "operand 1 is f32[3, 4] and operand 2 is i32[3, 4]", "gyre_convert ()");
  SHAPE (gyre_bitcast (u8, GYRE_F32), "bitcast: operand 0 is u8[3]", "f32, i32, u32");
  SHAPE (gyre_bitcast (v3, GYRE_U8), "can't become u8", "use f32, i32 or u32");
}
END_TEST

START_TEST (transforms)
{
  SHAPE (gyre_rfft (i3, 0, -1), "rfft: operand 0 is i32[3]", "gyre_convert ()");
  SHAPE (gyre_rfft (m34, 0, 2), "f32[3, 4] has no dimension 2", "there are 2");
  SHAPE (gyre_rfft2 (v3, NULL, NULL), "f32[3] has no dimension -2", "there are 1");
  SHAPE (gyre_rfft2 (m34, NULL, INTS (1, 1)), "has no dimension 1", "named once");
  SHAPE (gyre_rfft (gyre_slice (m34, LONGS (0, 0), LONGS (3, 0), NULL), 0, -1),
         "f32[3, 0]", "1 element or more");
  SHAPE (gyre_irfft (m34, 4, -1), "irfft: operand 0 is f32[3, 4]",
         "[re, im] in the last");
  SHAPE (gyre_irfft (gyre_slice (m34, LONGS (0, 0), LONGS (1, 2), NULL), 0, -1),
         "f32[1, 2], with 1 frequencies", "1 number or more");
}
END_TEST

START_TEST (makers)
{
  SHAPE (gyre_full (GYRE_SHAPE (2, -1), GYRE_F32, 0), "constant: the shape", "0 or more");
  SHAPE (gyre_iota (GYRE_SHAPE (2, 3), GYRE_I32, 2), "dimension 2 is not one of [2, 3]",
         "0 to 1");
  SHAPE (gyre_iota (GYRE_SHAPE (2), GYRE_BOOL, 0), "can't be bool", "use i32");
  SHAPE (gyre_iota (GYRE_SHAPE (-2), GYRE_I32, 0), "[-2] has a negative extent",
         "0 or more");
}
END_TEST

START_TEST (shapes)
{
  SHAPE (gyre_broadcast_to (m34, GYRE_SHAPE (3, 5)), "f32[3, 4] and can't become [3, 5]",
         "must be 5 or 1");
  SHAPE (gyre_broadcast_to (m34, GYRE_SHAPE (4)), "f32[3, 4] can't become [4]",
         "reshape or sum");
  SHAPE (gyre_broadcast_in_dim (m34, GYRE_SHAPE (4, 3), INTS (1, 0)),
         "can't become dimension 0", "increasing");
  SHAPE (gyre_broadcast_in_dim (v3, GYRE_SHAPE (-3, 3), INTS (1)), "[-3, 3]",
         "0 or more");
  SHAPE (gyre_expand_dims (v3, 2), "new dimension 2", "0 to 1");
  SHAPE (gyre_squeeze (m34, 0), "dimension 0 of f32[3, 4] is not one of extent 1",
         "slice");
  SHAPE (gyre_reshape (m34, GYRE_SHAPE (5, 2)),
         "f32[3, 4], of 12 elements, and can't become [5, 2]", "must be the same");
  SHAPE (gyre_reshape (m34, GYRE_SHAPE (5, -1)), "can't become [5, -1]",
         "must be the same");
  SHAPE (gyre_transpose (m34, INTS (0, 0)), "transpose: operand 0 is f32[3, 4]",
         "0 to 1 once");
  SHAPE (gyre_slice (m34, LONGS (0, 2), LONGS (3, 5), NULL),
         "dimension 1 can't be cut from 2 to 5", "limit ≤ extent");
  SHAPE (gyre_slice (v3, LONGS (0), LONGS (3), LONGS (0)), "in steps of 0", "1 or more");
  SHAPE (gyre_pad (v3, 0, LONGS (-2), LONGS (-2), NULL),
         "can't be padded by -2, -2 and 0 between", "no more can be cut");
  SHAPE (gyre_pad (v3, 0, LONGS (0), LONGS (0), LONGS (-1)), "and -1 between",
         "can't be negative");
  SHAPE (gyre_concatenate ((GyreTensor *[]){ m34, m43 }, 2, 0),
         "operand 0 is f32[3, 4] and operand 1 is f32[4, 3]",
         "other than 0 must be equal");
  SHAPE (gyre_concatenate ((GyreTensor *[]){ v3, i3 }, 2, 0), "operand 1 is i32[3]",
         "dtypes");
  SHAPE (gyre_concatenate (&v3, 1, 1), "no dimension 1", "gyre_expand_dims ()");
}
END_TEST

START_TEST (rows)
{
  SHAPE (gyre_gather_rows (m34, v3), "gather_rows: operand 1 is f32[3]", "one of i32");
  SHAPE (gyre_gather_rows (gyre_sum (v3), i3), "operand 0 is f32[]",
         "there must be rows");
  SHAPE (gyre_gather_rows (none, i3), "f32[0, 4], which has no row", "1 row or more");
  SHAPE (gyre_scatter_add_rows (5, i3, m43),
         "operand 0 is i32[3] and operand 1 is f32[4, 3]", "must be those of operand 0");
  SHAPE (gyre_scatter_add_rows (5, v3, m34), "operand 0 is f32[3]", "i32");
  SHAPE (gyre_scatter_add_rows (0, i3, m34), "0 rows to add to", "1 or more");
  SHAPE (gyre_one_hot (v3, 5), "labels are f32[3]", "must be i32");
  SHAPE (gyre_one_hot (i3, -1), "there are -1 classes", "0 or more");
}
END_TEST

START_TEST (reductions)
{
  SHAPE (gyre_sum_axis (m34, 2, FALSE), "reduce_sum: operand 0 is f32[3, 4]",
         "one of its 2");
  SHAPE (gyre_max_axis (b34, 0, FALSE), "reduce_max: operand 0 is bool[3, 4]",
         "f32, i32, u32, u8");
  SHAPE (gyre_mean_axis (v3, 1, TRUE), "reduce_sum: operand 0 is f32[3]", "one of its 1");
  SHAPE (gyre_arg_max (m34, 2), "arg_max: operand 0 is f32[3, 4]", "no dimension 2");
  SHAPE (gyre_arg_min (none, 0), "nothing along dimension 0", "1 or more");
  SHAPE (gyre_arg_max (b34, 0), "operand 0 is bool[3, 4]", "gyre_convert ()");
  SHAPE (gyre_softmax (v3, 1), "reduce_max", "one of its 1");
}
END_TEST

START_TEST (products)
{
  SHAPE (gyre_matmul (m34, m34), "operand 0 is f32[3, 4] and operand 1 is f32[3, 4]",
         "dimension 1 of the first, 4, must equal dimension 0 of the second, 3");
  SHAPE (gyre_matmul_full (m34, TRUE, m43, FALSE), "f32[3, 4] transposed",
         "dimension 0 of the first, 3, must equal dimension 0 of the second, 4");
  SHAPE (gyre_matmul (gyre_sum (v3), m34), "operand 0 is a scalar", "gyre_mul ()");
  SHAPE (gyre_matmul (t234, gyre_broadcast_to (m43, GYRE_SHAPE (3, 4, 3))),
         "operand 0 is f32[2, 3, 4] and operand 1 is f32[3, 4, 3]", "equal or 1");
  SHAPE (gyre_matmul (gyre_convert (m34, GYRE_I32), m43), "operand 0 is i32[3, 4]",
         "f32");
}
END_TEST

static GyreTensor *
input (GyreShape shape)
{
  return gyre_graph_input (graph, "x", GYRE_F32, &shape);
}

START_TEST (convolutions)
{
  GyreTensor *x = input (GYRE_SHAPE (2, 5, 3, 4));
  GyreTensor *k = input (GYRE_SHAPE (3, 3, 4, 6));

  SHAPE (gyre_conv (m34, k, NULL, NULL, NULL, 1), "the image is f32[3, 4]",
         "[samples, height, width, channels]");
  SHAPE (gyre_conv (x, m34, NULL, NULL, NULL, 1), "the kernel f32[3, 4]",
         "channels / groups, features]");
  SHAPE (gyre_conv (x, input (GYRE_SHAPE (3, 3, 5, 6)), NULL, NULL, NULL, 1),
         "f32[2, 5, 3, 4] has 4 channels", "takes 5");
  SHAPE (gyre_conv (x, k, NULL, NULL, NULL, 2), "in 2 groups takes 8",
         "times the groups must be the channels");
  SHAPE (gyre_conv (x, input (GYRE_SHAPE (3, 3, 1, 6)), NULL, NULL, NULL, 4),
         "gives 6 features", "a multiple of the 4 groups");
  SHAPE (gyre_conv (x, k, LONGS (1, 0), NULL, NULL, 1), "the stride 0", "1 or more");
  SHAPE (gyre_conv (x, k, NULL, NULL, LONGS (2, 2), 1),
         "reaches over 5 elements of dimension 2", "a smaller kernel");
  SHAPE (gyre_conv (x, input (GYRE_SHAPE (3, 0, 4, 6)), NULL, NULL, NULL, 1),
         "f32[3, 0, 4, 6]", "of 1 or more");
  SHAPE (gyre_conv (x, k, NULL, (gint64[]){ 0, 0, 2000000000, 2000000000 }, NULL, 1),
         "dimension 2 of f32[2, 5, 3, 4] has 4000000003 elements", "pad less");
  SHAPE (gyre_max_pool (x, LONGS (2, 2), NULL,
                        (gint64[]){ 0, 0, 2000000000, 2000000000 }),
         "dimension 2 of f32[2, 5, 3, 4] has 4000000003 elements", "pad less");
  SHAPE (gyre_conv (x, k, NULL, NULL, NULL, 0), "there are 0 feature groups",
         "1 or more");
  SHAPE (gyre_conv (gyre_convert (x, GYRE_I32), k, NULL, NULL, NULL, 1),
         "convolution: operand 0 is i32[2, 5, 3, 4]", "gyre_convert ()");
}
END_TEST

START_TEST (pools)
{
  GyreTensor *x = input (GYRE_SHAPE (2, 5, 3, 4));

  SHAPE (gyre_max_pool (m34, LONGS (2, 2), NULL, NULL),
         "window_max: operand 0 is f32[3, 4]", "[samples, height, width, channels]");
  SHAPE (gyre_max_pool (x, LONGS (2, 0), NULL, NULL), "the window 0", "1 or more");
  SHAPE (gyre_sum_pool (x, LONGS (2, 2), LONGS (-1, 1), NULL), "the stride -1",
         "1 or more");
  SHAPE (gyre_avg_pool (x, LONGS (2, 4), NULL, NULL, TRUE),
         "dimension 2 has 3 elements with its padding, and the window 4",
         "a smaller one");
  SHAPE (gyre_max_pool (x, LONGS (2, 2), NULL, LONGS (0, -1, 0, 0)), "paddings 0 and -1",
         "0 or more");
}
END_TEST

START_TEST (random_numbers)
{
  SHAPE (gyre_random_bits (v3, GYRE_SHAPE (2)), "operand 0 is f32[3]", "a key is u32[2]");
  SHAPE (gyre_random_bits (u2, GYRE_SHAPE (-2)), "negative extent", "0 or more");
  SHAPE (gyre_random_normal (gyre_random_split (u2, 3), GYRE_SHAPE (2)), "u32[3, 2]",
         "a row of gyre_random_split ()");
  SHAPE (gyre_random_fold_in (u2, v3), "operand 1 is f32[3]", "u32");
}
END_TEST

START_TEST (collectives)
{
  SHARDING (gyre_psum (v3, "rows"), "psum: 'rows' is not a manual axis", "has: 'data'");
  SHARDING (gyre_pmax (v3, "model"), "pmax: 'model' is not a manual axis", "'data'");
  SHARDING (gyre_pmean (v3, "data"),
            "pmean: the members along 'data' hold unlike numbers",
            "gyre_pmean_weighted ()");
  SHARDING (gyre_all_gather (v3, "rows"), "all_gather: 'rows'", "'data'");
  SHARDING (gyre_axis_index ("rows"), "axis_index: 'rows'", "'data'");
  SHARDING (gyre_axis_size ("rows"), "axis_size: 'rows'", "'data'");
  SHAPE (gyre_psum (b34, "data"), "psum: operand 0 is bool[3, 4]", "f32, i32, u32");
}
END_TEST

START_TEST (the_first_error_is_kept)
{
  GyreTensor *poison = gyre_matmul (m34, m34);

  poison =
      gyre_softmax (gyre_reshape (gyre_add (gyre_exp (poison), v3), GYRE_SHAPE (7)), 3);
  poison = gyre_concatenate ((GyreTensor *[]){ m34, poison }, 2, 0);
  poison = gyre_one_hot (gyre_arg_max (gyre_pad (poison, 0, NULL, NULL, NULL), 5), 3);
  SHAPE (gyre_squeeze (gyre_transpose (poison, NULL), 4),
         "matmul: operand 0 is f32[3, 4]", "must equal");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "errors", set_up, tear_down);

  tcase_add_test (tcase, elements);
  tcase_add_test (tcase, makers);
  tcase_add_test (tcase, transforms);
  tcase_add_test (tcase, shapes);
  tcase_add_test (tcase, rows);
  tcase_add_test (tcase, reductions);
  tcase_add_test (tcase, products);
  tcase_add_test (tcase, convolutions);
  tcase_add_test (tcase, pools);
  tcase_add_test (tcase, random_numbers);
  tcase_add_test (tcase, collectives);
  tcase_add_test (tcase, the_first_error_is_kept);
}

GYRE_CHECK_MAIN ("prims-errors", add_tests)
