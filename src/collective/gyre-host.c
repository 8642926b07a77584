/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include "collective/gyre-host-sum-private.h"
#include "device/gyre-transfer-private.h"

/* Members of any contexts meet on the host: each maps its bucket, begin enqueues that;
 * finish waits for the maps, sums in the ring's order, and unmaps.  Nothing is copied
 * where device and host share memory. */

/* A member's bucket is mapped in up to three parts: what is before its own chunk, that,
 * and what is behind; each is only read or only written where one will do. */
#define N_PARTS 3

typedef struct
{
  gsize        first, last;   /* elements */
  cl_map_flags flags;         /* 0: not mapped */
} Part;

typedef struct
{
  Part      parts[3][N_PARTS];   /* by phase */
  gpointer  mapped[N_PARTS];     /* NULL: isn't */
  cl_event  events[N_PARTS];
} HostMember;

typedef struct
{
  HostMember *members;
  guint32   **at;   /* [n · n] where chunk c of member i lies */
} Host;

/* What a phase does to the own chunk, and to the chunks of others. */
static const struct
{
  cl_map_flags own, others;
} flags_of[] = {
  [GYRE_PHASE_REDUCE_SCATTER] = { CL_MAP_READ | CL_MAP_WRITE, CL_MAP_READ },
  [GYRE_PHASE_ALL_GATHER] = { CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION },
  [GYRE_PHASE_ALL_REDUCE] = { CL_MAP_READ | CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE },
};

static void
set_part (Part         *part,
          gsize         first,
          gsize         last,
          cl_map_flags  flags)
{
  part->first = first;
  part->last = last;
  part->flags = first < last ? flags : 0;
}

static void
cut_parts (GyreCollective      *self,
           guint                member,
           GyreCollectivePhase  phase,
           Part                *parts)
{
  cl_map_flags own = flags_of[phase].own;
  cl_map_flags others = flags_of[phase].others;
  gsize first = self->bounds[member];
  gsize last = self->bounds[member + 1];

  if (own == others)
    {
      set_part (&parts[0], 0, self->length, own);
      return;
    }
  set_part (&parts[0], 0, first, others);
  set_part (&parts[1], first, last, own);
  set_part (&parts[2], last, self->length, others);
}

static gboolean
host_can (const GyreCollective  *self,
          const char           **why_not)
{
  return TRUE;
}

static gboolean
host_prepare (GyreCollective  *self,
              GError         **error)
{
  Host *host = g_new0 (Host, 1);

  host->members = g_new0 (HostMember, self->n);
  host->at = g_new0 (guint32 *, (gsize) self->n * self->n);
  for (guint i = 0; i < self->n; i++)
    for (guint phase = 0; phase < G_N_ELEMENTS (flags_of); phase++)
      cut_parts (self, i, phase, host->members[i].parts[phase]);
  self->data = host;
  gyre_host_sum_start ();
  return TRUE;
}

static gboolean
map_part (GyreCollective  *self,
          guint            member,
          const Part      *part,
          guint            p,
          GError         **error)
{
  Host *host = self->data;
  HostMember *of = &host->members[member];
  guint32 *pointer;

  pointer = gyre_device_map (self->devices[member], self->buffers[member], part->flags,
                             part->first * self->element_size,
                             (part->last - part->first) * self->element_size, NULL, 0,
                             &of->events[p], error);
  if (pointer == NULL)
    return FALSE;

  of->mapped[p] = pointer;
  for (guint c = 0; c < self->n; c++)
    if (self->bounds[c] >= part->first && self->bounds[c + 1] <= part->last)
      host->at[member * self->n + c] = pointer + (self->bounds[c] - part->first);
  return TRUE;
}

static gboolean
host_begin (GyreCollective       *self,
            GyreCollectivePhase   phase,
            GError              **error)
{
  Host *host = self->data;

  for (guint i = 0; i < self->n; i++)
    for (guint p = 0; p < N_PARTS; p++)
      {
        const Part *part = &host->members[i].parts[phase][p];

        if (part->flags != 0 && !map_part (self, i, part, p, error))
          return FALSE;
      }
  return gyre_collective_flush_all (self, error);
}

static gboolean
wait_for_maps (GyreCollective  *self,
               GError         **error)
{
  Host *host = self->data;

  for (guint i = 0; i < self->n; i++)
    for (guint p = 0; p < N_PARTS; p++)
      {
        cl_event *event = &host->members[i].events[p];

        if (*event == NULL)
          continue;
        if (!gyre_collective_wait_event (*event, "clEnqueueMapBuffer of a bucket",
                                         self->devices[i], error))
          return FALSE;
        gyre_collective_clear_event (event);
      }
  return TRUE;
}

static gboolean
unmap_all (GyreCollective  *self,
           GError         **error)
{
  Host *host = self->data;

  for (guint i = 0; i < self->n; i++)
    for (guint p = 0; p < N_PARTS; p++)
      {
        gpointer *mapped = &host->members[i].mapped[p];

        if (*mapped != NULL && !gyre_device_unmap (self->devices[i], self->buffers[i],
                                                   *mapped, NULL, 0, NULL, error))
          return FALSE;
        *mapped = NULL;
      }
  return TRUE;
}

static gboolean
host_finish (GyreCollective       *self,
             GyreCollectivePhase   phase,
             GError              **error)
{
  Host *host = self->data;
  GyreHostSum sum = { self, host->at, phase };

  if (!wait_for_maps (self, error))
    return FALSE;
  gyre_host_sum_run (&sum);
  return unmap_all (self, error) && gyre_collective_flush_all (self, error);
}

static void
host_describe (GyreCollective      *self,
               GyreCollectivePhase  phase,
               GString             *text)
{
  for (guint i = 0; i < self->n; i++)
    gyre_collective_describe_hop (self, i, gyre_collective_phase_name (phase), 0,
                                  "clEnqueueMapBuffer", i, GYRE_ALL_MEMBERS, text);
}

static void
host_release (GyreCollective *self)
{
  Host *host = self->data;

  if (host == NULL)
    return;

  for (guint i = 0; i < self->n; i++)
    for (guint p = 0; p < N_PARTS; p++)
      if (gyre_device_get_lost (self->devices[i]) == NULL)
        gyre_collective_clear_event (&host->members[i].events[p]);
  g_free (host->members);
  g_free (host->at);
  g_free (host);
}

const GyreCollectiveClass gyre_collective_host_class = {
  .name = "host",
  .can = host_can,
  .prepare = host_prepare,
  .begin = host_begin,
  .finish = host_finish,
  .describe = host_describe,
  .release = host_release,
};
