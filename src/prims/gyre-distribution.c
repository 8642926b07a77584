/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <float.h>
#include <math.h>

/* Distributions, composed so that the numbers are JAX's.  None has a gradient. */

#define SQRT_2 1.41421354f

/**
 * gyre_random_normal:
 * @key: u32[2]
 * @shape: a shape
 *
 * √2 erf⁻¹ (u), where u is uniform in (-1, 1).
 *
 * Returns: (transfer none): f32 of @shape, of mean 0 and variance 1
 */
GyreTensor *
gyre_random_normal (GyreTensor *key,
                    GyreShape   shape)
{
  GyreTensor *u = gyre_random_uniform (key, shape, nextafterf (-1, 0), 1);

  return gyre_mul_scalar (gyre_erf_inv (u), SQRT_2);
}

/**
 * gyre_random_truncated_normal:
 * @key: u32[2]
 * @shape: a shape
 * @low: the lower bound, in standard deviations
 * @high: the upper bound
 *
 * √2 erf⁻¹ (u), where u is uniform between erf (low / √2) and erf (high / √2), kept
 * between the bounds.
 *
 * Returns: (transfer none): f32 of @shape
 */
GyreTensor *
gyre_random_truncated_normal (GyreTensor *key,
                              GyreShape   shape,
                              double      low,
                              double      high)
{
  float a = (float) erf ((float) low / SQRT_2), b = (float) erf ((float) high / SQRT_2);
  GyreTensor *x =
      gyre_mul_scalar (gyre_erf_inv (gyre_random_uniform (key, shape, a, b)), SQRT_2);

  x = gyre_max (x, gyre_full_like (x, nextafterf ((float) low, INFINITY)));
  return gyre_min (x, gyre_full_like (x, nextafterf ((float) high, -INFINITY)));
}

/**
 * gyre_random_bernoulli:
 * @key: u32[2]
 * @shape: a shape
 * @p: the probability of true
 *
 * Whether a uniform number is below @p.
 *
 * Returns: (transfer none): bool of @shape
 */
GyreTensor *
gyre_random_bernoulli (GyreTensor *key,
                       GyreShape   shape,
                       double      p)
{
  GyreTensor *u = gyre_random_uniform (key, shape, 0, 1);

  return gyre_less (u, gyre_full_like (u, p));
}

/* Key i of two. */
static GyreTensor *
take_key (GyreTensor *keys,
          gint64      i)
{
  gint64 start[] = { i, 0 }, limit[] = { i + 1, 2 };

  return gyre_reshape (gyre_slice (keys, start, limit, NULL), GYRE_SHAPE (2));
}

/**
 * gyre_random_randint:
 * @key: u32[2]
 * @shape: a shape
 * @low: the lowest
 * @high: what all are below
 *
 * Two draws of 32 bits, joined modulo high - low, so that the bias is small.
 *
 * Returns: (transfer none): i32 of @shape
 */
GyreTensor *
gyre_random_randint (GyreTensor *key,
                     GyreShape   shape,
                     gint32      low,
                     gint32      high)
{
  guint32 span = high > low ? (guint32) high - (guint32) low : 1;
  guint32 factor = 0x10000u % span;
  GyreTensor *keys, *upper, *lower, *divisor;

  g_return_val_if_fail (key != NULL, NULL);

  factor = factor * factor % span;
  keys = gyre_random_split (key, 2);
  upper = gyre_random_bits (take_key (keys, 0), shape);
  lower = gyre_random_bits (take_key (keys, 1), shape);
  divisor = gyre_prims_constant (key->graph, GYRE_U32, &shape, span);
  upper = gyre_mul_scalar (gyre_rem (upper, divisor), factor);
  lower = gyre_rem (gyre_add (upper, gyre_rem (lower, divisor)), divisor);
  return gyre_add_scalar (gyre_convert (lower, GYRE_I32), low);
}

/**
 * gyre_random_gumbel:
 * @key: u32[2]
 * @shape: a shape
 *
 * -ln (-ln u), where u is uniform from the smallest normal number to 1.
 *
 * Returns: (transfer none): f32 of @shape
 */
GyreTensor *
gyre_random_gumbel (GyreTensor *key,
                    GyreShape   shape)
{
  GyreTensor *u = gyre_random_uniform (key, shape, FLT_MIN, 1);

  return gyre_neg (gyre_log (gyre_neg (gyre_log (u))));
}

/**
 * gyre_random_exponential:
 * @key: u32[2]
 * @shape: a shape
 *
 * -ln (1 - u), where u is uniform in [0, 1).
 *
 * Returns: (transfer none): f32 of @shape, of mean 1
 */
GyreTensor *
gyre_random_exponential (GyreTensor *key,
                         GyreShape   shape)
{
  GyreTensor *u = gyre_random_uniform (key, shape, 0, 1);

  return gyre_neg (gyre_log1p (gyre_neg (u)));
}

/**
 * gyre_random_categorical:
 * @key: u32[2]
 * @logits: f32[…, n]: logarithms of weights
 *
 * The class where logits + gumbel is largest.
 *
 * Returns: (transfer none): i32[…], from 0 to n - 1
 */
GyreTensor *
gyre_random_categorical (GyreTensor *key,
                         GyreTensor *logits)
{
  g_return_val_if_fail (key != NULL && logits != NULL, NULL);

  if (logits->poison)
    return logits;

  return gyre_arg_max (gyre_add (gyre_random_gumbel (key, logits->shape), logits), -1);
}
