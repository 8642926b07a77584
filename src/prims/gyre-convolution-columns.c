/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* Convolutions as matrix products: the image is copied to rows that each hold what one
 * place of the result sees, by convolution-columns.cl, some samples at a time.  Where the
 * image is such a matrix already, nothing is copied.  Groups are a batch of products. */

#define MAX_COLUMNS (256 * 1024 * 1024)     /* bytes */
#define CPU_COLUMNS (4 * 1024 * 1024)       /* what caches hold until the product */

/* Of one sample */
static gint64
count_column_bytes (const GyreConvJob *job)
{
  return job->out[0] * job->out[1] * job->channels * job->taps[0] * job->taps[1] * 4;
}

/* Whether rows of columns lie in the image as they are: a 1x1 kernel, or one of the
 * image's size. */
static gboolean
is_product (const GyreConvJob *job)
{
  gboolean same = TRUE, whole = job->groups == 1;

  for (int i = 0; i < 2; i++)
    {
      same = same && job->taps[i] == 1 && job->strides[i] == 1 && job->spread[i] == 1
             && job->low[i] == 0 && job->out[i] == job->in[i];
      whole = whole && job->taps[i] == job->in[i] && job->out[i] == 1
              && job->dilation[i] == 1 && job->spread[i] == 1 && job->low[i] == 0;
    }

  return same || whole;
}

/* Bytes that columns may have: an eighth of the device's memory at most. */
static gint64
find_limit (const GyreTarget *target)
{
  gint64 limit = MAX_COLUMNS;

  if (target->memory > 0)
    limit = MIN (limit, (gint64) (target->memory / 8));
  if (target->max_allocation > 0)
    limit = MIN (limit, (gint64) target->max_allocation);

  return limit;
}

static gboolean
im2col_serves (const GyreLower   *lower,
               const GyreConvJob *job)
{
  return is_product (job)
         || count_column_bytes (job) <= MAX (find_limit (lower->target), 4);
}

static gboolean
im2col_suits (const GyreLower   *lower,
              const GyreConvJob *job)
{
  return TRUE;
}

/* By whether columns are summed, and whether the device is a CPU */
static const char *const kernels[2][2] = {
  { "gyre_convolution_columns", "gyre_convolution_columns_rows" },
  { "gyre_convolution_gather", "gyre_convolution_gather_rows" },
};

static void
set_range (const GyreConvJob *job,
           gboolean           gather,
           gboolean           cpu,
           GyreLaunch        *launch)
{
  const gint64 *extents = gather ? job->in : job->out;
  gint64 taps = job->taps[0] * job->taps[1];

  launch->dims = 3;
  launch->global[0] = (gsize) (cpu ? extents[0] : job->channels);
  launch->global[1] = (gsize) (cpu ? job->n : gather ? extents[0] * extents[1] : taps);
  launch->global[2] =
      (gsize) (cpu ? 1 : gather ? job->n : extents[0] * extents[1] * job->n);
  for (int i = 0; i < 3; i++)
    launch->local[i] = cpu ? 1 : 0;
}

static void
launch_columns (GyreLower         *lower,
                const GyreTensor  *node,
                const GyreConvJob *job,
                guint              columns,
                gint64             first)
{
  gboolean gather = job->gives == GYRE_CONV_X, cpu = lower->target->cpu;
  GyreCommandArg args[GYRE_CONV_MAX_ARGS];
  GyreLaunch launch = { 0 };

  args[0] = gather ? GYRE_WRITE (job->x) : GYRE_TEMP (columns);
  args[1] = gather ? GYRE_TEMP (columns) : GYRE_READ (job->x);
  launch.n_args = gyre_convolution_add_sizes (job, args, 2);
  args[launch.n_args++] = GYRE_INT (first);
  launch.args = args;
  launch.resource = "convolution-columns.cl";
  launch.kernel = kernels[gather][cpu];
  set_range (job, gather, cpu, &launch);
  gyre_lower_launch (lower, node, &launch);
}

/* One of the three matrices: a row a place, a row a tap and channel, a row a place */
typedef struct
{
  guint    value;
  gboolean temp;
  gint64   ld, stride, first;
} Matrix;

static void
multiply (GyreLower        *lower,
          const GyreTensor *node,
          const Matrix     *a,
          const Matrix     *b,
          const Matrix     *c,
          GyreGemm          gemm)
{
  gemm.a = a->value;
  gemm.b = b->value;
  gemm.c = c->value;
  gemm.temps = (a->temp ? GYRE_GEMM_TEMP_A : 0) | (b->temp ? GYRE_GEMM_TEMP_B : 0)
               | (c->temp ? GYRE_GEMM_TEMP_C : 0);
  gemm.lda = a->ld;
  gemm.ldb = b->ld;
  gemm.ldc = c->ld;
  gemm.stride_a = a->stride;
  gemm.stride_b = b->stride;
  gemm.stride_c = c->stride;
  gemm.first_a = a->first;
  gemm.first_b = b->first;
  gemm.first_c = c->first;
  gemm.alpha = 1;
  gyre_lower_gemm (lower, node, &gemm);
}

/* y = columns · k, columns = y · kᵀ, k = columnsᵀ · y; k begins at the samples from
 * `first` on, or is added to. */
static void
multiply_samples (GyreLower         *lower,
                  const GyreTensor  *node,
                  const GyreConvJob *job,
                  const Matrix      *columns,
                  gint64             first)
{
  gint64 places = job->out[0] * job->out[1], features = job->out_channels / job->groups;
  gint64 depth = job->taps[0] * job->taps[1] * (job->channels / job->groups);
  Matrix k = { job->k, FALSE, job->out_channels, features, 0 };
  Matrix y = { job->y, FALSE, job->out_channels, features,
               first * places * job->out_channels };

  if (job->gives == GYRE_CONV_Y)
    multiply (lower, node, columns, &k, &y,
              (GyreGemm) { .m = job->n * places, .n = features, .k = depth,
                           .batch = job->groups });
  else if (job->gives == GYRE_CONV_X)
    multiply (lower, node, &y, &k, columns,
              (GyreGemm) { .m = job->n * places, .n = depth, .k = features,
                           .batch = job->groups, .trans_b = TRUE });
  else
    multiply (lower, node, columns, &y, &k,
              (GyreGemm) { .m = depth, .n = features, .k = job->n * places,
                           .batch = job->groups, .trans_a = TRUE,
                           .beta = first > 0 ? 1 : 0 });
}

static void
im2col_lower (GyreLower         *lower,
              const GyreTensor  *node,
              const GyreConvJob *job)
{
  gint64 depth = job->taps[0] * job->taps[1] * (job->channels / job->groups);
  gint64 limit, chunk;
  Matrix columns = { job->x, FALSE, job->groups * depth, depth, 0 };
  GyreConvJob part = *job;

  if (is_product (job))
    {
      multiply_samples (lower, node, job, &columns, 0);
      return;
    }

  limit = find_limit (lower->target);
  if (lower->target->cpu)
    limit = MIN (limit, CPU_COLUMNS);
  chunk = CLAMP (limit / count_column_bytes (job), 1, job->n);
  columns.value = gyre_lower_temp (lower, (gsize) (chunk * count_column_bytes (job)));
  columns.temp = TRUE;
  for (gint64 first = 0; first < job->n; first += chunk)
    {
      part.n = MIN (chunk, job->n - first);
      if (job->gives != GYRE_CONV_X)
        launch_columns (lower, node, &part, columns.value, first);
      multiply_samples (lower, node, &part, &columns, first);
      if (job->gives == GYRE_CONV_X)
        launch_columns (lower, node, &part, columns.value, first);
    }
}

const GyreConvAlgorithm gyre_conv_im2col = {
  "im2col", im2col_serves, im2col_suits, im2col_lower,
};
