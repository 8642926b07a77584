/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "plan/gyre-exchange-private.h"

G_BEGIN_DECLS

/* Moments in a program, for what happens between nodes: a node's commands are at its own
 * key, what must come before or after it at those beside it. */
#define GYRE_KEY_BEFORE(id) (6 * (id))       /* acquire, finish */
#define GYRE_KEY_UNPACK(id) (6 * (id) + 1)
#define GYRE_KEY_AT(id)     (6 * (id) + 2)
#define GYRE_KEY_PACK(id)   (6 * (id) + 4)
#define GYRE_KEY_AFTER(id)  (6 * (id) + 5)   /* begin */
#define GYRE_KEY_END        (G_MAXUINT - 1)

/* Values that are reduced or gathered together: they lie in one buffer, at multiples of
 * the devices' alignment.
 *   reductions    in the order in which their values are made, about a quarter of all
 *                 bytes each, so that the first runs while most of backward is to come
 *   flat gathers  as the reduce-scatter of the same groups: same places, same chunks
 *   by dimension  alone: chunks are the members' blocks, one after the other
 *   moves         alone: what is sent, and behind it what comes */
typedef struct
{
  GyreCollectiveKind kind;
  GyreReduceOp op;
  GyreDtype    dtype;
  guint8       axes;
  int          dim;
  int          mirror;     /* the bucket whose layout it has, or -1 */
  GArray      *members;    /* guint: exchanges */
  GArray      *offsets;    /* gsize: in bytes, by member */
  gsize        size;       /* bytes; blocks: 0 */
  guint        acquire, begin, finish;   /* keys */
} GyreBucket;

typedef struct
{
  GPtrArray *buckets;      /* GyreBucket */
  GArray    *bucket_of;    /* guint, by exchange */
  guint      n_groups;
  /* by group - 1: the reduction that cuts it, and where it lies in it */
  struct { int bucket; gsize offset, size; } *groups;
} GyreBuckets;

/* homes: by exchange: the position after which its place may be written, or 0 (the last
 * use of the state that lives there).  like: NULL, or the buckets of another member's
 * program, which these must match. */
GyreBuckets *gyre_buckets_new  (const GArray *exchanges,
                                const guint  *homes,
                                gsize         align,
                                const GyreBuckets *like);
void         gyre_buckets_free (GyreBuckets  *self);
/* Where a member of a bucket lies, in bytes. */
gsize        gyre_bucket_get_offset (const GyreBucket *self,
                                     guint             exchange);
gboolean     gyre_bucket_is_blocks  (const GyreBucket *self);
/* Its buffers have two halves: what a member sends, and what it gets. */
gboolean     gyre_bucket_is_routed  (const GyreBucket *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreBuckets, gyre_buckets_free)

G_END_DECLS
