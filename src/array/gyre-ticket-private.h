/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What waits for work that is under way: done when as many parts were done as it has.
 * Reference counted, on any thread.  The first error is kept. */
typedef struct _GyreTicket GyreTicket;

GyreTicket *gyre_ticket_new     (guint        n_parts);
GyreTicket *gyre_ticket_ref     (GyreTicket  *self);
void        gyre_ticket_unref   (GyreTicket  *self);

/* error: NULL, or transfer full. */
void        gyre_ticket_done    (GyreTicket  *self,
                                 GError      *error);
/* All parts that are left fail. */
void        gyre_ticket_fail    (GyreTicket  *self,
                                 GError      *error);
gboolean    gyre_ticket_is_done (GyreTicket  *self);
/* Sleeps until it is done; not on the executor thread.  FALSE: the error. */
gboolean    gyre_ticket_wait    (GyreTicket  *self,
                                 GError     **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreTicket, gyre_ticket_unref)

G_END_DECLS
