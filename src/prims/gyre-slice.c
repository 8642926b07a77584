/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

/* slice: elements start, start + stride, … below limit of each dimension. */

typedef struct
{
  gint64 start[GYRE_MAX_RANK];
  gint64 limit[GYRE_MAX_RANK];
  gint64 stride[GYRE_MAX_RANK];
} GyreSliceAttrs;

static const GyreSliceAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

static gboolean
is_whole (const GyreTensor *node,
          int               i)
{
  const GyreSliceAttrs *slice = get_attrs (node);

  return slice->start[i] == 0 && slice->stride[i] == 1 &&
         slice->limit[i] == node->operands[0]->shape.dims[i];
}

static gboolean
slice_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  const GyreSliceAttrs *slice = attrs;
  const GyreTensor *x = operands[0];

  *dtype = x->dtype;
  *shape = x->shape;
  for (int i = 0; i < x->shape.rank; i++)
    {
      gint64 start = slice->start[i], limit = slice->limit[i], stride = slice->stride[i];

      if (start < 0 || limit < start || limit > x->shape.dims[i] || stride < 1)
        {
          g_autofree char *text = gyre_prims_describe (x);

          return gyre_prims_error (
              error,
              "operand 0 is %s, and its dimension %d can't be cut "
              "from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " in steps of "
              "%" G_GINT64_FORMAT ": it takes 0 ≤ start ≤ limit ≤ extent "
              "and steps of 1 or more",
              text, i, start, limit, stride);
        }
      shape->dims[i] = (limit - start + stride - 1) / stride;
    }

  return TRUE;
}

/* Zeros where nothing was taken. */
static void
slice_vjp (GyreTensor  *node,
           GyreTensor  *ct,
           GyreTensor **cts)
{
  const GyreSliceAttrs *slice = get_attrs (node);
  gint64 low[GYRE_MAX_RANK], high[GYRE_MAX_RANK], interior[GYRE_MAX_RANK];

  for (int i = 0; i < node->shape.rank; i++)
    {
      gint64 n = node->shape.dims[i];
      gint64 end =
          n == 0 ? slice->start[i] : slice->start[i] + (n - 1) * slice->stride[i] + 1;

      low[i] = slice->start[i];
      interior[i] = slice->stride[i] - 1;
      high[i] = node->operands[0]->shape.dims[i] - end;
    }

  cts[0] = gyre_pad (ct, 0, low, high, interior);
}

static gboolean
slice_partition (const GyreTensor    *node,
                 const GyreMeshSpec  *mesh,
                 const GyreSpec      *in,
                 GyreSpec            *want,
                 GyreSpec            *out,
                 GError             **error)
{
  want[0].flat = 0;
  for (int i = 0; i < node->shape.rank; i++)
    if (is_whole (node, i))
      gyre_prims_pass_dim (&want[0], i, out, i);
    else
      gyre_prims_drop_dim (&want[0], i);

  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static const char *
slice_fuse (GyreEmit          *emit,
            const GyreTensor  *node,
            const char *const *ix)
{
  const GyreSliceAttrs *slice = get_attrs (node);
  const char *jx[GYRE_MAX_RANK];

  for (int i = 0; i < node->shape.rank; i++)
    {
      jx[i] = ix[i];
      if (slice->stride[i] != 1)
        jx[i] =
            gyre_emit_printf (emit, "%s * %" G_GINT64_FORMAT, jx[i], slice->stride[i]);
      if (slice->start[i] != 0)
        jx[i] = gyre_emit_printf (emit, "%s + %" G_GINT64_FORMAT, jx[i], slice->start[i]);
      if (jx[i] != ix[i])
        jx[i] = gyre_emit_printf (emit, "(%s)", jx[i]);
    }

  return gyre_emit_operand (emit, node, 0, jx);
}

static GyreTensor *
slice_simplify (GyreGraph        *graph,
                const GyreTensor *node)
{
  if (gyre_shape_equal (&node->shape, &node->operands[0]->shape))
    return node->operands[0];

  return gyre_prims_is_constant (node->operands[0], NULL) &&
                 gyre_shape_n_elements (&node->shape) > 0
             ? gyre_full_like (
                   (GyreTensor *) node,
                   ((const GyreConstantAttrs *) node->operands[0]->attrs)->value)
             : NULL;
}

static void
slice_reference (const GyreTensor *node,
                 const GyreRef    *in,
                 GyreRef          *out)
{
  const GyreSliceAttrs *slice = get_attrs (node);
  gint64 n = gyre_shape_n_elements (&out->shape);
  gint64 ix[GYRE_MAX_RANK];

  for (gint64 flat = 0; flat < n; flat++)
    {
      gyre_prims_unravel (&out->shape, flat, ix);
      for (int i = 0; i < out->shape.rank; i++)
        ix[i] = slice->start[i] + ix[i] * slice->stride[i];
      out->data[flat] = in[0].data[gyre_prims_ravel (&in[0].shape, ix)];
    }
}

static void
slice_print (const GyreTensor *node,
             GString          *out)
{
  const GyreSliceAttrs *slice = get_attrs (node);

  g_string_append (out, " {");
  for (int i = 0; i < node->shape.rank; i++)
    {
      g_string_append_printf (out, "%s%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT,
                              i > 0 ? "," : "", slice->start[i], slice->limit[i]);
      if (slice->stride[i] != 1)
        g_string_append_printf (out, ":%" G_GINT64_FORMAT, slice->stride[i]);
    }
  g_string_append_c (out, '}');
}

const GyrePrim gyre_prim_slice = {
  .name = "slice",
  .attrs_size = sizeof (GyreSliceAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = slice_infer,
  .vjp = slice_vjp,
  .partition = slice_partition,
  .fuse = slice_fuse,
  .simplify = slice_simplify,
  .cost = gyre_prims_cost_elements,
  .reference = slice_reference,
  .print = slice_print,
};

/**
 * gyre_slice:
 * @x: any dtype
 * @start: (array): for each dimension the first index
 * @limit: (array): for each dimension the index that is the first not to be taken
 * @strides: (array) (nullable): steps of 1 or more; %NULL is 1 everywhere
 *
 * out[i₀, …] = x[start₀ + i₀ stride₀, …]. Gradient: ct with zeros where nothing was
 * taken. Sharding: dimensions that are taken whole may be split, others are gathered
 * first; a partial sum stays one.
 *
 * Returns: (transfer none): ceil ((limit - start) / stride) of each dimension; a poison
 *   tensor where that is out of range
 */
GyreTensor *
gyre_slice (GyreTensor   *x,
            const gint64 *start,
            const gint64 *limit,
            const gint64 *strides)
{
  GyreSliceAttrs attrs = { 0 };

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison)
    return x;

  for (int i = 0; i < x->shape.rank; i++)
    {
      attrs.start[i] = start[i];
      attrs.limit[i] = limit[i];
      attrs.stride[i] = strides != NULL ? strides[i] : 1;
    }
  return gyre_prims_emit1 (&gyre_prim_slice, x, &attrs);
}
