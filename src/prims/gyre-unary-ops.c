/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-unary-private.h"

/* The builders of the table in gyre-unary.c. */

/**
 * gyre_neg:
 * @x: f32, i32, u32 or u8, of any shape
 *
 * y = -x, of numbers; integers wrap.
 * Gradient: -ct. Linear: a partial sum stays one. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_neg (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_NEG, x);
}

/**
 * gyre_abs:
 * @x: f32, i32, u32 or u8, of any shape
 *
 * y = |x|, of numbers.
 * Gradient: ct · sign (x): 0 at 0. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_abs (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_ABS, x);
}

/**
 * gyre_sign:
 * @x: f32, i32, u32 or u8, of any shape
 *
 * y = -1, 0 or 1, of numbers; NaN stays.
 * Gradient: zero. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_sign (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_SIGN, x);
}

/**
 * gyre_not:
 * @x: bool, of any shape
 *
 * y = the opposite, of bool.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_not (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_NOT, x);
}

/**
 * gyre_exp:
 * @x: f32, of any shape
 *
 * y = eˣ.
 * Gradient: ct · y. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_exp (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_EXP, x);
}

/**
 * gyre_expm1:
 * @x: f32, of any shape
 *
 * y = eˣ - 1, exact near 0.
 * Gradient: ct · (y + 1). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_expm1 (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_EXPM1, x);
}

/**
 * gyre_log:
 * @x: f32, of any shape
 *
 * y = ln x.
 * Gradient: ct / x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_log (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_LOG, x);
}

/**
 * gyre_log1p:
 * @x: f32, of any shape
 *
 * y = ln (1 + x), exact near 0.
 * Gradient: ct / (1 + x). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_log1p (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_LOG1P, x);
}

/**
 * gyre_sqrt:
 * @x: f32, of any shape
 *
 * y = √x.
 * Gradient: ct / 2y. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_sqrt (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_SQRT, x);
}

/**
 * gyre_rsqrt:
 * @x: f32, of any shape
 *
 * y = 1 / √x.
 * Gradient: -ct · y / 2x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_rsqrt (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_RSQRT, x);
}

/**
 * gyre_square:
 * @x: f32, of any shape
 *
 * y = x².
 * Gradient: 2 ct · x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_square (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_SQUARE, x);
}

/**
 * gyre_sin:
 * @x: f32, of any shape
 *
 * y = sin x, x in radians.
 * Gradient: ct · cos x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_sin (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_SIN, x);
}

/**
 * gyre_cos:
 * @x: f32, of any shape
 *
 * y = cos x, x in radians.
 * Gradient: -ct · sin x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_cos (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_COS, x);
}

/**
 * gyre_tanh:
 * @x: f32, of any shape
 *
 * y = tanh x.
 * Gradient: ct · (1 - y²). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_tanh (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_TANH, x);
}

/**
 * gyre_logistic:
 * @x: f32, of any shape
 *
 * y = 1 / (1 + e⁻ˣ), the sigmoid.
 * Gradient: ct · y (1 - y). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_logistic (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_LOGISTIC, x);
}

/**
 * gyre_erf:
 * @x: f32, of any shape
 *
 * y = 2/√π ∫₀ˣ exp (-t²) dt.
 * Gradient: ct · 2/√π exp (-x²). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_erf (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_ERF, x);
}

/**
 * gyre_erf_inv:
 * @x: f32, of any shape
 *
 * y = the inverse of erf: a polynomial in w = -ln (1 - x²) by M. Giles, Approximating
 * the erfinv function, 2010 (cl/random.clh); ±∞ at ±1.
 * Gradient: ct · √π/2 exp (y²). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_erf_inv (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_ERF_INV, x);
}

/**
 * gyre_floor:
 * @x: f32, of any shape
 *
 * y = the largest integer that is not above x.
 * Gradient: zero. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_floor (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_FLOOR, x);
}

/**
 * gyre_is_finite:
 * @x: f32, of any shape
 *
 * y = whether x is neither infinite nor NaN → bool.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the shape of @x
 */
GyreTensor *
gyre_is_finite (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_IS_FINITE, x);
}

/**
 * gyre_stop_gradient:
 * @x: any dtype, of any shape
 *
 * y = x, of any dtype; no gradient flows through it.
 * Gradient: zero. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_stop_gradient (GyreTensor *x)
{
  return gyre_unary_emit (GYRE_UNARY_STOP_GRADIENT, x);
}
