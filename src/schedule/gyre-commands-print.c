/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-commands-events-private.h"

static void
print_line (const GyreLine *line,
            guint          *next,
            guint           key,
            GString        *out)
{
  for (; *next < line->bound->len; (*next)++)
    {
      const GyreBound *bound = &g_array_index (line->bound, GyreBound, *next);
      g_autofree char *text = NULL;

      if (bound->key >= key)
        break;
      text = gyre_bound_to_string (bound);
      g_string_append_printf (out, "device %u: %s\n", line->index, text);
    }
}

/* The hops of a bucket stand where they begin. */
static void
print_event (const GyreEvent *event,
             const GyreLine  *line,
             GString         *out)
{
  const GyreLineCrew *crew = &g_array_index (line->crews, GyreLineCrew, event->bucket);
  const GyreBucket *bucket =
      g_ptr_array_index (line->plan->buckets->buckets, event->bucket);
  GyreCollective *collective = gyre_crew_get_collective (crew->crew);
  GyreCollectivePhase phase = gyre_bucket_get_phase (bucket);
  static const char *const names[] = { "all-reduce", "reduce-scatter", "all-gather",
                                       "all-to-all", "permute" };
  g_autofree char *hops = NULL;

  if (crew->member != 0 || event->kind == GYRE_EVENT_ACQUIRE)
    return;

  g_string_append_printf (
      out, "%s %s bucket %u (%s): values %u, bytes %" G_GSIZE_FORMAT "\n",
      event->kind == GYRE_EVENT_BEGIN ? "begin" : "finish", names[bucket->kind],
      event->bucket, gyre_collective_get_algorithm (collective), bucket->members->len,
      gyre_buffer_get_size (gyre_crew_get_buffer (crew->crew, 0)));
  if (event->kind != GYRE_EVENT_BEGIN)
    return;

  hops = gyre_collective_describe (collective, phase);
  g_string_append (out, hops);
  if (out->len > 0 && out->str[out->len - 1] != '\n')
    g_string_append_c (out, '\n');
}

static void
print_lines (GyreCommands    *self,
             const GyreEvent *event,
             guint           *next,
             GString         *out)
{
  for (guint d = 0; d < self->n_lines; d++)
    print_line (self->lines[d], &next[d], event != NULL ? event->keys[d] : G_MAXUINT,
                out);
  for (guint d = 0; event != NULL && d < self->n_lines; d++)
    print_event (event, self->lines[d], out);
}

char *
gyre_commands_to_string (GyreCommands *self)
{
  GString *out = g_string_new (NULL);
  g_autofree guint *next = g_new0 (guint, self->n_lines);

  for (guint i = 0; i < self->events->len; i++)
    print_lines (self, &g_array_index (self->events, GyreEvent, i), next, out);
  print_lines (self, NULL, next, out);

  return g_string_free (out, FALSE);
}
