/* SPDX-License-Identifier: Apache-2.0 */

/* Convolution of each channel by itself (depthwise), for processors with vector registers
 * and caches (CPUs, and devices that a CPU emulates).  Formula and layouts are those of
 * convolution.cl, with as many groups as channels and features: lanes are channels.
 *
 *   gyre_convolution_depth        y by x and k; a work-group, of one work-item, has a row
 *                                 of y: global { out_height, n }, local { 1, 1 }.
 *                                 turned: x by y, as a convolution of y by k backwards
 *   gyre_convolution_depth_kernel sums[chunk][taps][channels] of k by x and y, each over
 *                                 a part of the samples: global { chunks }, local { 1 }
 *   gyre_convolution_depth_sum    k by sums, in order of chunks: global { channels,
 *                                 taps }, any local size */

#pragma OPENCL FP_CONTRACT ON

#define SIZES                                                                            \
  const int n, const int channels, const int out_channels, const int groups,             \
  const int height, const int out_height, const int taps_y, const int stride_y,          \
  const int low_y, const int dilation_y, const int spread_y,                             \
  const int width, const int out_width, const int taps_x, const int stride_x,            \
  const int low_x, const int dilation_x, const int spread_x

/* The element that tap t meets at place p, or -1 */
inline int
find_element (int p, int t, int stride, int dilation, int low, int spread, int extent)
{
  const int at = p * stride + t * dilation - low;

  if (spread == 1)
    return at < extent ? max (at, -1) : -1;
  return at < 0 || at % spread != 0 || at / spread >= extent ? -1 : at / spread;
}

#define FIND_ROW(p, t) \
  find_element (p, t, stride_y, dilation_y, low_y, spread_y, height)
#define FIND_COLUMN(q, t) \
  find_element (q, t, stride_x, dilation_x, low_x, spread_x, width)

/* Taps of a place that meet the image: where, in x and in k */
#define MAX_LIST 64

/* to[c] += Σ x[in_x[i] + c] · k[in_k[i] + c], or = where fresh */
inline void
add_list (global float       *to,
          global const float *x,
          global const float *k,
          const int          *in_x,
          const int          *in_k,
          int                 n,
          int                 channels,
          int                 fresh)
{
  int c = 0;

  for (; c + 16 <= channels; c += 16)
    {
      float16 sum = fresh ? (float16) (0.0f) : vload16 (0, to + c);

      for (int i = 0; i < n; i++)
        sum = vload16 (0, x + in_x[i] + c) * vload16 (0, k + in_k[i] + c) + sum;
      vstore16 (sum, 0, to + c);
    }
  for (; c < channels; c++)
    {
      float sum = fresh ? 0.0f : to[c];

      for (int i = 0; i < n; i++)
        sum = x[in_x[i] + c] * k[in_k[i] + c] + sum;
      to[c] = sum;
    }
}

__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_convolution_depth (global float *restrict       y,
                        global const float *restrict x,
                        global const float *restrict k,
                        SIZES,
                        const int                    turned)
{
  const int           p = (int) get_group_id (0);
  const int           taps = taps_y * taps_x;
  global const float *image = x + get_group_id (1) * ((size_t) height * width * channels);
  global float       *to = y + (get_group_id (1) * out_height + p)
                               * ((size_t) out_width * channels);
  int                 in_x[MAX_LIST], in_k[MAX_LIST];

  for (int q = 0; q < out_width; q++, to += channels)
    {
      int n_listed = 0, fresh = 1;

      for (int tap = 0; tap < taps; tap++)
        {
          const int i = FIND_ROW (p, tap / taps_x);
          const int j = FIND_COLUMN (q, tap % taps_x);

          if (i < 0 || j < 0)
            continue;
          in_x[n_listed] = (i * width + j) * channels;
          in_k[n_listed++] = (turned ? taps - 1 - tap : tap) * channels;
          if (n_listed == MAX_LIST)
            {
              add_list (to, image, k, in_x, in_k, n_listed, channels, fresh);
              n_listed = fresh = 0;
            }
        }
      if (n_listed > 0 || fresh)
        add_list (to, image, k, in_x, in_k, n_listed, channels, fresh);
    }
}

/* A vector of channels of one tap: the sum over a row of y.  x and y: its first channel
 * in the rows that meet. */
#define SUM_ROW(TYPE, LOAD)                                                              \
  for (int q = 0; q < out_width; q++)                                                    \
    {                                                                                    \
      const int j = FIND_COLUMN (q, u);                                                  \
                                                                                         \
      if (j >= 0)                                                                        \
        sum += LOAD (x + j * channels) * LOAD (y + q * channels);                        \
    }
#define LOAD_ONE(p)    (*(p))
#define LOAD_SIXTEEN(p) vload16 (0, p)

inline void
sum_row (global float *to, global const float *x, global const float *y, int u, SIZES)
{
  int c = 0;

  for (; c + 16 <= channels; c += 16, x += 16, y += 16)
    {
      float16 sum = vload16 (0, to + c);

      SUM_ROW (float16, LOAD_SIXTEEN)
      vstore16 (sum, 0, to + c);
    }
  for (; c < channels; c++, x++, y++)
    {
      float sum = to[c];

      SUM_ROW (float, LOAD_ONE)
      to[c] = sum;
    }
}

__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_convolution_depth_kernel (global float *restrict       sums,
                               global const float *restrict x,
                               global const float *restrict y,
                               SIZES)
{
  const int     chunk = (int) get_group_id (0);
  const int     begin = (int) ((long) n * chunk / (int) get_num_groups (0));
  const int     end = (int) ((long) n * (chunk + 1) / (int) get_num_groups (0));
  global float *sum = sums + (size_t) chunk * taps_y * taps_x * channels;

  for (int i = 0; i < taps_y * taps_x * channels; i++)
    sum[i] = 0.0f;
  for (size_t sample = begin; sample < (size_t) end; sample++)
    for (int p = 0; p < out_height; p++)
      for (int t = 0; t < taps_y; t++)
        {
          const int i = FIND_ROW (p, t);

          for (int u = 0; u < taps_x && i >= 0; u++)
            sum_row (sum + (t * taps_x + u) * channels,
                     x + (sample * height + i) * width * channels,
                     y + (sample * out_height + p) * out_width * channels, u, n, channels,
                     out_channels, groups, height, out_height, taps_y, stride_y, low_y,
                     dilation_y, spread_y, width, out_width, taps_x, stride_x, low_x,
                     dilation_x, spread_x);
        }
}

kernel void
gyre_convolution_depth_sum (global float *restrict       k,
                            global const float *restrict sums,
                            const int                    chunks)
{
  const size_t i = get_global_id (1) * get_global_size (0) + get_global_id (0);
  const size_t step = get_global_size (0) * get_global_size (1);
  float        sum = 0.0f;

  for (int chunk = 0; chunk < chunks; chunk++)
    sum += sums[chunk * step + i];
  k[i] = sum;
}
