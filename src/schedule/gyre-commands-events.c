/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-commands-events-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

static GyreBucket *
get_bucket (const GyreLine *line,
            guint           b)
{
  return g_ptr_array_index (line->plan->buckets->buckets, b);
}

static guint
get_key (const GyreLine *line,
         GyreEventKind   kind,
         guint           b)
{
  const GyreBucket *bucket = get_bucket (line, b);

  return kind == GYRE_EVENT_ACQUIRE ? bucket->acquire
         : kind == GYRE_EVENT_BEGIN ? bucket->begin : bucket->finish;
}

/* --- agreement --- */

static gboolean
same_sources (const GyreCollectiveOp *a,
              const GyreCollectiveOp *b)
{
  return a->kind != GYRE_COLLECTIVE_PERMUTE ||
         memcmp (a->sources, b->sources, GYRE_NO_SOURCE) == 0;
}

static gboolean
same_exchange (const GyreExchange *a,
               const GyreExchange *b)
{
  return a->op.kind == b->op.kind && a->op.op == b->op.op && a->op.axes == b->op.axes
         && a->op.dim == b->op.dim && a->dtype == b->dtype
         && same_sources (&a->op, &b->op)
         && (a->n_elements == b->n_elements || a->op.kind == GYRE_COLLECTIVE_ALL_GATHER);
}

/* Members that were traced apart must do the same collectives in the same order. */
static gboolean
check_lines (const GyreLine  *first,
             const GyreLine  *other,
             GError         **error)
{
  const GArray *a = first->plan->exchanges, *b = other->plan->exchanges;
  gboolean same = a->len == b->len && first->plan->buckets->buckets->len ==
                                          other->plan->buckets->buckets->len;

  for (guint i = 0; same && i < a->len; i++)
    same = same_exchange (&g_array_index (a, GyreExchange, i),
                          &g_array_index (b, GyreExchange, i))
           && g_array_index (first->plan->buckets->bucket_of, guint, i)
              == g_array_index (other->plan->buckets->bucket_of, guint, i);
  if (same)
    return TRUE;

  g_set_error (
      error, GYRE_ERROR, GYRE_ERROR_TRACE,
      "the function does other collectives on device %u (%u of them) than on device %u "
      "(%u), or of other sizes: they must not depend on the number of rows that a device "
      "has",
      first->index, a->len, other->index, b->len);
  return FALSE;
}

/* --- order --- */

/* Members wait for their own buckets only, in any order; where programs differ all do at
 * the start, so that one's late bucket doesn't come too late for another's early one. */
static gboolean
is_early (GyreLine *const *lines,
          guint            n_lines,
          GyreEventKind    kind)
{
  for (guint d = 1; d < n_lines; d++)
    if (lines[d]->plan != lines[0]->plan)
      return kind == GYRE_EVENT_ACQUIRE;

  return FALSE;
}

static void
clear_event (gpointer data)
{
  g_free (((GyreEvent *) data)->keys);
}

static void
add_events (GArray          *events,
            GyreLine *const *lines,
            guint            n_lines,
            guint            bucket)
{
  for (GyreEventKind kind = GYRE_EVENT_ACQUIRE; kind <= GYRE_EVENT_FINISH; kind++)
    {
      GyreEvent event = { kind, bucket, g_new (guint, n_lines) };

      for (guint d = 0; d < n_lines; d++)
        event.keys[d] =
            is_early (lines, n_lines, kind) ? 0 : get_key (lines[d], kind, bucket);
      g_array_append_val (events, event);
    }
}

static int
compare_event (gconstpointer a,
               gconstpointer b)
{
  const GyreEvent *x = a, *y = b;

  if (x->keys[0] != y->keys[0])
    return x->keys[0] < y->keys[0] ? -1 : 1;
  if (x->bucket != y->bucket)
    return x->bucket < y->bucket ? -1 : 1;

  return (int) x->kind - (int) y->kind;
}

/* On each line the keys must rise; an event may come later than it could, unless somebody
 * reads its result before. */
static gboolean
make_rise (GArray          *events,
           guint            d,
           const GyreLine  *line,
           GError         **error)
{
  guint key = 0;

  for (guint i = 0; i < events->len; i++)
    {
      GyreEvent *event = &g_array_index (events, GyreEvent, i);

      if (event->keys[d] < key && event->kind != GYRE_EVENT_BEGIN)
        {
          g_set_error (
              error, GYRE_ERROR, GYRE_ERROR_TRACE,
              "on %s the function uses the results of collectives in another order "
              "than on the first device",
              gyre_device_get_name (line->device));
          return FALSE;
        }
      event->keys[d] = key = MAX (key, event->keys[d]);
    }

  return TRUE;
}

GArray *
gyre_events_new (GyreLine *const  *lines,
                 guint             n_lines,
                 GError          **error)
{
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (GyreEvent));

  g_array_set_clear_func (events, clear_event);
  for (guint d = 1; d < n_lines; d++)
    if (!check_lines (lines[0], lines[d], error))
      return NULL;

  for (guint b = 0; b < lines[0]->plan->buckets->buckets->len; b++)
    add_events (events, lines, n_lines, b);
  g_array_sort (events, compare_event);

  for (guint d = 1; d < n_lines; d++)
    if (!make_rise (events, d, lines[d], error))
      return NULL;

  return g_steal_pointer (&events);
}

/* --- running --- */

GyreCollectivePhase
gyre_bucket_get_phase (const GyreBucket *bucket)
{
  static const GyreCollectivePhase phases[] = {
    [GYRE_COLLECTIVE_ALL_REDUCE]     = GYRE_PHASE_ALL_REDUCE,
    [GYRE_COLLECTIVE_REDUCE_SCATTER] = GYRE_PHASE_REDUCE_SCATTER,
    [GYRE_COLLECTIVE_ALL_GATHER]     = GYRE_PHASE_ALL_GATHER,
    [GYRE_COLLECTIVE_ALL_TO_ALL]     = GYRE_PHASE_ROUTES,
    [GYRE_COLLECTIVE_PERMUTE]        = GYRE_PHASE_ROUTES,
  };

  return phases[bucket->kind];
}

static gboolean
run_member (const GyreEvent     *self,
            const GyreBucket    *bucket,
            const GyreLineCrew  *crew,
            GError             **error)
{
  GyreCollective *collective = gyre_crew_get_collective (crew->crew);
  GyreCollectivePhase phase = gyre_bucket_get_phase (bucket);

  if (self->kind == GYRE_EVENT_ACQUIRE)
    return gyre_collective_acquire (collective, crew->member, error);
  if (crew->member != 0)
    return TRUE;

  return self->kind == GYRE_EVENT_BEGIN
         ? gyre_collective_begin (collective, phase, error)
         : gyre_collective_finish (collective, phase, error);
}

gboolean
gyre_event_run (const GyreEvent  *self,
                GyreLine *const  *lines,
                guint             n_lines,
                GError          **error)
{
  for (guint d = 0; d < n_lines; d++)
    if (!run_member (self, get_bucket (lines[d], self->bucket),
                     &g_array_index (lines[d]->crews, GyreLineCrew, self->bucket), error))
      return FALSE;

  return TRUE;
}
