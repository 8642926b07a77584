/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-dtype.h>

#include "device/gyre-buffer-private.h"
#include "ir/gyre-lower-private.h"

G_BEGIN_DECLS

/* The reduction of a bucket over devices, in place: each member brings a buffer of the
 * same length, which is cut into as many chunks as there are members.
 *
 * The sum of chunk c begins with the member after c on the ring and goes around to c:
 * ((b[c+1] + b[c+2]) + …) + b[c].  So it is in every algorithm, and all give the same
 * bits.  The ring is the members in their order, those of a context side by side where
 * it matters (contexts in the order in which they first come).
 *
 * Algorithms, forced by name or $GYRE_ALL_REDUCE:
 *   ring     one context; a hop is a kernel that reads the neighbour's buffer
 *   direct   one context, at most GYRE_DIRECT_MOST members; column c of the chunks is
 *            summed and spread by member c in one kernel
 *   host     any contexts: buckets are mapped, and summed by the host
 *   staged   any contexts: the ring, hops between contexts through pinned memory of the
 *            host (in one context: every hop)
 *   auto     by the devices, the fastest that can do them
 *
 * Routes have ways of their own: copies on the receivers' queues within a context, else
 * (and where host or staged is forced) through memory of the host.
 *
 * Nothing here is made once it runs: no buffer, kernel, program or memory of the host. */
typedef struct _GyreCollective GyreCollective;

#define GYRE_DIRECT_MOST 8

typedef enum
{
  GYRE_PHASE_REDUCE_SCATTER,  /* chunk i of member i is the whole sum, others undefined */
  GYRE_PHASE_ALL_GATHER,      /* chunk i of member i goes to all others */
  GYRE_PHASE_ALL_REDUCE,      /* both */
  GYRE_PHASE_ROUTES           /* pieces go where the routes say, and nothing else moves */
} GyreCollectivePhase;

#define GYRE_NO_MEMBER G_MAXUINT

/* A piece of a member's first half goes to a place in a member's second half. */
typedef struct
{
  guint from, to;             /* members; from GYRE_NO_MEMBER: the place is zeroed */
  gsize from_first, to_first; /* bytes, from the start of the buffer */
  gsize bytes;
} GyreRoute;

typedef struct
{
  guint               n;          /* members, at least 1 */
  GyreDevice *const  *devices;    /* [n] */
  GyreBuffer *const  *buffers;    /* [n], of at least length elements; none twice, none a
                                   * sub-buffer */
  GyreDtype           dtype;      /* f32, i32, u32 */
  GyreReduceOp        op;         /* a NaN stays one in max and min */
  gsize               length;     /* elements */
  const gsize        *bounds;     /* [n + 1] in elements, from 0 to length, multiples of
                                   * the devices' alignment; NULL: as equal as can be */
  const char         *algorithm;  /* NULL: $GYRE_ALL_REDUCE, or auto */
  const GyreRoute    *routes;     /* NULL, or all of GYRE_PHASE_ROUTES, no place twice;
                                   * then bounds has the halves as its first two chunks,
                                   * and n is 2 or more */
  guint               n_routes;
} GyreCollectiveInfo;

/* Any thread.  Keeps references of devices and buffers; info is copied. */
GyreCollective *gyre_collective_new    (const GyreCollectiveInfo  *info,
                                        GError                   **error);
/* Any thread; what is still enqueued is not waited for. */
void            gyre_collective_free   (GyreCollective *self);

/* The four below run on the executor thread; order a member's calls like its commands:
 *
 *   acquire (each member), commands that write the bucket, begin, other commands, finish,
 *   commands that read the result
 *
 * After an error the bucket is undefined. */

/* Before the first write of a step to this member's bucket: its queue waits for those
 * who may still read the bucket. */
gboolean gyre_collective_acquire       (GyreCollective       *self,
                                        guint                 member,
                                        GError              **error);
/* Enqueues what needs no wait, behind what is on the members' queues, flushes them, and
 * returns.  Until finish, commands on these queues must leave the bucket alone. */
gboolean gyre_collective_begin         (GyreCollective       *self,
                                        GyreCollectivePhase   phase,
                                        GError              **error);
/* Does what remains; commands enqueued afterwards on a member's queue see its result.
 * Within one context it only enqueues; else it waits for commands before begin. */
gboolean gyre_collective_finish        (GyreCollective       *self,
                                        GyreCollectivePhase   phase,
                                        GError              **error);

/* A line for each hop: member, device, kernel or transfer, chunk, bytes.  Free it. */
char        *gyre_collective_describe      (GyreCollective      *self,
                                            GyreCollectivePhase  phase);
const char  *gyre_collective_get_algorithm (GyreCollective *self);
const gsize *gyre_collective_get_bounds    (GyreCollective *self);

/* Whether the algorithm can do these devices. */
gboolean gyre_collective_can           (GyreDevice *const  *devices,
                                        guint               n,
                                        const char         *algorithm);

/* Writes n + 1 boundaries in elements: chunks as equal as the strictest alignment of the
 * devices allows, the first the longest; members at the end may get none. */
void     gyre_collective_choose_bounds (GyreDevice *const  *devices,
                                        guint               n,
                                        gsize               length,
                                        gsize               element_size,
                                        gsize              *bounds);

/* Any thread; returns when it is done.  All-reduces so many bytes a device a few times
 * and appends a line to the report: for the algorithm, or, where that is NULL, for each
 * that can do the devices. */
gboolean gyre_collective_bench         (GPtrArray   *devices,
                                        gsize        bytes,
                                        const char  *algorithm,
                                        GString     *report,
                                        GError     **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreCollective, gyre_collective_free)

G_END_DECLS
