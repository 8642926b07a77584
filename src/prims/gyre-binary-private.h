/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prims/gyre-prims-private.h"

G_BEGIN_DECLS

/* Which line of the table it is. */
typedef enum
{
  GYRE_BINARY_ADD,
  GYRE_BINARY_SUB,
  GYRE_BINARY_MUL,
  GYRE_BINARY_DIV,
  GYRE_BINARY_REM,
  GYRE_BINARY_POW,
  GYRE_BINARY_MAXIMUM,
  GYRE_BINARY_MINIMUM,
  GYRE_BINARY_AND,
  GYRE_BINARY_OR,
  GYRE_BINARY_XOR,
  GYRE_BINARY_SHIFT_LEFT,
  GYRE_BINARY_SHIFT_RIGHT
} GyreBinaryRule;

/* Broadcasts the operands first. */
GyreTensor *gyre_binary_emit (GyreBinaryRule rule, GyreTensor *a, GyreTensor *b);

G_END_DECLS
