/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-modes.h"

static GyreTensor *
join (GyreTensor *a,
      GyreTensor *b,
      int         dim)
{
  GyreTensor *parts[] = { a, b };

  return gyre_concatenate (parts, 2, dim);
}

/* [re, im] · [[real, imag], [-imag, real]]: one product for each mode.  At first both
 * parts are uniform from 0 to 1 / (in · out), as in Li et al., 2021. */
GyreTensor *
modes_mix (GyreScope  *scope,
           GyreShape   modes,
           gint64      out,
           GyreTensor *x)
{
  GyreShape shape = gyre_tensor_get_shape (x);
  gint64 in = shape.dims[3];
  GyreShape flat = GYRE_SHAPE (shape.dims[0], in, out);
  GyreInit init = { GYRE_INIT_UNIFORM, 1.0 / (double) MAX (in * out, 1) };
  GyreTensor *real, *imag, *matrix;

  modes.dims[modes.rank++] = in;
  modes.dims[modes.rank++] = out;
  real = gyre_reshape (gyre_scope_param (scope, "real", modes, &init), flat);
  imag = gyre_reshape (gyre_scope_param (scope, "imag", modes, &init), flat);
  matrix = join (join (real, imag, 2), join (gyre_neg (imag), real, 2), 1);

  x = gyre_reshape (x, GYRE_SHAPE (shape.dims[0], shape.dims[1], 2 * in));
  x = gyre_matmul (x, matrix);

  return gyre_reshape (x, GYRE_SHAPE (shape.dims[0], shape.dims[1], 2, out));
}
