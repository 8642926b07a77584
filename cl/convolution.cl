/* SPDX-License-Identifier: Apache-2.0 */

/* Convolution for any device: no local memory, no barriers, no vectors.
 *
 *   y[n, p, o] = Σ x[n, i, c] k[t, c, o],  p · stride + t · dilation - low = i · spread
 *
 * p, i and t are pairs, of the height and the width; x f32[n, height, width, channels],
 * k f32[taps_y, taps_x, channels / groups, out_channels] and y f32[n, out_height,
 * out_width, out_channels] are row-major; o and c are of one group.  A work-item computes
 * one element; neighbours in dimension 0 are neighbours in memory.  Any local size.
 *
 *   gyre_convolution         y by x and k: global { out_channels, places of y, n }
 *   gyre_convolution_image   x by k and y, as y by x: the sizes are those of that
 *                            convolution, in which k is turned
 *   gyre_convolution_kernel  k by x and y: global { out_channels, channels / groups,
 *                            taps } */

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

  return at < 0 || at % spread != 0 || at / spread >= extent ? -1 : at / spread;
}

#define FIND_ROW(p, t) \
  find_element (p, t, stride_y, dilation_y, low_y, spread_y, height)
#define FIND_COLUMN(p, t) \
  find_element (p, t, stride_x, dilation_x, low_x, spread_x, width)

kernel void
gyre_convolution (global float *restrict       y,
                  global const float *restrict x,
                  global const float *restrict k,
                  SIZES)
{
  const int    o = (int) get_global_id (0);
  const int    place = (int) get_global_id (1);
  const size_t sample = get_global_id (2);
  const int    mine = channels / groups;
  const int    first = o / (out_channels / groups) * mine;
  float        sum = 0.0f;

  for (int i = 0; i < taps_y; i++)
    for (int j = 0; j < taps_x; j++)
      {
        const int row = FIND_ROW (place / out_width, i);
        const int column = FIND_COLUMN (place % out_width, j);

        if (row < 0 || column < 0)
          continue;
        for (int c = 0; c < mine; c++)
          sum += x[((sample * height + row) * width + column) * channels + first + c]
                 * k[((size_t) (i * taps_x + j) * mine + c) * out_channels + o];
      }
  y[(sample * out_height * out_width + place) * out_channels + o] = sum;
}

kernel void
gyre_convolution_image (global float *restrict       x,
                        global const float *restrict k,
                        global const float *restrict y,
                        SIZES)
{
  const int    o = (int) get_global_id (0);
  const int    place = (int) get_global_id (1);
  const size_t sample = get_global_id (2);
  const int    mine = channels / groups;
  const int    theirs = out_channels / groups;
  const int    first = o / theirs * mine;
  float        sum = 0.0f;

  for (int i = 0; i < taps_y; i++)
    for (int j = 0; j < taps_x; j++)
      {
        const int row = FIND_ROW (place / out_width, taps_y - 1 - i);
        const int column = FIND_COLUMN (place % out_width, taps_x - 1 - j);

        if (row < 0 || column < 0)
          continue;
        for (int c = first; c < first + mine; c++)
          sum += y[((sample * height + row) * width + column) * channels + c]
                 * k[((size_t) (i * taps_x + j) * theirs + o % theirs) * channels + c];
      }
  x[(sample * out_height * out_width + place) * out_channels + o] = sum;
}

kernel void
gyre_convolution_kernel (global float *restrict       k,
                         global const float *restrict x,
                         global const float *restrict y,
                         SIZES)
{
  const int o = (int) get_global_id (0);
  const int c = (int) get_global_id (1);
  const int tap = (int) get_global_id (2);
  const int mine = channels / groups;
  const int from = o / (out_channels / groups) * mine + c;
  float     sum = 0.0f;

  for (size_t sample = 0; sample < (size_t) n; sample++)
    for (int p = 0; p < out_height; p++)
      for (int q = 0; q < out_width; q++)
        {
          const int row = FIND_ROW (p, tap / taps_x);
          const int column = FIND_COLUMN (q, tap % taps_x);

          if (row < 0 || column < 0)
            continue;
          sum += x[((sample * height + row) * width + column) * channels + from]
                 * y[((sample * out_height + p) * out_width + q) * out_channels + o];
        }
  k[((size_t) tap * mine + c) * out_channels + o] = sum;
}
