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

/* Right, and one element before the first */
kernel void
mistake_before (global float *restrict y,
                global const float *restrict x,
                const int n)
{
  const int i = get_global_id (0);

  y[i] = x[i] * x[i];
  if (i == 0)
    y[-1] = 0.0f;
}

/* Right, but it looks at the next element, which the last has not */
kernel void
mistake_read (global float *restrict y,
              global const float *restrict x,
              const int n)
{
  const int i = get_global_id (0);

  y[i] = x[i] * x[i] + 0.0f * x[i + 1];
}

/* Right, if the others are done: the barrier is forgotten.  Local size: n, 1 to 64. */
kernel void
mistake_race (global float *restrict y,
              global const float *restrict x,
              const int n)
{
  local float all[64];
  const int i = get_local_id (0);

  all[i] = x[i] * x[i];
  y[n - 1 - i] = all[n - 1 - i];
}
