/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <string.h>

/* matmul: op (a[…]) · op (b[…]), batch by batch, where op may transpose. */

typedef struct
{
  int rank;
  int m, k_a, k_b, n;        /* which dimension is which, of a and of b */
} Dims;

static Dims
get_dims (const GyreShape       *shape,
          const GyreMatmulAttrs *attrs)
{
  int rank = shape->rank;

  return (Dims){ rank, attrs->trans_a ? rank - 1 : rank - 2,
                 attrs->trans_a ? rank - 2 : rank - 1,
                 attrs->trans_b ? rank - 1 : rank - 2,
                 attrs->trans_b ? rank - 2 : rank - 1 };
}

static gboolean
same_batch (const GyreShape *a,
            const GyreShape *b)
{
  for (int i = 0; i < a->rank - 2; i++)
    if (a->dims[i] != b->dims[i])
      return FALSE;

  return TRUE;
}

static gboolean
matmul_infer (GyreTensor *const  *operands,
              guint               n,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  const GyreShape *a = &operands[0]->shape, *b = &operands[1]->shape;
  g_autofree char *text_a = gyre_prims_describe (operands[0]);
  g_autofree char *text_b = gyre_prims_describe (operands[1]);
  const GyreMatmulAttrs *flags = attrs;
  Dims dims = get_dims (a, attrs);

  if (!gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_FLOAT, error) ||
      !gyre_prims_check_dtype (operands[1], 1, GYRE_DTYPES_FLOAT, error))
    return FALSE;
  if (a->rank < 2 || a->rank != b->rank || !same_batch (a, b))
    return gyre_prims_error (error,
                             "operand 0 is %s and operand 1 is %s, but both must be "
                             "matrices, with leading dimensions that are equal or 1",
                             text_a, text_b);
  if (a->dims[dims.k_a] != b->dims[dims.k_b])
    return gyre_prims_error (error,
                             "operand 0 is %s%s and operand 1 is %s%s: dimension %d of "
                             "the first, %" G_GINT64_FORMAT
                             ", must equal dimension %d of the "
                             "second, %" G_GINT64_FORMAT,
                             text_a, flags->trans_a ? " transposed" : "", text_b,
                             flags->trans_b ? " transposed" : "", dims.k_a,
                             a->dims[dims.k_a], dims.k_b, b->dims[dims.k_b]);

  *dtype = GYRE_F32;
  *shape = *a;
  shape->dims[a->rank - 2] = a->dims[dims.m];
  shape->dims[a->rank - 1] = b->dims[dims.n];
  return TRUE;
}

static GyreTensor *
matmul_emit (GyreTensor *a,
             gboolean    trans_a,
             GyreTensor *b,
             gboolean    trans_b)
{
  GyreMatmulAttrs attrs = { trans_a, trans_b };

  return gyre_prims_emit2 (&gyre_prim_matmul, a, b, &attrs);
}

/* Products again; none transposes anything in memory. */
static void
matmul_vjp (GyreTensor  *node,
            GyreTensor  *ct,
            GyreTensor **cts)
{
  const GyreMatmulAttrs *attrs = node->attrs;
  GyreTensor *a = node->operands[0], *b = node->operands[1];

  cts[0] = attrs->trans_a ? matmul_emit (b, attrs->trans_b, ct, TRUE)
                          : matmul_emit (ct, FALSE, b, !attrs->trans_b);
  cts[1] = attrs->trans_b ? matmul_emit (ct, TRUE, a, attrs->trans_a)
                          : matmul_emit (a, !attrs->trans_a, ct, FALSE);
}

/* Rows of a and columns of b can't be split over one axis: the smaller operand is
 * gathered. */
static void
part_outer_dims (const GyreTensor *node,
                 const Dims       *dims,
                 GyreSpec         *want)
{
  gint64 n_a = gyre_shape_n_elements (&node->operands[0]->shape);
  gint64 n_b = gyre_shape_n_elements (&node->operands[1]->shape);

  if ((want[0].axes[dims->m] & want[1].axes[dims->n]) == 0)
    return;

  if (n_a >= n_b)
    gyre_prims_drop_dim (&want[1], dims->n);
  else
    gyre_prims_drop_dim (&want[0], dims->m);
}

static gboolean
matmul_partition (const GyreTensor    *node,
                  const GyreMeshSpec  *mesh,
                  const GyreSpec      *in,
                  GyreSpec            *want,
                  GyreSpec            *out,
                  GError             **error)
{
  Dims dims = get_dims (&node->operands[0]->shape, node->attrs);
  int rank = dims.rank;
  guint8 split, partial = gyre_partition_keep_partial (node, in);

  want[0].flat = want[1].flat = 0;
  for (int i = 0; i < rank - 2; i++)
    gyre_prims_share_dim (want, i, i);
  gyre_prims_share_dim (want, dims.k_a, dims.k_b);
  part_outer_dims (node, &dims, want);

  for (int i = 0; i < rank - 2; i++)
    gyre_prims_pass_dim (&want[0], i, out, i);
  gyre_prims_pass_dim (&want[0], dims.m, out, rank - 2);
  gyre_prims_pass_dim (&want[1], dims.n, out, rank - 1);
  out->partial = want[0].axes[dims.k_a];

  split = gyre_spec_split_axes (&want[0]) | gyre_spec_split_axes (&want[1]);
  if ((partial & split) == 0)
    {
      want[0].partial = in[0].partial & partial;
      want[1].partial = in[1].partial & partial;
      out->partial |= partial;
    }
  return TRUE;
}

static gint64
count_batch (const GyreShape *shape)
{
  gint64 batch = 1;

  for (int i = 0; i < shape->rank - 2; i++)
    batch *= shape->dims[i];

  return batch;
}

/* Strides are those of local shapes.  A product of no rows, or a sum over nothing, is
 * one too: the list of commands doesn't change with shares. */
static gboolean
matmul_lower (GyreLower         *lower,
              const GyreTensor  *node,
              GError           **error)
{
  const GyreMatmulAttrs *attrs = node->attrs;
  GyreShape a, b, c;
  Dims dims;
  GyreGemm gemm = { 0 };

  gyre_lower_local_shape (lower, node->operands[0], &a, NULL);
  gyre_lower_local_shape (lower, node->operands[1], &b, NULL);
  gyre_lower_local_shape (lower, node, &c, NULL);
  dims = get_dims (&a, attrs);

  gemm.a = node->operands[0]->id;
  gemm.b = node->operands[1]->id;
  gemm.c = node->id;
  gemm.trans_a = attrs->trans_a;
  gemm.trans_b = attrs->trans_b;
  gemm.m = c.dims[c.rank - 2];
  gemm.n = c.dims[c.rank - 1];
  gemm.k = a.dims[dims.k_a];
  gemm.batch = count_batch (&c);
  gemm.lda = a.dims[a.rank - 1];
  gemm.ldb = b.dims[b.rank - 1];
  gemm.ldc = c.dims[c.rank - 1];
  gemm.stride_a = gemm.m * gemm.k;
  gemm.stride_b = gemm.k * gemm.n;
  gemm.stride_c = gemm.m * gemm.n;
  gemm.alpha = 1;
  gyre_lower_gemm (lower, node, &gemm);
  return TRUE;
}

/* Whether it only swaps the last two dimensions. */
static gboolean
is_matrix_transpose (const GyreTensor *x)
{
  const GyreTransposeAttrs *attrs = x->attrs;
  int rank = x->shape.rank;

  if (x->prim != &gyre_prim_transpose || attrs->perm[rank - 1] != rank - 2)
    return FALSE;

  for (int i = 0; i < rank - 2; i++)
    if (attrs->perm[i] != i)
      return FALSE;

  return TRUE;
}

static GyreTensor *
matmul_simplify (GyreGraph        *graph,
                 const GyreTensor *node)
{
  const GyreMatmulAttrs *attrs = node->attrs;
  GyreTensor *a = node->operands[0], *b = node->operands[1];

  if (is_matrix_transpose (a))
    return matmul_emit (a->operands[0], !attrs->trans_a, b, attrs->trans_b);
  if (is_matrix_transpose (b))
    return matmul_emit (a, attrs->trans_a, b->operands[0], !attrs->trans_b);

  return NULL;
}

static double
matmul_cost (const GyreTensor *node)
{
  Dims dims = get_dims (&node->operands[0]->shape, node->attrs);

  return 2.0 * (double) gyre_shape_n_elements (&node->shape) *
         (double) node->operands[0]->shape.dims[dims.k_a];
}

static double
reference_element (const double *a,
                   gint64        step_a,
                   const double *b,
                   gint64        step_b,
                   gint64        k)
{
  double sum = 0;

  for (gint64 i = 0; i < k; i++)
    sum += a[i * step_a] * b[i * step_b];

  return sum;
}

static void
matmul_reference (const GyreTensor *node,
                  const GyreRef    *in,
                  GyreRef          *out)
{
  const GyreMatmulAttrs *attrs = node->attrs;
  Dims dims = get_dims (&in[0].shape, attrs);
  gint64 m = in[0].shape.dims[dims.m], k = in[0].shape.dims[dims.k_a];
  gint64 n = in[1].shape.dims[dims.n], batch = count_batch (&out->shape);
  gint64 row = attrs->trans_a ? 1 : k, along_a = attrs->trans_a ? m : 1;
  gint64 column = attrs->trans_b ? k : 1, along_b = attrs->trans_b ? 1 : n;

  for (gint64 z = 0; z < batch; z++)
    for (gint64 i = 0; i < m; i++)
      for (gint64 j = 0; j < n; j++)
        out->data[(z * m + i) * n + j] =
          reference_element (in[0].data + z * m * k + i * row, along_a,
                             in[1].data + z * k * n + j * column, along_b, k);
}

static void
matmul_print (const GyreTensor *node,
              GString          *out)
{
  const GyreMatmulAttrs *attrs = node->attrs;

  if (attrs->trans_a || attrs->trans_b)
    g_string_append_printf (out, " {%s%s%s}", attrs->trans_a ? "trans_a" : "",
                            attrs->trans_a && attrs->trans_b ? "," : "",
                            attrs->trans_b ? "trans_b" : "");
}

const GyrePrim gyre_prim_matmul = {
  .name = "matmul",
  .attrs_size = sizeof (GyreMatmulAttrs),
  .n_operands = 2,
  .linear = 3,
  .infer = matmul_infer,
  .vjp = matmul_vjp,
  .partition = matmul_partition,
  .lower = matmul_lower,
  .simplify = matmul_simplify,
  .cost = matmul_cost,
  .reference = matmul_reference,
  .print = matmul_print,
};

/* Leading dimensions of a are rows of one product where b is one matrix. */
static GyreTensor *
matmul_rows (GyreTensor *a,
             GyreTensor *b,
             gboolean    trans_b)
{
  GyreShape shape = a->shape;
  GyreTensor *c;

  a = gyre_reshape (a, GYRE_SHAPE (count_batch (&shape) * shape.dims[shape.rank - 2],
                                   shape.dims[shape.rank - 1]));
  c = matmul_emit (a, FALSE, b, trans_b);
  if (c->poison)
    return c;

  shape.dims[shape.rank - 1] = c->shape.dims[1];
  return gyre_reshape (c, shape);
}

/* Broadcasts the leading dimensions, each operand keeping its own last two. */
static GyreTensor *
matmul_batches (GyreTensor *a,
                gboolean    trans_a,
                GyreTensor *b,
                gboolean    trans_b)
{
  int rank = MAX (a->shape.rank, b->shape.rank);
  GyreShape to_a = { rank, { 0 } }, to_b = { rank, { 0 } };

  for (int i = 1; i <= rank; i++)
    {
      gint64 x = i <= a->shape.rank ? a->shape.dims[a->shape.rank - i] : 1;
      gint64 y = i <= b->shape.rank ? b->shape.dims[b->shape.rank - i] : 1;

      to_a.dims[rank - i] = i > 2 && x == 1 ? y : x;
      to_b.dims[rank - i] = i > 2 && y == 1 ? x : y;
    }

  return matmul_emit (gyre_broadcast_to (a, to_a), trans_a, gyre_broadcast_to (b, to_b),
                      trans_b);
}

static GyreTensor *
matmul_matrices (GyreTensor *a,
                 gboolean    trans_a,
                 GyreTensor *b,
                 gboolean    trans_b)
{
  if (a->shape.rank > 2 && b->shape.rank == 2 && !trans_a)
    return matmul_rows (a, b, trans_b);

  return matmul_batches (a, trans_a, b, trans_b);
}

/**
 * gyre_matmul_full:
 * @a: f32[…, m, k], or f32[…, k, m] with @trans_a; a vector f32[k] is a row
 * @trans_a: whether the last two dimensions of @a are swapped
 * @b: f32[…, k, n], or f32[…, n, k] with @trans_b; a vector f32[k] is a column
 * @trans_b: whether the last two dimensions of @b are swapped
 *
 * out[…, i, j] = Σ_l a[…, i, l] b[…, l, j]; leading dimensions broadcast, and the
 * dimension that a vector lacks is not in the result. Gradient: ct · bᵀ and aᵀ · ct,
 * which transpose nothing in memory. Sharding: splits of m, n and leading dimensions
 * pass; where k is split the result is a partial sum; a partial sum times a whole operand
 * stays one.
 *
 * Returns: (transfer none): f32[…, m, n]; a poison tensor where the shapes don't fit
 */
GyreTensor *
gyre_matmul_full (GyreTensor *a,
                  gboolean    trans_a,
                  GyreTensor *b,
                  gboolean    trans_b)
{
  gboolean row, column;
  GyreTensor *c;

  g_return_val_if_fail (a != NULL && b != NULL, NULL);

  if (a->poison || b->poison)
    return a->poison ? a : b;
  if (a->shape.rank == 0 || b->shape.rank == 0)
    return gyre_prims_fail (a->graph,
                            "matmul: operand %d is a scalar, but both must be "
                            "matrices or vectors: use gyre_mul ()",
                            a->shape.rank == 0 ? 0 : 1);

  row = a->shape.rank == 1;
  column = b->shape.rank == 1;
  c = matmul_matrices (row ? gyre_expand_dims (a, 0) : a, trans_a && !row,
                       column ? gyre_expand_dims (b, 1) : b, trans_b && !column);
  if (c->poison)
    return c;

  if (column)
    c = gyre_squeeze (c, -1);
  return row ? gyre_squeeze (c, column ? -1 : -2) : c;
}

/**
 * gyre_matmul:
 * @a: f32[…, m, k], or f32[k]
 * @b: f32[…, k, n], or f32[k]
 *
 * The matrix product: see gyre_matmul_full().
 *
 * Returns: (transfer none): f32[…, m, n]; a poison tensor where the shapes don't fit
 */
GyreTensor *
gyre_matmul (GyreTensor *a,
             GyreTensor *b)
{
  return gyre_matmul_full (a, FALSE, b, FALSE);
}
