/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <math.h>

/* arg_max and arg_min: where along a dimension the largest or smallest stands first.  NaN
 * is larger, and smaller, than all. */

typedef struct
{
  int dim;
} GyreArgReduceAttrs;

typedef struct
{
  GyrePrim    prim;
  const char *better;       /* $a: the element, $b: the best so far, not NaN */
  gboolean  (*is_better) (double x, double best);
} GyreArgReduce;

static int
get_dim (const GyreTensor *node)
{
  return ((const GyreArgReduceAttrs *) node->attrs)->dim;
}

static gboolean is_larger (double x, double best)  { return x > best; }
static gboolean is_smaller (double x, double best) { return x < best; }

static gboolean
arg_infer (GyreTensor *const  *operands,
           guint               n,
           const void         *attrs,
           GyreDtype          *dtype,
           GyreShape          *shape,
           GError            **error)
{
  int dim = ((const GyreArgReduceAttrs *) attrs)->dim;
  const GyreTensor *x = operands[0];
  g_autofree char *text = gyre_prims_describe (x);

  *dtype = GYRE_I32;
  *shape = GYRE_SCALAR;
  if (dim < 0 || dim >= x->shape.rank)
    return gyre_prims_error (error, "operand 0 is %s, which has no dimension %d", text,
                             dim);
  if (x->shape.dims[dim] == 0)
    return gyre_prims_error (error,
                             "operand 0 is %s, and there is nothing along dimension %d: "
                             "its extent must be 1 or more",
                             text, dim);

  for (int i = 0; i < x->shape.rank; i++)
    if (i != dim)
      shape->dims[shape->rank++] = x->shape.dims[i];
  return gyre_prims_check_dtype (x, 0, GYRE_DTYPES_NUMBER, error);
}

static gboolean
arg_partition (const GyreTensor    *node,
               const GyreMeshSpec  *mesh,
               const GyreSpec      *in,
               GyreSpec            *want,
               GyreSpec            *out,
               GError             **error)
{
  int to = 0;

  want[0].flat = 0;
  gyre_prims_drop_dim (&want[0], get_dim (node));
  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    if (i != get_dim (node))
      gyre_prims_pass_dim (&want[0], i, out, to++);

  return TRUE;
}

static void
operand_index (const GyreTensor   *node,
               const char *const  *ix,
               const char         *at,
               const char        **jx)
{
  int from = 0;

  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    jx[i] = i == get_dim (node) ? at : ix[from++];
}

static const char *
arg_fuse (GyreEmit          *emit,
          const GyreTensor  *node,
          const char *const *ix)
{
  const GyreTensor *x = node->operands[0];
  const char *ctype = gyre_dtype_ctype (x->dtype);
  const char *at = gyre_emit_variable (emit, "int", "0");
  const char *best =
      gyre_emit_variable (emit, ctype, gyre_emit_literal (emit, x->dtype, 0));
  const char *r = gyre_emit_open_loop (emit, gyre_emit_extent (emit, x, get_dim (node)));
  const char *jx[GYRE_MAX_RANK], *element, *better;

  operand_index (node, ix, r, jx);
  element = gyre_emit_let (emit, ctype, gyre_emit_operand (emit, node, 0, jx));
  better = gyre_prims_substitute (emit, ((const GyreArgReduce *) node->prim)->better,
                                  element, best, ctype);
  if (x->dtype == GYRE_F32)
    better = gyre_emit_printf (emit, "%s == %s && (%s || %s != %s)", best, best, better,
                               element, element);
  gyre_emit_open_if (emit, gyre_emit_printf (emit, "%s == 0 || (%s)", r, better));
  gyre_emit_statement (emit, "%s = %s;", at, r);
  gyre_emit_statement (emit, "%s = %s;", best, element);
  gyre_emit_close_if (emit);
  gyre_emit_close_loop (emit);

  return at;
}

static double
arg_cost (const GyreTensor *node)
{
  return (double) gyre_shape_n_elements (&node->operands[0]->shape);
}

static gint64
find_best (const GyreArgReduce *rule,
           const double        *x,
           gint64               n,
           gint64               step)
{
  gint64 at = 0;

  for (gint64 i = 1; i < n && !isnan (x[at * step]); i++)
    if (rule->is_better (x[i * step], x[at * step]) || isnan (x[i * step]))
      at = i;

  return at;
}

static void
arg_reference (const GyreTensor *node,
               const GyreRef    *in,
               GyreRef          *out)
{
  int dim = get_dim (node);
  gint64 n = in[0].shape.dims[dim], step = 1, n_out = gyre_shape_n_elements (&out->shape);

  for (int i = dim + 1; i < in[0].shape.rank; i++)
    step *= in[0].shape.dims[i];

  for (gint64 flat = 0; flat < n_out; flat++)
    out->data[flat] =
        (double) find_best ((const GyreArgReduce *) node->prim,
                            in[0].data + flat / step * n * step + flat % step, n, step);
}

static void
arg_print (const GyreTensor *node,
           GString          *out)
{
  g_string_append_printf (out, " {dim=%d}", get_dim (node));
}

#define ARG_REDUCE(NAME)                                                                 \
  .prim = { .name = NAME, .flags = GYRE_PRIM_REDUCTION,                                  \
            .attrs_size = sizeof (GyreArgReduceAttrs), .n_operands = 1,                  \
            .infer = arg_infer, .vjp = gyre_prims_vjp_zero, .partition = arg_partition,  \
            .fuse = arg_fuse, .cost = arg_cost, .reference = arg_reference,              \
            .print = arg_print }

static const GyreArgReduce arg_max = {
  ARG_REDUCE ("arg_max"), .better = "$a > $b", .is_better = is_larger,
};

static const GyreArgReduce arg_min = {
  ARG_REDUCE ("arg_min"), .better = "$a < $b", .is_better = is_smaller,
};

static GyreTensor *
arg_emit (const GyreArgReduce *rule,
          GyreTensor          *x,
          int                  dim)
{
  GyreArgReduceAttrs attrs = { dim };

  g_return_val_if_fail (x != NULL, NULL);

  if (dim < 0)
    attrs.dim = dim + x->shape.rank;
  return gyre_prims_emit1 (&rule->prim, x, &attrs);
}

/**
 * gyre_arg_max:
 * @x: f32, i32, u32 or u8
 * @dim: a dimension of extent 1 or more; -1 is the last
 *
 * The index along @dim of the largest; of equals the first; of NaN if there is one. No
 * gradient. Sharding: @dim is gathered first, others stay split.
 *
 * Returns: (transfer none): i32, without @dim
 */
GyreTensor *
gyre_arg_max (GyreTensor *x,
              int         dim)
{
  return arg_emit (&arg_max, x, dim);
}

/**
 * gyre_arg_min:
 * @x: f32, i32, u32 or u8
 * @dim: a dimension of extent 1 or more; -1 is the last
 *
 * The index along @dim of the smallest: see gyre_arg_max().
 *
 * Returns: (transfer none): i32, without @dim
 */
GyreTensor *
gyre_arg_min (GyreTensor *x,
              int         dim)
{
  return arg_emit (&arg_min, x, dim);
}
