/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-input.h"

gboolean
input_is (GyreTensor *x,
          GyreDtype   dtype,
          int         rank,
          gboolean    exact)
{
  int has = gyre_tensor_get_rank (x);

  return gyre_tensor_get_dtype (x) == dtype && (exact ? has == rank : has >= rank);
}

GyreTensor *
input_fail (GyreScope  *scope,
            GyreTensor *x,
            const char *takes)
{
  GyreShape shape = gyre_tensor_get_shape (x);
  g_autofree char *text = gyre_shape_to_string (&shape);

  return gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it takes %s, not %s%s", takes,
                          gyre_dtype_name (gyre_tensor_get_dtype (x)), text);
}
