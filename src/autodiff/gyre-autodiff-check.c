/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/gyre-autodiff-private.h"

/* What can be differentiated, and by what. */

static char *
describe (const GyreTensor *tensor)
{
  g_autofree char *shape = gyre_shape_to_string (&tensor->shape);

  return g_strconcat (gyre_dtype_name (tensor->dtype), shape, NULL);
}

gboolean
gyre_autodiff_check_float (GyreTensor *tensor,
                           const char *call,
                           const char *what,
                           guint       i)
{
  g_autofree char *is = NULL;

  if (tensor->poison || gyre_dtype_is_float (tensor->dtype))
    return TRUE;

  is = describe (tensor);
  gyre_graph_fail_with (tensor->graph, GYRE_ERROR_SHAPE,
                        "%s: %s %u is %s, and only f32 has gradients: leave it out, or "
                        "take gyre_convert () of it", call, what, i, is);

  return FALSE;
}

gboolean
gyre_autodiff_check_like (GyreTensor *cotangent,
                          GyreTensor *output,
                          guint       i)
{
  g_autofree char *is = NULL;
  g_autofree char *wanted = NULL;

  if (cotangent->dtype == output->dtype
      && gyre_shape_equal (&cotangent->shape, &output->shape))
    return TRUE;

  is = describe (cotangent);
  wanted = describe (output);
  gyre_graph_fail_with (output->graph, GYRE_ERROR_SHAPE,
                        "gyre_vjp: cotangent %u is %s, and output %u is %s: they must be "
                        "of one shape", i, is, i, wanted);

  return FALSE;
}

gboolean
gyre_autodiff_check_loss (GyreTensor *loss,
                          const char *call)
{
  g_autofree char *is = NULL;

  if (loss->poison || (gyre_dtype_is_float (loss->dtype) && loss->shape.rank == 0))
    return !loss->poison;

  is = describe (loss);
  gyre_graph_fail_with (loss->graph, GYRE_ERROR_SHAPE,
                        "%s: the loss is %s, and must be a scalar f32[]: take "
                        "gyre_mean () or gyre_sum () of it", call, is);

  return FALSE;
}
