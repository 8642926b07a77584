/* SPDX-License-Identifier: Apache-2.0 */

/* A convolution as a matrix product: what each place of y sees of x, as a row.
 *
 *   columns[n, p, g, t, c] = x[n, i, g · mine + c],  or 0 where i is not in the image
 *
 * with p · stride + t · dilation - low = i · spread; p, t and i are pairs, of the height
 * and the width, and mine = channels / groups.  Then y = columns · k for each group g.
 * Of the samples n there are `n` from `first` on; columns holds those alone.  Layouts
 * are those of convolution.cl.
 *
 *   gyre_convolution_columns       columns by x, for any device: a work-item an element;
 *                                  global { channels, taps, places of y · n }, any local
 *                                  size
 *   gyre_convolution_columns_rows  the same for CPUs: a work-group, of one work-item, has
 *                                  a row of y: global { out_height, n }, local { 1, 1 }
 *   gyre_convolution_gather        the gradient: x[n, i, c] is the sum of columns over
 *                                  all (p, t) that meet i; global { channels, places of
 *                                  x, n }, any local size
 *   gyre_convolution_gather_rows   the same for CPUs: a work-group, of one work-item, has
 *                                  a row of x: global { height, n }, local { 1, 1 }
 *
 * Source: K. Chellapilla, S. Puri, P. Simard, "High Performance Convolutional Neural
 * Networks for Document Processing", IWFHR 2006. */

#define SIZES                                                                            \
  const int n, const int channels, const int out_channels, const int groups,             \
  const int height, const int out_height, const int taps_y, const int stride_y,          \
  const int low_y, const int dilation_y, const int spread_y,                             \
  const int width, const int out_width, const int taps_x, const int stride_x,            \
  const int low_x, const int dilation_x, const int spread_x, const int first

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

/* The place whose tap t meets element i, or -1 */
inline int
find_place (int i, int t, int stride, int dilation, int low, int spread, int places)
{
  const int at = i * spread + low - t * dilation;

  return at < 0 || at % stride != 0 || at / stride >= places ? -1 : at / stride;
}

kernel void
gyre_convolution_columns (global float *restrict       columns,
                          global const float *restrict x,
                          SIZES)
{
  const int    c = (int) get_global_id (0);
  const int    tap = (int) get_global_id (1);
  const size_t row = get_global_id (2);
  const int    place = (int) (row % (size_t) (out_height * out_width));
  const size_t sample = first + row / (size_t) (out_height * out_width);
  const int    mine = channels / groups;
  const int    i = FIND_ROW (place / out_width, tap / taps_x);
  const int    j = FIND_COLUMN (place % out_width, tap % taps_x);
  const size_t to =
      ((row * groups + c / mine) * (taps_y * taps_x) + tap) * mine + c % mine;

  columns[to] = i < 0 || j < 0
                    ? 0.0f
                    : x[((sample * height + i) * width + j) * channels + c];
}

inline void
copy_run (global float *to, global const float *from, int n)
{
  int i = 0;

  for (; i + 16 <= n; i += 16)
    vstore16 (vload16 (0, from + i), 0, to + i);
  for (; i < n; i++)
    to[i] = from[i];
}

inline void
fill_run (global float *to, int n)
{
  int i = 0;

  for (; i + 16 <= n; i += 16)
    vstore16 ((float16) (0.0f), 0, to + i);
  for (; i < n; i++)
    to[i] = 0.0f;
}

/* Taps of one row of the kernel at one place, of one group; line: the row of x that they
 * meet, from the group's first channel on, or NULL. */
inline void
copy_taps (global float *to, global const float *line, int q, int mine, SIZES)
{
  const int left = q * stride_x - low_x;

  if (line && dilation_x == 1 && spread_x == 1 && groups == 1 && left >= 0
      && left + taps_x <= width)
    {
      copy_run (to, line + left * channels, taps_x * channels);
      return;
    }

  for (int t = 0; t < taps_x; t++)
    {
      const int j = FIND_COLUMN (q, t);

      if (!line || j < 0)
        fill_run (to + t * mine, mine);
      else
        copy_run (to + t * mine, line + j * channels, mine);
    }
}

__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_convolution_columns_rows (global float *restrict       columns,
                               global const float *restrict x,
                               SIZES)
{
  const int           p = (int) get_group_id (0);
  const int           mine = channels / groups;
  global const float *image =
      x + (first + get_group_id (1)) * ((size_t) height * width * channels);
  global float       *to = columns + (get_group_id (1) * out_height + p) * out_width
                                     * ((size_t) channels * taps_y * taps_x);

  for (int q = 0; q < out_width; q++)
    for (int g = 0; g < groups; g++)
      for (int t = 0; t < taps_y; t++)
        {
          const int i = FIND_ROW (p, t);

          copy_taps (to, i < 0 ? 0 : image + (size_t) i * width * channels + g * mine, q,
                     mine, n, channels, out_channels, groups, height, out_height, taps_y,
                     stride_y, low_y, dilation_y, spread_y, width, out_width, taps_x,
                     stride_x, low_x, dilation_x, spread_x, first);
          to += taps_x * mine;
        }
}

inline void
add_run (global float *to, global const float *from, int n)
{
  int i = 0;

  for (; i + 16 <= n; i += 16)
    vstore16 (vload16 (0, to + i) + vload16 (0, from + i), 0, to + i);
  for (; i < n; i++)
    to[i] += from[i];
}

__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_convolution_gather_rows (global float *restrict       x,
                              global const float *restrict columns,
                              SIZES)
{
  const int     i = (int) get_group_id (0);
  const int     mine = channels / groups;
  const int     taps = taps_y * taps_x;
  global float *line = x + ((first + get_group_id (1)) * height + i)
                           * ((size_t) width * channels);

  fill_run (line, width * channels);
  for (int t = 0; t < taps_y; t++)
    {
      const int           p = find_place (i, t, stride_y, dilation_y, low_y, spread_y,
                                          out_height);
      global const float *row = columns + (get_group_id (1) * out_height + max (p, 0))
                                          * ((size_t) out_width * channels * taps)
                                + t * taps_x * mine;

      for (int q = 0; q < out_width && p >= 0; q++)
        for (int u = 0; u < taps_x; u++)
          {
            const int j = FIND_COLUMN (q, u);

            for (int g = 0; g < groups && j >= 0; g++)
              add_run (line + j * channels + g * mine,
                       row + ((size_t) (q * groups + g) * taps + u) * mine, mine);
          }
    }
}

kernel void
gyre_convolution_gather (global float *restrict       x,
                         global const float *restrict columns,
                         SIZES)
{
  const int    c = (int) get_global_id (0);
  const int    i = (int) get_global_id (1) / width;
  const int    j = (int) get_global_id (1) % width;
  const size_t sample = get_global_id (2);
  const int    mine = channels / groups;
  const int    taps = taps_y * taps_x;
  const size_t from = (size_t) (c / mine) * taps * mine + c % mine;
  float        sum = 0.0f;

  for (int t = 0; t < taps_y; t++)
    for (int u = 0; u < taps_x; u++)
      {
        const int p = find_place (i, t, stride_y, dilation_y, low_y, spread_y,
                                  out_height);
        const int q = find_place (j, u, stride_x, dilation_x, low_x, spread_x,
                                  out_width);

        if (p >= 0 && q >= 0)
          sum += columns[((sample * out_height + p) * out_width + q)
                         * ((size_t) channels * taps)
                         + from + (t * taps_x + u) * mine];
      }
  x[(((first + sample) * height + i) * width + j) * channels + c] = sum;
}
