/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

/* Values made from nothing: a constant of one value, and indices along a dimension.  They
 * are cheap to make again, so they take any sharding that they are asked for. */

static gboolean
constant_infer (GyreTensor *const  *operands,
                guint               n,
                const void         *attrs,
                GyreDtype          *dtype,
                GyreShape          *shape,
                GError            **error)
{
  const GyreConstantAttrs *constant = attrs;

  if (gyre_shape_n_elements (&constant->shape) < 0)
    return gyre_prims_error (
        error, "the shape has a negative extent: give extents of 0 or more");

  *dtype = constant->dtype;
  *shape = constant->shape;
  return TRUE;
}

static const char *
constant_fuse (GyreEmit          *emit,
               const GyreTensor  *node,
               const char *const *ix)
{
  const GyreConstantAttrs *constant = node->attrs;

  return gyre_emit_literal (emit, node->dtype, constant->value);
}

static void
constant_reference (const GyreTensor *node,
                    const GyreRef    *in,
                    GyreRef          *out)
{
  const GyreConstantAttrs *constant = node->attrs;
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    out->data[i] = constant->value;
}

static GyreTensor *
constant_flatten (GyreGraph         *graph,
                  const GyreTensor  *node,
                  GyreTensor *const *operands)
{
  const GyreConstantAttrs *constant = node->attrs;

  return gyre_prims_constant (graph, node->dtype,
                              &GYRE_SHAPE (gyre_shape_n_elements (&node->shape)),
                              constant->value);
}

static void
constant_print (const GyreTensor *node,
                GString          *out)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%.9g",
                   ((const GyreConstantAttrs *) node->attrs)->value);
  g_string_append_printf (out, " {%s}", number);
}

static double
no_cost (const GyreTensor *node)
{
  return 0;
}

const GyrePrim gyre_prim_constant = {
  .name = "constant",
  .flags = GYRE_PRIM_GENERATOR,
  .attrs_size = sizeof (GyreConstantAttrs),
  .infer = constant_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = gyre_partition_replicated,
  .fuse = constant_fuse,
  .flatten = constant_flatten,
  .cost = no_cost,
  .reference = constant_reference,
  .print = constant_print,
};

GyreTensor *
gyre_prims_constant (GyreGraph       *graph,
                     GyreDtype        dtype,
                     const GyreShape *shape,
                     double           value)
{
  GyreConstantAttrs attrs = { 0 };

  attrs.dtype = dtype;
  attrs.shape = *shape;
  attrs.value = gyre_prims_round (dtype, value);
  return gyre_graph_emit (graph, &gyre_prim_constant, NULL, 0, &attrs);
}

/**
 * gyre_constant:
 * @dtype: its type
 * @value: its value, rounded to the nearest float, or wrapped to an integer
 *
 * A scalar.  It belongs to the function being traced.
 *
 * Returns: (transfer none): dtype[]
 */
GyreTensor *
gyre_constant (GyreDtype dtype,
               double    value)
{
  return gyre_full (GYRE_SCALAR, dtype, value);
}

/**
 * gyre_full:
 * @shape: a shape
 * @dtype: a type
 * @value: the value of each element
 *
 * Needs no memory: a kernel that uses it has the value in its text.  Takes any sharding.
 *
 * Returns: (transfer none): dtype[shape]
 */
GyreTensor *
gyre_full (GyreShape shape,
           GyreDtype dtype,
           double    value)
{
  GyreGraph *graph = gyre_graph_require ("gyre_full");

  return graph != NULL ? gyre_prims_constant (graph, dtype, &shape, value) : NULL;
}

/**
 * gyre_full_like:
 * @x: a tensor
 * @value: the value of each element
 *
 * Returns: (transfer none): a constant of the dtype and shape of @x
 */
GyreTensor *
gyre_full_like (GyreTensor *x,
                double      value)
{
  g_return_val_if_fail (x != NULL, NULL);

  return gyre_prims_constant (x->graph, x->dtype, &x->shape, value);
}

static gboolean
iota_infer (GyreTensor *const  *operands,
            guint               n,
            const void         *attrs,
            GyreDtype          *dtype,
            GyreShape          *shape,
            GError            **error)
{
  const GyreIotaAttrs *iota = attrs;
  g_autofree char *text = gyre_shape_to_string (&iota->shape);

  if (gyre_shape_n_elements (&iota->shape) < 0)
    return gyre_prims_error (error,
                             "the shape %s has a negative extent: give extents of 0 "
                             "or more",
                             text);
  if (iota->dim < 0 || iota->dim >= iota->shape.rank)
    return gyre_prims_error (error,
                             "dimension %d is not one of %s: give one from 0 to %d",
                             iota->dim, text, iota->shape.rank - 1);
  if (iota->dtype == GYRE_BOOL)
    return gyre_prims_error (error, "indices can't be bool: use i32, u32, u8 or f32");

  *dtype = iota->dtype;
  *shape = iota->shape;
  return TRUE;
}

static const char *
iota_fuse (GyreEmit          *emit,
           const GyreTensor  *node,
           const char *const *ix)
{
  int dim = ((const GyreIotaAttrs *) node->attrs)->dim;

  return gyre_emit_printf (emit, "((%s) (%s + %s))", gyre_dtype_ctype (node->dtype),
                           ix[dim], gyre_emit_offset (emit, node, dim));
}

static void
iota_reference (const GyreTensor *node,
                const GyreRef    *in,
                GyreRef          *out)
{
  int dim = ((const GyreIotaAttrs *) node->attrs)->dim;
  gint64 n = gyre_shape_n_elements (&out->shape);
  gint64 ix[GYRE_MAX_RANK];

  for (gint64 i = 0; i < n; i++)
    {
      gyre_prims_unravel (&out->shape, i, ix);
      out->data[i] = gyre_prims_round (out->dtype, (double) ix[dim]);
    }
}

static void
iota_print (const GyreTensor *node,
            GString          *out)
{
  g_string_append_printf (out, " {dim=%d}", ((const GyreIotaAttrs *) node->attrs)->dim);
}

const GyrePrim gyre_prim_iota = {
  .name = "iota",
  .flags = GYRE_PRIM_GENERATOR,
  .attrs_size = sizeof (GyreIotaAttrs),
  .infer = iota_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = gyre_partition_replicated,
  .fuse = iota_fuse,
  .cost = no_cost,
  .reference = iota_reference,
  .print = iota_print,
};

/**
 * gyre_iota:
 * @shape: a shape
 * @dtype: f32, i32, u32 or u8
 * @dim: a dimension of it; -1 is the last
 *
 * out[i₀, …] = i_dim, an index into the global shape.  Takes any sharding.
 *
 * Returns: (transfer none): dtype[shape]
 */
GyreTensor *
gyre_iota (GyreShape shape,
           GyreDtype dtype,
           int       dim)
{
  GyreGraph *graph = gyre_graph_require ("gyre_iota");
  GyreIotaAttrs attrs = { 0 };

  if (graph == NULL)
    return NULL;

  attrs.dtype = dtype;
  attrs.shape = shape;
  attrs.dim = dim == -1 ? shape.rank - 1 : dim;
  return gyre_graph_emit (graph, &gyre_prim_iota, NULL, 0, &attrs);
}
