/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-commands-events-private.h"

static GyreBucket *
get_bucket (const GyreLine *line,
            guint           b)
{
  return g_ptr_array_index (line->plan->buckets->buckets, b);
}

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

static gsize
strictest_align (const GyreCommands *schedule)
{
  gsize align = 4;

  for (guint k = 0; k < schedule->n_lines; k++)
    align = MAX (align, gyre_device_get_align (schedule->lines[k]->device));
  return align;
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
      const GyreCollectiveOp *op =
          &g_array_index (line->plan->exchanges, GyreExchange, exchange).op;
      gsize size = gyre_line_size (
          line, &schedule->spec,
          op->kind == GYRE_COLLECTIVE_ALL_GATHER ? op->in : op->out);

      bounds[m + 1] = bounds[m] + gyre_align_up (size, strictest_align (schedule)) / 4;
    }

  return bounds;
}

/* Two halves, in words: what is sent, and what comes. */
static gsize *
make_halves (GyreCommands *schedule,
             guint         n,
             gsize         bytes)
{
  gsize *bounds = g_new0 (gsize, n + 1);
  gsize half = gyre_align_up (bytes, strictest_align (schedule)) / 4;

  for (guint m = 1; m <= n; m++)
    bounds[m] = m == 1 ? half : 2 * half;
  return bounds;
}

/* Row m of member k becomes row k of member m. */
static void
add_rows (GArray *routes,
          guint   n,
          gsize   bytes,
          gsize   second)
{
  gsize row = bytes / n;

  for (guint to = 0; to < n; to++)
    for (guint from = 0; from < n; from++)
      {
        GyreRoute route = { from, to, to * row, second + from * row, row };

        g_array_append_val (routes, route);
      }
}

static void
add_wholes (GArray       *routes,
            const guint8 *sources,
            guint         n,
            gsize         bytes,
            gsize         second)
{
  for (guint to = 0; to < n; to++)
    {
      GyreRoute route = { sources[to], to, 0, second, bytes };

      if (sources[to] == GYRE_NO_SOURCE)
        route.from = GYRE_NO_MEMBER;
      g_array_append_val (routes, route);
    }
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

/* A crew that only moves values, by words. */
static GyreCrew *
get_routed_crew (GyreCommands  *schedule,
                 GyreLine      *line,
                 guint          b,
                 GyreCrewInfo  *info,
                 GError       **error)
{
  guint exchange = g_array_index (get_bucket (line, b)->members, guint, 0);
  const GyreCollectiveOp *op =
      &g_array_index (line->plan->exchanges, GyreExchange, exchange).op;
  gsize bytes = gyre_line_size (line, &schedule->spec, op->in);
  g_autofree gsize *bounds = make_halves (schedule, info->n, bytes);
  g_autoptr (GArray) routes = g_array_new (FALSE, FALSE, sizeof (GyreRoute));

  if (op->kind == GYRE_COLLECTIVE_ALL_TO_ALL)
    add_rows (routes, info->n, bytes, bounds[1] * 4);
  else
    add_wholes (routes, op->sources, info->n, bytes, bounds[1] * 4);
  info->dtype = GYRE_U32;
  info->length = bounds[info->n];
  info->bounds = bounds;
  info->routes = (const GyreRoute *) routes->data;
  info->n_routes = routes->len;

  return gyre_crew_get (schedule->crews, info, error);
}

static GyreCrew *
get_reducing_crew (GyreCommands  *schedule,
                   const GArray  *members,
                   guint          b,
                   GyreCrewInfo  *info,
                   GError       **error)
{
  GyreLine *line = schedule->lines[g_array_index (members, guint, 0)];
  const GyreBucket *bucket = get_bucket (line, b);
  gboolean blocks = gyre_bucket_is_blocks (bucket);
  g_autofree gsize *bounds = blocks ? make_block_bounds (schedule, members, b)
                                    : g_new0 (gsize, members->len + 1);

  /* what is only copied goes by words, of bytes too */
  if (blocks && bucket->kind == GYRE_COLLECTIVE_ALL_GATHER)
    info->dtype = GYRE_U32;
  info->length =
      blocks ? bounds[members->len] : bucket->size / gyre_dtype_size (bucket->dtype);
  if (!blocks)
    gyre_collective_choose_bounds (info->devices, members->len, info->length,
                                   gyre_dtype_size (bucket->dtype), bounds);
  info->bounds = bounds;

  return gyre_crew_get (schedule->crews, info, error);
}

static GyreCrew *
get_crew (GyreCommands  *schedule,
          const GArray  *members,
          guint          b,
          GError       **error)
{
  GyreLine *line = schedule->lines[g_array_index (members, guint, 0)];
  const GyreBucket *bucket = get_bucket (line, b);
  g_autofree GyreDevice **devices = g_new (GyreDevice *, members->len);
  g_autofree char *name = name_bucket (line, b);
  GyreCrewInfo info = { name, members->len, devices, bucket->dtype, bucket->op };

  for (guint m = 0; m < members->len; m++)
    devices[m] = schedule->lines[g_array_index (members, guint, m)]->device;

  return gyre_bucket_is_routed (bucket)
           ? get_routed_crew (schedule, line, b, &info, error)
           : get_reducing_crew (schedule, members, b, &info, error);
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

static const GyreExchange *
get_exchange (const GyreLine *line,
              guint           i)
{
  return &g_array_index (line->plan->exchanges, GyreExchange, i);
}

/* Members that were traced apart must hold as much of what they exchange with each other;
 * those of other crews may hold more or less. */
static gboolean
check_sizes (GyreCommands  *schedule,
             const GArray  *members,
             guint          b,
             GError       **error)
{
  const GyreLine *first = schedule->lines[g_array_index (members, guint, 0)];
  const GArray *exchanges = get_bucket (first, b)->members;

  for (guint m = 1; m < members->len; m++)
    for (guint i = 0; i < exchanges->len; i++)
      {
        guint other = g_array_index (members, guint, m);
        guint k = g_array_index (exchanges, guint, i);
        const GyreExchange *a = get_exchange (first, k);
        const GyreExchange *c = get_exchange (schedule->lines[other], k);

        if (a->n_elements == c->n_elements)
          continue;
        g_set_error (
            error, GYRE_ERROR, GYRE_ERROR_TRACE,
            "device %u gives a collective another number of elements than device "
            "%u, a result of %" G_GINT64_FORMAT " in place of %" G_GINT64_FORMAT
            ": what members exchange must not depend on the number of rows that "
            "a device has; take sums or means of the rows first",
            other, first->index, c->n_elements, a->n_elements);
        return FALSE;
      }

  return TRUE;
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
  GyreLineCrew crew = { 0 };

  if (!check_sizes (schedule, members, b, error)
      || !(crew.crew = get_crew (schedule, members, b, error)))
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
