/* SPDX-License-Identifier: Apache-2.0 */

/* y = 2 x.  Global size: n. */
kernel void
kinds_twice (global float *restrict y,
             global const float *restrict x,
             const int n)
{
  const int i = get_global_id (0);

  if (i < n)
    y[i] = 2.0f * x[i];
}
