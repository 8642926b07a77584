/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-key.h>

#include <float.h>

#include "../../cl/random.clh"

#define SQRT_2 1.41421354f

static guint32
draw (GyreKey key,
      gsize   i)
{
  return gyre_threefry_bits (key.words[0], key.words[1], i);
}

/**
 * gyre_key_uniform:
 * @key: a key
 * @low: the least
 * @high: what is not reached, but for rounding
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): f32[n]
 *
 * Draws from the uniform distribution on [@low, @high).
 */
void
gyre_key_uniform (GyreKey key,
                  float   low,
                  float   high,
                  gsize   n,
                  float  *out)
{
  g_return_if_fail (out != NULL || n == 0);

  for (gsize i = 0; i < n; i++)
    out[i] = gyre_uniform_between (draw (key, i), low, high - low);
}

/**
 * gyre_key_normal:
 * @key: a key
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): f32[n]
 *
 * Draws from the normal distribution with mean 0 and variance 1.
 */
void
gyre_key_normal (GyreKey key,
                 gsize   n,
                 float  *out)
{
  g_return_if_fail (out != NULL || n == 0);

  for (gsize i = 0; i < n; i++)
    out[i] = gyre_normal_from_bits (draw (key, i));
}

/**
 * gyre_key_truncated_normal:
 * @key: a key
 * @low: the lower bound
 * @high: the upper bound
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): f32[n]
 *
 * Draws from the normal distribution with mean 0 and variance 1, given that it is
 * between the bounds: √2 erf⁻¹ of a uniform from erf (@low / √2) to erf (@high / √2).
 */
void
gyre_key_truncated_normal (GyreKey key,
                           float   low,
                           float   high,
                           gsize   n,
                           float  *out)
{
  float a = (float) erf (low / SQRT_2);
  float b = (float) erf (high / SQRT_2);
  float least = nextafterf (low, INFINITY);
  float largest = nextafterf (high, -INFINITY);

  g_return_if_fail (out != NULL || n == 0);

  for (gsize i = 0; i < n; i++)
    {
      float x = SQRT_2 * gyre_erf_inv (gyre_uniform_between (draw (key, i), a, b - a));

      out[i] = fminf (fmaxf (x, least), largest);
    }
}

/**
 * gyre_key_bernoulli:
 * @key: a key
 * @p: probability of 1
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): bool[n], 0 or 1
 *
 * Draws 1 where a uniform from [0, 1) is less than @p, else 0.
 */
void
gyre_key_bernoulli (GyreKey key,
                    float   p,
                    gsize   n,
                    guint8 *out)
{
  g_return_if_fail (out != NULL || n == 0);

  for (gsize i = 0; i < n; i++)
    out[i] = gyre_uniform_from_bits (draw (key, i)) < p;
}

static float
draw_gumbel (GyreKey key,
             gsize   i)
{
  float u = gyre_uniform_between (draw (key, i), FLT_MIN, 1.0f - FLT_MIN);

  return -logf (-logf (u));
}

/**
 * gyre_key_gumbel:
 * @key: a key
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): f32[n]
 *
 * Draws from the standard Gumbel distribution: -ln (-ln u), where u is uniform.
 */
void
gyre_key_gumbel (GyreKey key,
                 gsize   n,
                 float  *out)
{
  g_return_if_fail (out != NULL || n == 0);

  for (gsize i = 0; i < n; i++)
    out[i] = draw_gumbel (key, i);
}

/**
 * gyre_key_exponential:
 * @key: a key
 * @n: number of elements
 * @out: (out caller-allocates) (array length=n): f32[n]
 *
 * Draws from the exponential distribution with rate 1: -ln (1 - u), where u is uniform.
 */
void
gyre_key_exponential (GyreKey key,
                      gsize   n,
                      float  *out)
{
  g_return_if_fail (out != NULL || n == 0);

  for (gsize i = 0; i < n; i++)
    out[i] = -log1pf (-gyre_uniform_from_bits (draw (key, i)));
}

static gint32
draw_class (GyreKey      key,
            const float *logits,
            gsize        row,
            gsize        classes)
{
  float largest = -INFINITY;
  gsize chosen = 0;

  for (gsize c = 0; c < classes; c++)
    {
      float score = draw_gumbel (key, row * classes + c) + logits[c];

      if (score > largest)
        {
          largest = score;
          chosen = c;
        }
    }

  return (gint32) chosen;
}

/**
 * gyre_key_categorical:
 * @key: a key
 * @logits: f32[@rows, @classes], the logarithms of probabilities, up to a constant a row
 * @rows: number of rows
 * @classes: number of classes, at least 1
 * @out: (out caller-allocates) (array length=rows): i32[@rows]
 *
 * Draws a class for each row with the probabilities softmax (@logits): the arg-max of
 * @logits and Gumbel noise.
 */
void
gyre_key_categorical (GyreKey      key,
                      const float *logits,
                      gsize        rows,
                      gsize        classes,
                      gint32      *out)
{
  g_return_if_fail (logits != NULL || rows == 0);
  g_return_if_fail (classes > 0 && classes <= G_MAXINT32);
  g_return_if_fail (out != NULL || rows == 0);

  for (gsize row = 0; row < rows; row++)
    out[row] = draw_class (key, logits + row * classes, row, classes);
}
