/* SPDX-License-Identifier: Apache-2.0 */

/* Matrix product for processors with vector registers and caches (CPUs, and devices that
 * a CPU emulates):
 *
 *   C[m, n] = alpha · op(A)[m, k] · op(B)[k, n] + beta · C[m, n],  row-major, f32, k > 0
 *
 * Matrix z of A begins at element first_a + z · stride_a; those of B and C likewise.
 *
 * A work-group is one work-item.  It owns `rows` rows of C and a panel of WIDTH = 16 · NV
 * columns.  For each block of at most KC of k it packs its panel of B into local memory,
 * 16 columns a vector, padded with zeros; then tiles of MR rows run down the panel with
 * MR · NV accumulators in registers.  The last tile of the matrix is shifted up so as to
 * be full, and stores only the rows that are its own.
 *
 * Global size { ceil (m / rows), ceil (n / WIDTH), batch }, local { 1, 1, 1 }.
 * Preconditions: m >= MR; rows a multiple of MR; KC · WIDTH floats of local memory.
 * Options: -DMR (rows of a tile), -DNV (vectors of a tile), -DKC, -DTRANS_A, -DTRANS_B.
 *
 * Float16 values reach 512-bit registers only in code that calls a function of them:
 * hence vload16 and vstore16.  mad () is not fused by all compilers: a * b + c is.
 * Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
 * ACM TOMS 34 (2008). */

#pragma OPENCL FP_CONTRACT ON

#ifndef MR
#define MR 8
#endif
#ifndef NV
#define NV 3
#endif
#ifndef KC
#define KC 512
#endif

#define WIDTH (16 * NV)

#ifdef TRANS_A
#define A_AT(row, depth) ((long) (depth) * lda + (row))
#else
#define A_AT(row, depth) ((long) (row) * lda + (depth))
#endif

#ifdef TRANS_B
#define INTERLEAVE_LOW(a, b)                                                          \
  (float16) (a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3,                          \
             a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define INTERLEAVE_HIGH(a, b)                                                         \
  (float16) (a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb,                          \
             a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)

/* 16 rows of 16, ldb apart, to 16 columns, WIDTH apart: four perfect shuffles. */
inline void
transpose_block (global const float *b, int ldb, local float *packed)
{
  float16 x[16], y[16];

#pragma unroll
  for (int i = 0; i < 16; i++)
    x[i] = vload16 (0, b + (long) i * ldb);
#pragma unroll
  for (int stage = 0; stage < 2; stage++)
    {
#pragma unroll
      for (int i = 0; i < 8; i++)
        {
          y[2 * i]     = INTERLEAVE_LOW (x[i], x[i + 8]);
          y[2 * i + 1] = INTERLEAVE_HIGH (x[i], x[i + 8]);
        }
#pragma unroll
      for (int i = 0; i < 8; i++)
        {
          x[2 * i]     = INTERLEAVE_LOW (y[i], y[i + 8]);
          x[2 * i + 1] = INTERLEAVE_HIGH (y[i], y[i + 8]);
        }
    }
#pragma unroll
  for (int i = 0; i < 16; i++)
    vstore16 (x[i], 0, packed + i * WIDTH);
}

/* b: row `first column`, column `first depth` of the stored [n, k] matrix */
inline void
pack_panel (global const float *b, int ldb, int width, int depth, local float *packed)
{
  int j = 0;

  for (; j + 16 <= width; j += 16)
    {
      int p = 0;

      for (; p + 16 <= depth; p += 16)
        transpose_block (b + (long) j * ldb + p, ldb, packed + p * WIDTH + j);
      for (; p < depth; p++)
        for (int i = j; i < j + 16; i++)
          packed[p * WIDTH + i] = b[(long) i * ldb + p];
    }
  for (; j < WIDTH; j++)
    for (int p = 0; p < depth; p++)
      packed[p * WIDTH + j] = j < width ? b[(long) j * ldb + p] : 0.0f;
}
#define PANEL_START(b, column, depth) ((b) + (long) (column) * ldb + (depth))
#else
inline void
pack_panel (global const float *b, int ldb, int width, int depth, local float *packed)
{
  for (int p = 0; p < depth; p++)
    {
      global const float *from = b + (long) p * ldb;
      local float        *to   = packed + p * WIDTH;

      if (width == WIDTH)
        {
#pragma unroll
          for (int j = 0; j < NV; j++)
            vstore16 (vload16 (j, from), j, to);
        }
      else
        for (int j = 0; j < WIDTH; j++)
          to[j] = j < width ? from[j] : 0.0f;
    }
}
#define PANEL_START(b, column, depth) ((b) + (long) (depth) * ldb + (column))
#endif

__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_gemm_panel (global float       *restrict c_base,
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
                 int   rows,
                 float alpha,
                 float beta)
{
  local float         packed[KC * WIDTH];
  global const float *a     = a_base + first_a + (long) get_group_id (2) * stride_a;
  global const float *b     = b_base + first_b + (long) get_group_id (2) * stride_b;
  global float       *c     = c_base + first_c + (long) get_group_id (2) * stride_c;
  int                 first = (int) get_group_id (0) * rows;
  int                 end   = min (first + rows, m);
  int                 left  = (int) get_group_id (1) * WIDTH;
  int                 width = min (WIDTH, n - left);

  for (int p0 = 0; p0 < k; p0 += KC)
    {
      int   depth = min (KC, k - p0);
      float keep  = p0 == 0 ? beta : 1.0f;

      pack_panel (PANEL_START (b, left, p0), ldb, width, depth, packed);
      for (int i = first; i < end; i += MR)
        {
          int                 top = min (i, m - MR);
          global const float *at  = a + A_AT (top, p0);
          float16             acc[MR][NV];

#pragma unroll
          for (int r = 0; r < MR; r++)
#pragma unroll
            for (int j = 0; j < NV; j++)
              acc[r][j] = (float16) (0.0f);

          for (int p = 0; p < depth; p++)
            {
              float16 row[NV];

#pragma unroll
              for (int j = 0; j < NV; j++)
                row[j] = vload16 (p * NV + j, packed);
#pragma unroll
              for (int r = 0; r < MR; r++)
                {
                  float16 x = (float16) (at[A_AT (r, p)]);

#pragma unroll
                  for (int j = 0; j < NV; j++)
                    acc[r][j] = x * row[j] + acc[r][j];
                }
            }

          if (width == WIDTH && top == i)
            {
#pragma unroll
              for (int r = 0; r < MR; r++)
#pragma unroll
                for (int j = 0; j < NV; j++)
                  {
                    global float *to  = c + (long) (top + r) * ldc + left;
                    float16       sum = alpha * acc[r][j];

                    if (keep != 0.0f)
                      sum += keep * vload16 (j, to);
                    vstore16 (sum, j, to);
                  }
            }
          else
            {
              float tile[MR * WIDTH];

#pragma unroll
              for (int r = 0; r < MR; r++)
#pragma unroll
                for (int j = 0; j < NV; j++)
                  vstore16 (acc[r][j], r * NV + j, tile);
              for (int r = i - top; r < MR; r++)
                for (int j = 0; j < width; j++)
                  {
                    global float *to  = c + (long) (top + r) * ldc + left + j;
                    float         sum = alpha * tile[r * WIDTH + j];

                    *to = keep != 0.0f ? sum + keep * *to : sum;
                  }
            }
        }
    }
}
