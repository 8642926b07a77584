/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* Depthwise convolutions on CPUs, by convolution-depth.cl */

#define GROUPS_A_UNIT 4

static void
launch (GyreLower        *lower,
        const GyreTensor *node,
        const char       *kernel,
        GyreCommandArg   *args,
        guint             n_args,
        gint64            width,
        gint64            height,
        gboolean          single)
{
  GyreLaunch launch = { 0 };

  launch.resource = "convolution-depth.cl";
  launch.kernel = kernel;
  launch.args = args;
  launch.n_args = n_args;
  launch.dims = 2;
  launch.global[0] = (gsize) width;
  launch.global[1] = (gsize) height;
  for (int i = 0; i < 2; i++)
    launch.local[i] = single ? 1 : 0;
  gyre_lower_launch (lower, node, &launch);
}

static void
lower_kernel (GyreLower         *lower,
              const GyreTensor  *node,
              const GyreConvJob *job)
{
  gint64 taps = job->taps[0] * job->taps[1];
  gint64 chunks =
      MIN (job->n, (gint64) MAX (lower->target->compute_units, 1) * GROUPS_A_UNIT);
  guint sums =
      gyre_lower_temp (lower, (gsize) (chunks * taps * job->channels) * sizeof (float));
  GyreCommandArg args[GYRE_CONV_MAX_ARGS] = { GYRE_TEMP (sums), GYRE_READ (job->x),
                                              GYRE_READ (job->y) };
  GyreCommandArg sum[] = { GYRE_WRITE (job->k), GYRE_TEMP (sums), GYRE_INT (chunks) };

  launch (lower, node, "gyre_convolution_depth_kernel", args,
          gyre_convolution_add_sizes (job, args, 3), chunks, 1, TRUE);
  launch (lower, node, "gyre_convolution_depth_sum", sum, G_N_ELEMENTS (sum),
          job->channels, taps, FALSE);
}

gboolean
gyre_convolution_depth_lower (GyreLower         *lower,
                              const GyreTensor  *node,
                              const GyreConvJob *job)
{
  GyreConvJob turned = job->gives == GYRE_CONV_X ? gyre_convolution_turn (job) : *job;
  GyreCommandArg args[GYRE_CONV_MAX_ARGS] = { GYRE_WRITE (turned.y), GYRE_READ (turned.x),
                                              GYRE_READ (turned.k) };
  guint n_args;

  if (!lower->target->cpu || job->groups == 1 || job->channels != job->groups
      || job->out_channels != job->groups)
    return FALSE;

  if (job->gives == GYRE_CONV_K)
    {
      lower_kernel (lower, node, job);
      return TRUE;
    }

  n_args = gyre_convolution_add_sizes (&turned, args, 3);
  args[n_args++] = GYRE_INT (turned.turned);
  launch (lower, node, "gyre_convolution_depth", args, n_args, turned.out[0], turned.n,
          TRUE);
  return TRUE;
}
