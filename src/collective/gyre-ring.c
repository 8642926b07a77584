/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

/* The ring within a context.  In step s of the first half the member at place p adds its
 * own chunk of the member at place p - 2 - s to what its predecessor has of it; after
 * n - 1 steps each has the sum of its own.  In step s of the second half it copies
 * that of the member at place p - 1 - s.  A hop waits for the predecessor's hop before,
 * which wrote what it reads. */

guint
gyre_ring_chunk (const GyreCollective *self,
                 guint                 member,
                 guint                 step,
                 gboolean              reduces)
{
  guint behind = step + (reduces ? 2 : 1);

  return self->ring[(self->place[member] + 2 * self->n - behind) % self->n];
}

gboolean
gyre_ring_hop (GyreCollective  *self,
               guint            member,
               guint            step,
               gboolean         reduces,
               GError         **error)
{
  guint from = self->prev[member];
  guint chunk = gyre_ring_chunk (self, member, step, reduces);
  GyreKernelArg args[2 + GYRE_HOP_SIZES] = {
    GYRE_BUFFER_ARG (gyre_collective_chunk (self, member, chunk)),
    GYRE_BUFFER_ARG (gyre_collective_chunk (self, from, chunk)),
  };

  gyre_hazards_command (self->hazards, member);
  gyre_hazards_wait (self->hazards, member, from);
  gyre_hazards_use (self->hazards, member, from, chunk, FALSE);
  gyre_hazards_use (self->hazards, member, member, chunk, TRUE);
  return gyre_collective_launch (self, member,
                                 reduces ? GYRE_HOP_REDUCE : GYRE_HOP_COPY, args, 2,
                                 gyre_collective_chunk_length (self, chunk),
                                 &self->last[from], 1, &self->fresh[member], error);
}

static gboolean
ring_half (GyreCollective  *self,
           gboolean         reduces,
           GError         **error)
{
  for (guint step = 0; step + 1 < self->n; step++)
    {
      for (guint i = 0; i < self->n; i++)
        if (!gyre_ring_hop (self, i, step, reduces, error))
          return FALSE;
      if (!gyre_collective_flush_all (self, error))
        return FALSE;
      gyre_collective_turn_events (self);
    }
  return TRUE;
}

static gboolean
ring_can (const GyreCollective  *self,
          const char           **why_not)
{
  *why_not = "they are in several contexts, and events and kernels don't cross";
  return self->one_context;
}

static gboolean
ring_prepare (GyreCollective  *self,
              GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!gyre_collective_load_kernel (self, i, GYRE_HOP_REDUCE, error) ||
        !gyre_collective_load_kernel (self, i, GYRE_HOP_COPY, error))
      return FALSE;

  return gyre_collective_make_chunks (self, error);
}

/* Only the successor reads a member's chunks. */
static gboolean
ring_acquire (GyreCollective  *self,
              guint            member,
              GError         **error)
{
  return gyre_collective_wait_for (self, member, &self->next[member], 1, error);
}

static gboolean
ring_begin (GyreCollective       *self,
            GyreCollectivePhase   phase,
            GError              **error)
{
  return gyre_collective_mark_all (self, error) &&
         gyre_collective_flush_all (self, error) &&
         (!gyre_phase_reduces (phase) || ring_half (self, TRUE, error)) &&
         (!gyre_phase_gathers (phase) || ring_half (self, FALSE, error));
}

/* A member's last hop is on its own queue. */
static gboolean
ring_finish (GyreCollective       *self,
             GyreCollectivePhase   phase,
             GError              **error)
{
  return TRUE;
}

static void
describe_half (GyreCollective *self,
               gboolean        reduces,
               GString        *text)
{
  GyreHopKind kind = reduces ? GYRE_HOP_REDUCE : GYRE_HOP_COPY;

  for (guint step = 0; step + 1 < self->n; step++)
    for (guint i = 0; i < self->n; i++)
      gyre_collective_describe_hop (self, i, gyre_half_name (reduces), step,
                                    gyre_hop_kind_kernel_name (kind),
                                    gyre_ring_chunk (self, i, step, reduces),
                                    self->prev[i], text);
}

static void
ring_describe (GyreCollective      *self,
               GyreCollectivePhase  phase,
               GString             *text)
{
  if (gyre_phase_reduces (phase))
    describe_half (self, TRUE, text);
  if (gyre_phase_gathers (phase))
    describe_half (self, FALSE, text);
}

const GyreCollectiveClass gyre_collective_ring_class = {
  .name = "ring",
  .can = ring_can,
  .prepare = ring_prepare,
  .acquire = ring_acquire,
  .begin = ring_begin,
  .finish = ring_finish,
  .describe = ring_describe,
};
