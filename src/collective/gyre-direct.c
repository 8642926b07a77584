/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

/* Within a context: column c (chunk c of every member) is member c's from begin to
 * finish.  One kernel on its queue sums the column in the ring's order, and one spreads
 * it; in an all-reduce that is the same kernel.  Everybody waits for everybody before,
 * and, where chunks are written by others, after. */

static const GyreHopKind kinds[] = {
  [GYRE_PHASE_REDUCE_SCATTER] = GYRE_HOP_REDUCE_COLUMN,
  [GYRE_PHASE_ALL_GATHER] = GYRE_HOP_COPY_COLUMN,
  [GYRE_PHASE_ALL_REDUCE] = GYRE_HOP_ALL_REDUCE_COLUMN,
};

static gboolean
direct_can (const GyreCollective  *self,
            const char           **why_not)
{
  *why_not = !self->one_context
    ? "they are in several contexts, and events and kernels don't cross"
    : "they are more than " G_STRINGIFY (GYRE_DIRECT_MOST);
  return self->one_context && self->n <= GYRE_DIRECT_MOST;
}

static gboolean
direct_prepare (GyreCollective  *self,
                GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    for (guint phase = 0; phase < G_N_ELEMENTS (kinds); phase++)
      if (!gyre_collective_load_kernel (self, i, kinds[phase], error))
        return FALSE;

  return gyre_collective_make_chunks (self, error);
}

static gboolean
wait_for_others (GyreCollective  *self,
                 guint            member,
                 GError         **error)
{
  guint others[GYRE_DIRECT_MOST];
  guint n = 0;

  for (guint i = 0; i < self->n; i++)
    if (i != member)
      others[n++] = i;
  return gyre_collective_wait_for (self, member, others, n, error);
}

/* The member's column, from its successor around the ring; the own chunk is apart. */
static void
fill_column (GyreCollective *self,
             guint           member,
             GyreKernelArg  *args)
{
  guint i = member;

  for (guint a = 0; a + 1 < GYRE_DIRECT_MOST; a++)
    {
      if (a + 1 < self->n)
        i = self->next[i];
      args[a] = GYRE_BUFFER_ARG (gyre_collective_chunk (self, i, member));
    }
}

/* Waits for all who may write or read its column. */
static guint
wait_list (GyreCollective *self,
           guint           member)
{
  guint n = 0;

  gyre_hazards_command (self->hazards, member);
  for (guint i = 0; i < self->n; i++)
    if (i != member)
      {
        self->wait[n++] = self->last[i];
        gyre_hazards_wait (self->hazards, member, i);
      }
  return n;
}

static void
note_uses (GyreCollective      *self,
           guint                member,
           GyreCollectivePhase  phase)
{
  for (guint i = 0; i < self->n; i++)
    {
      gboolean write = i == member ? gyre_phase_reduces (phase)
                                   : gyre_phase_gathers (phase);

      gyre_hazards_use (self->hazards, member, i, member, write);
    }
}

static gboolean
launch_column (GyreCollective       *self,
               guint                 member,
               GyreCollectivePhase   phase,
               GError              **error)
{
  GyreKernelArg args[GYRE_DIRECT_MOST + GYRE_HOP_SIZES];
  GyreKernelArg own = GYRE_BUFFER_ARG (gyre_collective_chunk (self, member, member));
  gboolean own_first = gyre_phase_reduces (phase);
  guint n_wait = wait_list (self, member);

  fill_column (self, member, own_first ? args + 1 : args);
  args[own_first ? 0 : GYRE_DIRECT_MOST - 1] = own;
  note_uses (self, member, phase);
  return gyre_collective_launch (self, member, kinds[phase], args, GYRE_DIRECT_MOST,
                                 gyre_collective_chunk_length (self, member),
                                 self->wait, n_wait, &self->fresh[member], error);
}

static gboolean
direct_begin (GyreCollective       *self,
              GyreCollectivePhase   phase,
              GError              **error)
{
  if (!gyre_collective_mark_all (self, error) ||
      !gyre_collective_flush_all (self, error))
    return FALSE;

  for (guint i = 0; i < self->n; i++)
    if (!launch_column (self, i, phase, error))
      return FALSE;
  gyre_collective_turn_events (self);
  return gyre_collective_flush_all (self, error);
}

static gboolean
direct_finish (GyreCollective       *self,
               GyreCollectivePhase   phase,
               GError              **error)
{
  if (!gyre_phase_gathers (phase))
    return TRUE;

  for (guint i = 0; i < self->n; i++)
    if (!wait_for_others (self, i, error))
      return FALSE;
  return TRUE;
}

static void
direct_describe (GyreCollective      *self,
                 GyreCollectivePhase  phase,
                 GString             *text)
{
  for (guint i = 0; i < self->n; i++)
    gyre_collective_describe_hop (self, i, gyre_collective_phase_name (phase), 0,
                                  gyre_hop_kind_kernel_name (kinds[phase]), i,
                                  GYRE_ALL_MEMBERS, text);
}

const GyreCollectiveClass gyre_collective_direct_class = {
  .name = "direct",
  .can = direct_can,
  .prepare = direct_prepare,
  .acquire = wait_for_others,
  .begin = direct_begin,
  .finish = direct_finish,
  .describe = direct_describe,
};
