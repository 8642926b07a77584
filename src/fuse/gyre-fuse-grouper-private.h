/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fuse/gyre-fuse-groups-private.h"
#include "fuse/gyre-fuse-probe-private.h"

G_BEGIN_DECLS

#define MAX_MEMBERS   160   /* compilers take their time */
#define MAX_OUTPUTS   8
#define CHEAP         3     /* work that may be done again … */
#define MAX_REPEATS   3     /* … in chains of so many nodes */
#define MAX_REMAKE    6     /* work that is done again rather than its result stored */

/* What the algorithm knows of a node. */
typedef struct
{
  GyreFuseProbe probe;
  GArray       *users;      /* guint: ids of the nodes that use it */
  gboolean      fusible;
  gboolean      returned;   /* an output of the graph */
  guint         frame;      /* nodes of one frame are computed at the same indices: the
                               element-wise ones below a node that is asked for once */
  double        count;      /* how often elements are computed in its group */
  guint         repeats;    /* nodes from here on that are computed more than once */
  /* work that makes it from one array that is in memory anyway, so that reading its
   * own array would be no cheaper; 0: not so */
  guint         remake;
} GyreFuseInfo;

typedef struct
{
  GyreFuseGroups  *groups;
  const GPtrArray *nodes;
  GyreFuseInfo    *infos;
  guint           *marks;       /* by node id: the last search that came here */
  guint            n_searches;
  guint            n_frames;
} GyreFuseGrouper;

static inline const GyreTensor *
gyre_grouper_node (const GyreFuseGrouper *self,
                   guint                  id)
{
  return g_ptr_array_index (self->nodes, id);
}

static inline GyreFuseGroup *
gyre_grouper_group (const GyreFuseGrouper *self,
                    guint                  index)
{
  return g_ptr_array_index (self->groups->groups, index);
}

static inline double
gyre_grouper_n_elements (const GyreTensor *node)
{
  return MAX (gyre_shape_n_elements (&node->shape), 1);
}

/* Same shape, same sharding */
gboolean gyre_grouper_same_place    (const GyreFuseGrouper *self,
                                     const GyreTensor      *a,
                                     const GyreTensor      *b);
/* What costs nothing to make again: constants, and whatever only moves elements. */
gboolean gyre_grouper_is_free       (const GyreFuseGrouper *self,
                                     const GyreTensor      *node);
/* Fills infos: what each node is, before any is placed. */
void     gyre_grouper_look_at_nodes (GyreFuseGrouper       *self);

/* How often elements of a node are asked for in a group. */
double   gyre_grouper_count_reads   (const GyreFuseGrouper *self,
                                     const GyreTensor      *node,
                                     guint                  group);
/* Whether the group asks for the elements of its outputs' indices; all: and no others. */
gboolean gyre_grouper_is_aligned    (const GyreFuseGrouper *self,
                                     const GyreTensor      *node,
                                     guint                  group,
                                     gboolean               all);
/* The frame of a node that joins the group: that of its users, where it is one. */
guint    gyre_grouper_choose_frame  (GyreFuseGrouper       *self,
                                     const GyreTensor      *node,
                                     guint                  group);

/* Whether node can't be an output of the group: something between needs it, and is
 * needed. */
gboolean gyre_grouper_makes_cycle   (GyreFuseGrouper       *self,
                                     const GyreTensor      *node,
                                     guint                  group);
/* Whether group to needs what group from makes. */
gboolean gyre_grouper_reaches       (GyreFuseGrouper       *self,
                                     guint                  from,
                                     guint                  to);

/* Groups of one shape that read the same array, and of which none needs the other, become
 * one. */
void     gyre_grouper_merge         (GyreFuseGrouper       *self);

G_END_DECLS
