/* SPDX-License-Identifier: Apache-2.0 */

/* y = x² with mistakes: see mistakes.c.  Global size: n. */

kernel void
mistake_square (global float *restrict y,
                global const float *restrict x,
                const int n)
{
  const int i = get_global_id (0);

  y[i] = x[i] * x[i];
}

/* Sums of two neighbours: half as many as x has */
kernel void
mistake_pairs (global float *restrict y,
               global const float *restrict x,
               const int n)
{
  const int i = get_global_id (0);

  y[i] = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
}

/* Right, and one element too many */
kernel void
mistake_bounds (global float *restrict y,
                global const float *restrict x,
                const int n)
{
  const int i = get_global_id (0);

  y[i] = x[i] * x[i];
  if (i == n - 1)
    y[n] = 0.0f;
}

/* n x²: a device that has a part of x has another n */
kernel void
mistake_split (global float *restrict y,
               global const float *restrict x,
               const int n)
{
  const int i = get_global_id (0);

  y[i] = n * x[i] * x[i];
}
