/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* Which nodes of a graph belong to the update of a gradient: they are made on flattened
 * chunks, between the two halves of the ring. */
typedef struct
{
  guint   n_groups;
  /* by node id: the group (from 1) of the update it is part of, or 0 */
  guint16 *group;
  guint16 *gradient;    /* by node id: the group whose gradient it is, or 0 */
  /* by node id: the group in whose chunks this input is held, or 0 */
  guint16 *flat_input;
  guint8  *axes;        /* by group - 1: the axes that its gradient is summed over */
} GyreRegions;

/* specs: by node id of graph, as propagation left them; whole: the partial sums that must
 * become whole where they are made. */
GyreRegions *gyre_regions_new  (const GyreGraph *graph,
                                const GyreSpec  *specs,
                                const gboolean  *whole,
                                const int       *donated);
void         gyre_regions_free (GyreRegions *self);

/* Whether the node can be made from flattened operands. */
gboolean     gyre_node_can_flatten (const GyreTensor *node);

/* Whether it adds up all elements: what is left of parts is a partial sum. */
gboolean     gyre_node_is_sink     (const GyreTensor *node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreRegions, gyre_regions_free)

G_END_DECLS
