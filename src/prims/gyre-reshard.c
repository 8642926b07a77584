/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"
#include "prims/gyre-reshard-private.h"

#include <string.h>

/* What the partitioner inserts.  All of these give the value that they are given: only
 * where its parts lie changes. */

static const GyreReshardAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

static gboolean
reshard_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  int dim = ((const GyreReshardAttrs *) attrs)->dim;

  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;
  if (dim >= shape->rank)
    {
      g_autofree char *text = gyre_prims_describe (operands[0]);

      return gyre_prims_error (
          error, "operand 0 is %s, which has no dimension %d to move", text, dim);
    }

  return TRUE;
}

static gboolean
lower_collective (GyreLower          *lower,
                  const GyreTensor   *node,
                  GyreCollectiveKind  kind)
{
  GyreCollectiveOp op = { 0 };

  op.kind = kind;
  op.op = GYRE_REDUCE_SUM;
  op.axes = get_attrs (node)->axes;
  op.dim = get_attrs (node)->dim;
  op.in = node->operands[0]->id;
  op.out = node->id;
  gyre_lower_collective (lower, node, &op);
  return TRUE;
}

static gboolean
all_reduce_lower (GyreLower         *lower,
                  const GyreTensor  *node,
                  GError           **error)
{
  return lower_collective (lower, node, GYRE_COLLECTIVE_ALL_REDUCE);
}

static gboolean
reduce_scatter_lower (GyreLower         *lower,
                      const GyreTensor  *node,
                      GError           **error)
{
  return lower_collective (lower, node, GYRE_COLLECTIVE_REDUCE_SCATTER);
}

static gboolean
all_gather_lower (GyreLower         *lower,
                  const GyreTensor  *node,
                  GError           **error)
{
  return lower_collective (lower, node, GYRE_COLLECTIVE_ALL_GATHER);
}

static const char *
shard_fuse (GyreEmit          *emit,
            const GyreTensor  *node,
            const char *const *ix)
{
  int dim = MAX (get_attrs (node)->dim, 0);
  const char *jx[GYRE_MAX_RANK];

  for (int i = 0; i < node->shape.rank; i++)
    jx[i] = ix[i];
  jx[dim] =
      gyre_emit_printf (emit, "(%s + %s)", ix[dim], gyre_emit_offset (emit, node, dim));

  return gyre_emit_operand (emit, node, 0, jx);
}

static void
reshard_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&out->shape);

  if (n > 0)
    memcpy (out->data, in[0].data, (gsize) n * sizeof (double));
}

static void
reshard_print (const GyreTensor *node,
               GString          *out)
{
  const GyreReshardAttrs *attrs = get_attrs (node);

  g_string_append_printf (out, " {axes=%x", (guint) attrs->axes);
  if (attrs->dim >= 0)
    g_string_append_printf (out, ",dim=%d", attrs->dim);
  g_string_append_c (out, '}');
}

#define RESHARD(NAME)                                                                  \
  .name = NAME, .attrs_size = sizeof (GyreReshardAttrs), .n_operands = 1, .linear = 1, \
  .infer = reshard_infer, .partition = gyre_partition_replicated,                      \
  .reference = reshard_reference, .print = reshard_print

const GyrePrim gyre_prim_all_reduce = {
  RESHARD ("all_reduce"), .flags = GYRE_PRIM_COLLECTIVE, .lower = all_reduce_lower,
};

const GyrePrim gyre_prim_reduce_scatter = {
  RESHARD ("reduce_scatter"),
  .flags = GYRE_PRIM_COLLECTIVE,
  .lower = reduce_scatter_lower,
};

const GyrePrim gyre_prim_all_gather = {
  RESHARD ("all_gather"), .flags = GYRE_PRIM_COLLECTIVE, .lower = all_gather_lower,
};

const GyrePrim gyre_prim_shard = { RESHARD ("shard"), .fuse = shard_fuse };
