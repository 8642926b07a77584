/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <string.h>

/* transpose: dimension i of the result is dimension perm[i] of the operand. */

static const int *
get_perm (const GyreTensor *node)
{
  return ((const GyreTransposeAttrs *) node->attrs)->perm;
}

static gboolean
transpose_infer (GyreTensor *const  *operands,
                 guint               n,
                 const void         *attrs,
                 GyreDtype          *dtype,
                 GyreShape          *shape,
                 GError            **error)
{
  const int *perm = ((const GyreTransposeAttrs *) attrs)->perm;
  const GyreTensor *x = operands[0];
  guint seen = 0;

  *dtype = x->dtype;
  *shape = x->shape;
  for (int i = 0; i < x->shape.rank; i++)
    {
      if (perm[i] < 0 || perm[i] >= x->shape.rank || (seen & 1u << perm[i]) != 0)
        {
          g_autofree char *text = gyre_prims_describe (x);

          return gyre_prims_error (error,
                                   "operand 0 is %s, and its dimension %d can't become "
                                   "dimension %d: name each from 0 to %d once",
                                   text, perm[i], i, x->shape.rank - 1);
        }
      seen |= 1u << perm[i];
      shape->dims[i] = x->shape.dims[perm[i]];
    }

  return TRUE;
}

static void
transpose_vjp (GyreTensor  *node,
               GyreTensor  *ct,
               GyreTensor **cts)
{
  int inverse[GYRE_MAX_RANK];

  for (int i = 0; i < node->shape.rank; i++)
    inverse[get_perm (node)[i]] = i;
  cts[0] = gyre_transpose (ct, inverse);
}

static gboolean
transpose_partition (const GyreTensor    *node,
                     const GyreMeshSpec  *mesh,
                     const GyreSpec      *in,
                     GyreSpec            *want,
                     GyreSpec            *out,
                     GError             **error)
{
  want[0].flat = 0;
  for (int i = 0; i < node->shape.rank; i++)
    gyre_prims_pass_dim (&want[0], get_perm (node)[i], out, i);

  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static const char *
transpose_fuse (GyreEmit          *emit,
                const GyreTensor  *node,
                const char *const *ix)
{
  const char *jx[GYRE_MAX_RANK];

  for (int i = 0; i < node->shape.rank; i++)
    jx[get_perm (node)[i]] = ix[i];

  return gyre_emit_operand (emit, node, 0, jx);
}

static GyreTensor *
transpose_simplify (GyreGraph        *graph,
                    const GyreTensor *node)
{
  GyreTensor *x = node->operands[0];
  int perm[GYRE_MAX_RANK];
  gboolean same = TRUE;

  for (int i = 0; i < node->shape.rank; i++)
    same = same && get_perm (node)[i] == i;
  if (same)
    return x;
  if (x->prim != node->prim)
    return gyre_prims_fold (graph, node);

  for (int i = 0; i < node->shape.rank; i++)
    perm[i] = get_perm (x)[get_perm (node)[i]];
  return gyre_transpose (x->operands[0], perm);
}

static void
transpose_reference (const GyreTensor *node,
                     const GyreRef    *in,
                     GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&out->shape);
  gint64 ix[GYRE_MAX_RANK], jx[GYRE_MAX_RANK];

  for (gint64 flat = 0; flat < n; flat++)
    {
      gyre_prims_unravel (&out->shape, flat, ix);
      for (int i = 0; i < out->shape.rank; i++)
        jx[get_perm (node)[i]] = ix[i];
      out->data[flat] = in[0].data[gyre_prims_ravel (&in[0].shape, jx)];
    }
}

static void
transpose_print (const GyreTensor *node,
                 GString          *out)
{
  g_string_append (out, " {perm=");
  for (int i = 0; i < node->shape.rank; i++)
    g_string_append_printf (out, i > 0 ? ",%d" : "%d", get_perm (node)[i]);
  g_string_append_c (out, '}');
}

const GyrePrim gyre_prim_transpose = {
  .name = "transpose",
  .attrs_size = sizeof (GyreTransposeAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = transpose_infer,
  .vjp = transpose_vjp,
  .partition = transpose_partition,
  .fuse = transpose_fuse,
  .simplify = transpose_simplify,
  .cost = gyre_prims_cost_elements,
  .reference = transpose_reference,
  .print = transpose_print,
};

/**
 * gyre_transpose:
 * @x: any dtype
 * @permutation: (array) (nullable): for each dimension of the result that of @x; %NULL
 *   reverses them
 *
 * out[i₀, …] = x[j₀, …] where j_perm[k] = i_k. Gradient: the inverse transpose of ct.
 * Sharding: splits go with their dimensions; a partial sum stays one. A product takes its
 * operands transposed without this: see gyre_matmul_full().
 *
 * Returns: (transfer none): the transposed tensor; a poison tensor if @permutation is
 * none
 */
GyreTensor *
gyre_transpose (GyreTensor *x,
                const int  *permutation)
{
  GyreTransposeAttrs attrs = { 0 };

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison)
    return x;

  for (int i = 0; i < x->shape.rank; i++)
    attrs.perm[i] = permutation != NULL ? permutation[i] : x->shape.rank - 1 - i;
  return gyre_prims_emit1 (&gyre_prim_transpose, x, &attrs);
}
