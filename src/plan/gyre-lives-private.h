/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-program-private.h"

G_BEGIN_DECLS

/* Who holds memory in a program, and for how long.  A view has the memory of what it
 * views: its root.  Positions are those of nodes in the order in which they are enqueued:
 * by id, but what outputs alone need of a collective comes last, so that nothing else
 * waits for that.  Outputs are read at position n. */
typedef struct
{
  const GyreProgram *program;
  guint     n;           /* nodes */
  guint    *at;          /* by id: its position */
  guint    *root;        /* by id */
  gboolean *held;        /* by id: a root that needs memory (inputs too) */
  guint    *maker;       /* by root: the node whose commands write it */
  guint    *made;        /* by root: that node's position */
  guint    *first_use;   /* by root: G_MAXUINT where none */
  guint    *last_use;    /* by root: its own position where none */
  int      *output;      /* by root: the first output that it is, or -1 */
} GyreLives;

GyreLives *gyre_lives_new  (const GyreProgram *program);
void       gyre_lives_free (GyreLives *self);

/* Whether a node may write its result over an operand's memory: by id of result and root
 * of the operand; nothing else reads that later. */
gboolean   gyre_lives_may_overwrite (const GyreLives *self,
                                     guint            result,
                                     guint            operand);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreLives, gyre_lives_free)

G_END_DECLS
