/* SPDX-License-Identifier: Apache-2.0 */

/* Convolution by transforms: images and kernels f32[outer, height, width, inner] become
 * planes [outer, inner, rows, columns] with zeros around, whose spectra are multiplied.
 *
 * Element z of an array is element q of its plane, q = z · step - low, modulo the
 * plane's extent: q from `least` to limit - 1, others aren't there.  Any device, any
 * local size. */

#pragma OPENCL FP_CONTRACT ON

/* Where plane element r is in the array, or -1 */
static int
array_index (int r, int extent, int count, int step, int low, int least, int limit)
{
  int q = r < limit ? r : r - extent;
  int z = q + low;

  if (q < least || z < 0 || z % step != 0 || z / step >= count)
    return -1;
  return z / step;
}

/* Where array element z is in the plane, or -1 */
static int
plane_index (int z, int extent, int step, int low, int least, int limit)
{
  int q = z * step - low;

  if (q < least || q >= limit)
    return -1;
  return q < 0 ? q + extent : q;
}

/* Global size { columns, rows, outer · inner } */
kernel void
gyre_convolution_fft_spread (global float       *restrict to,
                             global const float *restrict from,
                             int inner,
                             int height,
                             int step_y,
                             int low_y,
                             int least_y,
                             int limit_y,
                             int width,
                             int step_x,
                             int low_x,
                             int least_x,
                             int limit_x)
{
  int    columns = (int) get_global_size (0), rows = (int) get_global_size (1);
  int    column  = (int) get_global_id (0), row = (int) get_global_id (1);
  int    plane   = (int) get_global_id (2);
  int    y = array_index (row, rows, height, step_y, low_y, least_y, limit_y);
  int    x = array_index (column, columns, width, step_x, low_x, least_x, limit_x);
  size_t outer = plane / inner;
  float  value = 0.0f;

  if (y >= 0 && x >= 0)
    value = from[((outer * height + y) * width + x) * inner + plane % inner];
  to[((size_t) plane * rows + row) * columns + column] = value;
}

/* The other way: { inner, width, outer · height } */
kernel void
gyre_convolution_fft_collect (global float       *restrict to,
                              global const float *restrict from,
                              int height,
                              int rows,
                              int step_y,
                              int low_y,
                              int least_y,
                              int limit_y,
                              int columns,
                              int step_x,
                              int low_x,
                              int least_x,
                              int limit_x)
{
  int    inner = (int) get_global_size (0), width = (int) get_global_size (1);
  int    i = (int) get_global_id (0), x = (int) get_global_id (1);
  int    y = (int) get_global_id (2) % height;
  size_t outer  = (int) get_global_id (2) / height;
  int    row    = plane_index (y, rows, step_y, low_y, least_y, limit_y);
  int    column = plane_index (x, columns, step_x, low_x, least_x, limit_x);
  float  value  = 0.0f;

  if (row >= 0 && column >= 0)
    value = from[((outer * inner + i) * rows + row) * columns + column];
  to[((outer * height + y) * width + x) * inner + i] = value;
}

#define BLOCK 4

/* to[i, j, f] = Σ_t a[i · a_i + t · a_t, f] b[j · b_j + t · b_t, f], of complex numbers,
 * those of b conjugated where sign is -1; BLOCK results a work-item:
 * { frequencies, ceil (n_j / BLOCK), i } */
kernel void
gyre_convolution_fft_multiply (global float2       *restrict to,
                               global const float2 *restrict a,
                               global const float2 *restrict b,
                               int   n_j,
                               int   terms,
                               int   a_i,
                               int   a_t,
                               int   b_j,
                               int   b_t,
                               float sign)
{
  size_t n = get_global_size (0), f = get_global_id (0);
  int    first = (int) get_global_id (1) * BLOCK, i = (int) get_global_id (2);
  float2 sum[BLOCK];

  for (int r = 0; r < BLOCK; r++)
    sum[r] = (float2) (0.0f);
  for (int t = 0; t < terms; t++)
    {
      float2 x = a[(size_t) (i * a_i + t * a_t) * n + f];

      for (int r = 0; r < BLOCK; r++)
        {
          int    j = min (first + r, n_j - 1);
          float2 y = b[(size_t) (j * b_j + t * b_t) * n + f];

          y.y *= sign;
          sum[r] += (float2) (x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
        }
    }
  for (int r = 0; r < BLOCK && first + r < n_j; r++)
    to[((size_t) i * n_j + first + r) * n + f] = sum[r];
}
