/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-cl-private.h"

G_BEGIN_DECLS

/* One thread of the process owns every command queue.  Others hand it jobs; it runs
 * them in their order, and between them watches the events that it was given. */
typedef void (*GyreJobFunc)     (gpointer data);
/* status: CL_COMPLETE, the first error among the events, or GYRE_CL_NO_ANSWER: nothing
 * moved for GYRE_DEVICE_TIMEOUT seconds (600 unless told, 0: wait for ever). */
typedef void (*GyrePendingFunc) (cl_int   status,
                                 gpointer data);

/* Any thread; returns at once. */
void     gyre_executor_post      (GyreJobFunc func,
                                  gpointer    data);
/* Any thread; returns when func has returned.  On the executor thread a plain call. */
void     gyre_executor_call      (GyreJobFunc func,
                                  gpointer    data);
gboolean gyre_executor_is_current (void);

/* Any thread.  Takes the events (NULL ones are skipped), flushes their queues, and
 * calls done on the executor thread when all are complete or one has failed.  Pendings
 * are done in the order in which they were added. */
void     gyre_executor_add_pending (cl_event        *events,
                                    guint            n,
                                    GyrePendingFunc  done,
                                    gpointer         data);

/* On the executor thread: waits for a command that is flushed; nothing else runs
 * meanwhile.  The event's status, or GYRE_CL_NO_ANSWER. */
cl_int   gyre_executor_wait_event (cl_event event);

/* On a thread that isn't the executor's: waits until no job and no pending is left. */
void     gyre_executor_drain     (void);
/* Drains and joins; a later post starts a new thread. */
void     gyre_executor_shutdown  (void);
/* Shuts down at exit, before what registered its exit handlers until now; a driver does
 * when its context is made, so this is called after each.  From then on nothing runs. */
void     gyre_executor_watch_exit (void);

G_END_DECLS
