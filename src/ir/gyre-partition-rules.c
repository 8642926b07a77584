/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-prim-private.h"

/* The partition rules that many primitives share. */

/* Takes over how operands split dimensions, the first operand that splits one first; no
 * axis is used twice. */
static void
merge_splits (GyreSpec       *target,
              const GyreSpec *operand,
              int             rank)
{
  for (int i = 0; i < rank; i++)
    if (operand->axes[i] != 0 && target->axes[i] == 0
        && (operand->axes[i] & gyre_spec_split_axes (target)) == 0)
      {
        target->axes[i] = operand->axes[i];
        target->base[i] = operand->base[i];
      }
}

static GyreSpec
common_split (const GyreTensor *node,
              const GyreSpec   *in)
{
  GyreSpec target = GYRE_SPEC_REPLICATED;

  for (guint i = 0; i < node->n_operands; i++)
    if (in[i].flat == 0)
      merge_splits (&target, &in[i], node->shape.rank);
  for (guint i = 0; i < node->n_operands && gyre_spec_split_axes (&target) == 0; i++)
    target.flat = in[i].flat;

  return target;
}

/* Of any number of operands, all are or none is. */
static gboolean
is_linear (const GyrePrim *prim,
           guint           operand)
{
  return (prim->linear & 1u << MIN (operand, 31)) != 0;
}

static gboolean
all_partial_alike (const GyreTensor *node,
                   const GyreSpec   *in,
                   guint8            partial)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (in[i].partial != (is_linear (node->prim, i) ? partial : 0))
      return FALSE;

  return TRUE;
}

static gboolean
one_partial (const GyreTensor *node,
             const GyreSpec   *in)
{
  guint n_partial = 0;

  for (guint i = 0; i < node->n_operands; i++)
    if (in[i].partial != 0)
      {
        if (!is_linear (node->prim, i))
          return FALSE;
        n_partial++;
      }

  return n_partial == 1;
}

guint8
gyre_partition_keep_partial (const GyreTensor *node,
                             const GyreSpec   *in)
{
  guint8 partial = 0;

  for (guint i = 0; i < node->n_operands; i++)
    partial |= in[i].partial;

  if (partial == 0)
    return 0;
  if (node->prim->flags & GYRE_PRIM_ADDITIVE)
    return all_partial_alike (node, in, partial) ? partial : 0;

  return one_partial (node, in) ? partial : 0;
}

gboolean
gyre_partition_elementwise (const GyreTensor    *node,
                            const GyreMeshSpec  *mesh,
                            const GyreSpec      *in,
                            GyreSpec            *want,
                            GyreSpec            *out,
                            GError             **error)
{
  GyreSpec target = common_split (node, in);
  guint8 partial = gyre_partition_keep_partial (node, in);

  /* An axis that splits one operand can't hold the summands of another. */
  if (partial & gyre_spec_split_axes (&target))
    partial = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      want[i] = target;
      want[i].partial = partial & in[i].partial;
    }
  *out = target;
  out->partial = partial;

  return TRUE;
}

gboolean
gyre_partition_replicated (const GyreTensor    *node,
                           const GyreMeshSpec  *mesh,
                           const GyreSpec      *in,
                           GyreSpec            *want,
                           GyreSpec            *out,
                           GError             **error)
{
  for (guint i = 0; i < node->n_operands; i++)
    want[i] = GYRE_SPEC_REPLICATED;
  *out = GYRE_SPEC_REPLICATED;

  return TRUE;
}
