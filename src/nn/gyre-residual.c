/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-container-private.h"

#include "ir/gyre-graph-private.h"

/* residual ( … ): y = x + f (x) with f the layers inside (He et al., 2016, section 3.1).
 * x and f (x): f32 of one shape. */
struct _GyreResidual
{
  GyreContainer parent_instance;
};

G_DEFINE_FINAL_TYPE (GyreResidual, gyre_residual, GYRE_TYPE_CONTAINER)

static GyreTensor *
gyre_residual_apply (GyreLayer  *layer,
                     GyreScope  *scope,
                     GyreTensor *x)
{
  GyreTensor *y = gyre_container_apply_chain (GYRE_CONTAINER (layer), scope, x);
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  if (y->poison || (y->dtype == x->dtype && gyre_shape_equal (&y->shape, &x->shape)))
    return gyre_add (x, y);

  before = gyre_shape_to_string (&x->shape);
  after = gyre_shape_to_string (&y->shape);
  return gyre_scope_fail (
      scope, GYRE_ERROR_SHAPE,
      "it adds its input, %s%s, to what the layers inside make of it, %s%s: they must be "
      "alike", gyre_dtype_name (x->dtype), before, gyre_dtype_name (y->dtype), after);
}

static void
gyre_residual_class_init (GyreResidualClass *klass)
{
  GYRE_LAYER_CLASS (klass)->apply = gyre_residual_apply;
}

static void
gyre_residual_init (GyreResidual *self)
{
}
