/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

/* The ring over several contexts.  A hop between two of them goes through the host: the
 * predecessor's queue reads the chunk to pinned memory, the host waits for that, and the
 * member's queue writes it, to a landing place if it is yet to be added.  Members of a
 * context are side by side on the ring, so no more hops are staged than there are
 * contexts.  With one context all hops are. */

#define N_SLOTS 2

/* What comes to a member over a boundary. */
typedef struct
{
  gboolean    used;
  GyreBuffer *pinned[N_SLOTS];    /* of the predecessor's context, mapped for good */
  gpointer    host[N_SLOTS];
  cl_event    written[N_SLOTS];   /* the slot was last read from by this */
  cl_event    read;               /* the chunk is in the slot of the step */
  GyreBuffer *landing;
} Stage;

typedef struct
{
  Stage *stages;   /* [n] by member that receives */
  guint  slot;
} Staged;

static gboolean
staged_can (const GyreCollective  *self,
            const char           **why_not)
{
  return TRUE;
}

static gboolean
is_boundary (const GyreCollective *self,
             guint                 member)
{
  GyreDevice *from = self->devices[self->prev[member]];

  return self->one_context ||
         !gyre_devices_share_context (from, self->devices[member]);
}

static gboolean
make_stage (GyreCollective  *self,
            guint            member,
            gsize            bytes,
            GError         **error)
{
  Staged *staged = self->data;
  Stage *stage = &staged->stages[member];
  GyreDevice *from = self->devices[self->prev[member]];

  stage->used = TRUE;
  for (guint s = 0; s < N_SLOTS; s++)
    {
      stage->pinned[s] = gyre_buffer_new_pinned (from, bytes, error);
      if (stage->pinned[s] == NULL ||
          !gyre_collective_map_pinned (from, stage->pinned[s], &stage->host[s], error))
        return FALSE;
    }
  stage->landing = gyre_buffer_new (self->devices[member], bytes, error);
  return stage->landing != NULL;
}

typedef struct
{
  GyreCollective *self;
  GError        **error;
  gboolean        good;
} Make;

static void
make_stages (gpointer data)
{
  Make *make = data;
  GyreCollective *self = make->self;
  gsize most = 0;

  for (guint c = 0; c < self->n; c++)
    most = MAX (most, gyre_collective_chunk_bytes (self, c));
  make->good = TRUE;
  for (guint i = 0; make->good && i < self->n; i++)
    if (is_boundary (self, i))
      make->good = make_stage (self, i, most, make->error);
}

static gboolean
staged_prepare (GyreCollective  *self,
                GError         **error)
{
  Staged *staged = g_new0 (Staged, 1);
  Make make = { self, error, FALSE };

  staged->stages = g_new0 (Stage, self->n);
  self->data = staged;
  for (guint i = 0; i < self->n; i++)
    if (!gyre_collective_load_kernel (self, i, GYRE_HOP_REDUCE, error) ||
        !gyre_collective_load_kernel (self, i, GYRE_HOP_COPY, error))
      return FALSE;
  if (!gyre_collective_make_chunks (self, error))
    return FALSE;

  gyre_executor_call (make_stages, &make);
  return make.good;
}

/* Only a successor in the same context reads a member's chunks on its own queue. */
static gboolean
staged_acquire (GyreCollective  *self,
                guint            member,
                GError         **error)
{
  Staged *staged = self->data;
  guint next = self->next[member];

  return staged->stages[next].used ||
         gyre_collective_wait_for (self, member, &next, 1, error);
}

/* A slot is free once what was written from it has left. */
static gboolean
free_slot (GyreCollective  *self,
           guint            member,
           GError         **error)
{
  Staged *staged = self->data;
  cl_event *written = &staged->stages[member].written[staged->slot];

  if (*written != NULL &&
      !gyre_collective_wait_event (*written, "clEnqueueWriteBuffer of a hop",
                                   self->devices[member], error))
    return FALSE;
  gyre_collective_clear_event (written);
  return TRUE;
}

static gboolean
enqueue_reads (GyreCollective  *self,
               guint            step,
               gboolean         reduces,
               GError         **error)
{
  Staged *staged = self->data;

  staged->slot = (staged->slot + 1) % N_SLOTS;
  for (guint i = 0; i < self->n; i++)
    {
      Stage *stage = &staged->stages[i];
      guint from = self->prev[i];
      guint chunk = gyre_ring_chunk (self, i, step, reduces);

      if (stage->used &&
          (!free_slot (self, i, error) ||
           !gyre_device_read (self->devices[from],
                              gyre_collective_chunk (self, from, chunk), 0,
                              gyre_collective_chunk_bytes (self, chunk),
                              stage->host[staged->slot], NULL, 0, &stage->read, error)))
        return FALSE;
    }
  return gyre_collective_flush_all (self, error);
}

/* What came is added to the own chunk, or becomes it. */
static gboolean
enqueue_landed (GyreCollective  *self,
                guint            member,
                guint            chunk,
                gboolean         reduces,
                GError         **error)
{
  Staged *staged = self->data;
  Stage *stage = &staged->stages[member];
  GyreBuffer *own = gyre_collective_chunk (self, member, chunk);
  cl_event *written = &stage->written[staged->slot];
  GyreKernelArg args[2 + GYRE_HOP_SIZES] = {
    GYRE_BUFFER_ARG (own), GYRE_BUFFER_ARG (stage->landing)
  };

  if (!gyre_device_write (self->devices[member], reduces ? stage->landing : own, 0,
                          gyre_collective_chunk_bytes (self, chunk),
                          stage->host[staged->slot], NULL, 0, written, error))
    return FALSE;
  if (reduces)
    return gyre_collective_launch (self, member, GYRE_HOP_REDUCE, args, 2,
                                   gyre_collective_chunk_length (self, chunk), NULL, 0,
                                   &self->fresh[member], error);

  clRetainEvent (*written);
  self->fresh[member] = *written;
  return TRUE;
}

static gboolean
staged_hop (GyreCollective  *self,
            guint            member,
            guint            step,
            gboolean         reduces,
            GError         **error)
{
  Staged *staged = self->data;
  Stage *stage = &staged->stages[member];
  guint from = self->prev[member];
  guint chunk = gyre_ring_chunk (self, member, step, reduces);

  if (!stage->used)
    return gyre_ring_hop (self, member, step, reduces, error);

  if (!gyre_collective_wait_event (stage->read, "clEnqueueReadBuffer of a hop",
                                   self->devices[from], error))
    return FALSE;
  gyre_collective_clear_event (&stage->read);
  gyre_hazards_command (self->hazards, member);
  gyre_hazards_wait (self->hazards, member, from);
  gyre_hazards_use (self->hazards, member, member, chunk, TRUE);
  return enqueue_landed (self, member, chunk, reduces, error);
}

static gboolean
staged_step (GyreCollective  *self,
             guint            step,
             gboolean         reduces,
             GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!staged_hop (self, i, step, reduces, error))
      return FALSE;
  gyre_collective_turn_events (self);
  return gyre_collective_flush_all (self, error);
}

/* The reads of the first step are on their way. */
static gboolean
staged_half (GyreCollective  *self,
             gboolean         reduces,
             GError         **error)
{
  for (guint step = 0; step + 1 < self->n; step++)
    if ((step > 0 && !enqueue_reads (self, step, reduces, error)) ||
        !staged_step (self, step, reduces, error))
      return FALSE;

  return TRUE;
}

static gboolean
staged_begin (GyreCollective       *self,
              GyreCollectivePhase   phase,
              GError              **error)
{
  return gyre_collective_mark_all (self, error) &&
         enqueue_reads (self, 0, gyre_phase_reduces (phase), error);
}

static gboolean
staged_finish (GyreCollective       *self,
               GyreCollectivePhase   phase,
               GError              **error)
{
  if (gyre_phase_reduces (phase) && !staged_half (self, TRUE, error))
    return FALSE;
  if (phase == GYRE_PHASE_ALL_REDUCE && !enqueue_reads (self, 0, FALSE, error))
    return FALSE;
  return !gyre_phase_gathers (phase) || staged_half (self, FALSE, error);
}

static void
describe_half (GyreCollective *self,
               gboolean        reduces,
               GString        *text)
{
  Staged *staged = self->data;

  for (guint step = 0; step + 1 < self->n; step++)
    for (guint i = 0; i < self->n; i++)
      {
        g_autofree char *how =
          g_strdup_printf ("%s%s", staged->stages[i].used ? "through the host, " : "",
                           gyre_hop_kind_kernel_name (reduces ? GYRE_HOP_REDUCE
                                                              : GYRE_HOP_COPY));

        gyre_collective_describe_hop (self, i, gyre_half_name (reduces), step, how,
                                      gyre_ring_chunk (self, i, step, reduces),
                                      self->prev[i], text);
      }
}

static void
staged_describe (GyreCollective      *self,
                 GyreCollectivePhase  phase,
                 GString             *text)
{
  if (gyre_phase_reduces (phase))
    describe_half (self, TRUE, text);
  if (gyre_phase_gathers (phase))
    describe_half (self, FALSE, text);
}

static void
release_stage (GyreCollective *self,
               guint           member,
               Stage          *stage)
{
  GyreDevice *from = self->devices[self->prev[member]];
  gboolean lost = gyre_device_get_lost (from) != NULL ||
                  gyre_device_get_lost (self->devices[member]) != NULL;

  for (guint s = 0; s < N_SLOTS && stage->used; s++)
    {
      if (!lost)
        gyre_collective_clear_event (&stage->written[s]);
      if (!lost && stage->host[s] != NULL)
        gyre_device_unmap (from, stage->pinned[s], stage->host[s], NULL, 0, NULL, NULL);
      gyre_buffer_unref (stage->pinned[s]);
    }
  if (!lost)
    gyre_collective_clear_event (&stage->read);
  gyre_buffer_unref (stage->landing);
}

static void
staged_release (GyreCollective *self)
{
  Staged *staged = self->data;

  if (staged == NULL)
    return;

  for (guint i = 0; i < self->n; i++)
    release_stage (self, i, &staged->stages[i]);
  g_free (staged->stages);
  g_free (staged);
}

const GyreCollectiveClass gyre_collective_staged_class = {
  .name = "staged",
  .can = staged_can,
  .prepare = staged_prepare,
  .acquire = staged_acquire,
  .begin = staged_begin,
  .finish = staged_finish,
  .describe = staged_describe,
  .release = staged_release,
};
