/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prims/gyre-prims-private.h"

G_BEGIN_DECLS

/* Collectives over a manual axis.  The axis is found by its name on the mesh of the
 * program. */
typedef struct
{
  GQuark axis;
  guint  size;      /* members along it */
  guint  order;     /* 0 until gyre_collectives_number () */
} GyreAxisAttrs;

/* The attributes for an axis of this name; on the graph an error is kept, and FALSE
 * returned, where there is none that is manual. */
gboolean gyre_axis_attrs_init (GyreAxisAttrs    *self,
                               GyreGraph        *graph,
                               const char       *call,
                               const char       *name,
                               const GyreAxis  **axis);
guint    gyre_axis_attrs_find (const GyreAxisAttrs *self,
                               const GyreMeshSpec  *mesh);
extern const GyrePrim *const gyre_prim_psum;
extern const GyrePrim *const gyre_prim_pmax;
extern const GyrePrim *const gyre_prim_pmin;
extern const GyrePrim *const gyre_prim_all_gather_manual;
extern const GyrePrim *const gyre_prim_axis_index;
extern const GyrePrim *const gyre_prim_psum_scatter;
extern const GyrePrim *const gyre_prim_all_to_all;
extern const GyrePrim *const gyre_prim_ppermute;

/* Of ppermute: over several axes at once. */
typedef struct
{
  GyreAxisAttrs axis;       /* the first; for its order */
  guint         n_axes;
  GQuark        axes[GYRE_MAX_AXES];
  guint8        sources[GYRE_NO_SOURCE];   /* by member along the axes, row-major in the
                                            * mesh's order of them; or GYRE_NO_SOURCE */
} GyrePermuteAttrs;

/* Whether two members differ along these axes alone; a mask. */
gboolean gyre_members_are_peers (const GyreMeshSpec *mesh,
                                 guint               axes,
                                 guint               a,
                                 guint               b);
void     gyre_axis_print        (const GyreTensor   *node,
                                 GString            *out);
/* To a collective over the node's axis. */
gboolean gyre_axis_lower        (GyreLower          *lower,
                                 const GyreTensor   *node,
                                 GyreCollectiveKind  kind,
                                 GyreReduceOp        reduce,
                                 int                 dim);

/* Over one axis; call is named where there is no such axis. */
GyreTensor *gyre_collective_emit (const GyrePrim   *prim,
                                  GyreTensor       *x,
                                  const char       *call,
                                  const char       *axis);
/* The names in "data+model", or NULL: an error is kept on the graph where there is none
 * or one stands twice. */
char    **gyre_collective_split_axes (GyreGraph        *graph,
                                      const char       *call,
                                      const char       *axes);
/* How many members there are along the axes; 0 where they aren't there: then an error is
 * on the graph. */
guint    gyre_collective_count_members (GyreGraph        *graph,
                                        const char       *call,
                                        const char       *axes);
/* Numbers the collectives of a graph from 1, in order: members that were traced apart
 * find each other's by it, whatever later passes do to the order of nodes. */
void     gyre_collectives_number (GyreGraph *graph);

G_END_DECLS
