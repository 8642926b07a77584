/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "plan/gyre-buckets-private.h"

G_BEGIN_DECLS

typedef enum
{
  GYRE_PLACE_NONE,     /* no memory: a view, a tuple, or nothing that is read */
  GYRE_PLACE_INPUT,    /* the buffer that input `index` came in */
  GYRE_PLACE_OUTPUT,   /* a fresh buffer for output `index` */
  GYRE_PLACE_ARENA,    /* scratch */
  GYRE_PLACE_BUCKET    /* the place of exchange `index` in its bucket: all of it, */
                       /* or, where chunk is set, the device's own part */
} GyrePlaceKind;

typedef struct
{
  GyrePlaceKind kind;
  guint         index;
  gboolean      chunk;
} GyrePlace;

/* Where the values of a program lie, by what they are; sizes and offsets depend on shares
 * and come later.
 *
 *  - a donated output is written over its input where that is safe, else it gets a buffer
 *    of its own
 *  - what is reduced is made in its bucket, if nothing else reads it
 *  - a parameter that is gathered into its donated input's next value lives in the
 * bucket:
 *    that place is its home, and its input is moved there when it comes from elsewhere */
typedef struct
{
  GyreLives   *lives;
  GArray      *exchanges;
  GyreBuckets *buckets;
  GyrePlace   *places;    /* by root */
  gboolean    *direct;    /* by exchange: its operand is made in the bucket */
  int         *home;      /* by input: the exchange whose place it lives in, or -1 */
} GyrePlan;

/* like: NULL, or the plan of another member's program, whose buckets it has. */
GyrePlan *gyre_plan_new  (const GyreProgram  *program,
                          gsize               align,
                          const GyrePlan     *like,
                          GError            **error);
void      gyre_plan_free (GyrePlan           *self);

/* Where a value lies, views included. */
const GyrePlace *gyre_plan_get_place (const GyrePlan *self,
                                      guint           id);
/* From when to when a root in the arena is needed, as keys. */
void             gyre_plan_get_life  (const GyrePlan *self,
                                      guint           root,
                                      guint          *first,
                                      guint          *last);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyrePlan, gyre_plan_free)

G_END_DECLS
