/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-macros.h>

G_BEGIN_DECLS

/**
 * GyreDtype:
 * @GYRE_F32: IEEE binary32
 * @GYRE_I32: signed 32-bit integer
 * @GYRE_U32: unsigned 32-bit integer, modulo 2³²
 * @GYRE_U8: unsigned 8-bit integer; images travel as these
 * @GYRE_BOOL: one byte, 0 or 1
 *
 * The type of an element of an array or a tensor.
 */
typedef enum
{
  GYRE_F32,
  GYRE_I32,
  GYRE_U32,
  GYRE_U8,
  GYRE_BOOL
} GyreDtype;

#define GYRE_N_DTYPES 5

GYRE_API
gsize gyre_dtype_size (GyreDtype dtype);
GYRE_API
const char *gyre_dtype_name (GyreDtype dtype);
GYRE_API
gboolean gyre_dtype_parse (const char  *name,
                           GyreDtype   *dtype,
                           GError     **error);
GYRE_API
gboolean gyre_dtype_is_float (GyreDtype dtype);

G_END_DECLS
