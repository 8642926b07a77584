/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/gyre-autodiff-private.h"

#include <string.h>

static gboolean
identity_infer (GyreTensor *const  *operands,
                guint               n,
                const void         *attrs,
                GyreDtype          *dtype,
                GyreShape          *shape,
                GError            **error)
{
  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;

  return TRUE;
}

static void
identity_vjp (GyreTensor  *node,
              GyreTensor  *ct,
              GyreTensor **cts)
{
  cts[0] = ct;
}

static const char *
identity_fuse (GyreEmit          *emit,
               const GyreTensor  *node,
               const char *const *ix)
{
  return gyre_emit_operand (emit, node, 0, ix);
}

static GyreTensor *
identity_simplify (GyreGraph        *graph,
                   const GyreTensor *node)
{
  return node->operands[0];
}

static double
identity_cost (const GyreTensor *node)
{
  return 0;
}

static void
identity_reference (const GyreTensor *node,
                    const GyreRef    *in,
                    GyreRef          *out)
{
  gsize n = gyre_shape_n_elements (&out->shape);

  if (n > 0)
    memcpy (out->data, in[0].data, n * sizeof (double));
}

const GyrePrim gyre_prim_identity = {
  .name       = "identity",
  .flags      = GYRE_PRIM_ELEMENTWISE,
  .n_operands = 1,
  .linear     = 1,
  .infer      = identity_infer,
  .vjp        = identity_vjp,
  .partition  = gyre_partition_elementwise,
  .fuse       = identity_fuse,
  .simplify   = identity_simplify,
  .cost       = identity_cost,
  .reference  = identity_reference,
};
