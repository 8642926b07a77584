/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "array/gyre-pool-private.h"
#include "collective/gyre-collective-private.h"

G_BEGIN_DECLS

/* The devices that run a bucket together, with its memory: one buffer a member, cut in
 * chunks.  Schedules of one step share those that are alike: state that lives in a bucket
 * stays there whatever batch comes. */
typedef struct _GyreCrew GyreCrew;

typedef struct
{
  const char          *name;      /* what else must be alike */
  guint                n;
  GyreDevice *const   *devices;
  GyreDtype            dtype;
  GyreReduceOp         op;
  gsize                length;    /* elements */
  const gsize         *bounds;    /* [n + 1], or NULL: as equal as can be */
  const GyreRoute     *routes;    /* NULL, or as of GyreCollectiveInfo */
  guint                n_routes;
} GyreCrewInfo;

/* Crews by likeness; none is kept for itself. */
typedef struct _GyreCrewTable GyreCrewTable;

GyreCrewTable *gyre_crew_table_new   (void);
GyreCrewTable *gyre_crew_table_ref   (GyreCrewTable *self);
void           gyre_crew_table_unref (GyreCrewTable *self);

GyreCrew    *gyre_crew_get        (GyreCrewTable       *table,
                                   const GyreCrewInfo  *info,
                                   GError             **error);
void         gyre_crew_unref      (GyreCrew            *self);
GyreCollective *gyre_crew_get_collective (GyreCrew     *self);
GyreBuffer  *gyre_crew_get_buffer (GyreCrew            *self,
                                   guint                member);
/* Memory of one value in a member's bucket; the same part is made once. */
GyreStore   *gyre_crew_get_part   (GyreCrew            *self,
                                   guint                member,
                                   gsize                offset,
                                   gsize                size,
                                   GError             **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreCrewTable, gyre_crew_table_unref)

G_END_DECLS
