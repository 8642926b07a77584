/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

/**
 * gyre_tensor_get_dtype:
 * @self: a tensor
 *
 * Returns: the type of its elements
 */
GyreDtype
gyre_tensor_get_dtype (GyreTensor *self)
{
  g_return_val_if_fail (self != NULL, GYRE_F32);

  return self->dtype;
}

/**
 * gyre_tensor_get_rank:
 * @self: a tensor
 *
 * Returns: the number of its dimensions
 */
int
gyre_tensor_get_rank (GyreTensor *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->shape.rank;
}

/**
 * gyre_tensor_get_shape: (skip)
 * @self: a tensor
 *
 * Returns: its shape: global in automatic axes of the mesh, local in manual ones
 */
GyreShape
gyre_tensor_get_shape (GyreTensor *self)
{
  g_return_val_if_fail (self != NULL, GYRE_SCALAR);

  return self->shape;
}

/**
 * gyre_tensor_dim:
 * @self: a tensor
 * @dim: a dimension; -1 is the last
 *
 * After an error was kept on the trace, tensors have extent 1 in every dimension.
 *
 * Returns: the extent of the dimension
 */
gint64
gyre_tensor_dim (GyreTensor *self,
                 int         dim)
{
  int which;

  g_return_val_if_fail (self != NULL, 1);

  if (self->poison)
    return 1;

  g_return_val_if_fail (gyre_prims_dim (self, dim, &which), 1);
  return self->shape.dims[which];
}

/**
 * gyre_tensor_n_elements:
 * @self: a tensor
 *
 * Returns: the product of its extents
 */
gint64
gyre_tensor_n_elements (GyreTensor *self)
{
  g_return_val_if_fail (self != NULL, 1);

  return gyre_shape_n_elements (&self->shape);
}
