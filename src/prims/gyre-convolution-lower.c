/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* Convolutions as commands: for CPUs gyre-convolution-rows.c, for other devices
 * convolution.cl.  The gradient by the image is a convolution of y, with the kernel
 * turned, whose strides are the image's spread and the other way round. */

#define RESOURCE  "convolution.cl"
#define MAX_ARGS  24

static GyreConvJob
make_job (const GyreConvAttrs *attrs,
          const GyreShape     *x,
          const GyreShape     *k,
          const GyreShape     *y)
{
  GyreConvJob job = { 0 };

  job.n = y->dims[0];
  job.channels = x->dims[3];
  job.out_channels = y->dims[3];
  job.groups = attrs->groups;
  for (int i = 0; i < 2; i++)
    {
      job.in[i] = x->dims[1 + i];
      job.out[i] = y->dims[1 + i];
      job.taps[i] = k->dims[i];
      job.strides[i] = attrs->strides[i];
      job.low[i] = attrs->padding[i][0];
      job.dilation[i] = attrs->dilation[i];
      job.spread[i] = attrs->spread[i];
    }

  return job;
}

/* From y to x */
static GyreConvJob
turn_job (const GyreConvJob *job)
{
  GyreConvJob turned = *job;

  turned.turned = TRUE;
  turned.channels = job->out_channels;
  turned.out_channels = job->channels;
  for (int i = 0; i < 2; i++)
    {
      turned.in[i] = job->out[i];
      turned.out[i] = job->in[i];
      turned.strides[i] = job->spread[i];
      turned.spread[i] = job->strides[i];
      turned.low[i] = (job->taps[i] - 1) * job->dilation[i] - job->low[i];
    }

  return turned;
}

static GyreConvJob
job_of_values (GyreLower        *lower,
               const GyreTensor *node,
               const GyreTensor *x,
               const GyreTensor *k,
               const GyreTensor *y)
{
  GyreShape x_local, k_local, y_local;

  gyre_lower_local_shape (lower, x, &x_local, NULL);
  gyre_lower_local_shape (lower, k, &k_local, NULL);
  gyre_lower_local_shape (lower, y, &y_local, NULL);

  return make_job (node->attrs, &x_local, &k_local, &y_local);
}

/* All kernels of convolution.cl take these, in this order. */
static guint
add_sizes (const GyreConvJob *job,
           GyreCommandArg    *args,
           guint              n)
{
  args[n++] = GYRE_INT (job->n);
  args[n++] = GYRE_INT (job->channels);
  args[n++] = GYRE_INT (job->out_channels);
  args[n++] = GYRE_INT (job->groups);
  for (int i = 0; i < 2; i++)
    {
      args[n++] = GYRE_INT (job->in[i]);
      args[n++] = GYRE_INT (job->out[i]);
      args[n++] = GYRE_INT (job->taps[i]);
      args[n++] = GYRE_INT (job->strides[i]);
      args[n++] = GYRE_INT (job->low[i]);
      args[n++] = GYRE_INT (job->dilation[i]);
      args[n++] = GYRE_INT (job->spread[i]);
    }

  return n;
}

static void
launch_plain (GyreLower         *lower,
              const GyreTensor  *node,
              const char        *kernel,
              const GyreConvJob *job,
              gint64             width,
              gint64             height,
              gint64             depth)
{
  GyreCommandArg args[MAX_ARGS];
  GyreLaunch launch = { 0 };

  args[0] = GYRE_WRITE (node->id);
  args[1] = GYRE_READ (node->operands[0]->id);
  args[2] = GYRE_READ (node->operands[1]->id);
  launch.resource = RESOURCE;
  launch.kernel = kernel;
  launch.n_args = add_sizes (job, args, 3);
  launch.args = args;
  launch.dims = 3;
  launch.global[0] = (gsize) width;
  launch.global[1] = (gsize) height;
  launch.global[2] = (gsize) depth;
  gyre_lower_launch (lower, node, &launch);
}

/* A sum over nothing, or of nothing: no kernel is needed. */
static gboolean
lower_nothing (GyreLower        *lower,
               const GyreTensor *node,
               gint64            n_terms)
{
  GyreShape local;
  gint64 n;

  gyre_lower_local_shape (lower, node, &local, NULL);
  n = gyre_shape_n_elements (&local);
  if (n > 0 && n_terms > 0)
    return FALSE;

  if (n > 0)
    gyre_lower_fill (lower, node, node->id, 0, n);
  return TRUE;
}

gboolean
gyre_convolution_lower (GyreLower         *lower,
                        const GyreTensor  *node,
                        GError           **error)
{
  const GyreTensor *x = node->operands[0], *k = node->operands[1];
  GyreConvJob job = job_of_values (lower, node, x, k, node);

  if (!lower_nothing (lower, node, job.channels)
      && !gyre_convolution_rows_lower (lower, node, &job, x->id, k->id))
    launch_plain (lower, node, "gyre_convolution", &job, job.out_channels,
                  job.out[0] * job.out[1], job.n);
  return TRUE;
}

gboolean
gyre_convolution_image_lower (GyreLower         *lower,
                              const GyreTensor  *node,
                              GError           **error)
{
  const GyreTensor *k = node->operands[0], *y = node->operands[1];
  GyreConvJob job = job_of_values (lower, node, node, k, y);

  job = turn_job (&job);
  if (!lower_nothing (lower, node, job.channels)
      && !gyre_convolution_rows_lower (lower, node, &job, y->id, k->id))
    launch_plain (lower, node, "gyre_convolution_image", &job, job.out_channels,
                  job.out[0] * job.out[1], job.n);
  return TRUE;
}

gboolean
gyre_convolution_kernel_lower (GyreLower         *lower,
                               const GyreTensor  *node,
                               GError           **error)
{
  const GyreTensor *x = node->operands[0], *y = node->operands[1];
  GyreConvJob job = job_of_values (lower, node, x, node, y);

  if (!lower_nothing (lower, node, job.n)
      && !gyre_convolution_rows_kernel_lower (lower, node, &job, x->id, y->id))
    launch_plain (lower, node, "gyre_convolution_kernel", &job, job.out_channels,
                  job.channels / job.groups, job.taps[0] * job.taps[1]);
  return TRUE;
}
