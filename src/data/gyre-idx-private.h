/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-types.h>

G_BEGIN_DECLS

/* The whole of a file, unzipped where it is gzip.  A truncated or damaged one is an error
 * that names it. */
GBytes *gyre_file_read (const char *path, GError **error);
/* The same for bytes that are already there; name is for messages. */
GBytes *gyre_gunzip    (GBytes *bytes, const char *name, GError **error);

/* An IDX file of unsigned bytes (http://yann.lecun.com/exdb/mnist/): 0, 0, type, number
 * of dimensions, big-endian u32 extents, row-major data.  rank: what it must have.
 * Returns the data alone. */
GBytes *gyre_idx_parse (GBytes *bytes, const char *name, int rank, GyreShape *shape,
                        GError **error);

G_END_DECLS
