/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* Convolutions as commands: what there is to compute on a device, and by which of the
 * algorithms in gyre-convolution-choose.c. */

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

static GyreConvJob
job_of_values (GyreLower        *lower,
               const GyreTensor *node,
               const GyreTensor *x,
               const GyreTensor *k,
               const GyreTensor *y)
{
  GyreShape x_local, k_local, y_local;
  GyreConvJob job;

  gyre_lower_local_shape (lower, x, &x_local, NULL);
  gyre_lower_local_shape (lower, k, &k_local, NULL);
  gyre_lower_local_shape (lower, y, &y_local, NULL);
  job = make_job (node->attrs, &x_local, &k_local, &y_local);
  job.x = x->id;
  job.k = k->id;
  job.y = y->id;
  job.gives = node == y ? GYRE_CONV_Y : node == x ? GYRE_CONV_X : GYRE_CONV_K;

  return job;
}

GyreConvJob
gyre_convolution_turn (const GyreConvJob *job)
{
  GyreConvJob turned = *job;

  turned.turned = TRUE;
  turned.x = job->y;
  turned.y = job->x;
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

guint
gyre_convolution_add_sizes (const GyreConvJob *job,
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

/* A sum over nothing, or of nothing: no kernel is needed. */
static gboolean
lower_nothing (GyreLower         *lower,
               const GyreTensor  *node,
               const GyreConvJob *job)
{
  gint64 terms = job->n * job->channels * job->out_channels * job->in[0] * job->in[1];
  GyreShape local;
  gint64 n;

  gyre_lower_local_shape (lower, node, &local, NULL);
  n = gyre_shape_n_elements (&local);
  if (n > 0 && terms > 0)
    return FALSE;

  if (n > 0)
    gyre_lower_fill (lower, node, node->id, 0, n);
  return TRUE;
}

static gboolean
lower_job (GyreLower          *lower,
           const GyreTensor   *node,
           const GyreConvJob  *job,
           GError            **error)
{
  const GyreConvAlgorithm *algorithm;

  if (lower_nothing (lower, node, job))
    return TRUE;

  algorithm = gyre_convolution_choose (lower, job, error);
  if (algorithm == NULL)
    return FALSE;

  lower->variant = algorithm->name;
  algorithm->lower (lower, node, job);
  lower->variant = NULL;
  return TRUE;
}

gboolean
gyre_convolution_lower (GyreLower         *lower,
                        const GyreTensor  *node,
                        GError           **error)
{
  GyreConvJob job =
      job_of_values (lower, node, node->operands[0], node->operands[1], node);

  return lower_job (lower, node, &job, error);
}

gboolean
gyre_convolution_image_lower (GyreLower         *lower,
                              const GyreTensor  *node,
                              GError           **error)
{
  GyreConvJob job =
      job_of_values (lower, node, node, node->operands[0], node->operands[1]);

  return lower_job (lower, node, &job, error);
}

gboolean
gyre_convolution_kernel_lower (GyreLower         *lower,
                               const GyreTensor  *node,
                               GError           **error)
{
  GyreConvJob job =
      job_of_values (lower, node, node->operands[0], node, node->operands[1]);

  return lower_job (lower, node, &job, error);
}
