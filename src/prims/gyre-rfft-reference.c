/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-rfft-private.h"

#include <math.h>
#include <string.h>

/* The sums that define the transforms, along a line after the other. */

/* What a batch of transforms is of */
typedef struct
{
  gint64 batch, rows, n, m;
} Sizes;

static Sizes
get_sizes (const GyreTensor *node,
           const GyreShape  *reals)
{
  gint64 dims = ((const GyreRfftAttrs *) node->attrs)->dims;
  Sizes sizes = { 1, 1, reals->dims[reals->rank - 1] };

  sizes.m = sizes.n / 2 + 1;
  if (dims == 2)
    sizes.rows = reals->dims[reals->rank - 2];
  for (int i = 0; i < reals->rank - (int) dims; i++)
    sizes.batch *= reals->dims[i];

  return sizes;
}

/* Adds a e^(i sign 2π jk / n) */
static void
add_turned (double       *sum,
            const double *a,
            gint64        jk,
            gint64        n,
            double        sign)
{
  double angle = sign * 2 * G_PI * (double) (jk % n) / (double) n;

  sum[0] += a[0] * cos (angle) - a[1] * sin (angle);
  sum[1] += a[0] * sin (angle) + a[1] * cos (angle);
}

/* Complex numbers[rows, m] along the rows, in place */
static void
transform_rows (double      *numbers,
                const Sizes *sizes,
                double       sign)
{
  gsize size = (gsize) (sizes->rows * sizes->m) * 2;
  g_autofree double *from = g_memdup2 (numbers, size * sizeof (double));

  memset (numbers, 0, size * sizeof (double));
  for (gint64 p = 0; p < sizes->rows; p++)
    for (gint64 i = 0; i < sizes->rows; i++)
      for (gint64 k = 0; k < sizes->m; k++)
        add_turned (&numbers[2 * (p * sizes->m + k)], &from[2 * (i * sizes->m + k)],
                    p * i, sizes->rows, sign);
}

void
gyre_rfft_reference (const GyreTensor *node,
                     const GyreRef    *in,
                     GyreRef          *out)
{
  Sizes sizes = get_sizes (node, &in[0].shape);

  for (gint64 line = 0; line < sizes.batch * sizes.rows; line++)
    for (gint64 k = 0; k < sizes.m; k++)
      for (gint64 j = 0; j < sizes.n; j++)
        add_turned (&out->data[2 * (line * sizes.m + k)],
                    (double[]){ in[0].data[line * sizes.n + j], 0 }, j * k, sizes.n, -1);

  for (gint64 b = 0; b < sizes.batch; b++)
    transform_rows (out->data + b * sizes.rows * sizes.m * 2, &sizes, -1);
}

/* The imaginary parts of the frequencies that stand for themselves are not looked at. */
static double
real_element (const double *line,
              const Sizes  *sizes,
              gint64        j)
{
  double sum = 0;

  for (gint64 k = 0; k < sizes->m; k++)
    {
      double turned[2] = { 0, 0 };
      gboolean alone = k == 0 || 2 * k == sizes->n;

      add_turned (turned, (double[]){ line[2 * k], alone ? 0 : line[2 * k + 1] }, j * k,
                  sizes->n, 1);
      sum += alone ? turned[0] : 2 * turned[0];
    }

  return sum;
}

void
gyre_irfft_reference (const GyreTensor *node,
                      const GyreRef    *in,
                      GyreRef          *out)
{
  Sizes sizes = get_sizes (node, &out->shape);
  gint64 block = sizes.rows * sizes.m * 2;
  double scale = 1 / (double) (sizes.rows * sizes.n);

  for (gint64 b = 0; b < sizes.batch; b++)
    {
      g_autofree double *numbers =
        g_memdup2 (in[0].data + b * block, (gsize) block * sizeof (double));
      double *to = out->data + b * sizes.rows * sizes.n;

      transform_rows (numbers, &sizes, 1);
      for (gint64 i = 0; i < sizes.rows; i++)
        for (gint64 j = 0; j < sizes.n; j++)
          to[i * sizes.n + j] =
            scale * real_element (numbers + 2 * i * sizes.m, &sizes, j);
    }
}
