/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-macros.h>

G_BEGIN_DECLS

#define GYRE_MAX_RANK 8

/**
 * GyreShape:
 * @rank: number of dimensions, 0 to %GYRE_MAX_RANK
 * @dims: extents, each 0 or more; row-major, the last varies fastest. Those past
 *   @rank are 0, so that shapes compare with memcmp
 *
 * The shape of an array or a tensor, passed by value.
 */
typedef struct
{
  int    rank;
  gint64 dims[GYRE_MAX_RANK];
} GyreShape;

/* GYRE_SHAPE (3, 4) is the shape [3, 4]; the scalar shape is GYRE_SCALAR. */
#define GYRE_SHAPE(...)                                                          \
  ((GyreShape) { (int) (sizeof ((gint64[]) { __VA_ARGS__ }) / sizeof (gint64)), \
                 { __VA_ARGS__ } })
#define GYRE_SCALAR ((GyreShape) { 0 })

GYRE_API
gint64 gyre_shape_n_elements (const GyreShape *shape);
GYRE_API
gboolean gyre_shape_equal (const GyreShape *a,
                           const GyreShape *b);
GYRE_API
char *gyre_shape_to_string (const GyreShape *shape);

G_END_DECLS
