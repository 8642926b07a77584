/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-pool-private.h"

/* The gradient of window_max as commands: pool.cl. */

#define LANES 16

/* Whether each element is in one window and no more */
static gboolean
is_tiling (const GyrePoolAttrs *attrs,
           const GyreShape     *x,
           const GyreShape     *y)
{
  for (int i = 0; i < 2; i++)
    if (attrs->window[i] != attrs->strides[i] || attrs->padding[i][0] != 0
        || attrs->padding[i][1] != 0
        || y->dims[1 + i] * attrs->strides[i] != x->dims[1 + i])
      return FALSE;

  return TRUE;
}

static guint
add_sizes (const GyrePoolAttrs *attrs,
           const GyreShape     *x,
           const GyreShape     *y,
           GyreCommandArg      *args,
           guint                n)
{
  args[n++] = GYRE_INT (x->dims[3]);
  for (int i = 0; i < 2; i++)
    {
      args[n++] = GYRE_INT (x->dims[1 + i]);
      args[n++] = GYRE_INT (y->dims[1 + i]);
      args[n++] = GYRE_INT (attrs->window[i]);
      args[n++] = GYRE_INT (attrs->strides[i]);
      args[n++] = GYRE_INT (attrs->padding[i][0]);
    }

  return n;
}

/* An image and 16 of its channels for a work-group, or for a work-item one element. */
static void
set_range (const GyreLower *lower,
           const GyreShape *x,
           GyreLaunch      *launch)
{
  launch->dims = 3;
  if (lower->target->cpu)
    {
      launch->kernel = "gyre_window_scatter_images";
      launch->global[0] = (gsize) (x->dims[3] + LANES - 1) / LANES;
      launch->global[1] = (gsize) x->dims[0];
      launch->global[2] = 1;
      for (int i = 0; i < 3; i++)
        launch->local[i] = 1;
      return;
    }

  launch->kernel = "gyre_window_scatter";
  launch->global[0] = (gsize) x->dims[3];
  launch->global[1] = (gsize) (x->dims[1] * x->dims[2]);
  launch->global[2] = (gsize) x->dims[0];
}

gboolean
gyre_window_scatter_lower (GyreLower         *lower,
                           const GyreTensor  *node,
                           GError           **error)
{
  const GyrePoolAttrs *attrs = node->attrs;
  GyreCommandArg args[16];
  GyreShape x, y;
  GyreLaunch launch = { 0 };

  gyre_lower_local_shape (lower, node->operands[0], &x, NULL);
  gyre_lower_local_shape (lower, node->operands[1], &y, NULL);
  args[0] = GYRE_WRITE (node->id);
  args[1] = GYRE_READ (node->operands[0]->id);
  args[2] = GYRE_READ (node->operands[1]->id);
  launch.resource = "pool.cl";
  launch.n_args = add_sizes (attrs, &x, &y, args, 3);
  args[launch.n_args++] = GYRE_INT (is_tiling (attrs, &x, &y));
  launch.args = args;
  set_range (lower, &x, &launch);
  gyre_lower_launch (lower, node, &launch);

  return TRUE;
}
