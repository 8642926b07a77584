/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-rfft-private.h"

/* The builders of transforms: of any dimensions, cut or padded as is asked for. */

/* Dimension dim of x has extent elements then: the first of them, zeros after them. */
static GyreTensor *
fit (GyreTensor *x,
     int         dim,
     gint64      extent)
{
  gint64 low[GYRE_MAX_RANK] = { 0 }, high[GYRE_MAX_RANK] = { 0 };

  if (x->poison || x->shape.dims[dim] == extent)
    return x;

  high[dim] = extent - x->shape.dims[dim];
  return gyre_pad (x, 0, low, high, NULL);
}

/* The permutation that makes dims[] the last ones but of `after` more. */
static void
make_last (int        rank,
           int        after,
           const int *dims,
           int        n_dims,
           int       *perm)
{
  int n = 0;

  for (int i = 0; i < rank - after; i++)
    {
      gboolean moves = FALSE;

      for (int d = 0; d < n_dims; d++)
        moves = moves || dims[d] == i;
      if (!moves)
        perm[n++] = i;
    }
  for (int d = 0; d < n_dims; d++)
    perm[n++] = dims[d];
  for (int i = rank - after; i < rank; i++)
    perm[n++] = i;
}

static GyreTensor *
permute (GyreTensor *x,
         const int  *perm,
         gboolean    back)
{
  int inverse[GYRE_MAX_RANK] = { 0 };
  gboolean same = TRUE;

  if (x->poison)
    return x;

  for (int i = 0; i < x->shape.rank; i++)
    {
      int from = i < GYRE_MAX_RANK ? perm[i] : i;

      same = same && from == i;
      inverse[from] = i;
    }

  return same ? x : gyre_transpose (x, back ? inverse : perm);
}

/* Dimensions count from the end where they are negative; those of [re, im] don't
 * count. */
static gboolean
find_dims (const char       *call,
           const GyreTensor *x,
           int               after,
           const int        *dims,
           int               n_dims,
           int              *found)
{
  int rank = x->shape.rank - after;

  for (int d = 0; d < n_dims; d++)
    {
      found[d] = dims[d] < 0 ? dims[d] + rank : dims[d];
      if (found[d] < 0 || found[d] >= rank || (d > 0 && found[d] == found[0]))
        {
          g_autofree char *text = gyre_prims_describe (x);

          gyre_prims_fail (x->graph,
                           "%s: %s has no dimension %d to transform: there are %d%s, and "
                           "each can be named once",
                           call, text, dims[d], MAX (rank, 0),
                           after > 0 ? " but for [re, im]" : "");
          return FALSE;
        }
    }

  return TRUE;
}

static GyreTensor *
poisoned (GyreTensor *x)
{
  return gyre_graph_fail (x->graph, NULL);
}

static GyreTensor *
forward (const char   *call,
         GyreTensor   *x,
         const gint64 *extents,
         const int    *dims,
         int           n_dims)
{
  GyreRfftAttrs attrs = { n_dims, 0 };
  int at[2], perm[GYRE_MAX_RANK] = { 0 };

  if (x->poison)
    return x;
  if (!find_dims (call, x, 0, dims, n_dims, at))
    return poisoned (x);

  for (int d = 0; d < n_dims; d++)
    if (extents != NULL && extents[d] > 0)
      x = fit (x, at[d], extents[d]);
  if (x->poison)
    return x;

  make_last (x->shape.rank, 0, at, n_dims, perm);
  x = gyre_prims_emit1 (&gyre_prim_rfft, permute (x, perm, FALSE), &attrs);
  if (!x->poison)
    perm[x->shape.rank - 1] = x->shape.rank - 1;
  return permute (x, perm, TRUE);
}

static GyreTensor *
backward (const char   *call,
          GyreTensor   *x,
          const gint64 *extents,
          const int    *dims,
          int           n_dims)
{
  GyreRfftAttrs attrs = { n_dims, 0 };
  int at[2], perm[GYRE_MAX_RANK] = { 0 }, last;

  if (x->poison)
    return x;
  if (!find_dims (call, x, 1, dims, n_dims, at))
    return poisoned (x);

  last = at[n_dims - 1];
  attrs.n = extents != NULL && extents[n_dims - 1] > 0 ? extents[n_dims - 1]
                                                       : 2 * (x->shape.dims[last] - 1);
  if (attrs.n > 0)
    x = fit (x, last, attrs.n / 2 + 1);
  if (n_dims == 2 && extents != NULL && extents[0] > 0)
    x = fit (x, at[0], extents[0]);
  if (x->poison)
    return x;

  make_last (x->shape.rank, 1, at, n_dims, perm);
  x = gyre_prims_emit1 (&gyre_prim_irfft, permute (x, perm, FALSE), &attrs);
  return permute (x, perm, TRUE);
}

/**
 * gyre_rfft:
 * @x: f32[…, n, …]
 * @n: how many numbers to transform: the first of @x, or all and zeros after them; 0 is
 *   as many as there are
 * @dim: the dimension to transform; -1 is the last
 *
 * The discrete Fourier transform of real numbers, X[k] = Σ_j x[j] e^(-2πi jk / n) for k
 * from 0 to n / 2; the others are conjugates of these. As numpy.fft.rfft (norm
 * "backward"), with complex numbers as [re, im] in a new last dimension. Any n of 1 or
 * more. Gradient: an inverse transform. Sharding: the other dimensions may be split; a
 * partial sum stays one. Kernels: fft.cl, or clFFT's where that is faster.
 *
 * Returns: (transfer none): f32[…, n / 2 + 1, …, 2]; a poison tensor where @dim is none
 */
GyreTensor *
gyre_rfft (GyreTensor *x,
           gint64      n,
           int         dim)
{
  g_return_val_if_fail (x != NULL, NULL);

  return forward ("rfft", x, &n, &dim, 1);
}

/**
 * gyre_irfft:
 * @x: f32[…, m, …, 2]
 * @n: how many numbers there shall be; 0 is 2 (m - 1). Of @x the first n / 2 + 1
 *   frequencies are taken, with zeros after them where there are fewer
 * @dim: the dimension to transform, that of [re, im] not counted; -1 is the last
 *
 * The inverse of gyre_rfft(): x[j] = (1 / n) Σ_k X[k] e^(2πi jk / n), over all k from 0
 * to n - 1, of which those that @x lacks are conjugates. The imaginary parts of frequency
 * 0 and, of even n, n / 2 are not looked at. As numpy.fft.irfft (norm "backward").
 * Gradient: a transform. Sharding and kernels: as of gyre_rfft().
 *
 * Returns: (transfer none): f32[…, n, …]; a poison tensor where @dim is none, or @x not
 * complex
 */
GyreTensor *
gyre_irfft (GyreTensor *x,
            gint64      n,
            int         dim)
{
  g_return_val_if_fail (x != NULL, NULL);

  return backward ("irfft", x, &n, &dim, 1);
}

static const int last_two[] = { -2, -1 };

/**
 * gyre_rfft2:
 * @x: f32[…, h, w]
 * @extents: (array fixed-size=2) (nullable): how many rows and columns to transform, as n
 *   of gyre_rfft(); %NULL is as many as there are
 * @dims: (array fixed-size=2) (nullable): the dimensions to transform; %NULL is -2, -1,
 *   and {1, 2} those of images f32[b, h, w, c]
 *
 * The discrete Fourier transform of real numbers along two dimensions, of which the last
 * named has n / 2 + 1 frequencies. As numpy.fft.rfft2. Gradient, sharding and kernels: as
 * of gyre_rfft().
 *
 * Returns: (transfer none): f32[…, h, w / 2 + 1, 2]; a poison tensor where @dims aren't
 * two dimensions
 */
GyreTensor *
gyre_rfft2 (GyreTensor   *x,
            const gint64 *extents,
            const int    *dims)
{
  g_return_val_if_fail (x != NULL, NULL);

  return forward ("rfft2", x, extents, dims != NULL ? dims : last_two, 2);
}

/**
 * gyre_irfft2:
 * @x: f32[…, h, m, 2]
 * @extents: (array fixed-size=2) (nullable): how many rows and columns there shall be, as
 *   n of gyre_irfft(); %NULL is h, 2 (m - 1)
 * @dims: (array fixed-size=2) (nullable): the dimensions to transform, that of [re, im]
 *   not counted; %NULL is -2, -1
 *
 * The inverse of gyre_rfft2(), as numpy.fft.irfft2. Gradient, sharding and kernels: as of
 * gyre_rfft().
 *
 * Returns: (transfer none): f32[…, h, w]; a poison tensor where @dims aren't two
 * dimensions, or @x not complex
 */
GyreTensor *
gyre_irfft2 (GyreTensor   *x,
             const gint64 *extents,
             const int    *dims)
{
  g_return_val_if_fail (x != NULL, NULL);

  return backward ("irfft2", x, extents, dims != NULL ? dims : last_two, 2);
}
