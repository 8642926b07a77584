/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-reduce-private.h"

#include <math.h>

/* sum, max and min over some dimensions, which the result lacks.  A reduction over
 * nothing gives its identity. */

typedef struct
{
  GyrePrim    prim;
  const char *real;         /* statements: $a is the accumulator, $b the element */
  const char *integer;
  double      identity[GYRE_N_DTYPES];
  double    (*function) (double a, double b);
} GyreReduce;

static const GyreReduce reduce_sum;

static const GyreReduce *
get_rule (const GyreTensor *node)
{
  return (const GyreReduce *) node->prim;
}

static gboolean
is_reduced (const GyreTensor *node,
            int               dim)
{
  return (((const GyreReduceAttrs *) node->attrs)->dims >> dim & 1) != 0;
}

static double f_sum (double a, double b) { return a + b; }
static double f_max (double a, double b) { return a > b || isnan (a) ? a : b; }
static double f_min (double a, double b) { return a < b || isnan (a) ? a : b; }

static gboolean
reduce_infer (GyreTensor *const  *operands,
              guint               n,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  guint32 dims = ((const GyreReduceAttrs *) attrs)->dims;
  const GyreTensor *x = operands[0];

  *dtype = x->dtype;
  *shape = GYRE_SCALAR;
  if (!gyre_prims_check_dtype (x, 0, GYRE_DTYPES_NUMBER, error))
    return FALSE;
  if (dims >> x->shape.rank != 0)
    {
      g_autofree char *text = gyre_prims_describe (x);

      return gyre_prims_error (error,
                               "operand 0 is %s, and a dimension to reduce isn't one of "
                               "its %d",
                               text, x->shape.rank);
    }

  for (int i = 0; i < x->shape.rank; i++)
    if ((dims >> i & 1) == 0)
      shape->dims[shape->rank++] = x->shape.dims[i];

  return TRUE;
}

/* Puts the reduced dimensions back: y in the operand's shape. */
static GyreTensor *
restore (const GyreTensor *node,
         GyreTensor       *y)
{
  const GyreTensor *x = node->operands[0];
  int dims[GYRE_MAX_RANK], n = 0;

  for (int i = 0; i < x->shape.rank; i++)
    if (!is_reduced (node, i))
      dims[n++] = i;

  return gyre_broadcast_in_dim (y, x->shape, dims);
}

static void
sum_vjp (GyreTensor  *node,
         GyreTensor  *ct,
         GyreTensor **cts)
{
  if (node->dtype == GYRE_F32)
    cts[0] = restore (node, ct);
}

/* Equals share the cotangent equally. */
static void
extreme_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  GyreTensor *chosen, *count;

  if (node->dtype != GYRE_F32)
    return;

  chosen = gyre_convert (gyre_equal (node->operands[0], restore (node, node)), GYRE_F32);
  count = restore (node, gyre_prims_emit1 (&reduce_sum.prim, chosen, node->attrs));
  cts[0] = gyre_mul (restore (node, ct), gyre_div (chosen, count));
}

static gboolean
reduce_partition_dims (const GyreTensor *node,
                       gboolean          sums,
                       const GyreSpec   *in,
                       GyreSpec         *want,
                       GyreSpec         *out)
{
  int to = 0;

  want[0].flat = 0;
  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    if (!is_reduced (node, i))
      gyre_prims_pass_dim (&want[0], i, out, to++);
    else if (sums)
      out->partial |= want[0].axes[i];
    else
      gyre_prims_drop_dim (&want[0], i);

  if (sums)
    gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

/* Collectives sum words; bytes are gathered first. */
static gboolean
sum_partition (const GyreTensor    *node,
               const GyreMeshSpec  *mesh,
               const GyreSpec      *in,
               GyreSpec            *want,
               GyreSpec            *out,
               GError             **error)
{
  return reduce_partition_dims (node, node->dtype != GYRE_U8, in, want, out);
}

static gboolean
extreme_partition (const GyreTensor    *node,
                   const GyreMeshSpec  *mesh,
                   const GyreSpec      *in,
                   GyreSpec            *want,
                   GyreSpec            *out,
                   GError             **error)
{
  return reduce_partition_dims (node, FALSE, in, want, out);
}

static const char *
reduce_fuse (GyreEmit          *emit,
             const GyreTensor  *node,
             const char *const *ix)
{
  const GyreReduce *rule = get_rule (node);
  const GyreTensor *x = node->operands[0];
  const char *ctype = gyre_dtype_ctype (node->dtype), *sum, *element, *statement;
  const char *jx[GYRE_MAX_RANK];
  int from = 0, n_loops = 0;

  sum = gyre_emit_variable (emit, ctype, gyre_emit_literal (emit, node->dtype,
                                                            rule->identity[node->dtype]));
  for (int i = 0; i < x->shape.rank; i++)
    if (is_reduced (node, i))
      {
        jx[i] = gyre_emit_open_loop (emit, gyre_emit_extent (emit, x, i));
        n_loops++;
      }
    else
      {
        jx[i] = ix[from++];
      }

  element = gyre_emit_let (emit, ctype, gyre_emit_operand (emit, node, 0, jx));
  statement = node->dtype == GYRE_F32 ? rule->real : rule->integer;
  gyre_emit_statement (emit, "%s",
                       gyre_prims_substitute (emit, statement, sum, element, ctype));
  while (n_loops-- > 0)
    gyre_emit_close_loop (emit);
  return sum;
}

static gint64
count_reduced (const GyreTensor *node)
{
  gint64 n = 1;

  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    if (is_reduced (node, i))
      n *= node->operands[0]->shape.dims[i];

  return n;
}

static GyreTensor *
sum_simplify (GyreGraph        *graph,
              const GyreTensor *node)
{
  double value;

  if (((const GyreReduceAttrs *) node->attrs)->dims == 0)
    return node->operands[0];
  if (node->dtype == GYRE_F32 && gyre_prims_is_constant (node->operands[0], &value))
    return gyre_prims_constant (graph, node->dtype, &node->shape,
                                value * (double) count_reduced (node));

  return NULL;
}

static GyreTensor *
extreme_simplify (GyreGraph        *graph,
                  const GyreTensor *node)
{
  double value;

  if (((const GyreReduceAttrs *) node->attrs)->dims == 0)
    return node->operands[0];
  if (gyre_prims_is_constant (node->operands[0], &value) && count_reduced (node) > 0)
    return gyre_prims_constant (graph, node->dtype, &node->shape, value);

  return NULL;
}

static double
reduce_cost (const GyreTensor *node)
{
  return (double) gyre_shape_n_elements (&node->operands[0]->shape);
}

static void
reduce_reference (const GyreTensor *node,
                  const GyreRef    *in,
                  GyreRef          *out)
{
  const GyreReduce *rule = get_rule (node);
  gint64 n = gyre_shape_n_elements (&in[0].shape),
         n_out = gyre_shape_n_elements (&out->shape);
  gint64 ix[GYRE_MAX_RANK], jx[GYRE_MAX_RANK];

  for (gint64 i = 0; i < n_out; i++)
    out->data[i] = rule->identity[out->dtype];

  for (gint64 flat = 0; flat < n; flat++)
    {
      int to = 0;
      double *sum;

      gyre_prims_unravel (&in[0].shape, flat, ix);
      for (int i = 0; i < in[0].shape.rank; i++)
        if (!is_reduced (node, i))
          jx[to++] = ix[i];
      sum = &out->data[gyre_prims_ravel (&out->shape, jx)];
      *sum = rule->function (*sum, in[0].data[flat]);
      if (out->dtype != GYRE_F32)
        *sum = gyre_prims_wrap (out->dtype, (gint64) *sum);
    }
}

static void
reduce_print (const GyreTensor *node,
              GString          *out)
{
  const char *separator = " {dims=";

  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    if (is_reduced (node, i))
      {
        g_string_append_printf (out, "%s%d", separator, i);
        separator = ",";
      }
  if (separator[0] == ',')
    g_string_append_c (out, '}');
}

/* The sum of all is that of the vector. */
static GyreTensor *
sum_flatten (GyreGraph         *graph,
             const GyreTensor  *node,
             GyreTensor *const *operands)
{
  return gyre_shape_n_elements (&node->shape) == 1 ? gyre_sum (operands[0]) : NULL;
}

#define REDUCE(NAME, LINEAR, FAMILY)                                                     \
  .prim = { .name = NAME, .flags = GYRE_PRIM_REDUCTION | GYRE_PRIM_PARTIALS,             \
            .attrs_size = sizeof (GyreReduceAttrs), .n_operands = 1, .linear = (LINEAR), \
            .infer = reduce_infer, .vjp = FAMILY##_vjp, .partition = FAMILY##_partition, \
            .fuse = reduce_fuse, .simplify = FAMILY##_simplify, .cost = reduce_cost,     \
            .reference = reduce_reference, .print = reduce_print }

static const GyreReduce reduce_sum = {
  REDUCE ("reduce_sum", 1, sum),
  .prim.flatten = sum_flatten,
  .real = "$a = $a + $b;",
  .integer = "$a = ($t) ((uint) $a + (uint) $b);",
  .function = f_sum,
};

static const GyreReduce reduce_max = {
  REDUCE ("reduce_max", 0, extreme),
  .real = "$a = $a > $b || $a != $a ? $a : $b;",
  .integer = "$a = $a > $b ? $a : $b;",
  .identity = { [GYRE_F32] = -INFINITY, [GYRE_I32] = G_MININT32 },
  .function = f_max,
};

static const GyreReduce reduce_min = {
  REDUCE ("reduce_min", 0, extreme),
  .real = "$a = $a < $b || $a != $a ? $a : $b;",
  .integer = "$a = $a < $b ? $a : $b;",
  .identity = { [GYRE_F32] = INFINITY, [GYRE_I32] = G_MAXINT32, [GYRE_U32] = G_MAXUINT32,
                [GYRE_U8] = G_MAXUINT8 },
  .function = f_min,
};

/* The mask of the dimensions given; a bit past the rank, which infer refuses, where one
 * isn't the operand's. */
guint32
gyre_reduce_mask (const GyreTensor *x,
          const int        *dims,
          int               n_dims)
{
  guint32 mask = 0;

  if (n_dims == 0 && dims == NULL)
    return (1u << x->shape.rank) - 1;

  for (int i = 0; i < n_dims; i++)
    {
      int dim;

      mask |= 1u << (gyre_prims_dim (x, dims[i], &dim) ? dim : GYRE_MAX_RANK);
    }

  return mask;
}

/* The reduced dimensions of y with extent 1. */
GyreTensor *
gyre_reduce_keep (const GyreTensor *x,
           GyreTensor       *y,
           guint32           mask)
{
  GyreShape shape = x->shape;

  for (int i = 0; i < shape.rank; i++)
    if (mask >> i & 1)
      shape.dims[i] = 1;

  return gyre_reshape (y, shape);
}

static GyreTensor *
reduce_emit (const GyreReduce *rule,
             GyreTensor       *x,
             const int        *dims,
             int               n_dims,
             gboolean          keep)
{
  GyreReduceAttrs attrs = { 0 };
  GyreTensor *y;

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison)
    return x;

  attrs.dims = gyre_reduce_mask (x, dims, n_dims);
  y = gyre_prims_emit1 (&rule->prim, x, &attrs);
  return keep ? gyre_reduce_keep (x, y, attrs.dims) : y;
}

/**
 * gyre_sum_dims:
 * @x: f32, i32, u32 or u8
 * @dims: (array length=n_dims) (nullable): the dimensions; %NULL with 0: all
 * @n_dims: how many
 * @keep: whether the dimensions stay, with extent 1
 *
 * The sum over some dimensions; 0 over nothing; integers wrap. Gradient: ct, repeated.
 * Sharding: the sum over a split dimension is a partial sum (of u8 it is gathered first);
 * others stay split.
 *
 * Returns: (transfer none): a tensor without @dims; a poison tensor where one isn't one
 * of
 *   @x
 */
GyreTensor *
gyre_sum_dims (GyreTensor *x,
               const int  *dims,
               int         n_dims,
               gboolean    keep)
{
  return reduce_emit (&reduce_sum, x, dims, n_dims, keep);
}

/**
 * gyre_max_dims:
 * @x: f32, i32, u32 or u8
 * @dims: (array length=n_dims) (nullable): the dimensions; %NULL with 0: all
 * @n_dims: how many
 * @keep: whether the dimensions stay, with extent 1
 *
 * The largest over some dimensions; NaN where there is one; -∞, or the smallest integer,
 * over nothing. Gradient: ct, shared equally by those that are the largest. Sharding: a
 * split dimension is gathered first; others stay split.
 *
 * Returns: (transfer none): a tensor without @dims; a poison tensor where one isn't one
 * of
 *   @x
 */
GyreTensor *
gyre_max_dims (GyreTensor *x,
               const int  *dims,
               int         n_dims,
               gboolean    keep)
{
  return reduce_emit (&reduce_max, x, dims, n_dims, keep);
}

/**
 * gyre_min_dims:
 * @x: f32, i32, u32 or u8
 * @dims: (array length=n_dims) (nullable): the dimensions; %NULL with 0: all
 * @n_dims: how many
 * @keep: whether the dimensions stay, with extent 1
 *
 * The smallest over some dimensions: see gyre_max_dims().
 *
 * Returns: (transfer none): a tensor without @dims; a poison tensor where one isn't one
 * of
 *   @x
 */
GyreTensor *
gyre_min_dims (GyreTensor *x,
               const int  *dims,
               int         n_dims,
               gboolean    keep)
{
  return reduce_emit (&reduce_min, x, dims, n_dims, keep);
}
