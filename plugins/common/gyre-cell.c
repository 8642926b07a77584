/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-cell.h"

static GyreTensor *
declare (GyreScope      *scope,
         const CellGate *gate,
         const char     *name,
         GyreShape       shape,
         const GyreInit *init)
{
  g_autofree char *path = g_strconcat (gate->name, "/", name, NULL);

  return gyre_scope_param (scope, path, shape, init);
}

/* x · [kernel, …] + [bias, …], where zeros stand for the biases that there aren't */
GyreTensor *
cell_gates (GyreScope      *scope,
            const CellGate *gates,
            guint           n,
            const GyreInit *init,
            gint64          features,
            GyreTensor     *x)
{
  GyreTensor *kernels[CELL_MAX_GATES], *biases[CELL_MAX_GATES];
  gint64 in = gyre_tensor_dim (x, -1);
  gboolean has_bias = FALSE;

  for (guint i = 0; i < n; i++)
    {
      kernels[i] = declare (scope, &gates[i], "kernel", GYRE_SHAPE (in, features), init);
      has_bias = has_bias || gates[i].has_bias;
      biases[i] = gates[i].has_bias ? declare (scope, &gates[i], "bias",
                                               GYRE_SHAPE (features), &gyre_init_zeros)
                                    : gyre_full (GYRE_SHAPE (features), GYRE_F32, 0);
    }

  x = gyre_matmul (x, gyre_concatenate (kernels, n, 1));
  return has_bias ? gyre_add (x, gyre_concatenate (biases, n, 0)) : x;
}

GyreTensor *
cell_gate (GyreTensor *gates,
           gint64      features,
           guint       i)
{
  gint64 start[] = { 0, features * (gint64) i };
  gint64 limit[] = { gyre_tensor_dim (gates, 0), start[1] + features };

  return gyre_slice (gates, start, limit, NULL);
}

GyreTensor *
cell_at (GyreTensor *x,
         gint64      time)
{
  gint64 start[] = { 0, time, 0 };
  gint64 limit[] = { gyre_tensor_dim (x, 0), time + 1, gyre_tensor_dim (x, 2) };

  return gyre_squeeze (gyre_slice (x, start, limit, NULL), 1);
}

GyreTensor *
cell_result (GPtrArray *outputs,
             gboolean   sequences)
{
  if (!sequences)
    return g_ptr_array_index (outputs, outputs->len - 1);

  for (guint i = 0; i < outputs->len; i++)
    outputs->pdata[i] = gyre_expand_dims (outputs->pdata[i], 1);

  return gyre_concatenate ((GyreTensor **) outputs->pdata, outputs->len, 1);
}
