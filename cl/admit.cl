/* SPDX-License-Identifier: Apache-2.0 */

/* The self-test of a device: what a driver must get right before it takes part.  All
 * values are small integers, so that every result is exact and compared for equality.
 *
 * gyre_admit_vector: element by element in four types;
 *   global n rounded up, local any
 *     f[i] = a[i] * b[i] + c[i],  u[i] = rotate (2654435761 u[i], 13) ^ i,
 *     s[i] = s[i] / 7 + s[i] % 5,  k[i] = 3 c[i] mod 256
 * gyre_admit_reduce: sums of the groups' shares of n values, in local memory with
 *   barriers; global groups * L, local L (a power of two), the last group partly active
 * gyre_admit_matmul: C[m, n] = A[m, k] B[k, n] in tiles of TILE x TILE in local memory;
 *   global (n, m) rounded up to TILE, local (TILE, TILE)
 */

#ifndef TILE
#define TILE 8
#endif

#pragma OPENCL FP_CONTRACT OFF

__kernel void
gyre_admit_vector (__global float       *f,
                   __global uint        *u,
                   __global int         *s,
                   __global uchar       *k,
                   __global const float *a,
                   __global const float *b,
                   __global const uchar *c,
                   const int             n)
{
  const int i = get_global_id (0);

  if (i >= n)
    return;

  f[i] = a[i] * b[i] + (float) c[i];
  u[i] = rotate (u[i] * 2654435761u, 13u) ^ (uint) i;
  s[i] = s[i] / 7 + s[i] % 5;
  k[i] = (uchar) (c[i] * 3);
}

__kernel void
gyre_admit_reduce (__global float       *float_sums,
                   __global int         *int_sums,
                   __global const float *x,
                   __global const int   *y,
                   const int             n,
                   __local float        *float_scratch,
                   __local int          *int_scratch)
{
  const int i = get_global_id (0);
  const int l = get_local_id (0);

  float_scratch[l] = i < n ? x[i] : 0.0f;
  int_scratch[l] = i < n ? y[i] : 0;
  barrier (CLK_LOCAL_MEM_FENCE);

  for (int half_size = get_local_size (0) / 2; half_size > 0; half_size /= 2)
    {
      if (l < half_size)
        {
          float_scratch[l] += float_scratch[l + half_size];
          int_scratch[l] += int_scratch[l + half_size];
        }
      barrier (CLK_LOCAL_MEM_FENCE);
    }

  if (l == 0)
    {
      float_sums[get_group_id (0)] = float_scratch[0];
      int_sums[get_group_id (0)] = int_scratch[0];
    }
}

__kernel void
gyre_admit_matmul (__global float       *c,
                   __global const float *a,
                   __global const float *b,
                   const int             m,
                   const int             n,
                   const int             k)
{
  __local float a_tile[TILE][TILE];
  __local float b_tile[TILE][TILE];
  const int column = get_global_id (0);
  const int row = get_global_id (1);
  const int x = get_local_id (0);
  const int y = get_local_id (1);
  float sum = 0.0f;

  for (int t = 0; t < k; t += TILE)
    {
      a_tile[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0.0f;
      b_tile[y][x] = t + y < k && column < n ? b[(t + y) * n + column] : 0.0f;
      barrier (CLK_LOCAL_MEM_FENCE);
      for (int i = 0; i < TILE; i++)
        sum += a_tile[y][i] * b_tile[i][x];
      barrier (CLK_LOCAL_MEM_FENCE);
    }

  if (row < m && column < n)
    c[row * n + column] = sum;
}
