/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

/* concatenate: operands one after the other along a dimension.  Linear in all
 * together. */

typedef struct
{
  int dim;
} GyreConcatenateAttrs;

static int
get_dim (const GyreTensor *node)
{
  return ((const GyreConcatenateAttrs *) node->attrs)->dim;
}

static gboolean
check_operand (const GyreTensor  *first,
               const GyreTensor  *x,
               guint              i,
               int                dim,
               GError           **error)
{
  gboolean fits = x->dtype == first->dtype && x->shape.rank == first->shape.rank;

  for (int d = 0; fits && d < first->shape.rank; d++)
    fits = d == dim || x->shape.dims[d] == first->shape.dims[d];

  if (!fits)
    {
      g_autofree char *text = gyre_prims_describe (x);
      g_autofree char *text_first = gyre_prims_describe (first);

      return gyre_prims_error (error,
                               "operand 0 is %s and operand %u is %s, but dtypes and all "
                               "dimensions other than %d must be equal",
                               text_first, i, text, dim);
    }

  return TRUE;
}

static gboolean
concatenate_infer (GyreTensor *const  *operands,
                   guint               n,
                   const void         *attrs,
                   GyreDtype          *dtype,
                   GyreShape          *shape,
                   GError            **error)
{
  int dim = ((const GyreConcatenateAttrs *) attrs)->dim;

  if (n == 0)
    return gyre_prims_error (error, "there is no operand: give one or more");
  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;
  if (dim < 0 || dim >= shape->rank)
    {
      g_autofree char *text = gyre_prims_describe (operands[0]);

      return gyre_prims_error (error, "operand 0 is %s, which has no dimension %d: use "
                               "gyre_expand_dims ()", text, dim);
    }

  for (guint i = 1; i < n; i++)
    {
      if (!check_operand (operands[0], operands[i], i, dim, error))
        return FALSE;
      shape->dims[dim] += operands[i]->shape.dims[dim];
    }

  return TRUE;
}

static void
concatenate_vjp (GyreTensor  *node,
                 GyreTensor  *ct,
                 GyreTensor **cts)
{
  int dim = get_dim (node);
  gint64 start[GYRE_MAX_RANK] = { 0 };
  GyreShape limit = node->shape;

  for (guint i = 0; i < node->n_operands; i++)
    {
      limit.dims[dim] = start[dim] + node->operands[i]->shape.dims[dim];
      cts[i] = gyre_slice (ct, start, limit.dims, NULL);
      start[dim] = limit.dims[dim];
    }
}

static gboolean
concatenate_partition (const GyreTensor    *node,
                       const GyreMeshSpec  *mesh,
                       const GyreSpec      *in,
                       GyreSpec            *want,
                       GyreSpec            *out,
                       GError             **error)
{
  g_autofree GyreSpec *open = g_new (GyreSpec, node->n_operands);

  for (guint i = 0; i < node->n_operands; i++)
    {
      open[i] = in[i];
      open[i].flat = 0;
      gyre_prims_drop_dim (&open[i], get_dim (node));
    }

  return gyre_partition_elementwise (node, mesh, open, want, out, error);
}

/* Which operand the element is of is found by its index, the last first: each index is
 * below the end of one operand and of all that follow. */
static const char *
concatenate_fuse (GyreEmit          *emit,
                  const GyreTensor  *node,
                  const char *const *ix)
{
  int dim = get_dim (node);
  const char *value = gyre_emit_variable (emit, gyre_dtype_ctype (node->dtype), "0");
  const char *jx[GYRE_MAX_RANK];
  gint64 first = 0;

  for (int d = 0; d < node->shape.rank; d++)
    jx[d] = ix[d];

  for (guint i = 0; i < node->n_operands; i++)
    {
      gint64 end = first + node->operands[i]->shape.dims[dim];

      gyre_emit_open_if (emit, gyre_emit_printf (emit,
                                                 "%s >= %" G_GINT64_FORMAT
                                                 " && %s < %" G_GINT64_FORMAT,
                                                 ix[dim], first, ix[dim], end));
      jx[dim] = first == 0 ? ix[dim]
                           : gyre_emit_printf (emit, "(%s - %" G_GINT64_FORMAT ")",
                                               ix[dim], first);
      gyre_emit_statement (emit, "%s = %s;", value,
                           gyre_emit_operand (emit, node, i, jx));
      gyre_emit_close_if (emit);
      first = end;
    }

  return value;
}

static GyreTensor *
concatenate_simplify (GyreGraph        *graph,
                      const GyreTensor *node)
{
  return node->n_operands == 1 ? node->operands[0] : NULL;
}

static void
concatenate_reference (const GyreTensor *node,
                       const GyreRef    *in,
                       GyreRef          *out)
{
  int dim = get_dim (node);
  gint64 first = 0, ix[GYRE_MAX_RANK];

  for (guint i = 0; i < node->n_operands; i++)
    {
      gint64 n = gyre_shape_n_elements (&in[i].shape);

      for (gint64 flat = 0; flat < n; flat++)
        {
          gyre_prims_unravel (&in[i].shape, flat, ix);
          ix[dim] += first;
          out->data[gyre_prims_ravel (&out->shape, ix)] = in[i].data[flat];
        }
      first += in[i].shape.dims[dim];
    }
}

static void
concatenate_print (const GyreTensor *node,
                   GString          *out)
{
  g_string_append_printf (out, " {dim=%d}", get_dim (node));
}

const GyrePrim gyre_prim_concatenate = {
  .name = "concatenate",
  .flags = GYRE_PRIM_ADDITIVE,
  .attrs_size = sizeof (GyreConcatenateAttrs),
  .n_operands = -1,
  .linear = G_MAXUINT32,
  .infer = concatenate_infer,
  .vjp = concatenate_vjp,
  .partition = concatenate_partition,
  .fuse = concatenate_fuse,
  .simplify = concatenate_simplify,
  .cost = gyre_prims_cost_elements,
  .reference = concatenate_reference,
  .print = concatenate_print,
};

/**
 * gyre_concatenate:
 * @xs: (array length=n): tensors of one dtype, equal in all dimensions but @dim
 * @n: how many, 1 to 32
 * @dim: the dimension along which they are joined; -1 is the last
 *
 * Gradient: the parts of ct. Sharding: other dimensions may be split, @dim is gathered
 * first; partial sums over the same axes stay one.
 *
 * Returns: (transfer none): the joined tensor; on an error of shapes a poison tensor
 */
GyreTensor *
gyre_concatenate (GyreTensor *const *xs,
                  guint              n,
                  int                dim)
{
  GyreConcatenateAttrs attrs = { dim };

  g_return_val_if_fail (xs != NULL && n > 0 && n <= 32, NULL);

  if (gyre_prims_poisoned (xs, n))
    return gyre_graph_fail (xs[0]->graph, NULL);

  if (dim < 0)
    attrs.dim = dim + xs[0]->shape.rank;
  return gyre_graph_emit (xs[0]->graph, &gyre_prim_concatenate, xs, n, &attrs);
}
