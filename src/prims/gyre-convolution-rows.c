/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* Convolutions by convolution-rows.cl: how tiles and bands are chosen, and the
 * launches. */

#define RESOURCE    "convolution-rows.cl"
#define LANES       16
#define MAX_TILE    14              /* rows of a tile: 28 accumulators of two vectors */
#define MAX_LOCAL   (128 * 1024)    /* bytes: what stays in the second cache */
#define GROUPS_A_UNIT 4

typedef struct
{
  gint64      tile, vectors;    /* MR and NV */
  gint64      block, blocks;    /* channels that are copied at once */
  gint64      panels;
  gint64      band;             /* rows of results that local memory has room for */
  gint64      edge;             /* floats that each row of results needs besides */
  const char *options;
} RowsPlan;

static gint64
divide_up (gint64 a,
           gint64 b)
{
  return (a + b - 1) / b;
}

/* Tiles that cover n with the least work; loading the other factor costs as well. */
static gint64
choose_tile (gint64 n,
             gint64 vectors)
{
  gint64 best = 1, least = G_MAXINT64;

  for (gint64 tile = 1; tile <= MIN (n, MAX_TILE); tile++)
    {
      gint64 work = divide_up (n, tile) * (MAX (tile * vectors, 8) + 2 * vectors);

      if (work <= least)
        {
          least = work;
          best = tile;
        }
    }

  return best;
}

/* Floats of the image that a band of results sees, of one channel */
static gint64
band_space (const GyreConvJob *job,
            gint64             band)
{
  gint64 rows = (band - 1) * job->strides[0] + (job->taps[0] - 1) * job->dilation[0] + 1;

  return rows * ((job->out[1] - 1) * job->strides[1]
                 + (job->taps[1] - 1) * job->dilation[1] + 1);
}

static gboolean
choose_band (RowsPlan          *plan,
             const GyreLower   *lower,
             const GyreConvJob *job)
{
  gint64 room = (gint64) MIN (lower->target->local_memory / 4 * 3, MAX_LOCAL) / 4
                - 2 * LANES - plan->edge;
  gint64 channels = job->channels / job->groups;

  plan->block = MIN (channels, room / band_space (job, 1));
  if (room <= 0 || plan->block < 1)
    return FALSE;

  plan->blocks = divide_up (channels, plan->block);
  plan->block = divide_up (channels, plan->blocks);
  plan->band = 1;
  while (plan->band < job->out[0] &&
         band_space (job, plan->band + 1) * plan->block + plan->band * plan->edge <= room)
    plan->band++;

  return TRUE;
}

static void
add_option (GString    *options,
            const char *name,
            gint64      value)
{
  g_string_append_printf (options, "%s-D%s=%" G_GINT64_FORMAT,
                          options->len > 0 ? " " : "", name, value);
}

static void
add_pair (GString      *options,
          const char   *name,
          const gint64 *pair)
{
  for (int i = 0; i < 2; i++)
    {
      g_autofree char *full = g_strconcat (name, i == 0 ? "_Y" : "_X", NULL);

      add_option (options, full, pair[i]);
    }
}

static const char *
write_options (const RowsPlan    *plan,
               GyreLower         *lower,
               const GyreConvJob *job)
{
  g_autoptr (GString) options = g_string_new (job->turned ? "-DTURNED" : NULL);

  g_string_append_printf (options, "%s-D%s", job->turned ? " " : "",
                          plan->edge > 0 ? "OF_KERNEL" : "OF_IMAGE");
  add_option (options, "MR", plan->tile);
  add_option (options, "NV", plan->vectors);
  add_option (options, "BLOCK", plan->block);
  add_option (options, "SPACE", band_space (job, plan->band) * plan->block + LANES);
  add_option (options, "EDGE", MAX (plan->band * plan->edge, LANES));
  add_option (options, "CHANNELS", job->channels);
  add_option (options, "OUT_CHANNELS", job->out_channels);
  add_option (options, "GROUPS", job->groups);
  add_option (options, "HEIGHT", job->in[0]);
  add_option (options, "WIDTH", job->in[1]);
  add_option (options, "OUT_HEIGHT", job->out[0]);
  add_option (options, "OUT_WIDTH", job->out[1]);
  add_pair (options, "TAPS", job->taps);
  add_pair (options, "STRIDE", job->strides);
  add_pair (options, "LOW", job->low);
  add_pair (options, "DILATION", job->dilation);
  add_pair (options, "SPREAD", job->spread);

  return gyre_arena_strdup (lower->arena, options->str);
}

static gboolean
choose_tiles (RowsPlan          *plan,
              const GyreLower   *lower,
              const GyreConvJob *job)
{
  gint64 features = job->out_channels / job->groups;

  if (!lower->target->cpu)
    return FALSE;

  plan->vectors = features > LANES ? 2 : 1;
  plan->panels = divide_up (features, plan->vectors * LANES);
  plan->edge = job->gives == GYRE_CONV_K ? job->out[1] * plan->vectors * LANES : 0;
  if (!choose_band (plan, lower, job))
    return FALSE;

  plan->tile = choose_tile (job->gives != GYRE_CONV_K ? job->out[1]
                            : job->dilation[1] == 1   ? job->taps[1] * plan->block
                                                      : plan->block,
                            plan->vectors);
  return TRUE;
}

static gint64
count_panel_floats (const RowsPlan    *plan,
                    const GyreConvJob *job)
{
  return job->groups * plan->panels * plan->blocks * job->taps[0] * job->taps[1]
         * plan->block * plan->vectors * LANES;
}

static void
launch (GyreLower            *lower,
        const GyreTensor     *node,
        const RowsPlan       *plan,
        const char           *kernel,
        const GyreCommandArg *args,
        guint                 n_args,
        const gint64         *global,
        gboolean              single)
{
  GyreLaunch launch = { 0 };

  launch.resource = RESOURCE;
  launch.options = plan->options;
  launch.kernel = kernel;
  launch.n_args = n_args;
  launch.args = args;
  launch.dims = 3;
  for (int i = 0; i < 3; i++)
    {
      launch.global[i] = (gsize) global[i];
      launch.local[i] = single ? 1 : 0;
    }
  gyre_lower_launch (lower, node, &launch);
}

/* Bands low enough that there are groups for all compute units. */
static gint64
share_band (const GyreLower   *lower,
            const GyreConvJob *job,
            gint64             band)
{
  gint64 wanted = (gint64) MAX (lower->target->compute_units, 1) * GROUPS_A_UNIT;

  while (band > 1 && job->n * divide_up (job->out[0], band) < wanted)
    band = divide_up (band, 2);

  return band;
}

static void
lower_image (GyreLower         *lower,
             const GyreTensor  *node,
             const RowsPlan    *plan,
             const GyreConvJob *job)
{
  guint panels = gyre_lower_temp (
      lower, (gsize) count_panel_floats (plan, job) * sizeof (float));
  gint64 band = share_band (lower, job, plan->band);
  GyreCommandArg pack[] = { GYRE_TEMP (panels), GYRE_READ (job->k) };
  GyreCommandArg rows[] = { GYRE_WRITE (node->id), GYRE_READ (job->x), GYRE_TEMP (panels),
                            GYRE_INT (band) };

  launch (lower, node, plan, "gyre_convolution_pack", pack, G_N_ELEMENTS (pack),
          (gint64[]){ plan->vectors * LANES, job->taps[0] * job->taps[1] * plan->block,
                      job->groups * plan->panels * plan->blocks },
          FALSE);
  launch (lower, node, plan, "gyre_convolution_rows", rows, G_N_ELEMENTS (rows),
          (gint64[]){ divide_up (job->out[0], band), job->n, 1 }, TRUE);
}

static void
lower_kernel (GyreLower         *lower,
              const GyreTensor  *node,
              const RowsPlan    *plan,
              const GyreConvJob *job)
{
  gint64 chunks =
      MIN (job->n, (gint64) MAX (lower->target->compute_units, 1) * GROUPS_A_UNIT);
  guint sums = gyre_lower_temp (
      lower, (gsize) (chunks * count_panel_floats (plan, job)) * sizeof (float));
  GyreCommandArg rows[] = { GYRE_TEMP (sums), GYRE_READ (job->x), GYRE_READ (job->y),
                            GYRE_INT (job->n), GYRE_INT (plan->band) };
  GyreCommandArg sum[] = { GYRE_WRITE (node->id), GYRE_TEMP (sums), GYRE_INT (chunks) };

  launch (lower, node, plan, "gyre_convolution_rows_kernel", rows, G_N_ELEMENTS (rows),
          (gint64[]){ chunks, 1, 1 }, TRUE);
  launch (lower, node, plan, "gyre_convolution_sum", sum, G_N_ELEMENTS (sum),
          (gint64[]){ job->out_channels, job->channels / job->groups,
                      job->taps[0] * job->taps[1] },
          FALSE);
}

gboolean
gyre_convolution_rows_serves (const GyreLower   *lower,
                              const GyreConvJob *job)
{
  GyreConvJob turned = job->gives == GYRE_CONV_X ? gyre_convolution_turn (job) : *job;
  RowsPlan plan;

  return choose_tiles (&plan, lower, &turned);
}

gboolean
gyre_convolution_rows_lower (GyreLower         *lower,
                             const GyreTensor  *node,
                             const GyreConvJob *job)
{
  GyreConvJob turned = job->gives == GYRE_CONV_X ? gyre_convolution_turn (job) : *job;
  RowsPlan plan;

  if (!choose_tiles (&plan, lower, &turned))
    return FALSE;

  plan.options = write_options (&plan, lower, &turned);
  if (job->gives == GYRE_CONV_K)
    lower_kernel (lower, node, &plan, job);
  else
    lower_image (lower, node, &plan, &turned);
  return TRUE;
}
