/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of the largest element of windows:
 *
 *   out[n, h, w, c] = Σ y[n, p, q, c] over the windows (p, q) of which (h, w) is the
 *                     first of the largest elements, row by row
 *
 * where window (p, q) holds the elements of x[n, height, width, channels] from
 * (p · stride_y - low_y, q · stride_x - low_x) on, window_y by window_x of them.  All
 * arrays are row-major; y is f32[n, out_height, out_width, channels].
 *
 *   gyre_window_scatter         a work-item an element, for any device: global
 *                               { channels, height · width, n }, any local size
 *   gyre_window_scatter_images  for CPUs; a work-group, of one work-item, has 16 channels
 *                               of an image: global { ceil (channels / 16), n }, local
 *                               { 1, 1 }.  tiling: each element is in one window */

#pragma OPENCL FP_CONTRACT OFF

#define SIZES                                                                            \
  const int channels, const int height, const int out_height, const int window_y,        \
  const int stride_y, const int low_y, const int width, const int out_width,             \
  const int window_x, const int stride_x, const int low_x, const int tiling

/* The windows that an element is in: from the first whose end is past it … */
inline int
first_window (int at, int window, int stride, int low)
{
  const int before = at + low - window + 1;

  return before <= 0 ? 0 : (before + stride - 1) / stride;
}

/* … to before the first that begins after it. */
inline int
end_window (int at, int stride, int low, int n)
{
  return min ((at + low) / stride + 1, n);
}

kernel void
gyre_window_scatter (global float *restrict       out,
                     global const float *restrict x,
                     global const float *restrict y,
                     SIZES)
{
  const int           c = (int) get_global_id (0);
  const int           h = (int) get_global_id (1) / width;
  const int           w = (int) get_global_id (1) % width;
  const size_t        sample = get_global_id (2);
  global const float *image = x + sample * height * width * channels + c;
  const float         mine = image[(h * width + w) * channels];
  const int           p_end = end_window (h, stride_y, low_y, out_height);
  const int           q_end = end_window (w, stride_x, low_x, out_width);
  float               sum = 0.0f;

  for (int p = first_window (h, window_y, stride_y, low_y); p < p_end; p++)
    for (int q = first_window (w, window_x, stride_x, low_x); q < q_end; q++)
      {
        const int top = max (p * stride_y - low_y, 0);
        const int left = max (q * stride_x - low_x, 0);
        const int bottom = min (p * stride_y - low_y + window_y, height);
        const int right = min (q * stride_x - low_x + window_x, width);
        int       first = 1;

        for (int i = top; i < bottom; i++)
          for (int j = left; j < right; j++)
            {
              const float other = image[(i * width + j) * channels];
              const int   before = i < h || (i == h && j < w);

              first = first && !(before ? other >= mine : other > mine);
            }
        if (first)
          sum += y[((sample * out_height + p) * out_width + q) * channels + c];
      }
  out[(sample * height * width + get_global_id (1)) * channels + c] = sum;
}

/* A window's elements in x and out: rows by columns */
typedef struct
{
  int first, rows, columns, row_step, step;
} Window;

inline void
scatter_vector (global float       *out,
                global const float *x,
                Window              at,
                float16             y,
                int                 tiling)
{
  float16 largest = vload16 (0, x + at.first);
  int16   chosen = (int16) (0);

  for (int i = 0; i < at.rows; i++)
    for (int j = 0; j < at.columns; j++)
      {
        const float16 element = vload16 (0, x + at.first + i * at.row_step + j * at.step);
        const int16   more = element > largest;

        largest = select (largest, element, more);
        chosen = select (chosen, (int16) (i * at.columns + j), more);
      }
  for (int i = 0; i < at.rows; i++)
    for (int j = 0; j < at.columns; j++)
      {
        global float *to = out + at.first + i * at.row_step + j * at.step;
        float16       part = select ((float16) (0.0f), y, chosen == i * at.columns + j);

        vstore16 (tiling ? part : part + vload16 (0, to), 0, to);
      }
}

inline void
scatter_one (global float *out, global const float *x, Window at, float y)
{
  int chosen = at.first;

  for (int i = 0; i < at.rows; i++)
    for (int j = 0; j < at.columns; j++)
      {
        const int element = at.first + i * at.row_step + j * at.step;

        chosen = x[element] > x[chosen] ? element : chosen;
      }
  out[chosen] += y;
}

__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_window_scatter_images (global float *restrict       out,
                            global const float *restrict x,
                            global const float *restrict y,
                            SIZES)
{
  const int           c = 16 * (int) get_group_id (0);
  const int           lanes = min (channels - c, 16);
  const size_t        image = get_group_id (1) * height * width * channels + c;
  global const float *from = x + image;
  global float       *to = out + image;

  for (int place = 0; place < height * width && !(tiling && lanes == 16); place++)
    for (int lane = 0; lane < lanes; lane++)
      to[place * channels + lane] = 0.0f;

  for (int p = 0; p < out_height; p++)
    for (int q = 0; q < out_width; q++)
      {
        const int           top = max (p * stride_y - low_y, 0);
        const int           left = max (q * stride_x - low_x, 0);
        const int           bottom = min (p * stride_y - low_y + window_y, height);
        const int           right = min (q * stride_x - low_x + window_x, width);
        global const float *part =
            y + ((get_group_id (1) * out_height + p) * out_width + q) * channels + c;
        const Window        at = { (top * width + left) * channels, bottom - top,
                                   right - left, width * channels, channels };

        if (bottom <= top || right <= left)
          continue;
        if (lanes == 16)
          scatter_vector (to, from, at, vload16 (0, part), tiling);
        else
          for (int lane = 0; lane < lanes; lane++)
            scatter_one (to + lane, from + lane, at, part[lane]);
      }
}
