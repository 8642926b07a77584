/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* Convolutions by transforms, for large kernels: the spectra of two of x, k and y,
 * multiplied, are that of the third.
 *
 *   y ← x · k̄      x ← y · k      k ← x · ȳ
 *
 * Planes are powers of two that hold the image and what the kernel reaches beyond it, so
 * that nothing wraps into what is wanted.  Element p of y is at p - low. */

#define RESOURCE "convolution-fft.cl"
#define BLOCK    4          /* of the kernel */

/* What a value is, as convolution-fft.cl sees it: [outer, extents, inner] */
typedef struct
{
  guint  value;
  gint64 outer, inner;
  gint64 count[2], step[2], low[2], least[2], limit[2];
} Side;

typedef struct
{
  const GyreConvJob *job;
  gint64             plane[2];
  gint64             frequencies;
  Side               sides[3];      /* by GyreConvGives */
  guint              reals;         /* temp: planes of whichever side is at hand */
  guint              spectra[3];    /* temps */
} FftPlan;

static gint64
get_reach (const GyreConvJob *job,
           int                i)
{
  return (job->taps[i] - 1) * job->dilation[i] + 1;
}

static gint64
choose_extent (const GyreConvJob *job,
               int                i)
{
  gint64 extent = 1;

  while (extent < job->in[i] + get_reach (job, i) - 1)
    extent *= 2;

  return extent;
}

static void
fill_sides (FftPlan *self)
{
  const GyreConvJob *job = self->job;
  Side *x = &self->sides[GYRE_CONV_X], *k = &self->sides[GYRE_CONV_K];
  Side *y = &self->sides[GYRE_CONV_Y];

  *x = (Side) { job->x, job->n, job->channels };
  *k = (Side) { job->k, 1, job->channels * job->out_channels };
  *y = (Side) { job->y, job->n, job->out_channels };
  for (int i = 0; i < 2; i++)
    {
      x->count[i] = job->in[i];
      k->count[i] = job->taps[i];
      y->count[i] = job->out[i];
      x->step[i] = y->step[i] = 1;
      k->step[i] = job->dilation[i];
      y->low[i] = job->low[i];
      y->least[i] = 1 - get_reach (job, i);
      x->limit[i] = y->limit[i] = job->in[i];
      k->limit[i] = get_reach (job, i);
    }
}

static FftPlan
make_plan (const GyreConvJob *job)
{
  FftPlan self = { job };

  for (int i = 0; i < 2; i++)
    self.plane[i] = choose_extent (job, i);
  fill_sides (&self);
  self.frequencies = self.plane[1] == 1 ? self.plane[0] / 2 + 1
                                        : self.plane[0] * (self.plane[1] / 2 + 1);

  return self;
}

static gint64
count_planes (const Side *side)
{
  return side->outer * side->inner;
}

static gint64
count_real_bytes (const FftPlan *self,
                  const Side    *side)
{
  return count_planes (side) * self->plane[0] * self->plane[1] * 4;
}

/* --- commands --- */

static void
launch (GyreLower            *lower,
        const GyreTensor     *node,
        const char           *kernel,
        const GyreCommandArg *args,
        guint                 n_args,
        gint64                width,
        gint64                height,
        gint64                depth)
{
  GyreLaunch launch = { 0 };

  launch.resource = RESOURCE;
  launch.kernel = kernel;
  launch.args = args;
  launch.n_args = n_args;
  launch.dims = 3;
  launch.global[0] = (gsize) width;
  launch.global[1] = (gsize) height;
  launch.global[2] = (gsize) depth;
  gyre_lower_launch (lower, node, &launch);
}

/* Both kernels that move a side take these, four for each extent after one of its own. */
static guint
add_places (const Side     *side,
            int             i,
            GyreCommandArg *args,
            guint           n)
{
  args[n++] = GYRE_INT (side->step[i]);
  args[n++] = GYRE_INT (side->low[i]);
  args[n++] = GYRE_INT (side->least[i]);
  args[n++] = GYRE_INT (side->limit[i]);

  return n;
}

static void
transform (GyreLower        *lower,
           const GyreTensor *node,
           const FftPlan    *self,
           GyreConvGives     which,
           gboolean          backward)
{
  GyreFftOp fft = { GYRE_TEMP (self->reals), GYRE_TEMP (self->spectra[which]),
                    count_planes (&self->sides[which]), self->plane[0], self->plane[1],
                    backward };

  if (fft.n == 1)
    {
      fft.n = fft.rows;
      fft.rows = 1;
    }
  if (backward)
    {
      fft.from = GYRE_TEMP (self->spectra[which]);
      fft.to = GYRE_TEMP (self->reals);
    }
  gyre_lower_fft (lower, node, &fft);
}

static void
spread (GyreLower        *lower,
        const GyreTensor *node,
        const FftPlan    *self,
        GyreConvGives     which)
{
  const Side *side = &self->sides[which];
  GyreCommandArg args[13] = { GYRE_TEMP (self->reals), GYRE_READ (side->value),
                              GYRE_INT (side->inner) };
  guint n = 3;

  for (int i = 0; i < 2; i++)
    {
      args[n++] = GYRE_INT (side->count[i]);
      n = add_places (side, i, args, n);
    }
  launch (lower, node, "gyre_convolution_fft_spread", args, n, self->plane[1],
          self->plane[0], count_planes (side));
  transform (lower, node, self, which, FALSE);
}

static void
collect (GyreLower        *lower,
         const GyreTensor *node,
         const FftPlan    *self,
         GyreConvGives     which)
{
  const Side *side = &self->sides[which];
  GyreCommandArg args[13] = { GYRE_WRITE (side->value), GYRE_TEMP (self->reals),
                              GYRE_INT (side->count[0]) };
  guint n = 3;

  transform (lower, node, self, which, TRUE);
  for (int i = 0; i < 2; i++)
    {
      args[n++] = GYRE_INT (self->plane[i]);
      n = add_places (side, i, args, n);
    }
  launch (lower, node, "gyre_convolution_fft_collect", args, n, side->inner,
          side->count[1], side->outer * side->count[0]);
}

/* Which two give the third, and how their planes are counted */
typedef struct
{
  GyreConvGives a, b;
  gint64        n_i, n_j, terms, a_i, a_t, b_j, b_t;
  gboolean      conjugate;
} Product;

static Product
find_product (const GyreConvJob *job)
{
  gint64 c = job->channels, o = job->out_channels, n = job->n;

  if (job->gives == GYRE_CONV_Y)
    return (Product) { GYRE_CONV_X, GYRE_CONV_K, n, o, c, c, 1, 1, o, TRUE };
  if (job->gives == GYRE_CONV_X)
    return (Product) { GYRE_CONV_Y, GYRE_CONV_K, n, c, o, o, 1, o, 1, FALSE };

  return (Product) { GYRE_CONV_X, GYRE_CONV_Y, c, o, n, 1, c, 1, o, TRUE };
}

static void
multiply (GyreLower        *lower,
          const GyreTensor *node,
          const FftPlan    *self,
          const Product    *product)
{
  GyreCommandArg args[] = { GYRE_TEMP (self->spectra[self->job->gives]),
                            GYRE_TEMP (self->spectra[product->a]),
                            GYRE_TEMP (self->spectra[product->b]),
                            GYRE_INT (product->n_j), GYRE_INT (product->terms),
                            GYRE_INT (product->a_i), GYRE_INT (product->a_t),
                            GYRE_INT (product->b_j), GYRE_INT (product->b_t),
                            GYRE_FLOAT (product->conjugate ? -1 : 1) };

  launch (lower, node, "gyre_convolution_fft_multiply", args, G_N_ELEMENTS (args),
          self->frequencies, (product->n_j + BLOCK - 1) / BLOCK, product->n_i);
}

static void
fft_lower (GyreLower         *lower,
           const GyreTensor  *node,
           const GyreConvJob *job)
{
  FftPlan self = make_plan (job);
  Product product = find_product (job);
  gint64 reals = 0;

  for (int i = 0; i < 3; i++)
    {
      reals = MAX (reals, count_real_bytes (&self, &self.sides[i]));
      self.spectra[i] = gyre_lower_temp (
        lower, (gsize) (count_planes (&self.sides[i]) * self.frequencies * 8));
    }
  self.reals = gyre_lower_temp (lower, (gsize) reals);

  spread (lower, node, &self, product.a);
  spread (lower, node, &self, product.b);
  multiply (lower, node, &self, &product);
  collect (lower, node, &self, job->gives);
}

/* --- the choice --- */

/* Steps of 1, one group, and an eighth of the memory at most for the spectra. */
static gboolean
fft_serves (const GyreLower   *lower,
            const GyreConvJob *job)
{
  FftPlan self = make_plan (job);
  gint64 limit = G_MAXINT32;

  if (lower->target->memory > 0)
    limit = MIN (limit, (gint64) (lower->target->memory / 8));
  if (lower->target->max_allocation > 0)
    limit = MIN (limit, (gint64) lower->target->max_allocation);

  for (int i = 0; i < 2; i++)
    if (job->strides[i] != 1 || job->spread[i] != 1)
      return FALSE;
  for (int i = 0; i < 3; i++)
    if (count_planes (&self.sides[i]) * self.frequencies * 8 > limit)
      return FALSE;

  return job->groups == 1;
}

/* Measured on two CPU cores with 8 and 16 features, forward and backward: the time of a
 * transform doesn't depend on the kernel, that of the others does, and they meet where
 * taps times results are 210 (of 31x31 taps) to 360 (of some 700 along a line) times the
 * plane.  Not by samples: other shares must not take other kernels. */
static gboolean
fft_suits (const GyreLower   *lower,
           const GyreConvJob *job)
{
  FftPlan self = make_plan (job);
  double products = (double) (job->taps[0] * job->taps[1])
                    * (double) (job->out[0] * job->out[1]);

  return products > 400.0 * (double) (self.plane[0] * self.plane[1]);
}

const GyreConvAlgorithm gyre_conv_fft = {
  "fft", fft_serves, fft_suits, fft_lower,
};
