/* SPDX-License-Identifier: Apache-2.0 */

/* Discrete Fourier transforms of any length, for any device: no local memory, no
 * barriers.
 *
 *   Y[k] = Σ_j y[j] e^(-2πi s jk / n)      s: 1 forward, -1 backward; unscaled
 *
 * of float2[lines, n, inner] along the middle, in passes after Stockham: a pass of a
 * radix makes transforms of length span · radix of those of length span (Van Loan,
 * Computational Frameworks for the Fast Fourier Transform, 1992, 1.7).  Other lengths are
 * convolutions with a chirp (Bluestein, 1970).  roots[j] = e^(-2πij / n), n of them.
 *
 * No array is written that is read.  Global sizes are told at each kernel, any local
 * size. */

#pragma OPENCL FP_CONTRACT ON

static float2
times (float2 a, float2 b)
{
  return (float2) (a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* a · root, the root turned backward where sign is -1 */
static float2
turn (float2 a, float2 root, float sign)
{
  return times (a, (float2) (root.x, sign * root.y));
}

static float2
conjugate (float2 a)
{
  return (float2) (a.x, -a.y);
}

/* a · -i, or a · i */
static float2
quarter (float2 a, float sign)
{
  return (float2) (sign * a.y, -sign * a.x);
}

/* Any radix, one result a work-item: { n · inner, lines } */
kernel void
gyre_fft_radix (global float2       *restrict to,
                global const float2 *restrict from,
                global const float2 *restrict roots,
                int   n,
                int   inner,
                int   radix,
                int   span,
                float sign)
{
  size_t line  = (size_t) get_global_id (1) * n * inner;
  int    e     = (int) get_global_id (0);
  int    i     = e % inner;
  int    j     = e / inner;
  int    k     = j % span;
  int    p     = j / span % radix;
  int    first = j / (span * radix) * span + k;
  int    step  = (k + p * span) * (n / (span * radix));
  int    root  = 0;
  float2 sum   = (float2) (0.0f);

  for (int q = 0; q < radix; q++)
    {
      sum += turn (from[line + (size_t) (first + q * (n / radix)) * inner + i],
                   roots[root], sign);
      root += step;
      if (root >= n)
        root -= n;
    }
  to[line + e] = sum;
}

/* The results of one butterfly a work-item, of a radix that the compiler knows:
 * { n / radix · inner, lines } */
#define DEFINE_RADIX(RADIX)                                                              \
  kernel void                                                                            \
  gyre_fft_radix##RADIX (global float2       *restrict to,                               \
                         global const float2 *restrict from,                             \
                         global const float2 *restrict roots,                            \
                         int   n,                                                        \
                         int   inner,                                                    \
                         int   span,                                                     \
                         float sign)                                                     \
  {                                                                                      \
    size_t line  = (size_t) get_global_id (1) * n * inner;                               \
    int    e     = (int) get_global_id (0);                                              \
    int    i     = inner == 1 ? 0 : e % inner;                                           \
    int    t     = inner == 1 ? e : e / inner;                                           \
    int    k     = t % span;                                                             \
    int    step  = k * (n / (RADIX * span));                                             \
    size_t apart = (size_t) (n / RADIX) * inner;                                         \
    size_t place = line + (size_t) (RADIX * (t - k) + k) * inner + i;                    \
    float2 a[RADIX], w[RADIX];                                                           \
                                                                                         \
    for (int q = 0; q < RADIX; q++)                                                      \
      {                                                                                  \
        a[q] = turn (from[line + e + q * apart], roots[q * step], sign);                 \
        w[q] = roots[q * (n / RADIX)];                                                   \
      }                                                                                  \
    for (int p = 0; p < RADIX; p++)                                                      \
      {                                                                                  \
        float2 sum = a[0];                                                               \
                                                                                         \
        for (int q = 1; q < RADIX; q++)                                                  \
          sum += turn (a[q], w[p * q % RADIX], sign);                                    \
        to[place + (size_t) p * span * inner] = sum;                                     \
      }                                                                                  \
  }

DEFINE_RADIX (2)
DEFINE_RADIX (3)
DEFINE_RADIX (5)
DEFINE_RADIX (7)

static void
butterfly4 (float2 *a, float sign)
{
  float2 even = a[0] + a[2], odd = a[0] - a[2];
  float2 other = a[1] + a[3], turned = quarter (a[1] - a[3], sign);

  a[0] = even + other;
  a[1] = odd + turned;
  a[2] = even - other;
  a[3] = odd - turned;
}

/* Four results a work-item: { n / 4 · inner, lines } */
kernel void
gyre_fft_radix4 (global float2       *restrict to,
                 global const float2 *restrict from,
                 global const float2 *restrict roots,
                 int   n,
                 int   inner,
                 int   span,
                 float sign)
{
  size_t line  = (size_t) get_global_id (1) * n * inner;
  int    e     = (int) get_global_id (0);
  int    i     = inner == 1 ? 0 : e % inner;
  int    t     = inner == 1 ? e : e / inner;
  int    k     = t % span;
  int    step  = k * (n / (4 * span));
  size_t apart = (size_t) (n / 4) * inner;
  size_t place = line + (size_t) (4 * (t - k) + k) * inner + i;
  float2 a[4];

  for (int q = 0; q < 4; q++)
    a[q] = from[line + e + q * apart];
  for (int q = 1; q < 4; q++)
    a[q] = turn (a[q], roots[q * step], sign);
  butterfly4 (a, sign);
  for (int q = 0; q < 4; q++)
    to[place + (size_t) q * span * inner] = a[q];
}

/* Eight results a work-item: { n / 8 · inner, lines } */
kernel void
gyre_fft_radix8 (global float2       *restrict to,
                 global const float2 *restrict from,
                 global const float2 *restrict roots,
                 int   n,
                 int   inner,
                 int   span,
                 float sign)
{
  const float half_root = 0.70710678118654752f;
  size_t line  = (size_t) get_global_id (1) * n * inner;
  int    e     = (int) get_global_id (0);
  int    i     = inner == 1 ? 0 : e % inner;
  int    t     = inner == 1 ? e : e / inner;
  int    k     = t % span;
  int    step  = k * (n / (8 * span));
  size_t apart = (size_t) (n / 8) * inner;
  size_t place = line + (size_t) (8 * (t - k) + k) * inner + i;
  float2 a[4], b[4];

  for (int q = 0; q < 4; q++)
    {
      a[q] = from[line + e + (2 * q) * apart];
      b[q] = from[line + e + (2 * q + 1) * apart];
    }
  for (int q = 0; q < 4; q++)
    {
      if (q > 0)
        a[q] = turn (a[q], roots[2 * q * step], sign);
      b[q] = turn (b[q], roots[(2 * q + 1) * step], sign);
    }
  butterfly4 (a, sign);
  butterfly4 (b, sign);
  b[1] = half_root * (b[1] + quarter (b[1], sign));
  b[2] = quarter (b[2], sign);
  b[3] = half_root * (quarter (b[3], sign) - b[3]);
  for (int q = 0; q < 4; q++)
    {
      to[place + (size_t) q * span * inner]       = a[q] + b[q];
      to[place + (size_t) (q + 4) * span * inner] = a[q] - b[q];
    }
}

/* The spectrum of n real numbers, n even, from that of n / 2 complex ones that hold two
 * each; roots are of n.  { n / 2 + 1, lines } */
kernel void
gyre_fft_unweave (global float2       *restrict to,
                  global const float2 *restrict from,
                  global const float2 *restrict roots,
                  int n)
{
  int    half_n = n / 2;
  int    k      = (int) get_global_id (0);
  size_t line   = get_global_id (1);
  float2 a      = from[line * half_n + (k == half_n ? 0 : k)];
  float2 b      = conjugate (from[line * half_n + (k == 0 ? 0 : half_n - k)]);
  float2 even   = 0.5f * (a + b);
  float2 odd    = 0.5f * (a - b);

  to[line * (half_n + 1) + k] = even + quarter (times (odd, roots[k]), 1.0f);
}

/* The other way round: { n / 2, lines } */
kernel void
gyre_fft_weave (global float2       *restrict to,
                global const float2 *restrict from,
                global const float2 *restrict roots,
                int   n,
                float scale)
{
  int    half_n = n / 2;
  int    k      = (int) get_global_id (0);
  size_t line   = get_global_id (1);
  float2 a      = from[line * (half_n + 1) + k];
  float2 b      = conjugate (from[line * (half_n + 1) + half_n - k]);

  if (k == 0)
    a.y = b.y = 0.0f;
  to[line * half_n + k]
      = scale * (a + b + quarter (turn (a - b, roots[k], -1.0f), -1.0f));
}

/* Real numbers as complex ones: { n, lines } */
kernel void
gyre_fft_widen (global float2      *restrict to,
                global const float *restrict from,
                int n)
{
  size_t at = (size_t) get_global_id (1) * n + get_global_id (0);

  to[at] = (float2) (from[at], 0.0f);
}

/* The first m of n: { m, lines } */
kernel void
gyre_fft_halve (global float2       *restrict to,
                global const float2 *restrict from,
                int m,
                int n)
{
  size_t line = get_global_id (1);

  to[line * m + get_global_id (0)] = from[line * n + get_global_id (0)];
}

/* All n of the m that stand for their mirror images, n odd: { n, lines } */
kernel void
gyre_fft_mirror (global float2       *restrict to,
                 global const float2 *restrict from,
                 int   m,
                 int   n,
                 float scale)
{
  int    k    = (int) get_global_id (0);
  size_t line = get_global_id (1);
  float2 a    = k < m ? from[line * m + k] : conjugate (from[line * m + n - k]);

  if (k == 0)
    a.y = 0.0f;
  to[line * n + k] = scale * a;
}

/* { n, lines } */
kernel void
gyre_fft_narrow (global float        *restrict to,
                 global const float2 *restrict from,
                 int n)
{
  size_t at = (size_t) get_global_id (1) * n + get_global_id (0);

  to[at] = from[at].x;
}

/* What a backward transform looks at, of a spectrum that need not be one of real numbers:
 * frequencies 0 and n / 2 of a line are their own mirror images, in rows mirrored too.
 * { m, rows, batch } */
kernel void
gyre_fft_own_mirror (global float2       *restrict to,
                     global const float2 *restrict from,
                     int n)
{
  int    m    = n / 2 + 1;
  int    k    = (int) get_global_id (0);
  int    rows = (int) get_global_size (1);
  int    row  = (int) get_global_id (1);
  size_t line = get_global_id (2) * rows;
  float2 a    = from[(line + row) * m + k];

  if (k == 0 || 2 * k == n)
    a = 0.5f * (a + conjugate (from[(line + (row == 0 ? 0 : rows - row)) * m + k]));
  to[(line + row) * m + k] = a;
}

/* Bluestein: the line times the chirp, with zeros up to the length wide:
 * { wide · inner, lines } */
kernel void
gyre_fft_chirp (global float2       *restrict to,
                global const float2 *restrict from,
                global const float2 *restrict chirp,
                int   n,
                int   wide,
                int   inner,
                float sign)
{
  int    e    = (int) get_global_id (0);
  size_t line = get_global_id (1);
  float2 a    = (float2) (0.0f);

  if (e < n * inner)
    {
      a   = from[line * n * inner + e];
      a.y = sign * a.y;
      a   = times (a, chirp[e / inner]);
    }
  to[line * wide * inner + e] = a;
}

/* … times the chirp's own spectrum: { wide · inner, lines } */
kernel void
gyre_fft_filter (global float2       *restrict to,
                 global const float2 *restrict from,
                 global const float2 *restrict spectrum,
                 int wide,
                 int inner)
{
  int    e  = (int) get_global_id (0);
  size_t at = (size_t) get_global_id (1) * wide * inner + e;

  to[at] = times (from[at], spectrum[e / inner]);
}

/* … and times the chirp again: { n · inner, lines } */
kernel void
gyre_fft_dechirp (global float2       *restrict to,
                  global const float2 *restrict from,
                  global const float2 *restrict chirp,
                  int   n,
                  int   wide,
                  int   inner,
                  float sign)
{
  int    e    = (int) get_global_id (0);
  size_t line = get_global_id (1);
  float2 a    = times (from[line * wide * inner + e], chirp[e / inner]);

  to[line * n * inner + e] = (float2) (a.x, sign * a.y);
}
