/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-init-private.h"

#include <math.h>

/* The Q of A = Q R where the diagonal of R is positive, by Gram and Schmidt in double. */

static double
dot (const double *a,
     const double *b,
     gsize         n)
{
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += a[i] * b[i];

  return sum;
}

/* vectors: k rows of n.  Each is made orthogonal to those before, twice: what rounding
 * leaves the first time is gone after the second. */
static void
orthonormalize (double *vectors,
                gsize   k,
                gsize   n)
{
  for (gsize i = 0; i < k; i++)
    {
      double *v = vectors + i * n;
      double length;

      for (gsize j = 0; j < 2 * i; j++)
        {
          const double *u = vectors + j % i * n;
          double along = dot (u, v, n);

          for (gsize l = 0; l < n; l++)
            v[l] -= along * u[l];
        }

      length = sqrt (dot (v, v, n));
      for (gsize l = 0; l < n; l++)
        v[l] /= length;
    }
}

/* numbers: normal ones, row-major [max (rows, columns), min (rows, columns)]; becomes
 * [rows, columns] */
void
gyre_init_orthogonalize (const GyreShape *shape,
                         float            scale,
                         float           *numbers)
{
  gsize columns = (gsize) shape->dims[shape->rank - 1];
  gsize rows = (gsize) gyre_shape_n_elements (shape) / MAX (columns, 1);
  gsize n = MAX (rows, columns), k = MIN (rows, columns);
  g_autofree double *vectors = g_new (double, n * k + 1);

  for (gsize i = 0; i < n; i++)
    for (gsize j = 0; j < k; j++)
      vectors[j * n + i] = numbers[i * k + j];

  orthonormalize (vectors, k, n);

  for (gsize i = 0; i < n; i++)
    for (gsize j = 0; j < k; j++)
      numbers[rows >= columns ? i * k + j : j * n + i] =
          scale * (float) vectors[j * n + i];
}
