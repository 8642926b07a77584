/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* Convolutions without a copy of the image in memory: for CPUs gyre-convolution-rows.c
 * and, of channels by themselves, gyre-convolution-depth.c, for others convolution.cl.
 * The gradient by the image is a convolution of y, with the kernel turned, whose strides
 * are the image's spread and the other way round. */

static void
launch_plain (GyreLower         *lower,
              const GyreTensor  *node,
              const char        *kernel,
              const GyreConvJob *job,
              gint64             width,
              gint64             height,
              gint64             depth)
{
  GyreCommandArg args[GYRE_CONV_MAX_ARGS];
  GyreLaunch launch = { 0 };

  args[0] = GYRE_WRITE (node->id);
  args[1] = GYRE_READ (node->operands[0]->id);
  args[2] = GYRE_READ (node->operands[1]->id);
  launch.resource = "convolution.cl";
  launch.kernel = kernel;
  launch.n_args = gyre_convolution_add_sizes (job, args, 3);
  launch.args = args;
  launch.dims = 3;
  launch.global[0] = (gsize) width;
  launch.global[1] = (gsize) height;
  launch.global[2] = (gsize) depth;
  gyre_lower_launch (lower, node, &launch);
}

static gboolean
direct_serves (const GyreLower   *lower,
               const GyreConvJob *job)
{
  return TRUE;
}

/* Measured on CPUs: as products are faster rows shorter than a tile of four, gradients by
 * the image over strides, between which the rows would hold zeros, and weight gradients
 * of fewer places than hide the loading of their sums.  On other devices, where each
 * work-item of convolution.cl reads alone, all are but small groups. */
static gboolean
direct_suits (const GyreLower   *lower,
              const GyreConvJob *job)
{
  if (!lower->target->cpu)
    return job->groups > 1 && job->channels / job->groups < 8;
  if (job->groups > 1)
    return TRUE;
  if (!gyre_convolution_rows_serves (lower, job))
    return FALSE;

  if (job->gives == GYRE_CONV_X)
    return job->in[1] >= 4 && job->strides[0] * job->strides[1] == 1;

  return job->gives == GYRE_CONV_K ? job->out[0] * job->out[1] >= 16 : job->out[1] >= 4;
}

static void
direct_lower (GyreLower         *lower,
              const GyreTensor  *node,
              const GyreConvJob *job)
{
  GyreConvJob turned;

  if (gyre_convolution_depth_lower (lower, node, job)
      || gyre_convolution_rows_lower (lower, node, job))
    return;

  if (job->gives == GYRE_CONV_K)
    {
      launch_plain (lower, node, "gyre_convolution_kernel", job, job->out_channels,
                    job->channels / job->groups, job->taps[0] * job->taps[1]);
      return;
    }

  turned = job->gives == GYRE_CONV_X ? gyre_convolution_turn (job) : *job;
  launch_plain (lower, node,
                turned.turned ? "gyre_convolution_image" : "gyre_convolution", &turned,
                turned.out_channels, turned.out[0] * turned.out[1], turned.n);
}

const GyreConvAlgorithm gyre_conv_direct = {
  "direct", direct_serves, direct_suits, direct_lower,
};
