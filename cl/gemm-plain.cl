/* SPDX-License-Identifier: Apache-2.0 */

/* Matrix product for any device: no local memory, no barriers, no vectors.
 *
 *   C[m, n] = alpha · op(A)[m, k] · op(B)[k, n] + beta · C[m, n],  row-major, f32, k > 0
 *
 * Matrix z of A begins at element first_a + z · stride_a; those of B and C likewise.
 *
 * A work-item computes a tile of TILE rows of one column; neighbours in dimension 0 are
 * neighbours in a row of C.  Global size { n, ceil (m / TILE), batch }, rounded up to the
 * local size; any local size.  Options: -DTILE, -DTRANS_A, -DTRANS_B. */

#pragma OPENCL FP_CONTRACT ON

#ifndef TILE
#define TILE 4
#endif

kernel void
gyre_gemm_plain (global float       *restrict c_base,
                 global const float *restrict a_base,
                 global const float *restrict b_base,
                 int   m,
                 int   n,
                 int   k,
                 int   lda,
                 int   ldb,
                 int   ldc,
                 long  stride_a,
                 long  stride_b,
                 long  stride_c,
                 long  first_a,
                 long  first_b,
                 long  first_c,
                 float alpha,
                 float beta)
{
  global const float *a      = a_base + first_a + (long) get_global_id (2) * stride_a;
  global const float *b      = b_base + first_b + (long) get_global_id (2) * stride_b;
  global float       *c      = c_base + first_c + (long) get_global_id (2) * stride_c;
  int                 column = (int) get_global_id (0);
  int                 top    = (int) get_global_id (1) * TILE;
  float               sum[TILE];

  if (column >= n || top >= m)
    return;

  for (int r = 0; r < TILE; r++)
    sum[r] = 0.0f;
  for (int p = 0; p < k; p++)
    {
#ifdef TRANS_B
      float y = b[(long) column * ldb + p];
#else
      float y = b[(long) p * ldb + column];
#endif

      for (int r = 0; r < TILE; r++)
        {
          int row = min (top + r, m - 1);

#ifdef TRANS_A
          sum[r] = a[(long) p * lda + row] * y + sum[r];
#else
          sum[r] = a[(long) row * lda + p] * y + sum[r];
#endif
        }
    }
  for (int r = 0; r < TILE && top + r < m; r++)
    {
      global float *to = c + (long) (top + r) * ldc + column;

      *to = beta != 0.0f ? alpha * sum[r] + beta * *to : alpha * sum[r];
    }
}
