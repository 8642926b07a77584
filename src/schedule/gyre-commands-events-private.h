/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "schedule/gyre-line-private.h"
#include "schedule/gyre-commands-private.h"

G_BEGIN_DECLS

typedef enum
{
  GYRE_EVENT_ACQUIRE,
  GYRE_EVENT_BEGIN,
  GYRE_EVENT_FINISH
} GyreEventKind;

/* What all devices do together, between commands of their own. */
typedef struct
{
  GyreEventKind kind;
  guint         bucket;
  guint        *keys;     /* by line: after the commands before this key */
} GyreEvent;

struct _GyreCommands
{
  GyreMesh      *mesh;
  GyreMeshSpec   spec;        /* with the shares of the last update, which it owns */
  GyreCrewTable *crews;
  guint          n_lines;
  GyreLine     **lines;
  GPtrArray     *plans;       /* GyrePlan, each once */
  GArray        *events;      /* GyreEvent */
  guint         *next;        /* by line: while it is enqueued */
};

/* The events of all buckets in their order; an error where the programs of devices differ
 * in their collectives. */
GArray  *gyre_events_new    (GyreLine *const  *lines,
                             guint             n_lines,
                             GError          **error);
gboolean gyre_event_run     (const GyreEvent  *self,
                             GyreLine *const  *lines,
                             guint             n_lines,
                             GError          **error);
/* Gives each line the crews of its buckets, as the shares are now. */
gboolean gyre_crews_assign  (GyreCommands     *schedule,
                             GError          **error);
GyreCollectivePhase gyre_bucket_get_phase (const GyreBucket *bucket);

G_END_DECLS
