/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* The primitives that the partitioner inserts to bring a value from one sharding to
 * another.  The value's (global) shape and dtype stay; the specs of operand and result
 * say what is done.  Their partition rule is never asked. */
typedef struct
{
  guint8 axes;    /* mesh axes that are reduced, gathered or split over */
  /* the dimension that is gathered, split or scattered; -1: flat (rank 1) */
  gint8  dim;
} GyreReshardAttrs;

/* partial over axes → whole: every member has the sum */
extern const GyrePrim gyre_prim_all_reduce;
/* partial over axes → split: dim -1 by the bounds of the spec's group */
extern const GyrePrim gyre_prim_reduce_scatter;
/* split over axes → whole */
extern const GyrePrim gyre_prim_all_gather;
/* whole → split: each member keeps its own part, nothing is sent.  An index-mapping
 * primitive with a fuse rule: element ix of the result is element ix + offset of the
 * operand (of the whole, whose extent is the global one). */
extern const GyrePrim gyre_prim_shard;

G_END_DECLS
