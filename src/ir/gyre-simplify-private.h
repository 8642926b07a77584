/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* An equal graph with less in it: equal nodes are merged, each primitive's simplify
 * rule is applied (algebra, folding of constants), and what no output needs is
 * dropped; to a fixed point.  Inputs stay as they are, used or not, and so do impure
 * nodes, and collectives where an axis is ragged.  The graph has no error.
 * (transfer full) */
GyreGraph *gyre_graph_simplify (const GyreGraph *graph);

G_END_DECLS
