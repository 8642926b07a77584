/* SPDX-License-Identifier: Apache-2.0 */
#include "fft/gyre-fft-provider-private.h"

#include <math.h>
#include <string.h>

/* Transforms in double on the host: for tables, and to compare devices with. */

static gint64
smallest_factor (gint64 n)
{
  for (gint64 p = 2; p * p <= n; p++)
    if (n % p == 0)
      return p;

  return n;
}

typedef struct
{
  double c, s;
} Root;

/* e^(-2πi j / n) */
static Root *
make_roots (gint64 n)
{
  Root *roots = g_new (Root, n);

  for (gint64 j = 0; j < n; j++)
    {
      double angle = 2 * G_PI * (double) j / (double) n;

      roots[j] = (Root) { cos (angle), -sin (angle) };
    }

  return roots;
}

/* From every step-th number, decimated in time; roots are of n · step. */
static void
transform (const double *from,
           gint64        step,
           double       *to,
           gint64        n,
           const Root   *roots)
{
  gint64 p = smallest_factor (n), m = n / p;
  g_autofree double *parts = NULL;

  if (n == 1)
    {
      to[0] = from[0];
      to[1] = from[1];
      return;
    }

  parts = g_new (double, 2 * n);
  for (gint64 q = 0; q < p; q++)
    transform (from + 2 * q * step, step * p, parts + 2 * q * m, m, roots);
  memset (to, 0, (gsize) n * 2 * sizeof (double));
  for (gint64 k = 0; k < n; k++)
    for (gint64 q = 0; q < p; q++)
      {
        const double *a = &parts[2 * (q * m + k % m)];
        const Root *root = &roots[q * k % n * step];

        to[2 * k] += a[0] * root->c - a[1] * root->s;
        to[2 * k + 1] += a[0] * root->s + a[1] * root->c;
      }
}

static void
conjugate (double *numbers,
           gint64  n)
{
  for (gint64 i = 0; i < n; i++)
    numbers[2 * i + 1] = -numbers[2 * i + 1];
}

void
gyre_fft_host (double   *numbers,
               gint64    n,
               gboolean  backward)
{
  g_autofree double *from = g_memdup2 (numbers, (gsize) n * 2 * sizeof (double));
  g_autofree Root *roots = make_roots (n);

  if (backward)
    conjugate (from, n);
  transform (from, 1, numbers, n, roots);
  if (backward)
    conjugate (numbers, n);
}

/* Along the rows of complex numbers[rows, m] */
static void
transform_columns (double   *numbers,
                   gint64    rows,
                   gint64    m,
                   gboolean  backward)
{
  g_autofree double *column = g_new (double, 2 * rows);

  for (gint64 k = 0; k < m; k++)
    {
      for (gint64 r = 0; r < rows; r++)
        memcpy (&column[2 * r], &numbers[2 * (r * m + k)], 2 * sizeof (double));
      gyre_fft_host (column, rows, backward);
      for (gint64 r = 0; r < rows; r++)
        memcpy (&numbers[2 * (r * m + k)], &column[2 * r], 2 * sizeof (double));
    }
}

static void
forward_row (const float *from,
             double      *to,
             gint64       n)
{
  g_autofree double *row = g_new0 (double, 2 * n);

  for (gint64 j = 0; j < n; j++)
    row[2 * j] = (double) from[j];
  gyre_fft_host (row, n, FALSE);
  memcpy (to, row, (gsize) (n / 2 + 1) * 2 * sizeof (double));
}

static void
backward_row (const double *from,
              double       *to,
              gint64        n,
              double        scale)
{
  g_autofree double *row = g_new0 (double, 2 * n);

  for (gint64 k = 0; k <= n / 2; k++)
    {
      gboolean alone = k == 0 || 2 * k == n;

      row[2 * k] = from[2 * k];
      row[2 * k + 1] = alone ? 0 : from[2 * k + 1];
      if (alone)
        continue;
      row[2 * (n - k)] = from[2 * k];
      row[2 * (n - k) + 1] = -from[2 * k + 1];
    }
  gyre_fft_host (row, n, TRUE);
  for (gint64 j = 0; j < n; j++)
    to[j] = row[2 * j] * scale;
}

void
gyre_fft_host_real (const GyreFftKind *kind,
                    const float       *from,
                    double            *to)
{
  gint64 rows = kind->rows, n = kind->n, m = n / 2 + 1;
  g_autofree double *numbers = NULL;

  if (!kind->backward)
    {
      for (gint64 r = 0; r < rows; r++)
        forward_row (from + r * n, to + 2 * r * m, n);
      transform_columns (to, rows, m, FALSE);
      return;
    }

  numbers = g_new (double, 2 * rows * m);
  for (gint64 i = 0; i < 2 * rows * m; i++)
    numbers[i] = (double) from[i];
  transform_columns (numbers, rows, m, TRUE);
  for (gint64 r = 0; r < rows; r++)
    backward_row (numbers + 2 * r * m, to + r * n, n, 1.0 / (double) (rows * n));
}
