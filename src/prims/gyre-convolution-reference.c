/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* The sum over all places where x, kernel and y meet, from any two of them to the
 * third. */

typedef struct
{
  const GyreConvAttrs *attrs;
  const GyreRef       *x, *k, *y;
  double              *sum;          /* the data of one of them … */
  const double        *a, *b;        /* … and of the others */
  const gint64        *to, *at_a, *at_b;
  gint64               x_at, k_at, y_at;
} Meeting;

/* One tap of one place: channels and features, group by group */
static void
meet_channels (Meeting *self,
               gint64   x_first,
               gint64   k_first,
               gint64   y_first)
{
  gint64 channels = self->k->shape.dims[2], all = self->k->shape.dims[3];
  gint64 features = all / self->attrs->groups;

  for (gint64 o = 0; o < all; o++)
    for (gint64 c = 0; c < channels; c++)
      {
        self->x_at = x_first + o / features * channels + c;
        self->k_at = k_first + c * all + o;
        self->y_at = y_first + o;
        self->sum[*self->to] += self->a[*self->at_a] * self->b[*self->at_b];
      }
}

/* The element of the image that tap t meets at place p, or -1 */
static gint64
find_element (const Meeting *self,
              int            i,
              gint64         p,
              gint64         t)
{
  const GyreConvAttrs *attrs = self->attrs;
  gint64 at = p * attrs->strides[i] + t * attrs->dilation[i] - attrs->padding[i][0];

  if (at < 0 || at % attrs->spread[i] != 0
      || at / attrs->spread[i] >= self->x->shape.dims[1 + i])
    return -1;

  return at / attrs->spread[i];
}

static void
meet_taps (Meeting *self,
           gint64   n,
           gint64   p,
           gint64   q)
{
  const gint64 *x = self->x->shape.dims, *k = self->k->shape.dims;
  const gint64 *y = self->y->shape.dims;

  for (gint64 i = 0; i < k[0]; i++)
    for (gint64 j = 0; j < k[1]; j++)
      {
        gint64 row = find_element (self, 0, p, i), column = find_element (self, 1, q, j);

        if (row >= 0 && column >= 0)
          meet_channels (self, ((n * x[1] + row) * x[2] + column) * x[3],
                         (i * k[1] + j) * k[2] * k[3],
                         ((n * y[1] + p) * y[2] + q) * y[3]);
      }
}

static void
meet (Meeting *self)
{
  const gint64 *y = self->y->shape.dims;

  for (gint64 n = 0; n < y[0]; n++)
    for (gint64 p = 0; p < y[1]; p++)
      for (gint64 q = 0; q < y[2]; q++)
        meet_taps (self, n, p, q);
}

void
gyre_convolution_reference (const GyreTensor *node,
                            const GyreRef    *in,
                            GyreRef          *out)
{
  Meeting self = { node->attrs, &in[0], &in[1], out, out->data, in[0].data, in[1].data };

  self.to = &self.y_at;
  self.at_a = &self.x_at;
  self.at_b = &self.k_at;
  meet (&self);
}

void
gyre_convolution_image_reference (const GyreTensor *node,
                                  const GyreRef    *in,
                                  GyreRef          *out)
{
  Meeting self = { node->attrs, out, &in[0], &in[1], out->data, in[0].data, in[1].data };

  self.to = &self.x_at;
  self.at_a = &self.k_at;
  self.at_b = &self.y_at;
  meet (&self);
}

void
gyre_convolution_kernel_reference (const GyreTensor *node,
                                   const GyreRef    *in,
                                   GyreRef          *out)
{
  Meeting self = { node->attrs, &in[0], out, &in[1], out->data, in[0].data, in[1].data };

  self.to = &self.k_at;
  self.at_a = &self.x_at;
  self.at_b = &self.y_at;
  meet (&self);
}
