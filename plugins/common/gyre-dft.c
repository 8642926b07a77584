/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-dft.h"

/* Of the angles 2π j k / n: f32[n, m] */
typedef struct
{
  GyreTensor *cos;
  GyreTensor *sin;
  GyreTensor *minus_sin;
} Waves;

/* k: u32[m].  j k is taken modulo n as an integer: large angles would round. */
static Waves
make_waves (gint64      n,
            GyreTensor *k)
{
  GyreShape shape = GYRE_SHAPE (n, gyre_tensor_dim (k, 0));
  GyreTensor *j = gyre_iota (shape, GYRE_U32, 0);
  GyreTensor *turn = gyre_rem (gyre_mul (j, gyre_broadcast_to (k, shape)),
                               gyre_full (shape, GYRE_U32, (double) n));
  GyreTensor *angle =
    gyre_mul_scalar (gyre_convert (turn, GYRE_F32), 2 * G_PI / (double) n);
  GyreTensor *sin = gyre_sin (angle);

  return (Waves){ gyre_cos (angle), sin, gyre_neg (sin) };
}

static GyreTensor *
first_frequencies (gint64 m)
{
  return gyre_iota (GYRE_SHAPE (m), GYRE_U32, 0);
}

/* 0 … m - 1, n - m … n - 1 */
static GyreTensor *
end_frequencies (gint64 n,
                 gint64 m)
{
  GyreTensor *low = first_frequencies (m);
  GyreTensor *high = gyre_add (low, gyre_full_like (low, (double) (n - m)));
  GyreTensor *parts[] = { low, high };

  return gyre_concatenate (parts, 2, 0);
}

static GyreTensor *
join (GyreTensor *a,
      GyreTensor *b,
      int         dim)
{
  GyreTensor *parts[] = { a, b };

  return gyre_concatenate (parts, 2, dim);
}

/* […, 2, m] → […, 2 m] */
static GyreTensor *
merge_last (GyreTensor *x)
{
  GyreShape shape = gyre_tensor_get_shape (x);

  shape.rank--;
  shape.dims[shape.rank - 1] *= shape.dims[shape.rank];
  shape.dims[shape.rank] = 0;

  return gyre_reshape (x, shape);
}

static GyreTensor *
split_complex (GyreTensor *x)
{
  GyreShape shape = gyre_tensor_get_shape (x);

  shape.rank++;
  shape.dims[shape.rank - 1] = shape.dims[shape.rank - 2] / 2;
  shape.dims[shape.rank - 2] = 2;

  return gyre_reshape (x, shape);
}

/* A product takes n m steps, a transform n log n, each of many more instructions:
 * measured on two CPU cores (16 samples of 16 features, n of 64 to 8192), they meet at
 * about 80 frequencies. */
static gboolean
is_for_fft (gint64 n,
            gint64 m)
{
  return m > 80 || n > DFT_MAX_EXTENT;
}

/* […, 2, m] ↔ […, m, 2] */
static GyreTensor *
swap_last (GyreTensor *x)
{
  int rank = gyre_tensor_get_rank (x);
  int perm[GYRE_MAX_RANK];

  for (int i = 0; i < rank; i++)
    perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;

  return gyre_transpose (x, perm);
}

/* The first m frequencies of all: f32[…, n] → f32[…, m, 2] */
static GyreTensor *
first_of_fft (GyreTensor *x,
              gint64      m)
{
  gint64 start[GYRE_MAX_RANK] = { 0 };
  GyreShape limit;

  x = gyre_rfft (x, 0, -1);
  limit = gyre_tensor_get_shape (x);
  limit.dims[limit.rank - 2] = m;

  return gyre_slice (x, start, limit.dims, NULL);
}

/* X_k = Σ x_j (cos - i sin) */
GyreTensor *
dft_real (GyreTensor *x,
          gint64      m)
{
  Waves waves;

  if (is_for_fft (gyre_tensor_dim (x, -1), m))
    return swap_last (first_of_fft (x, m));

  waves = make_waves (gyre_tensor_dim (x, -1), first_frequencies (m));

  return split_complex (gyre_matmul (x, join (waves.cos, waves.minus_sin, 1)));
}

/* How often frequency k stands for itself and its mirror image, over n: f32[m] */
static GyreTensor *
mirror_weights (gint64 n,
                gint64 m)
{
  GyreTensor *k = first_frequencies (m);
  GyreTensor *is_single =
    gyre_or (gyre_equal (k, gyre_full_like (k, 0)),
             gyre_equal (gyre_add (k, k), gyre_full_like (k, (double) n)));
  GyreTensor *one = gyre_full (GYRE_SHAPE (m), GYRE_F32, 1.0 / (double) n);

  return gyre_select (is_single, one, gyre_add (one, one));
}

/* x_j = Σ w_k (Re X_k cos - Im X_k sin) */
GyreTensor *
dft_real_inverse (GyreTensor *x,
                  gint64      n)
{
  gint64 m = gyre_tensor_dim (x, -1);
  GyreTensor *weights, *matrix;
  Waves waves;

  if (is_for_fft (n, m))
    return gyre_irfft (swap_last (x), n, -1);

  waves = make_waves (n, first_frequencies (m));
  weights = mirror_weights (n, m);
  matrix = join (gyre_mul (waves.cos, weights), gyre_mul (waves.minus_sin, weights), 1);

  return gyre_matmul_full (merge_last (x), FALSE, matrix, TRUE);
}

/* Z_k = Σ z_j (cos - i sin): Re = Σ re cos + im sin, Im = Σ im cos - re sin */
GyreTensor *
dft_ends (GyreTensor *x,
          gint64      m)
{
  gint64 n = gyre_tensor_dim (x, -1);
  Waves waves = make_waves (n, end_frequencies (n, m));
  GyreTensor *matrix = join (join (waves.cos, waves.minus_sin, 1),
                             join (waves.sin, waves.cos, 1), 0);

  return split_complex (gyre_matmul (merge_last (x), matrix));
}

/* z_j = Σ Z_k (cos + i sin) / n: that matrix transposed */
GyreTensor *
dft_ends_inverse (GyreTensor *x,
                  gint64      n)
{
  Waves waves = make_waves (n, end_frequencies (n, gyre_tensor_dim (x, -1) / 2));
  GyreTensor *matrix = join (join (waves.cos, waves.minus_sin, 1),
                             join (waves.sin, waves.cos, 1), 0);
  GyreTensor *z = gyre_matmul_full (merge_last (x), FALSE, matrix, TRUE);

  return split_complex (gyre_mul_scalar (z, 1.0 / (double) n));
}
