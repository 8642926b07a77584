/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-lower-private.h"
#include "plan/gyre-lives-private.h"

G_BEGIN_DECLS

/* A collective of a program: what its node lowers to, and between which nodes it can
 * run. */
typedef struct
{
  GyreCollectiveOp op;
  guint     node;        /* its position, as those that follow */
  guint     in;          /* root of the operand */
  guint     ready;       /* the node that makes it */
  guint     used;        /* the first node that reads the result; n: the outputs alone */
  GyreDtype dtype;
  gint64    n_elements;  /* of the whole value: what a bucket holds of it */
  guint16   group;       /* flat: whose bounds; else 0 */
} GyreExchange;

/* By their number, else in the order of their nodes (GyreExchange). */
GArray *gyre_exchanges_find (const GyreLives  *lives,
                             GError          **error);

G_END_DECLS
