/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "collective/gyre-collective-object-private.h"

G_BEGIN_DECLS

/* The host's part of a collective: chunks that lie in its memory. */
typedef struct
{
  GyreCollective      *collective;
  guint32 *const      *at;      /* [n · n] chunk c of member i, at i · n + c */
  GyreCollectivePhase  phase;
} GyreHostSum;

/* Any thread: the second thread, once a process. */
void gyre_host_sum_start (void);
/* On the executor thread; on two threads where that pays, with the same bits. */
void gyre_host_sum_run   (const GyreHostSum *self);

G_END_DECLS
