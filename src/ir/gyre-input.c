/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-prim-private.h"

/* input: a value that is given to the graph.  Its sharding is given with it, and its
 * number comes from the caller, so it has no rules but these. */

static gboolean
input_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  const GyreInputAttrs *input = attrs;

  *dtype = input->dtype;
  *shape = input->shape;

  return TRUE;
}

static void
input_print (const GyreTensor *node,
             GString          *out)
{
  const GyreInputAttrs *attrs = node->attrs;

  g_string_append_printf (out, " {%s}", g_quark_to_string (attrs->name));
}

const GyrePrim gyre_prim_input = {
  .name       = "input",
  .flags      = GYRE_PRIM_IMPURE,
  .attrs_size = sizeof (GyreInputAttrs),
  .n_operands = 0,
  .infer      = input_infer,
  .print      = input_print,
};
