/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prim-cases.h"

#include <math.h>

#define S GYRE_CASE_SMOOTH
#define E GYRE_CASE_EXACT
#define DIMS(...) GYRE_SHAPE (__VA_ARGS__)
#define F32(low, high, ...)                     \
  {                                             \
    GYRE_F32, DIMS (__VA_ARGS__), (low), (high) \
  }
#define I32(low, high, ...)                     \
  {                                             \
    GYRE_I32, DIMS (__VA_ARGS__), (low), (high) \
  }
#define U32(low, high, ...)                     \
  {                                             \
    GYRE_U32, DIMS (__VA_ARGS__), (low), (high) \
  }
#define U8(low, high, ...)                     \
  {                                            \
    GYRE_U8, DIMS (__VA_ARGS__), (low), (high) \
  }
#define BOOL(...)                       \
  {                                     \
    GYRE_BOOL, DIMS (__VA_ARGS__), 0, 1 \
  }
#define SCALAR(dtype, low, high)         \
  {                                      \
    (dtype), { 0, { 0 } }, (low), (high) \
  }

/* Builders that need more than their operands */

#define BUILD(NAME, EXPRESSION)                          \
  static GyreTensor *build_##NAME (GyreTensor *const *x) \
  {                                                      \
    return (EXPRESSION);                                 \
  }
#define INTS(...) ((const int[]){ __VA_ARGS__ })
#define LONGS(...) ((const gint64[]){ __VA_ARGS__ })

BUILD (pow_3, gyre_pow (x[0], gyre_constant (GYRE_F32, 3)))
BUILD (pow_half, gyre_pow (x[0], gyre_constant (GYRE_F32, 1.5)))
BUILD (add_scalar, gyre_add_scalar (x[0], 0.25))
BUILD (mul_scalar, gyre_mul_scalar (x[0], -3))
BUILD (select, gyre_select (x[0], x[1], x[2]))
BUILD (relu,
       gyre_select (gyre_greater (x[0], gyre_full_like (x[0], 0)),
                    x[0],
                    gyre_full_like (x[0], 0)))
BUILD (stop,
       gyre_mul (x[0],
                 gyre_stop_gradient (gyre_add_scalar (gyre_mul_scalar (x[0], 0), 2))))
BUILD (to_i32, gyre_convert (x[0], GYRE_I32))
BUILD (to_u8, gyre_convert (x[0], GYRE_U8))
BUILD (to_u32, gyre_convert (x[0], GYRE_U32))
BUILD (to_bool, gyre_convert (x[0], GYRE_BOOL))
BUILD (to_f32, gyre_convert (x[0], GYRE_F32))
BUILD (bits_of, gyre_bitcast (x[0], GYRE_U32))
BUILD (float_of, gyre_bitcast (x[0], GYRE_F32))
BUILD (iota, gyre_add (x[0], gyre_iota (x[0]->shape, x[0]->dtype, 1)))
BUILD (iota_first, gyre_mul (x[0], gyre_iota (x[0]->shape, x[0]->dtype, 0)))
BUILD (broadcast, gyre_broadcast_to (x[0], GYRE_SHAPE (2, 3, 4)))
BUILD (broadcast_in_dim, gyre_broadcast_in_dim (x[0], GYRE_SHAPE (3, 5, 4), INTS (0, 2)))
BUILD (expand, gyre_expand_dims (x[0], 1))
BUILD (squeeze, gyre_squeeze (x[0], 1))
BUILD (reshape_merge, gyre_reshape (x[0], GYRE_SHAPE (-1, 5)))
BUILD (reshape_all, gyre_reshape (x[0], GYRE_SHAPE (-1)))
BUILD (reshape_cut, gyre_reshape (x[0], GYRE_SHAPE (4, 3, 2, 5)))
BUILD (reshape_round,
       gyre_reshape (gyre_mul (gyre_reshape (x[0], GYRE_SHAPE (12, 5)),
                               gyre_reshape (x[0], GYRE_SHAPE (12, 5))),
                     x[0]->shape))
BUILD (reshape_odd, gyre_reshape (x[0], GYRE_SHAPE (5, 12)))
BUILD (reshape_ones, gyre_reshape (x[0], GYRE_SHAPE (1, 7, 1, 3, 1)))
BUILD (reshape_none, gyre_reshape (x[0], GYRE_SHAPE (4, 0, 2)))
BUILD (transpose, gyre_transpose (x[0], NULL))
BUILD (transpose_perm, gyre_transpose (x[0], INTS (1, 2, 0)))
BUILD (slice, gyre_slice (x[0], LONGS (0, 1), LONGS (3, 5), NULL))
BUILD (slice_steps, gyre_slice (x[0], LONGS (1, 0), LONGS (7, 5), LONGS (3, 1)))
BUILD (slice_nothing, gyre_slice (x[0], LONGS (2, 0), LONGS (2, 5), LONGS (2, 1)))
BUILD (pad, gyre_pad (x[0], 0, LONGS (0, 2), LONGS (0, 1), NULL))
BUILD (pad_interior, gyre_pad (x[0], 1.5, LONGS (1, 0), LONGS (-1, 0), LONGS (2, 0)))
BUILD (pad_cut, gyre_pad (x[0], 0, LONGS (-1, -2), LONGS (2, -1), LONGS (1, 1)))
BUILD (concatenate, gyre_concatenate (x, 3, 1))
BUILD (concatenate_first, gyre_concatenate (x, 2, 0))
BUILD (gather_rows, gyre_gather_rows (x[0], x[1]))
BUILD (scatter_add_rows, gyre_scatter_add_rows (4, x[0], x[1]))
BUILD (one_hot, gyre_one_hot (x[0], 5))
BUILD (sum_all, gyre_sum (x[0]))
BUILD (sum_first, gyre_sum_axis (x[0], 0, FALSE))
BUILD (sum_keep, gyre_sum_axis (x[0], -1, TRUE))
BUILD (sum_two, gyre_sum_dims (x[0], INTS (0, 2), 2, FALSE))
BUILD (max_last, gyre_max_axis (x[0], -1, FALSE))
BUILD (max_first, gyre_max_axis (x[0], 0, TRUE))
BUILD (min_all, gyre_min_dims (x[0], NULL, 0, FALSE))
BUILD (mean_all, gyre_mean (x[0]))
BUILD (mean_keep, gyre_mean_axis (x[0], 0, TRUE))
BUILD (arg_max, gyre_arg_max (x[0], -1))
BUILD (arg_max_first, gyre_arg_max (x[0], 0))
BUILD (arg_min, gyre_arg_min (x[0], 1))
BUILD (log_sum_exp, gyre_log_sum_exp (x[0], -1, FALSE))
BUILD (softmax, gyre_softmax (x[0], -1))
BUILD (softmax_first, gyre_softmax (x[0], 0))
BUILD (log_softmax, gyre_log_softmax (x[0], -1))
BUILD (matmul_ta, gyre_matmul_full (x[0], TRUE, x[1], FALSE))
BUILD (matmul_tb, gyre_matmul_full (x[0], FALSE, x[1], TRUE))
BUILD (matmul_tab, gyre_matmul_full (x[0], TRUE, x[1], TRUE))
BUILD (matmul_bias, gyre_add (gyre_matmul (x[0], x[1]), x[2]))
BUILD (two_layers, gyre_matmul (gyre_tanh (gyre_matmul (x[0], x[1])), x[2]))
static GyreTensor *
pool_gradient (GyreTensor *x, GyreTensor *ct)
{
  GyreTensor *y = gyre_max_pool (x, LONGS (3, 2), LONGS (2, 1), LONGS (1, 1, 1, 0));
  GyreTensor *grad;

  gyre_vjp (&y, &ct, 1, &x, 1, &grad);
  return grad;
}

#define SAME LONGS (1, 1, 1, 1)
BUILD (conv, gyre_conv (x[0], x[1], NULL, NULL, NULL, 1))
BUILD (conv_same, gyre_conv (x[0], x[1], NULL, SAME, NULL, 1))
BUILD (conv_strides, gyre_conv (x[0], x[1], LONGS (3, 2), LONGS (1, 2, 0, 3), NULL, 1))
BUILD (conv_cut, gyre_conv (x[0], x[1], LONGS (1, 2), LONGS (-1, 0, 2, -1), NULL, 1))
BUILD (conv_dilated, gyre_conv (x[0], x[1], NULL, SAME, LONGS (2, 1), 1))
BUILD (conv_transposed,
       gyre_conv_dilated (x[0], x[1], NULL, LONGS (1, 1, 2, 1), NULL, LONGS (2, 3), 1))
BUILD (conv_groups, gyre_conv (x[0], x[1], NULL, SAME, NULL, 2))
BUILD (conv_depthwise, gyre_conv (x[0], x[1], LONGS (2, 1), SAME, NULL, 3))
BUILD (conv_bias,
       gyre_tanh (gyre_add (gyre_conv (x[0], x[1], NULL, SAME, NULL, 1), x[2])))
BUILD (max_pool, gyre_max_pool (x[0], LONGS (2, 2), NULL, NULL))
BUILD (max_pool_same, gyre_max_pool (x[0], LONGS (3, 2), LONGS (2, 1), SAME))
BUILD (max_pool_apart, gyre_max_pool (x[0], LONGS (1, 2), LONGS (2, 3), NULL))
BUILD (max_pool_none, gyre_max_pool (x[0], LONGS (2, 2), NULL, LONGS (2, 0, 0, 2)))
BUILD (sum_pool, gyre_sum_pool (x[0], LONGS (2, 2), NULL, NULL))
BUILD (sum_pool_apart, gyre_sum_pool (x[0], LONGS (1, 2), LONGS (2, 3), NULL))
BUILD (avg_pool, gyre_avg_pool (x[0], LONGS (3, 2), LONGS (2, 1), SAME, FALSE))
BUILD (avg_pool_all, gyre_avg_pool (x[0], LONGS (3, 2), LONGS (2, 1), SAME, TRUE))
BUILD (rfft, gyre_rfft (x[0], 0, -1))
BUILD (rfft_middle, gyre_rfft (x[0], 0, 1))
BUILD (rfft_padded, gyre_rfft (x[0], 8, -1))
BUILD (rfft_cut, gyre_rfft (x[0], 3, -1))
BUILD (irfft, gyre_irfft (x[0], 0, -1))
BUILD (irfft_odd, gyre_irfft (x[0], 5, -1))
BUILD (irfft_middle, gyre_irfft (x[0], 8, 1))
BUILD (rfft2, gyre_rfft2 (x[0], NULL, NULL))
BUILD (rfft2_images, gyre_rfft2 (x[0], NULL, INTS (1, 2)))
BUILD (irfft2, gyre_irfft2 (x[0], NULL, NULL))
BUILD (irfft2_images, gyre_irfft2 (x[0], LONGS (3, 5), INTS (1, 2)))
BUILD (rfft_round, gyre_irfft (gyre_square (gyre_rfft (x[0], 0, -1)), 6, -1))
BUILD (pool_gradient, pool_gradient (x[0], x[1]))
BUILD (bits, gyre_random_bits (x[0], GYRE_SHAPE (7, 5)))
BUILD (split, gyre_random_split (x[0], 5))
BUILD (fold_in, gyre_random_fold_in (x[0], x[1]))
BUILD (fold_in_path, gyre_random_fold_in_path (x[0], "dense_0/kernel"))
BUILD (key, gyre_random_fold_in (gyre_random_key ((GyreKey){ { 1, 42 } }), x[0]))
BUILD (uniform, gyre_random_uniform (x[0], GYRE_SHAPE (3, 11), -2.5, 0.75))
BUILD (normal, gyre_random_normal (x[0], GYRE_SHAPE (33)))
BUILD (truncated_normal, gyre_random_truncated_normal (x[0], GYRE_SHAPE (6, 9), -2, 2))
BUILD (bernoulli, gyre_random_bernoulli (x[0], GYRE_SHAPE (4, 13), 0.5))
BUILD (randint, gyre_random_randint (x[0], GYRE_SHAPE (17), -7, 1000))
BUILD (gumbel, gyre_random_gumbel (x[0], GYRE_SHAPE (5, 3)))
BUILD (exponential, gyre_random_exponential (x[0], GYRE_SHAPE (9)))
BUILD (categorical, gyre_random_categorical (x[0], x[1]))

/* Four sizes of each: rank 0, a vector, a matrix, and nothing. */
#define UNARY(NAME, FLAGS, SLACK, LOW, HIGH)                                           \
  {                                                                                    \
    #NAME " []",      .unary = gyre_##NAME, .flags = (FLAGS),                          \
    .slack = (SLACK), .n_inputs = 1,        .inputs = { SCALAR (GYRE_F32, LOW, HIGH) } \
  },                                                                                   \
      { #NAME " [7]",     .unary = gyre_##NAME, .flags = (FLAGS),                      \
        .slack = (SLACK), .n_inputs = 1,        .inputs = { F32 (LOW, HIGH, 7) } },    \
      { #NAME " [3,5]",   .unary = gyre_##NAME, .flags = (FLAGS),                      \
        .slack = (SLACK), .n_inputs = 1,        .inputs = { F32 (LOW, HIGH, 3, 5) } }, \
  {                                                                                    \
#NAME " [0,4]", .unary = gyre_##NAME, .flags = (FLAGS), .slack = (SLACK),          \
                    .n_inputs = 1,                                                     \
                    .inputs = {                                                        \
                      F32(LOW, HIGH, 0, 4) }                                           \
  }

/* Equal shapes, and shapes that broadcast. */
#define BINARY(NAME, FLAGS, LOW, HIGH)                                                  \
  { #NAME " [4,3]", .binary = gyre_##NAME, .flags = (FLAGS), .n_inputs = 2,             \
    .inputs = { F32 (LOW, HIGH, 4, 3), F32 (LOW, HIGH, 4, 3) } },                       \
      { #NAME " [4,3] [3]", .binary = gyre_##NAME, .flags = (FLAGS), .n_inputs = 2,     \
        .inputs = { F32 (LOW, HIGH, 4, 3), F32 (LOW, HIGH, 3) } },                      \
      { #NAME " [4,1] [2,1,3]", .binary = gyre_##NAME, .flags = (FLAGS), .n_inputs = 2, \
        .inputs = { F32 (LOW, HIGH, 4, 1), F32 (LOW, HIGH, 2, 1, 3) } },                \
  {                                                                                     \
#NAME " [] [0,2]", .binary = gyre_##NAME, .flags = (FLAGS), .n_inputs = 2,          \
                       .inputs = {                                                      \
                         SCALAR(GYRE_F32, LOW, HIGH), F32(LOW, HIGH, 0, 2) }            \
  }

#define INTEGERS(NAME, LOW, HIGH)                                                       \
  { #NAME " i32", .binary = gyre_##NAME, .flags = E, .n_inputs = 2,                     \
    .inputs = { I32 (LOW, HIGH, 5, 3), I32 (LOW, HIGH, 3) } },                          \
      { #NAME " u32", .binary = gyre_##NAME, .flags = E, .n_inputs = 2,                 \
        .inputs = { U32 (0, 4294967295.0, 5, 3), U32 (0, HIGH, 5, 3) } },               \
  {                                                                                     \
#NAME " wide i32", .binary = gyre_##NAME, .flags = E, .n_inputs = 2,                \
                       .inputs = {                                                      \
                         I32(-2147483648.0, 2147483647.0, 5, 3), I32(LOW, HIGH, 5, 3) } \
  }

#define BYTES(NAME)                                                \
  {                                                                \
#NAME " u8", .binary = gyre_##NAME, .flags = E, .n_inputs = 2, \
                 .inputs = {                                       \
                   U8(0, 255, 6, 2), U8(0, 255, 6, 2) }            \
  }

#define COMPARE(NAME)                                               \
  { #NAME " f32", .binary = gyre_##NAME, .flags = E, .n_inputs = 2, \
    .inputs = { F32 (-1, 1, 4, 3), F32 (-1, 1, 3) } },              \
  {                                                                 \
#NAME " i32", .binary = gyre_##NAME, .flags = E, .n_inputs = 2, \
                  .inputs = {                                       \
                    I32(-1, 1, 4, 3), I32(-1, 1, 4, 3) }            \
  }

#define ONE(NAME, FLAGS, ...)                                      \
  {                                                                \
#NAME, .build = build_##NAME, .flags = (FLAGS), .n_inputs = 1, \
           .inputs = {                                             \
             __VA_ARGS__ }                                         \
  }
#define TWO(NAME, FLAGS, ...)                                      \
  {                                                                \
#NAME, .build = build_##NAME, .flags = (FLAGS), .n_inputs = 2, \
           .inputs = {                                             \
             __VA_ARGS__ }                                         \
  }
#define THREE(NAME, FLAGS, ...)                                    \
  {                                                                \
#NAME, .build = build_##NAME, .flags = (FLAGS), .n_inputs = 3, \
           .inputs = {                                             \
             __VA_ARGS__ }                                         \
  }
#define MATMUL(NAME, ...)                                                         \
  {                                                                               \
    "matmul " NAME, .binary = gyre_matmul, .flags = S, .n_inputs = 2, .inputs = { \
      __VA_ARGS__                                                                 \
    }                                                                             \
  }

#define KEY U32 (0, 4294967295.0, 2)

const GyrePrimCase gyre_prim_cases[] = {
  UNARY (neg, S | E, 0, -2, 2),
  UNARY (abs, S | E, 0, 0.25, 2),
  UNARY (sign, S | E, 0, 0.25, 2),
  UNARY (exp, S, 0, -2, 2),
  UNARY (expm1, S, 0, -2, 2),
  UNARY (log, S, 0, 0.25, 3),
  UNARY (log1p, S, 0, -0.5, 3),
  UNARY (sqrt, S, 0, 0.25, 3),
  UNARY (rsqrt, S, 0, 0.5, 3),
  UNARY (square, S | E, 0, -2, 2),
  UNARY (sin, S, 0, -3, 3),
  UNARY (cos, S, 0, -3, 3),
  UNARY (tanh, S, 0, -2, 2),
  UNARY (logistic, S, 0, -3, 3),
  UNARY (erf, S, 0, -2, 2),
  /* The gradient is that of the function, not of the polynomial, of seven digits. */
  UNARY (erf_inv, S, 1e-4, -0.9, 0.9),
  UNARY (floor, E, 0, -3, 3),
  UNARY (is_finite, E, 0, -3, 3),
  { "not", .unary = gyre_not, .flags = E, .n_inputs = 1, .inputs = { BOOL (5, 2) } },
  { "neg i32", .unary = gyre_neg, .flags = E, .n_inputs = 1,
    .inputs = { I32 (-9, 9, 5, 2) } },
  { "abs i32", .unary = gyre_abs, .flags = E, .n_inputs = 1,
    .inputs = { I32 (-9, 9, 5, 2) } },
  { "sign i32", .unary = gyre_sign, .flags = E, .n_inputs = 1,
    .inputs = { I32 (-2, 2, 5, 2) } },
  { "neg u8", .unary = gyre_neg, .flags = E, .n_inputs = 1,
    .inputs = { U8 (0, 255, 7) } },
  { "abs -", .unary = gyre_abs, .flags = S | E, .n_inputs = 1,
    .inputs = { F32 (-2, -0.25, 7) } },

  BINARY (add, S | E, -2, 2),
  BINARY (sub, S | E, -2, 2),
  BINARY (mul, S | E, -2, 2),
  BINARY (div, S, 0.5, 2),
  BINARY (pow, S, 0.5, 2),
  BINARY (max, S | E, -2, 2),
  BINARY (min, S | E, -2, 2),
  { "rem", .binary = gyre_rem, .flags = S, .n_inputs = 2,
    .inputs = { F32 (3.1, 3.9, 4, 3), F32 (1.1, 1.4, 3) } },
  INTEGERS (add, -9, 9),
  INTEGERS (sub, -9, 9),
  INTEGERS (mul, -99999, 99999),
  INTEGERS (div, -2, 2),
  INTEGERS (rem, -2, 2),
  INTEGERS (max, -2, 2),
  INTEGERS (min, -2, 2),
  INTEGERS (and, -9, 9),
  INTEGERS (or, -9, 9),
  INTEGERS (xor, -9, 9),
  INTEGERS (shift_left, -2, 35),
  INTEGERS (shift_right, -2, 35),
  BYTES (add),
  BYTES (sub),
  BYTES (mul),
  BYTES (div),
  BYTES (rem),
  BYTES (max),
  BYTES (xor),
  { "and bool", .binary = gyre_and, .flags = E, .n_inputs = 2,
    .inputs = { BOOL (7), BOOL (7) } },
  { "or bool", .binary = gyre_or, .flags = E, .n_inputs = 2,
    .inputs = { BOOL (7), BOOL (7) } },
  ONE (pow_3, S, F32 (-2, 2, 5)),
  ONE (pow_half, S, F32 (0.5, 2, 5)),
  ONE (add_scalar, S | E, F32 (-2, 2, 4, 3)),
  ONE (mul_scalar, S | E, F32 (-2, 2, 4, 3)),

  COMPARE (equal),
  COMPARE (not_equal),
  COMPARE (less),
  COMPARE (less_equal),
  COMPARE (greater),
  COMPARE (greater_equal),
  THREE (select, S | E, BOOL (4, 3), F32 (-1, 1, 4, 3), F32 (-1, 1, 3)),
  ONE (relu, S | E, F32 (-1, 1, 5, 3)),
  /* Its gradient is not that of the function. */
  ONE (stop, E, F32 (-1, 1, 5, 3)),

  ONE (to_i32, E, F32 (-9, 9, 5, 3)),
  ONE (to_u8, E, F32 (-99, 399, 5, 3)),
  ONE (to_u32, E, F32 (-99, 399, 5, 3)),
  ONE (to_bool, E, I32 (-1, 1, 5, 3)),
  ONE (to_f32, E, U8 (0, 255, 5, 3)),
  ONE (to_u8, E, I32 (-999, 999, 5, 3)),
  ONE (to_i32, E, U32 (0, 4294967295.0, 5)),
  ONE (to_f32, E, BOOL (5)),
  ONE (bits_of, E, F32 (-9, 9, 5, 3)),
  ONE (float_of, E, U32 (0, 2139095039.0, 5, 3)),

  ONE (iota, E, I32 (0, 9, 5, 3)),
  ONE (iota, S | E, F32 (-1, 1, 5, 3)),
  ONE (iota_first, S | E, F32 (-1, 1, 5, 3)),
  ONE (iota_first, E, U8 (0, 9, 5, 3)),

  ONE (broadcast, S | E, F32 (-1, 1, 3, 1)),
  ONE (broadcast, S | E, F32 (-1, 1, 4)),
  ONE (broadcast, S | E, F32 (-1, 1, 2, 3, 4)),
  ONE (broadcast, S | E, SCALAR (GYRE_F32, -1, 1)),
  ONE (broadcast_in_dim, S | E, F32 (-1, 1, 3, 4)),
  ONE (broadcast_in_dim, S | E, F32 (-1, 1, 1, 4)),
  ONE (expand, S | E, F32 (-1, 1, 5, 3)),
  ONE (squeeze, S | E, F32 (-1, 1, 5, 1, 3)),
  ONE (reshape_merge, S | E, F32 (-1, 1, 4, 6, 5)),
  ONE (reshape_all, S | E, F32 (-1, 1, 4, 3, 2)),
  ONE (reshape_all, S | E, SCALAR (GYRE_F32, -1, 1)),
  ONE (reshape_cut, S | E, F32 (-1, 1, 12, 10)),
  ONE (reshape_cut, S | E, F32 (-1, 1, 4, 30)),
  ONE (reshape_round, S | E, F32 (-1, 1, 4, 3, 5)),
  ONE (reshape_odd, S | E, F32 (-1, 1, 12, 5)),
  ONE (reshape_ones, S | E, F32 (-1, 1, 7, 3)),
  ONE (reshape_ones, S | E, F32 (-1, 1, 1, 1, 21)),
  ONE (reshape_none, S | E, F32 (-1, 1, 0, 3)),
  ONE (transpose, S | E, F32 (-1, 1, 5, 3)),
  ONE (transpose, S | E, F32 (-1, 1, 7)),
  ONE (transpose, S | E, SCALAR (GYRE_F32, -1, 1)),
  ONE (transpose_perm, S | E, F32 (-1, 1, 4, 3, 5)),
  ONE (transpose_perm, S | E, F32 (-1, 1, 4, 0, 5)),
  ONE (slice, S | E, F32 (-1, 1, 3, 7)),
  ONE (slice_steps, S | E, F32 (-1, 1, 9, 5)),
  ONE (slice_nothing, S | E, F32 (-1, 1, 9, 5)),
  ONE (pad, S | E, F32 (-1, 1, 5, 3)),
  ONE (pad, S | E, F32 (-1, 1, 5, 0)),
  ONE (pad, E, U8 (0, 255, 5, 3)),
  ONE (pad_interior, S | E, F32 (-1, 1, 4, 3)),
  ONE (pad_cut, S | E, F32 (-1, 1, 5, 4)),
  THREE (concatenate, S | E, F32 (-1, 1, 5, 3), F32 (-1, 1, 5, 0), F32 (-1, 1, 5, 4)),
  TWO (concatenate_first, S | E, F32 (-1, 1, 2, 3), F32 (-1, 1, 5, 3)),
  TWO (concatenate_first, E, I32 (-9, 9, 2), I32 (-9, 9, 3)),
  TWO (gather_rows, S | E, F32 (-1, 1, 4, 3), I32 (-1, 4, 7)),
  TWO (gather_rows, S | E, F32 (-1, 1, 4, 3, 2), I32 (0, 3, 2, 3)),
  TWO (gather_rows, S | E, F32 (-1, 1, 4), SCALAR (GYRE_I32, 0, 3)),
  TWO (gather_rows, E, I32 (-9, 9, 4, 3), I32 (0, 3, 5)),
  TWO (gather_rows, S | E, F32 (-1, 1, 4, 3), I32 (0, 3, 0)),
  TWO (scatter_add_rows, S, I32 (-1, 4, 7), F32 (-1, 1, 7, 3)),
  TWO (scatter_add_rows, S, I32 (0, 3, 2, 3), F32 (-1, 1, 2, 3)),
  TWO (scatter_add_rows, S, I32 (0, 3, 0), F32 (-1, 1, 0, 3)),
  ONE (one_hot, E, I32 (-1, 5, 7)),
  ONE (one_hot, E, I32 (0, 4, 3, 2)),

  ONE (sum_all, S, F32 (-1, 1, 5, 3)),
  ONE (sum_all, S, SCALAR (GYRE_F32, -1, 1)),
  ONE (sum_all, S | E, F32 (-1, 1, 0, 3)),
  ONE (sum_all, E, I32 (-2147483648.0, 2147483647.0, 9)),
  ONE (sum_all, E, U8 (0, 255, 9)),
  ONE (sum_first, S, F32 (-1, 1, 5, 3)),
  ONE (sum_first, S, F32 (-1, 1, 0, 3)),
  ONE (sum_keep, S, F32 (-1, 1, 5, 3)),
  ONE (sum_keep, S, F32 (-1, 1, 2, 3, 1)),
  ONE (sum_two, S, F32 (-1, 1, 5, 3, 4)),
  ONE (max_last, S | E, F32 (-1, 1, 5, 3)),
  ONE (max_last, E, I32 (-9, 9, 5, 3)),
  ONE (max_last, E, F32 (-1, 1, 5, 0)),
  ONE (max_first, S | E, F32 (-1, 1, 5, 3)),
  ONE (max_first, E, U32 (0, 4294967295.0, 5, 3)),
  ONE (min_all, S | E, F32 (-1, 1, 5, 3)),
  ONE (min_all, E, U8 (0, 255, 7)),
  ONE (mean_all, S, F32 (-1, 1, 5, 3)),
  ONE (mean_keep, S, F32 (-1, 1, 5, 3)),
  ONE (arg_max, E, F32 (-1, 1, 5, 3)),
  ONE (arg_max, E, I32 (-1, 1, 6, 7)),
  ONE (arg_max_first, E, F32 (-1, 1, 5, 3)),
  ONE (arg_min, E, I32 (-1, 1, 3, 4, 2)),
  ONE (log_sum_exp, S, F32 (-2, 2, 5, 3)),
  ONE (log_sum_exp, S, F32 (-1000, 1000, 5, 3)),
  ONE (softmax, S, F32 (-2, 2, 5, 3)),
  ONE (softmax_first, S, F32 (-2, 2, 5, 3)),
  ONE (log_softmax, S, F32 (-2, 2, 5, 3)),
  ONE (log_softmax, S, F32 (-2, 2, 2, 4, 3)),

  MATMUL ("[5,3] [3,4]", F32 (-1, 1, 5, 3), F32 (-1, 1, 3, 4)),
  MATMUL ("[3] [3,4]", F32 (-1, 1, 3), F32 (-1, 1, 3, 4)),
  MATMUL ("[5,3] [3]", F32 (-1, 1, 5, 3), F32 (-1, 1, 3)),
  MATMUL ("[3] [3]", F32 (-1, 1, 3), F32 (-1, 1, 3)),
  MATMUL ("[5,2,3] [3,4]", F32 (-1, 1, 5, 2, 3), F32 (-1, 1, 3, 4)),
  MATMUL ("[5,2,3] [5,3,4]", F32 (-1, 1, 5, 2, 3), F32 (-1, 1, 5, 3, 4)),
  MATMUL ("[5,1,2,3] [4,3,2]", F32 (-1, 1, 5, 1, 2, 3), F32 (-1, 1, 4, 3, 2)),
  MATMUL ("[5,0] [0,4]", F32 (-1, 1, 5, 0), F32 (-1, 1, 0, 4)),
  MATMUL ("[0,3] [3,4]", F32 (-1, 1, 0, 3), F32 (-1, 1, 3, 4)),
  MATMUL ("[1,1] [1,1]", F32 (-1, 1, 1, 1), F32 (-1, 1, 1, 1)),
  TWO (matmul_ta, S, F32 (-1, 1, 3, 5), F32 (-1, 1, 3, 4)),
  TWO (matmul_tb, S, F32 (-1, 1, 5, 3), F32 (-1, 1, 4, 3)),
  TWO (matmul_tab, S, F32 (-1, 1, 3, 5), F32 (-1, 1, 4, 3)),
  TWO (matmul_ta, S, F32 (-1, 1, 2, 3, 5), F32 (-1, 1, 3, 4)),
  TWO (matmul_tab, S, F32 (-1, 1, 2, 3, 5), F32 (-1, 1, 2, 4, 3)),
  THREE (matmul_bias, S, F32 (-1, 1, 5, 3), F32 (-1, 1, 3, 4), F32 (-1, 1, 4)),
  THREE (two_layers, S, F32 (-1, 1, 7, 3), F32 (-1, 1, 3, 5), F32 (-1, 1, 5, 2)),

  TWO (conv, S, F32 (-1, 1, 3, 4, 3, 2), F32 (-1, 1, 2, 2, 2, 3)),
  TWO (conv, S, F32 (-1, 1, 1, 1, 1, 1), F32 (-1, 1, 1, 1, 1, 1)),
  TWO (conv, S, F32 (-1, 1, 0, 4, 3, 2), F32 (-1, 1, 2, 2, 2, 3)),
  TWO (conv, S, F32 (-1, 1, 2, 4, 3, 0), F32 (-1, 1, 2, 2, 0, 3)),
  TWO (conv_same, S, F32 (-1, 1, 3, 3, 4, 2), F32 (-1, 1, 3, 3, 2, 2)),
  TWO (conv_strides, S, F32 (-1, 1, 2, 3, 4, 2), F32 (-1, 1, 2, 3, 2, 1)),
  TWO (conv_cut, S, F32 (-1, 1, 3, 4, 4, 1), F32 (-1, 1, 2, 2, 1, 2)),
  TWO (conv_dilated, S, F32 (-1, 1, 2, 3, 3, 2), F32 (-1, 1, 3, 2, 2, 2)),
  TWO (conv_transposed, S, F32 (-1, 1, 2, 2, 3, 1), F32 (-1, 1, 3, 2, 1, 2)),
  TWO (conv_groups, S, F32 (-1, 1, 2, 2, 3, 4), F32 (-1, 1, 3, 3, 2, 2)),
  TWO (conv_depthwise, S, F32 (-1, 1, 3, 3, 2, 3), F32 (-1, 1, 3, 3, 1, 6)),
  ONE (rfft, S, F32 (-1, 1, 8)),
  ONE (rfft, S, F32 (-1, 1, 4, 1)),
  ONE (rfft, S, F32 (-1, 1, 3, 2)),
  ONE (rfft, S, F32 (-1, 1, 4, 7)),
  ONE (rfft, S, F32 (-1, 1, 0, 6)),
  ONE (rfft, S, F32 (-1, 1, 3, 37)),
  ONE (rfft_middle, S, F32 (-1, 1, 3, 4, 2)),
  ONE (rfft_padded, S, F32 (-1, 1, 3, 5)),
  ONE (rfft_cut, S, F32 (-1, 1, 3, 5)),
  ONE (irfft, S, F32 (-1, 1, 4, 5, 2)),
  ONE (irfft, S, F32 (-1, 1, 2, 2, 2)),
  ONE (irfft_odd, S, F32 (-1, 1, 4, 3, 2)),
  ONE (irfft_odd, S, F32 (-1, 1, 3, 2, 2)),
  ONE (irfft_middle, S, F32 (-1, 1, 3, 5, 2, 2)),
  ONE (rfft2, S, F32 (-1, 1, 3, 4, 6)),
  ONE (rfft2, S, F32 (-1, 1, 2, 3, 5)),
  ONE (rfft2_images, S, F32 (-1, 1, 3, 4, 4, 2)),
  ONE (irfft2, S, F32 (-1, 1, 3, 4, 3, 2)),
  ONE (irfft2_images, S, F32 (-1, 1, 3, 3, 3, 2, 2)),
  ONE (rfft_round, S, F32 (-1, 1, 4, 6)),
  THREE (conv_bias, S, F32 (-1, 1, 3, 3, 3, 2), F32 (-1, 1, 3, 3, 2, 2), F32 (-1, 1, 2)),

  ONE (max_pool, S | E, F32 (-1, 1, 2, 4, 5, 2)),
  ONE (max_pool, S | E, F32 (-1, 1, 3, 2, 2, 3)),
  ONE (max_pool_same, S | E, F32 (-1, 1, 2, 5, 3, 2)),
  ONE (max_pool_same, S | E, F32 (-1, 1, 3, 1, 1, 1)),
  ONE (max_pool_apart, S | E, F32 (-1, 1, 2, 5, 6, 1)),
  ONE (max_pool_none, E, F32 (-1, 1, 2, 2, 2, 1)),
  ONE (max_pool_same, S | E, F32 (-1, 1, 0, 4, 4, 1)),
  ONE (sum_pool, S, F32 (-1, 1, 2, 5, 4, 2)),
  ONE (sum_pool_apart, S, F32 (-1, 1, 2, 5, 6, 1)),
  ONE (avg_pool, S, F32 (-1, 1, 2, 5, 3, 2)),
  ONE (avg_pool_all, S, F32 (-1, 1, 2, 5, 3, 2)),
  TWO (pool_gradient, S, F32 (-1, 1, 2, 4, 3, 2), F32 (-1, 1, 2, 2, 3, 2)),

  ONE (bits, E, KEY),
  ONE (split, E, KEY),
  TWO (fold_in, E, KEY, SCALAR (GYRE_U32, 0, 4294967295.0)),
  ONE (fold_in_path, E, KEY),
  ONE (key, E, SCALAR (GYRE_U32, 0, 99)),
  ONE (uniform, E, KEY),
  ONE (normal, 0, KEY),
  ONE (truncated_normal, 0, KEY),
  ONE (bernoulli, E, KEY),
  ONE (randint, E, KEY),
  ONE (gumbel, 0, KEY),
  ONE (exponential, 0, KEY),
  TWO (categorical, E, KEY, F32 (-1, 1, 9, 3)),
};

const guint gyre_prim_n_cases = G_N_ELEMENTS (gyre_prim_cases);

static GyreTensor *
build (const GyrePrimCase *self, GyreTensor *const *inputs)
{
  if (self->unary != NULL)
    return self->unary (inputs[0]);
  if (self->binary != NULL)
    return self->binary (inputs[0], inputs[1]);

  return self->build (inputs);
}

GyreGraph *
gyre_prim_case_graph (const GyrePrimCase *self, GyreTensor **result)
{
  GyreGraph *graph = gyre_graph_new ();
  GyreTensor *inputs[G_N_ELEMENTS (self->inputs)];

  gyre_graph_push (graph);
  for (guint i = 0; i < self->n_inputs; i++)
    inputs[i] =
        gyre_graph_input (graph, "x", self->inputs[i].dtype, &self->inputs[i].shape);

  *result = build (self, inputs);
  gyre_graph_add_output (graph, *result);
  return graph;
}

/* Integers reach their bounds, so that wraps and zeros are met. */
GyreRef
gyre_prim_case_numbers (const GyrePrimInput *input, guint32 seed)
{
  gsize n = (gsize) gyre_shape_n_elements (&input->shape);
  g_autofree guint32 *bits = g_new (guint32, n + 1);
  GyreRef ref = { input->dtype, input->shape, g_new0 (double, n + 1) };

  gyre_key_bits (gyre_key_new (seed), 0, n, bits);
  for (gsize i = 0; i < n; i++)
    {
      double u = bits[i] / 4294967296.0;

      if (input->dtype == GYRE_F32)
        ref.data[i] = (float) (input->low + u * (input->high - input->low));
      else
        ref.data[i] = i == 0   ? input->low
                      : i == 1 ? input->high
                               : floor (input->low + u * (input->high - input->low + 1));
    }

  return ref;
}

GyreRef
gyre_prim_case_input (const GyrePrimCase *self, guint i)
{
  return gyre_prim_case_numbers (&self->inputs[i], 17 * i + 1);
}
