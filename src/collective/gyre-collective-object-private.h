/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "collective/gyre-collective-private.h"

#include "device/gyre-kernel-private.h"

G_BEGIN_DECLS

/* The inside of a collective, for src/collective alone. */

typedef struct _GyreHazards GyreHazards;

/* An algorithm.  All but can () and free () run on the executor thread. */
typedef struct
{
  const char *name;

  /* Whether it can do these devices; why not, in words. */
  gboolean (*can)      (const GyreCollective  *self,
                        const char           **why_not);
  gboolean (*prepare)  (GyreCollective        *self,
                        GError               **error);
  gboolean (*acquire)  (GyreCollective        *self,
                        guint                  member,
                        GError               **error);
  gboolean (*begin)    (GyreCollective        *self,
                        GyreCollectivePhase    phase,
                        GError               **error);
  gboolean (*finish)   (GyreCollective        *self,
                        GyreCollectivePhase    phase,
                        GError               **error);
  void     (*describe) (GyreCollective        *self,
                        GyreCollectivePhase    phase,
                        GString               *text);
  void     (*release)  (GyreCollective        *self);
} GyreCollectiveClass;

extern const GyreCollectiveClass gyre_collective_ring_class;
extern const GyreCollectiveClass gyre_collective_direct_class;
extern const GyreCollectiveClass gyre_collective_host_class;
extern const GyreCollectiveClass gyre_collective_staged_class;
extern const GyreCollectiveClass gyre_collective_routes_class;

typedef enum
{
  GYRE_HOP_REDUCE,
  GYRE_HOP_COPY,
  GYRE_HOP_REDUCE_COLUMN,
  GYRE_HOP_ALL_REDUCE_COLUMN,
  GYRE_HOP_COPY_COLUMN
} GyreHopKind;

#define GYRE_N_HOP_KINDS 5

struct _GyreCollective
{
  const GyreCollectiveClass *klass;

  guint         n;
  GyreDevice  **devices;
  GyreBuffer  **buffers;
  GyreDtype     dtype;
  GyreReduceOp  op;
  gsize         length;
  gsize         element_size;
  gsize        *bounds;      /* [n + 1] */
  gboolean      one_context;

  guint        *next;        /* on the ring, by member */
  guint        *prev;
  guint        *ring;        /* members in the order of the ring */
  guint        *place;       /* of a member on it */

  GyreBuffer  **chunks;      /* [n · n], see gyre_collective_chunk (); NULL: no element */
  GyreKernel  **kernels;     /* [n · GYRE_N_HOP_KINDS] */

  cl_event     *last;        /* [n] of the member's last command, or NULL */
  cl_event     *fresh;       /* [n] those that take their place */
  cl_event     *wait;        /* [n] room for a wait list */

  GyreRoute    *routes;      /* NULL: it reduces or gathers */
  guint         n_routes;

  GyreHazards  *hazards;     /* NULL: not checked */
  gpointer      data;        /* the algorithm's own */
};

/* Chunk c of member i, a buffer (cl_mem) of its own. */
static inline GyreBuffer *
gyre_collective_chunk (const GyreCollective *self,
                       guint                 member,
                       guint                 chunk)
{
  return self->chunks[member * self->n + chunk];
}

static inline gsize
gyre_collective_chunk_length (const GyreCollective *self,
                              guint                 chunk)
{
  return self->bounds[chunk + 1] - self->bounds[chunk];
}

static inline gsize
gyre_collective_chunk_bytes (const GyreCollective *self,
                             guint                 chunk)
{
  return gyre_collective_chunk_length (self, chunk) * self->element_size;
}

/* The two chunks of a member's buffer that routes go between. */
#define GYRE_CHUNK_SENT 0
#define GYRE_CHUNK_GOT  1

static inline gboolean
gyre_phase_reduces (GyreCollectivePhase phase)
{
  return phase == GYRE_PHASE_REDUCE_SCATTER || phase == GYRE_PHASE_ALL_REDUCE;
}

static inline gboolean
gyre_phase_gathers (GyreCollectivePhase phase)
{
  return phase == GYRE_PHASE_ALL_GATHER || phase == GYRE_PHASE_ALL_REDUCE;
}

gboolean gyre_collective_check_bounds   (const GyreCollectiveInfo  *info,
                                         GError                   **error);
gboolean gyre_devices_share_one_context (GyreDevice *const         *devices,
                                         guint                      n);
/* Of that name, or of the environment's, or chosen. */
gboolean gyre_collective_set_class      (GyreCollective            *self,
                                         const char                *name,
                                         GError                   **error);

/* The buffers of the chunks, where the algorithm needs them. */
gboolean gyre_collective_make_chunks  (GyreCollective   *self,
                                       GError          **error);
gboolean gyre_collective_load_kernel  (GyreCollective   *self,
                                       guint             member,
                                       GyreHopKind       kind,
                                       GError          **error);
/* Launches a hop on the member's queue, over that many elements.  args leaves room for
 * GYRE_HOP_SIZES more after the first n_args. */
#define GYRE_HOP_SIZES 3
gboolean gyre_collective_launch       (GyreCollective   *self,
                                       guint             member,
                                       GyreHopKind       kind,
                                       GyreKernelArg    *args,
                                       guint             n_args,
                                       gsize             length,
                                       const cl_event   *wait,
                                       guint             n_wait,
                                       cl_event         *event,
                                       GError          **error);
const char *gyre_hop_kind_kernel_name (GyreHopKind       kind);

/* The member's queue waits for the last events of others. */
gboolean gyre_collective_wait_for     (GyreCollective   *self,
                                       guint             member,
                                       const guint      *others,
                                       guint             n_others,
                                       GError          **error);
#define GYRE_ALL_MEMBERS G_MAXUINT
/* Appends a line; from: a member, or GYRE_ALL_MEMBERS. */
void     gyre_collective_describe_hop (GyreCollective   *self,
                                       guint             member,
                                       const char       *half,
                                       guint             step,
                                       const char       *how,
                                       guint             chunk,
                                       guint             from,
                                       GString          *text);

/* A marker behind all that is on each member's queue; its event is in last. */
gboolean gyre_collective_mark_all     (GyreCollective   *self,
                                       GError          **error);
gboolean gyre_collective_flush_all    (GyreCollective   *self,
                                       GError          **error);
/* The fresh events become the last. */
void     gyre_collective_turn_events  (GyreCollective   *self);
void     gyre_collective_clear_event  (cl_event         *event);
/* Waits on the executor thread, no longer than GYRE_DEVICE_TIMEOUT; what names the
 * command. */
gboolean gyre_collective_wait_event   (cl_event          event,
                                       const char       *what,
                                       GyreDevice       *device,
                                       GError          **error);

/* Maps a buffer of pinned memory of the host, for as long as the collective lives. */
gboolean gyre_collective_map_pinned   (GyreDevice       *device,
                                       GyreBuffer       *pinned,
                                       gpointer         *host,
                                       GError          **error);

/* The ring, in whole or for the hops within a context. */
guint    gyre_ring_chunk              (const GyreCollective *self,
                                       guint                 member,
                                       guint                 step,
                                       gboolean              reduces);
gboolean gyre_ring_hop                (GyreCollective   *self,
                                       guint             member,
                                       guint             step,
                                       gboolean          reduces,
                                       GError          **error);

const char *gyre_half_name             (gboolean             reduces);
const char *gyre_collective_phase_name (GyreCollectivePhase  phase);

/* Proves, command by command, that no queue writes a chunk that another may use at the
 * time: of two uses by two queues, one a write, events or a queue tell the order.  A
 * critical message says where they don't.  self may be NULL: nothing is checked. */
GyreHazards *gyre_hazards_new      (guint        n);
void         gyre_hazards_free     (GyreHazards *self);
/* The next command on the member's queue. */
void         gyre_hazards_command  (GyreHazards *self,
                                    guint        member);
/* It waits for the last event of another. */
void         gyre_hazards_wait     (GyreHazards *self,
                                    guint        member,
                                    guint        other);
/* It uses a chunk. */
void         gyre_hazards_use      (GyreHazards *self,
                                    guint        member,
                                    guint        owner,
                                    guint        chunk,
                                    gboolean     write);
/* The members' newest commands are those whose events are the last ones from now on. */
void         gyre_hazards_turn     (GyreHazards *self);

G_END_DECLS
