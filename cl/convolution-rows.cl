/* SPDX-License-Identifier: Apache-2.0 */

/* Convolution for processors with vector registers and caches (CPUs, and devices that a
 * CPU emulates); the formula and layouts are those of convolution.cl.
 *
 * A work-group is one work-item.  It copies a band of the image into local memory, with
 * the zeros of padding and spread, so that all taps of all places lie at fixed distances.
 * The kernel comes in panels of LANES = 16 · NV features, padded with zeros:
 *
 *   panels[group][panel][block][tap][channel of the block][lane]
 *
 * where a block is as many channels as local memory has room for.  A tile is MR · NV
 * accumulators in registers.
 *
 *   gyre_convolution_pack   panels by k, or with -DTURNED by the k of the convolution
 *                           whose gradient this one is: global { LANES, taps · BLOCK,
 *                           groups · panels · blocks }
 *   gyre_convolution_rows   y by x and panels; a tile is MR places of a row, and the last
 *                           one of a row is shifted so as to be full: MR <= OUT_WIDTH.
 *                           Global { ceil (OUT_HEIGHT / band), n }, local { 1, 1 }
 *   gyre_convolution_rows_kernel
 *                           sums[chunk] of panels by x and y, each over a part of the
 *                           samples; a tile is MR rows of a panel.  Global { chunks },
 *                           local { 1 }
 *   gyre_convolution_sum    k by sums, in order of chunks: global { OUT_CHANNELS,
 *                           CHANNELS / GROUPS, taps }
 *
 * All sizes but the number of samples are options: -DMR, -DNV, -DBLOCK, -DSPACE (floats
 * of local memory for the band), -DEDGE (those for y), and the shapes below.  -DOF_IMAGE
 * leaves out gyre_convolution_rows_kernel, -DOF_KERNEL gyre_convolution_rows: some
 * devices count the local memory of both.
 *
 * Float16 values reach 512-bit registers only in code that calls a function of them:
 * hence vload16 and vstore16. */

#pragma OPENCL FP_CONTRACT ON

#ifndef MR
#define MR           4
#define NV           1
#define BLOCK        1
#define SPACE        1024
#define EDGE         1024
#define CHANNELS     1
#define OUT_CHANNELS 1
#define GROUPS       1
#define HEIGHT       8
#define WIDTH        8
#define OUT_HEIGHT   8
#define OUT_WIDTH    8
#define TAPS_Y       3
#define TAPS_X       3
#define STRIDE_Y     1
#define STRIDE_X     1
#define LOW_Y        1
#define LOW_X        1
#define DILATION_Y   1
#define DILATION_X   1
#define SPREAD_Y     1
#define SPREAD_X     1
#endif

#define LANES        (16 * NV)
#define TAPS         (TAPS_Y * TAPS_X)
#define IN_GROUP     (CHANNELS / GROUPS)
#define OUT_GROUP    (OUT_CHANNELS / GROUPS)
#define PANELS       ((OUT_GROUP + LANES - 1) / LANES)
#define BLOCKS       ((IN_GROUP + BLOCK - 1) / BLOCK)
#define PANEL        (TAPS * BLOCK * LANES)
#define REACH_Y      ((TAPS_Y - 1) * DILATION_Y + 1)
#define REACH_X      ((TAPS_X - 1) * DILATION_X + 1)
#define PADDED_WIDTH ((OUT_WIDTH - 1) * STRIDE_X + REACH_X)
#define ROW          (PADDED_WIDTH * BLOCK)
#define STEP         (STRIDE_X * BLOCK)

/* Neighbouring taps of a row are one run where nothing is between them. */
#if DILATION_X == 1
#define RUNS 1
#define RUN  (TAPS_X * BLOCK)
#else
#define RUNS TAPS_X
#define RUN  BLOCK
#endif
#define TAP_OFFSET(run) \
  ((run) / RUNS * DILATION_Y * ROW + (run) % RUNS * DILATION_X * BLOCK)
#define COUNT(whole, part, size) min (size, (whole) - (part) * (size))

inline size_t
panel_index (int group, int panel, int block)
{
  return (size_t) ((group * PANELS + panel) * BLOCKS + block) * PANEL;
}

/* Place of the padded image to the element there, or -1 */
inline int
find_element (int at, int spread, int extent)
{
  return at < 0 || at % spread != 0 || at / spread >= extent ? -1 : at / spread;
}

/* Rows of the padded image, of its channels `count` after the `left_out` first; the
 * block's other ones are zeros.  (Altera's OpenCL C has a keyword `channel`.) */
inline void
pack_band (global const float *image,
           int                 first,
           int                 rows,
           int                 left_out,
           int                 count,
           local float        *space)
{
  for (int r = 0; r < rows; r++)
    {
      const int           row = find_element (first + r - LOW_Y, SPREAD_Y, HEIGHT);
      global const float *from =
          image + (size_t) max (row, 0) * WIDTH * CHANNELS + left_out;
      local float        *to = space + r * ROW;

      for (int q = 0; q < PADDED_WIDTH; q++)
        {
          const int column = find_element (q - LOW_X, SPREAD_X, WIDTH);
          const int n = row < 0 || column < 0 ? 0 : count;

          for (int c = 0; c < n; c++)
            to[q * BLOCK + c] = from[column * CHANNELS + c];
          for (int c = n; c < BLOCK; c++)
            to[q * BLOCK + c] = 0.0f;
        }
    }
}

kernel void
gyre_convolution_pack (global float *restrict       panels,
                       global const float *restrict k)
{
  const int lane = (int) get_global_id (0);
  const int tap = (int) get_global_id (1) / BLOCK;
  const int block = (int) get_global_id (2) % BLOCKS;
  const int panel = (int) get_global_id (2) / BLOCKS % PANELS;
  const int group = (int) get_global_id (2) / BLOCKS / PANELS;
  const int in = block * BLOCK + (int) get_global_id (1) % BLOCK;
  const int out = panel * LANES + lane;
  float     value = 0.0f;

  if (in < IN_GROUP && out < OUT_GROUP)
#ifdef TURNED
    value = k[((size_t) (TAPS - 1 - tap) * OUT_GROUP + out) * CHANNELS
              + group * IN_GROUP + in];
#else
    value = k[((size_t) tap * IN_GROUP + in) * OUT_CHANNELS + group * OUT_GROUP + out];
#endif
  panels[panel_index (group, panel, block) + get_global_id (1) * LANES + lane] = value;
}

/* y: the first place's first feature; of the panel's lanes `width` are features, and of
 * the places the first `skip` are another tile's. */
inline void
store_tile (float16 acc[MR][NV], global float *y, int width, int skip, int add)
{
  float tile[MR * LANES];

  if (width == LANES && skip == 0)
    {
#pragma unroll
      for (int r = 0; r < MR; r++)
#pragma unroll
        for (int j = 0; j < NV; j++)
          {
            global float *to = y + r * OUT_CHANNELS;

            vstore16 (add ? acc[r][j] + vload16 (j, to) : acc[r][j], j, to);
          }
      return;
    }

#pragma unroll
  for (int r = 0; r < MR; r++)
#pragma unroll
    for (int j = 0; j < NV; j++)
      vstore16 (acc[r][j], r * NV + j, tile);
  for (int r = skip; r < MR; r++)
    for (int j = 0; j < width; j++)
      {
        global float *to = y + r * OUT_CHANNELS + j;

        *to = add ? tile[r * LANES + j] + *to : tile[r * LANES + j];
      }
}

/* at: the first tap of the first place */
inline void
compute_tile (global float       *y,
              local const float  *at,
              global const float *panel,
              int                 width,
              int                 skip,
              int                 add)
{
  float16 acc[MR][NV];

#pragma unroll
  for (int r = 0; r < MR; r++)
#pragma unroll
    for (int j = 0; j < NV; j++)
      acc[r][j] = (float16) (0.0f);

  for (int t = 0; t < TAPS_Y * RUNS; t++)
    {
      local const float *a = at + TAP_OFFSET (t);

      for (int p = 0; p < RUN; p++)
        {
          float16 row[NV];

#pragma unroll
          for (int j = 0; j < NV; j++)
            row[j] = vload16 (j, panel);
#pragma unroll
          for (int r = 0; r < MR; r++)
            {
              float16 x = (float16) (a[r * STEP + p]);

#pragma unroll
              for (int j = 0; j < NV; j++)
                acc[r][j] = x * row[j] + acc[r][j];
            }
          panel += LANES;
        }
    }

  store_tile (acc, y, width, skip, add);
}

#ifndef OF_KERNEL
__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_convolution_rows (global float *restrict       y,
                       global const float *restrict x,
                       global const float *restrict panels,
                       const int                    band)
{
  local float         space[SPACE];
  const int           first = (int) get_group_id (0) * band;
  const int           rows = min (band, OUT_HEIGHT - first);
  global const float *image = x + get_group_id (1) * ((size_t) HEIGHT * WIDTH * CHANNELS);
  global float       *to = y + (get_group_id (1) * OUT_HEIGHT + first)
                               * ((size_t) OUT_WIDTH * OUT_CHANNELS);

  for (int group = 0; group < GROUPS; group++)
    for (int block = 0; block < BLOCKS; block++)
      {
        pack_band (image, first * STRIDE_Y, (rows - 1) * STRIDE_Y + REACH_Y,
                   group * IN_GROUP + block * BLOCK, COUNT (IN_GROUP, block, BLOCK),
                   space);
        for (int panel = 0; panel < PANELS; panel++)
          for (int row = 0; row < rows; row++)
            for (int q = 0; q < OUT_WIDTH; q += MR)
              {
                const int left = min (q, OUT_WIDTH - MR);

                compute_tile (to + (size_t) (row * OUT_WIDTH + left) * OUT_CHANNELS
                              + group * OUT_GROUP + panel * LANES,
                              space + row * STRIDE_Y * ROW + left * STEP,
                              panels + panel_index (group, panel, block),
                              COUNT (OUT_GROUP, panel, LANES), q - left, block > 0);
              }
      }
}
#endif

/* Features of y at `places` places, one panel of them */
inline void
pack_edge (global const float *y, int places, int width, local float *edge)
{
  for (int place = 0; place < places; place++)
    {
      global const float *from = y + (size_t) place * OUT_CHANNELS;
      local float        *to = edge + place * LANES;

      if (width == LANES)
        {
#pragma unroll
          for (int j = 0; j < NV; j++)
            vstore16 (vload16 (j, from), j, to);
        }
      else
        for (int j = 0; j < LANES; j++)
          to[j] = j < width ? from[j] : 0.0f;
    }
}

/* Adds to `valid` rows of a panel, or begins them where fresh. */
inline void
add_rows (global float      *sum,
          local const float *at,
          local const float *edge,
          int                rows,
          int                valid,
          int                fresh)
{
  float16 acc[MR][NV];

#pragma unroll
  for (int r = 0; r < MR; r++)
#pragma unroll
    for (int j = 0; j < NV; j++)
      acc[r][j] = fresh || r >= valid ? (float16) (0.0f) : vload16 (r * NV + j, sum);

  for (int row = 0; row < rows; row++)
    {
      local const float *a = at + row * STRIDE_Y * ROW;

      for (int q = 0; q < OUT_WIDTH; q++)
        {
          float16 d[NV];

#pragma unroll
          for (int j = 0; j < NV; j++)
            d[j] = vload16 (j, edge);
#pragma unroll
          for (int r = 0; r < MR; r++)
            {
              float16 x = (float16) (a[r]);

#pragma unroll
              for (int j = 0; j < NV; j++)
                acc[r][j] = x * d[j] + acc[r][j];
            }
          a += STEP;
          edge += LANES;
        }
    }

#pragma unroll
  for (int r = 0; r < MR; r++)
#pragma unroll
    for (int j = 0; j < NV; j++)
      if (r < valid)
        vstore16 (acc[r][j], r * NV + j, sum);
}

/* All of a panel for a band */
inline void
add_panel (global float      *sum,
           local const float *space,
           local const float *edge,
           int                rows,
           int                fresh)
{
  for (int t = 0; t < TAPS_Y * RUNS; t++)
    for (int p = 0; p < RUN; p += MR)
      add_rows (sum + (t * RUN + p) * LANES,
                space + TAP_OFFSET (t) + p, edge, rows, min (MR, RUN - p), fresh);
}

#ifndef OF_IMAGE
__attribute__ ((reqd_work_group_size (1, 1, 1)))
kernel void
gyre_convolution_rows_kernel (global float *restrict       sums,
                              global const float *restrict x,
                              global const float *restrict y,
                              const int                    n,
                              const int                    band)
{
  local float   space[SPACE];
  local float   edge[EDGE];
  const int     chunk = (int) get_group_id (0);
  const int     begin = (int) ((long) n * chunk / (int) get_num_groups (0));
  const int     end = (int) ((long) n * (chunk + 1) / (int) get_num_groups (0));
  global float *sum = sums + chunk * panel_index (GROUPS, 0, 0);

  for (int sample = begin; sample < end; sample++)
    for (int first = 0; first < OUT_HEIGHT; first += band)
      for (int group = 0; group < GROUPS; group++)
        for (int block = 0; block < BLOCKS; block++)
          {
            const int           rows = min (band, OUT_HEIGHT - first);
            global const float *image = x + sample * ((size_t) HEIGHT * WIDTH * CHANNELS);
            global const float *part = y + ((size_t) sample * OUT_HEIGHT + first)
                                           * OUT_WIDTH * OUT_CHANNELS;

            pack_band (image, first * STRIDE_Y, (rows - 1) * STRIDE_Y + REACH_Y,
                       group * IN_GROUP + block * BLOCK, COUNT (IN_GROUP, block, BLOCK),
                       space);
            for (int panel = 0; panel < PANELS; panel++)
              {
                pack_edge (part + group * OUT_GROUP + panel * LANES, rows * OUT_WIDTH,
                           COUNT (OUT_GROUP, panel, LANES), edge);
                add_panel (sum + panel_index (group, panel, block), space, edge, rows,
                           sample == begin && first == 0);
              }
          }
}
#endif

kernel void
gyre_convolution_sum (global float *restrict       k,
                      global const float *restrict sums,
                      const int                    chunks)
{
  const int           o = (int) get_global_id (0);
  const int           c = (int) get_global_id (1);
  const int           tap = (int) get_global_id (2);
  const int           out = o % OUT_GROUP;
  global const float *from = sums + panel_index (o / OUT_GROUP, out / LANES, c / BLOCK)
                             + (tap * BLOCK + c % BLOCK) * LANES + out % LANES;
  float               sum = 0.0f;

  for (int i = 0; i < chunks; i++)
    sum += from[i * panel_index (GROUPS, 0, 0)];
  k[((size_t) tap * IN_GROUP + c) * OUT_CHANNELS + o] = sum;
}
