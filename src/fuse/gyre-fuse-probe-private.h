/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* What a primitive's fuse rule writes for one element, found out by asking it. */
typedef struct
{
  gboolean moves;   /* the element is one of the operand's, as it is: broadcast, slice */
  gboolean loops;
  guint    work;    /* about so many additions' time */
} GyreFuseProbe;

GyreFuseProbe gyre_fuse_probe (const GyreTensor *node);

G_END_DECLS
