/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prims/gyre-prims-private.h"

G_BEGIN_DECLS

/* Which line of the table it is. */
typedef enum
{
  GYRE_UNARY_NEG,
  GYRE_UNARY_ABS,
  GYRE_UNARY_SIGN,
  GYRE_UNARY_NOT,
  GYRE_UNARY_EXP,
  GYRE_UNARY_EXPM1,
  GYRE_UNARY_LOG,
  GYRE_UNARY_LOG1P,
  GYRE_UNARY_SQRT,
  GYRE_UNARY_RSQRT,
  GYRE_UNARY_SQUARE,
  GYRE_UNARY_SIN,
  GYRE_UNARY_COS,
  GYRE_UNARY_TANH,
  GYRE_UNARY_LOGISTIC,
  GYRE_UNARY_ERF,
  GYRE_UNARY_ERF_INV,
  GYRE_UNARY_FLOOR,
  GYRE_UNARY_IS_FINITE,
  GYRE_UNARY_STOP_GRADIENT
} GyreUnaryRule;

GyreTensor *gyre_unary_emit (GyreUnaryRule rule, GyreTensor *x);

G_END_DECLS
