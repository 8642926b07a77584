/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-program-private.h"

G_BEGIN_DECLS

/* Which nodes become one kernel. */
typedef struct
{
  /* nodes that others need, one shape and one sharding; last first */
  GPtrArray *outputs;
  guint      n_members;
  guint      frame;      /* of the outputs' elements: see the algorithm */
} GyreFuseGroup;

typedef struct
{
  const GyreProgram *program;
  GPtrArray         *groups;    /* GyreFuseGroup */
  /* by node id: index of the group that it is a member of, -1 */
  int               *group_of;
  /* by node id: it is made again in each group that uses it; a group of its own only
   * where something else needs it */
  gboolean          *repeated;
} GyreFuseGroups;

/* fuse FALSE: each node alone */
GyreFuseGroups *gyre_fuse_groups_new  (const GyreProgram *program,
                                       gboolean           fuse);
void            gyre_fuse_groups_free (GyreFuseGroups    *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreFuseGroups, gyre_fuse_groups_free)

G_END_DECLS
