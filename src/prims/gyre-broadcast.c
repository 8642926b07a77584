/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <string.h>

/* broadcast_in_dim: dimension i of the operand, of the same extent or 1, becomes
 * dimension dims[i] of the result.  Element-wise builders broadcast with it. */

static const GyreBroadcastAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

/* Whether dimension i is repeated rather than kept. */
static gboolean
is_repeated (const GyreTensor *node,
             int               i)
{
  return node->operands[0]->shape.dims[i] != node->shape.dims[get_attrs (node)->dims[i]];
}

static gboolean
broadcast_infer (GyreTensor *const  *operands,
                 guint               n,
                 const void         *attrs,
                 GyreDtype          *dtype,
                 GyreShape          *shape,
                 GError            **error)
{
  const GyreBroadcastAttrs *broadcast = attrs;
  const GyreShape *from = &operands[0]->shape;
  g_autofree char *text = gyre_prims_describe (operands[0]);
  g_autofree char *to = gyre_shape_to_string (&broadcast->shape);

  *dtype = operands[0]->dtype;
  *shape = broadcast->shape;
  if (gyre_shape_n_elements (shape) < 0)
    return gyre_prims_error (error,
                             "the shape %s has a negative extent: give extents of 0 or "
                             "more",
                             to);

  for (int i = 0; i < from->rank; i++)
    {
      int dim = broadcast->dims[i];

      if (dim < 0 || dim >= shape->rank || (i > 0 && dim <= broadcast->dims[i - 1]))
        return gyre_prims_error (error,
                                 "dimension %d of operand 0, %s, can't become dimension "
                                 "%d of %s: they must be increasing, from 0 to %d",
                                 i, text, dim, to, shape->rank - 1);
      if (from->dims[i] != shape->dims[dim] && from->dims[i] != 1)
        return gyre_prims_error (error,
                                 "operand 0 is %s and can't become %s: its dimension %d "
                                 "must be %" G_GINT64_FORMAT " or 1",
                                 text, to, i, shape->dims[dim]);
    }

  return TRUE;
}

/* The sum over what was repeated, in the operand's shape. */
static void
broadcast_vjp (GyreTensor  *node,
               GyreTensor  *ct,
               GyreTensor **cts)
{
  GyreTensor *x = node->operands[0];
  gboolean kept[GYRE_MAX_RANK] = { FALSE };
  int dims[GYRE_MAX_RANK], n = 0;

  if (node->dtype != GYRE_F32)
    return;

  for (int i = 0; i < x->shape.rank; i++)
    kept[get_attrs (node)->dims[i]] = !is_repeated (node, i);
  for (int i = 0; i < node->shape.rank; i++)
    if (!kept[i])
      dims[n++] = i;

  cts[0] = gyre_reshape (n > 0 ? gyre_sum_dims (ct, dims, n, FALSE) : ct, x->shape);
}

static gboolean
broadcast_partition (const GyreTensor    *node,
                     const GyreMeshSpec  *mesh,
                     const GyreSpec      *in,
                     GyreSpec            *want,
                     GyreSpec            *out,
                     GError             **error)
{
  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    if (is_repeated (node, i))
      gyre_prims_drop_dim (&want[0], i);
    else
      gyre_prims_pass_dim (&want[0], i, out, get_attrs (node)->dims[i]);

  want[0].flat = 0;
  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static const char *
broadcast_fuse (GyreEmit          *emit,
                const GyreTensor  *node,
                const char *const *ix)
{
  const char *jx[GYRE_MAX_RANK];

  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    jx[i] = is_repeated (node, i) ? "0" : ix[get_attrs (node)->dims[i]];

  return gyre_emit_operand (emit, node, 0, jx);
}

/* A broadcast of a broadcast is one. */
static GyreTensor *
merge_broadcasts (const GyreTensor *node)
{
  const GyreTensor *x = node->operands[0];
  GyreBroadcastAttrs attrs = { 0 };

  attrs.shape = node->shape;
  for (int i = 0; i < x->operands[0]->shape.rank; i++)
    attrs.dims[i] = get_attrs (node)->dims[get_attrs (x)->dims[i]];

  return gyre_prims_emit1 (&gyre_prim_broadcast_in_dim, x->operands[0], &attrs);
}

static GyreTensor *
broadcast_simplify (GyreGraph        *graph,
                    const GyreTensor *node)
{
  GyreTensor *x = node->operands[0];
  double value;

  if (gyre_shape_equal (&x->shape, &node->shape))
    return x;
  if (gyre_prims_is_constant (x, &value))
    return gyre_prims_constant (graph, node->dtype, &node->shape, value);

  return x->prim == node->prim ? merge_broadcasts (node) : NULL;
}

static void
broadcast_reference (const GyreTensor *node,
                     const GyreRef    *in,
                     GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&out->shape);
  gint64 ix[GYRE_MAX_RANK], jx[GYRE_MAX_RANK];

  for (gint64 flat = 0; flat < n; flat++)
    {
      gyre_prims_unravel (&out->shape, flat, ix);
      for (int i = 0; i < in[0].shape.rank; i++)
        jx[i] = in[0].shape.dims[i] == 1 ? 0 : ix[get_attrs (node)->dims[i]];
      out->data[flat] = in[0].data[gyre_prims_ravel (&in[0].shape, jx)];
    }
}

static void
broadcast_print (const GyreTensor *node,
                 GString          *out)
{
  g_string_append (out, " {dims=");
  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    g_string_append_printf (out, i > 0 ? ",%d" : "%d", get_attrs (node)->dims[i]);
  g_string_append_c (out, '}');
}

/* One element repeated is a vector of it; dimensions of 1 that are added change nothing,
 * since the dimensions keep their order. */
static GyreTensor *
broadcast_flatten (GyreGraph         *graph,
                   const GyreTensor  *node,
                   GyreTensor *const *operands)
{
  GyreShape vector = GYRE_SHAPE (gyre_shape_n_elements (&node->shape));

  if (gyre_shape_n_elements (&operands[0]->shape) == vector.dims[0])
    return gyre_reshape (operands[0], vector);
  if (gyre_shape_n_elements (&operands[0]->shape) != 1)
    return NULL;

  return gyre_broadcast_to (gyre_reshape (operands[0], GYRE_SCALAR), vector);
}

static double
no_cost (const GyreTensor *node)
{
  return 0;
}

const GyrePrim gyre_prim_broadcast_in_dim = {
  .name = "broadcast_in_dim",
  .attrs_size = sizeof (GyreBroadcastAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = broadcast_infer,
  .vjp = broadcast_vjp,
  .partition = broadcast_partition,
  .fuse = broadcast_fuse,
  .simplify = broadcast_simplify,
  .flatten = broadcast_flatten,
  .cost = no_cost,
  .reference = broadcast_reference,
  .print = broadcast_print,
};

/**
 * gyre_broadcast_in_dim:
 * @x: any dtype
 * @shape: the shape of the result
 * @dims: (array): for each dimension of @x the one that it becomes; increasing
 *
 * out[i₀, …] = x[i_dims[0], …], where a dimension of @x that has extent 1 is repeated.
 * Gradient: the sum over what was repeated. Sharding: a dimension that is kept stays
 * split; a partial sum stays one.
 *
 * Returns: (transfer none): a tensor of @shape; on an error of shapes a poison tensor
 */
GyreTensor *
gyre_broadcast_in_dim (GyreTensor *x,
                       GyreShape   shape,
                       const int  *dims)
{
  GyreBroadcastAttrs attrs = { 0 };

  g_return_val_if_fail (x != NULL, NULL);
  g_return_val_if_fail (dims != NULL || x->shape.rank == 0, NULL);

  if (x->poison)
    return x;

  attrs.shape = shape;
  for (int i = 0; i < x->shape.rank; i++)
    attrs.dims[i] = dims[i];
  return gyre_prims_emit1 (&gyre_prim_broadcast_in_dim, x, &attrs);
}

/**
 * gyre_broadcast_to:
 * @x: any dtype
 * @shape: a shape
 *
 * Repeats @x as NumPy's broadcast_to: dimensions are matched from the last, those of
 * extent 1 and those that are missing are repeated. See gyre_broadcast_in_dim().
 *
 * Returns: (transfer none): a tensor of @shape; on an error of shapes a poison tensor
 */
GyreTensor *
gyre_broadcast_to (GyreTensor *x,
                   GyreShape   shape)
{
  int dims[GYRE_MAX_RANK];
  double value;

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison || gyre_shape_equal (&x->shape, &shape))
    return x;
  if (x->shape.rank == 0 && gyre_prims_is_constant (x, &value))
    return gyre_prims_constant (x->graph, x->dtype, &shape, value);

  if (x->shape.rank > shape.rank)
    {
      g_autofree char *text = gyre_prims_describe (x);
      g_autofree char *to = gyre_shape_to_string (&shape);

      return gyre_prims_fail (x->graph,
                              "broadcast_to: %s can't become %s, which has fewer "
                              "dimensions: reshape or sum it",
                              text, to);
    }

  for (int i = 0; i < x->shape.rank; i++)
    dims[i] = shape.rank - x->shape.rank + i;
  return gyre_broadcast_in_dim (x, shape, dims);
}

/**
 * gyre_expand_dims:
 * @x: any dtype
 * @dim: where the new dimension stands in the result; -1 is the last
 *
 * Returns: (transfer none): @x with a dimension of extent 1 put in
 */
GyreTensor *
gyre_expand_dims (GyreTensor *x,
                  int         dim)
{
  GyreShape shape;
  int at;

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison)
    return x;

  at = dim < 0 ? dim + x->shape.rank + 1 : dim;
  if (at < 0 || at > x->shape.rank || x->shape.rank == GYRE_MAX_RANK)
    return gyre_prims_fail (
        x->graph,
        "expand_dims: a tensor of rank %d can't have a new "
        "dimension %d: give one from 0 to %d, and at most %d dimensions",
        x->shape.rank, dim, x->shape.rank, GYRE_MAX_RANK);

  shape = x->shape;
  shape.rank++;
  memmove (shape.dims + at + 1, x->shape.dims + at,
           (x->shape.rank - at) * sizeof (gint64));
  shape.dims[at] = 1;
  return gyre_reshape (x, shape);
}

/**
 * gyre_squeeze:
 * @x: any dtype
 * @dim: a dimension of extent 1; -1 is the last
 *
 * Returns: (transfer none): @x without the dimension
 */
GyreTensor *
gyre_squeeze (GyreTensor *x,
              int         dim)
{
  GyreShape shape;
  int at;

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison)
    return x;

  if (!gyre_prims_dim (x, dim, &at) || x->shape.dims[at] != 1)
    {
      g_autofree char *text = gyre_prims_describe (x);

      return gyre_prims_fail (x->graph,
                              "squeeze: dimension %d of %s is not one of extent 1: "
                              "slice or reduce it",
                              dim, text);
    }

  shape = x->shape;
  shape.rank--;
  memmove (shape.dims + at, x->shape.dims + at + 1, (shape.rank - at) * sizeof (gint64));
  shape.dims[shape.rank] = 0;
  return gyre_reshape (x, shape);
}

static gboolean
common_shape (GyreTensor *const *operands,
              guint              n,
              GyreShape         *shape)
{
  *shape = operands[0]->shape;
  for (guint k = 1; k < n; k++)
    {
      GyreShape a = *shape, b = operands[k]->shape;

      shape->rank = MAX (a.rank, b.rank);
      for (int i = 1; i <= shape->rank; i++)
        {
          gint64 x = i <= a.rank ? a.dims[a.rank - i] : 1;
          gint64 y = i <= b.rank ? b.dims[b.rank - i] : 1;

          if (x != y && x != 1 && y != 1)
            return FALSE;
          shape->dims[shape->rank - i] = x == 1 ? y : x;
        }
    }

  return TRUE;
}

static GyreTensor *
fail_to_broadcast (const char        *call,
                   GyreTensor *const *operands,
                   guint              n)
{
  g_autoptr (GString) shapes = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = gyre_prims_describe (operands[i]);

      g_string_append_printf (shapes, "%soperand %u is %s",
                              i == 0 ? "" : i + 1 == n ? " and " : ", ", i, text);
    }

  return gyre_prims_fail (operands[0]->graph,
                          "%s: %s, which have no common shape: matched "
                          "from the last, dimensions must be equal, or one of them 1",
                          call, shapes->str);
}

gboolean
gyre_prims_broadcast (const char  *call,
                      GyreTensor **operands,
                      guint        n)
{
  GyreShape shape;

  for (guint i = 0; i < n; i++)
    if (operands[i]->poison)
      {
        operands[0] = operands[i];
        return FALSE;
      }

  if (!common_shape (operands, n, &shape))
    {
      operands[0] = fail_to_broadcast (call, operands, n);
      return FALSE;
    }

  for (guint i = 0; i < n; i++)
    operands[i] = gyre_broadcast_to (operands[i], shape);
  return TRUE;
}
