/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-pool-private.h"

#include <math.h>

/* Windows on the host, in double */

typedef struct
{
  const GyreTensor *node;
  const GyreRef    *x;
  const GyreRef    *values;     /* of pick and scatter */
  GyreRef          *out;
} Pool;

/* Called for each window: at are its elements in x, row by row; y is its place in the
 * result. */
typedef void (*WindowFunc) (Pool *self, const gint64 *at, guint n, gint64 y);

/* The elements of the window at row p and column q */
static void
list_elements (const Pool *self,
               gint64      sample,
               gint64      p,
               gint64      q,
               gint64      channel,
               GArray     *at)
{
  const GyrePoolAttrs *attrs = self->node->attrs;
  const gint64 *x = self->x->shape.dims;

  g_array_set_size (at, 0);
  for (gint64 i = 0; i < attrs->window[0]; i++)
    for (gint64 j = 0; j < attrs->window[1]; j++)
      {
        gint64 row = p * attrs->strides[0] + i - attrs->padding[0][0];
        gint64 column = q * attrs->strides[1] + j - attrs->padding[1][0];
        gint64 place = ((sample * x[1] + row) * x[2] + column) * x[3] + channel;

        if (row >= 0 && row < x[1] && column >= 0 && column < x[2])
          g_array_append_val (at, place);
      }
}

static void
for_each_window (Pool            *self,
                 const GyreShape *results,
                 WindowFunc       func)
{
  g_autoptr (GArray) at = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 n = gyre_shape_n_elements (results), ix[GYRE_MAX_RANK];

  for (gint64 y = 0; y < n; y++)
    {
      gyre_prims_unravel (results, y, ix);
      list_elements (self, ix[0], ix[1], ix[2], ix[3], at);
      func (self, (const gint64 *) at->data, at->len, y);
    }
}

static void
sum_window (Pool         *self,
            const gint64 *at,
            guint         n,
            gint64        y)
{
  for (guint i = 0; i < n; i++)
    self->out->data[y] += self->x->data[at[i]];
}

static void
max_window (Pool         *self,
            const gint64 *at,
            guint         n,
            gint64        y)
{
  double largest = -INFINITY;

  for (guint i = 0; i < n; i++)
    {
      double element = self->x->data[at[i]];

      largest = largest > element || isnan (largest) ? largest : element;
    }
  self->out->data[y] = largest;
}

/* n > 0 */
static gint64
find_first (const Pool   *self,
            const gint64 *at,
            guint         n)
{
  guint first = 0;

  for (guint i = 1; i < n; i++)
    if (self->x->data[at[i]] > self->x->data[at[first]])
      first = i;

  return at[first];
}

static void
pick_window (Pool         *self,
             const gint64 *at,
             guint         n,
             gint64        y)
{
  if (n > 0)
    self->out->data[y] = self->values->data[find_first (self, at, n)];
}

static void
scatter_window (Pool         *self,
                const gint64 *at,
                guint         n,
                gint64        y)
{
  if (n > 0)
    self->out->data[find_first (self, at, n)] += self->values->data[y];
}

void
gyre_window_sum_reference (const GyreTensor *node,
                           const GyreRef    *in,
                           GyreRef          *out)
{
  Pool self = { node, &in[0], NULL, out };

  for_each_window (&self, &out->shape, sum_window);
}

void
gyre_window_max_reference (const GyreTensor *node,
                           const GyreRef    *in,
                           GyreRef          *out)
{
  Pool self = { node, &in[0], NULL, out };

  for_each_window (&self, &out->shape, max_window);
}

void
gyre_window_pick_reference (const GyreTensor *node,
                            const GyreRef    *in,
                            GyreRef          *out)
{
  Pool self = { node, &in[0], &in[1], out };

  for_each_window (&self, &out->shape, pick_window);
}

void
gyre_window_scatter_reference (const GyreTensor *node,
                               const GyreRef    *in,
                               GyreRef          *out)
{
  Pool self = { node, &in[0], &in[1], out };

  for_each_window (&self, &in[1].shape, scatter_window);
}
