/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "schedule/gyre-step-private.h"

G_BEGIN_DECLS

/* Bytes of the host that go to a device before the step. */
typedef struct
{
  GyreDevice *device;
  GyreStore  *store;     /* held */
  GBytes     *bytes;     /* held until they are there */
} GyreRunUpload;

typedef struct
{
  GyreDevice *device;
  GyreStore  *from, *to; /* held */
  gsize       size;
} GyreRunCopy;

/* A scalar that comes to the host with the step. */
typedef struct
{
  GyreDevice *device;
  GyreBuffer *buffer;
  GyreArray  *array;
  gsize       size;
} GyreRunSmall;

/* One run on its way through the executor, which frees it when it is complete. */
typedef struct
{
  GyreCompiled *compiled;
  guint64       number;
  gint64        start;       /* monotonic, µs */
  GyreTicket   *ticket;
  guint         n_devices;
  guint         n_left;      /* devices that aren't done */
  gboolean      acquires;    /* writes to state in buckets */
  GyreBuffer ***slots;       /* by device: inputs, outputs */
  GPtrArray    *stores;      /* GyreStore, held until all is enqueued */
  GPtrArray    *arrays;      /* GyreArray, held until the run is complete */
  GArray       *copies;      /* GyreRunCopy: first those that save what is in the way */
  GArray       *uploads;     /* GyreRunUpload */
  GArray       *smalls;      /* GyreRunSmall */
} GyreRun;

void gyre_run_free (GyreRun  *self);
/* On the executor thread. */
void gyre_run_job  (gpointer  data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreRun, gyre_run_free)

G_END_DECLS
