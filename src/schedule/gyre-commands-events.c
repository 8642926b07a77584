/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-commands-events-private.h"

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
same_exchange (const GyreExchange *a,
               const GyreExchange *b)
{
  return a->op.kind == b->op.kind && a->op.op == b->op.op && a->op.axes == b->op.axes
         && a->op.dim == b->op.dim && a->dtype == b->dtype
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
      "the function does other collectives on %s (%u of them) than on %s (%u): they "
      "must not depend on the number of rows that a device has",
      gyre_device_get_name (first->device), a->len, gyre_device_get_name (other->device),
      b->len);
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
        event.keys[d] = is_early (lines, n_lines, kind) ? 0
                                                        : get_key (lines[d], kind, bucket);
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
  qsort (events->data, events->len, sizeof (GyreEvent), compare_event);

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

/* --- crews --- */

/* The devices that differ from d in the axes alone; in order. */
static GArray *
list_members (const GyreMeshSpec *mesh,
              guint               d,
              guint8              axes)
{
  GArray *members = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n = gyre_mesh_spec_n_devices (mesh);

  for (guint e = 0; e < n; e++)
    {
      gboolean with = TRUE;

      for (guint a = 0; a < mesh->n_axes; a++)
        with &= (axes & 1 << a) != 0
                || gyre_mesh_spec_coord (mesh, d, a) == gyre_mesh_spec_coord (mesh, e, a);
      if (with)
        g_array_append_val (members, e);
    }

  return members;
}

/* Chunks for blocks: each member's own size, rounded up. */
static gsize *
make_block_bounds (GyreCommands *schedule,
                   const GArray *members,
                   guint         b)
{
  gsize *bounds = g_new0 (gsize, members->len + 1);

  for (guint m = 0; m < members->len; m++)
    {
      GyreLine *line = schedule->lines[g_array_index (members, guint, m)];
      guint exchange = g_array_index (get_bucket (line, b)->members, guint, 0);
      gsize size = gyre_line_size (line, &schedule->spec,
                                   g_array_index (line->plan->exchanges, GyreExchange,
                                                  exchange).op.in);
      gsize align = 4;

      for (guint k = 0; k < schedule->n_lines; k++)
        align = MAX (align, gyre_device_get_align (schedule->lines[k]->device));
      bounds[m + 1] = bounds[m] + gyre_align_up (size, align) / 4;
    }

  return bounds;
}

/* Crews with state in them are told apart by it. */
static char *
name_bucket (const GyreLine *line,
             guint           b)
{
  const GyreBucket *bucket = get_bucket (line, b);
  GString *name = g_string_new (NULL);

  g_string_append_printf (name, "%u %d", b, (int) bucket->kind);
  for (guint i = 0; i < line->program->graph->inputs->len; i++)
    if (line->plan->home[i] >= 0 &&
        g_array_index (line->plan->buckets->bucket_of, guint, line->plan->home[i]) == b)
      g_string_append_printf (
          name, " %u@%" G_GSIZE_FORMAT, i,
          gyre_bucket_get_offset (bucket, (guint) line->plan->home[i]));

  return g_string_free (name, FALSE);
}

static GyreCrew *
get_crew (GyreCommands  *schedule,
          const GArray  *members,
          guint          b,
          GError       **error)
{
  GyreLine *line = schedule->lines[g_array_index (members, guint, 0)];
  const GyreBucket *bucket = get_bucket (line, b);
  gboolean blocks = gyre_bucket_is_blocks (bucket);
  g_autofree GyreDevice **devices = g_new (GyreDevice *, members->len);
  g_autofree gsize *bounds = blocks ? make_block_bounds (schedule, members, b)
                                    : g_new0 (gsize, members->len + 1);
  g_autofree char *name = name_bucket (line, b);
  GyreCrewInfo info = { name, members->len, devices,
                        blocks ? GYRE_U32 : bucket->dtype, bucket->op };

  for (guint m = 0; m < members->len; m++)
    devices[m] = schedule->lines[g_array_index (members, guint, m)]->device;

  info.length =
      blocks ? bounds[members->len] : bucket->size / gyre_dtype_size (bucket->dtype);
  if (!blocks)
    gyre_collective_choose_bounds (devices, members->len, info.length,
                                   gyre_dtype_size (bucket->dtype), bounds);
  info.bounds = bounds;

  return gyre_crew_get (schedule->crews, &info, error);
}

/* The groups that a reduce-scatter cuts: this line's part of each. */
static void
set_chunks (GyreLine           *line,
            guint               b,
            const GyreLineCrew *crew)
{
  const GyreBuckets *buckets = line->plan->buckets;
  const gsize *bounds =
      gyre_collective_get_bounds (gyre_crew_get_collective (crew->crew));

  for (guint g = 0; g < buckets->n_groups; g++)
    {
      gint64 offset = (gint64) buckets->groups[g].offset / 4;
      gint64 size = (gint64) buckets->groups[g].size / 4;

      if (buckets->groups[g].bucket != (int) b)
        continue;
      line->bounds[g][line->index]
        = CLAMP ((gint64) bounds[crew->member] - offset, 0, size);
      line->bounds[g][line->index + 1]
        = CLAMP ((gint64) bounds[crew->member + 1] - offset, 0, size);
    }
}

static gboolean
assign_bucket (GyreCommands  *schedule,
               guint          d,
               guint          b,
               GArray        *crews,
               GError       **error)
{
  GyreLine *line = schedule->lines[d];
  g_autoptr (GArray) members =
      list_members (&schedule->spec, d, get_bucket (line, b)->axes);
  GyreLineCrew crew = { get_crew (schedule, members, b, error) };

  if (crew.crew == NULL)
    return FALSE;

  while (g_array_index (members, guint, crew.member) != d)
    crew.member++;
  set_chunks (line, b, &crew);
  g_array_append_val (crews, crew);

  return TRUE;
}

static void
clear_crew (gpointer data)
{
  gyre_crew_unref (((GyreLineCrew *) data)->crew);
}

/* The old crews are given up last: what is the same now stays. */
gboolean
gyre_crews_assign (GyreCommands  *schedule,
                   GError       **error)
{
  for (guint d = 0; d < schedule->n_lines; d++)
    {
      GyreLine *line = schedule->lines[d];
      g_autoptr (GArray) crews = g_array_new (FALSE, TRUE, sizeof (GyreLineCrew));
      GArray *old = line->crews;

      g_array_set_clear_func (crews, clear_crew);
      for (guint b = 0; b < line->plan->buckets->buckets->len; b++)
        if (!assign_bucket (schedule, d, b, crews, error))
          return FALSE;
      line->crews = g_steal_pointer (&crews);
      crews = old;
    }

  return TRUE;
}
