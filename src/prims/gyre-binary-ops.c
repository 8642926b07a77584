/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-binary-private.h"

/* The builders of the table in gyre-binary.c. */

/**
 * gyre_add:
 * @a: f32, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a + b; integers wrap.
 * Gradient: ct to both. Partial sums over the same axes stay one. Element-wise: takes any
 * sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_add (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_ADD, a, b);
}

/**
 * gyre_sub:
 * @a: f32, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a - b; integers wrap.
 * Gradient: ct and -ct. Partial sums over the same axes stay one. Element-wise: takes any
 * sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_sub (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_SUB, a, b);
}

/**
 * gyre_mul:
 * @a: f32, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a · b; integers wrap.
 * Gradient: ct · b and ct · a. Linear in each: a partial sum stays one. Element-wise:
 * takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_mul (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_MUL, a, b);
}

/**
 * gyre_div:
 * @a: f32, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a / b; integers truncate, and give 0 where b is 0.
 * Gradient: ct / b and -ct · y / b. Linear in a. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_div (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_DIV, a, b);
}

/**
 * gyre_rem:
 * @a: f32, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a - b trunc (a / b), which has the sign of a; of integers a where b is 0.
 * Gradient: ct and -ct · trunc (a / b). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_rem (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_REM, a, b);
}

/**
 * gyre_pow:
 * @a: f32
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = aᵇ.
 * Gradient: ct · b aᵇ⁻¹ and ct · y ln a, which is 0 where a is 0. Element-wise: takes any
 * sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_pow (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_POW, a, b);
}

/**
 * gyre_max:
 * @a: f32, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = the larger; NaN where one is NaN.
 * Gradient: ct to the larger, half to each of equals. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_max (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_MAXIMUM, a, b);
}

/**
 * gyre_min:
 * @a: f32, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = the smaller; NaN where one is NaN.
 * Gradient: ct to the smaller, half to each of equals. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_min (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_MINIMUM, a, b);
}

/**
 * gyre_and:
 * @a: bool, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a and b, bit by bit.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_and (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_AND, a, b);
}

/**
 * gyre_or:
 * @a: bool, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a or b, bit by bit.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_or (GyreTensor *a,
         GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_OR, a, b);
}

/**
 * gyre_xor:
 * @a: bool, i32, u32 or u8
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a exclusive or b, bit by bit.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_xor (GyreTensor *a,
          GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_XOR, a, b);
}

/**
 * gyre_shift_left:
 * @a: i32 or u32
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = a · 2ᵇ modulo 2³²; 0 where b is not from 0 to 31.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_shift_left (GyreTensor *a,
                 GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_SHIFT_LEFT, a, b);
}

/**
 * gyre_shift_right:
 * @a: i32 or u32
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * y = ⌊a / 2ᵇ⌋: logical for u32, arithmetic for i32; where b is not from 0 to 31
 * all bits are those of the sign.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_shift_right (GyreTensor *a,
                  GyreTensor *b)
{
  return gyre_binary_emit (GYRE_BINARY_SHIFT_RIGHT, a, b);
}

/**
 * gyre_add_scalar:
 * @x: f32, i32, u32 or u8
 * @value: a number, taken in the dtype of @x
 *
 * x + value.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_add_scalar (GyreTensor *x,
                 double      value)
{
  g_return_val_if_fail (x != NULL, NULL);

  return gyre_add (x, gyre_full_like (x, value));
}

/**
 * gyre_mul_scalar:
 * @x: f32, i32, u32 or u8
 * @value: a number, taken in the dtype of @x
 *
 * x · value.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_mul_scalar (GyreTensor *x,
                 double      value)
{
  g_return_val_if_fail (x != NULL, NULL);

  return gyre_mul (x, gyre_full_like (x, value));
}
