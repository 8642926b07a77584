/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-convolution-private.h"

/* The builders of convolutions, and paddings by name. */

/**
 * gyre_padding_same:
 * @extent: of the image along a dimension
 * @window: of the kernel or window along it
 * @stride: of the results
 * @dilation: of the kernel; 1 where it has none
 * @padding: (out caller-allocates) (array fixed-size=2): low and high
 *
 * The padding that TensorFlow and JAX call SAME: there are ⌈extent / stride⌉ results, and
 * of an odd number the one more is at the end.
 */
void
gyre_padding_same (gint64 extent,
                   gint64 window,
                   gint64 stride,
                   gint64 dilation,
                   gint64 padding[2])
{
  gint64 results, needed;

  g_return_if_fail (stride > 0);

  results = (extent + stride - 1) / stride;
  needed = (results - 1) * stride + (window - 1) * dilation + 1 - extent;
  needed = MAX (needed, 0);
  padding[0] = needed / 2;
  padding[1] = needed - needed / 2;
}

/**
 * gyre_padding_transposed:
 * @window: of the kernel along a dimension
 * @stride: how many results there are for each element of the image
 * @dilation: of the kernel; 1 where it has none
 * @same: whether there shall be exactly so many (SAME), or all that the kernel reaches
 *   (VALID)
 * @padding: (out caller-allocates) (array fixed-size=2): low and high
 *
 * The padding with which gyre_conv_dilated() is JAX's conv_transpose.
 */
void
gyre_padding_transposed (gint64   window,
                         gint64   stride,
                         gint64   dilation,
                         gboolean same,
                         gint64   padding[2])
{
  gint64 reach = (window - 1) * dilation + 1;
  gint64 all = reach + stride - 2 + (same ? 0 : MAX (reach - stride, 0));

  if (!same || stride > reach - 1)
    padding[0] = reach - 1;
  else
    padding[0] = (all + 1) / 2;
  padding[1] = all - padding[0];
}

/**
 * gyre_conv_dilated:
 * @x: f32[n, h, w, c]: images
 * @kernel: f32[kh, kw, c / groups, o]
 * @strides: (array fixed-size=2) (nullable): of the results; %NULL is 1, 1
 * @padding: (array fixed-size=4) (nullable): low and high of the height, then of the
 *   width; negative: cut; %NULL is none
 * @dilation: (array fixed-size=2) (nullable): steps from tap to tap of the kernel
 * @input_dilation: (array fixed-size=2) (nullable): steps from element to element of the
 *   image, with zeros between; of strides of a transposed convolution
 * @groups: the channels and features are cut into so many parts; each sees only its own
 *
 * out[n, p, q, o] = Σ x̃[n, p·s + i·d, q·s + j·d, c] kernel[i, j, c, o], where x̃ is the
 * image with its zeros between and around, and the sum is over taps i, j and the channels
 * c of o's group. A correlation, as all call a convolution. Gradients are convolutions
 * again. Sharding: samples may be split, and in one group features and channels (a
 * partial sum); the kernel's gradient is a partial sum over what splits the samples.
 * Kernels: convolution.cl, and convolution-rows.cl on CPUs.
 *
 * Returns: (transfer none): f32[n, h', w', o]; a poison tensor where the shapes don't fit
 */
GyreTensor *
gyre_conv_dilated (GyreTensor   *x,
                   GyreTensor   *kernel,
                   const gint64 *strides,
                   const gint64 *padding,
                   const gint64 *dilation,
                   const gint64 *input_dilation,
                   gint64        groups)
{
  GyreConvAttrs attrs = { .groups = groups };

  g_return_val_if_fail (x != NULL && kernel != NULL, NULL);

  for (int i = 0; i < 2; i++)
    {
      attrs.strides[i] = strides != NULL ? strides[i] : 1;
      attrs.dilation[i] = dilation != NULL ? dilation[i] : 1;
      attrs.spread[i] = input_dilation != NULL ? input_dilation[i] : 1;
      attrs.padding[i][0] = padding != NULL ? padding[2 * i] : 0;
      attrs.padding[i][1] = padding != NULL ? padding[2 * i + 1] : 0;
    }

  return gyre_prims_emit2 (&gyre_prim_convolution, x, kernel, &attrs);
}

/**
 * gyre_conv:
 * @x: f32[n, h, w, c]: images
 * @kernel: f32[kh, kw, c / groups, o]
 * @strides: (array fixed-size=2) (nullable): of the results; %NULL is 1, 1
 * @padding: (array fixed-size=4) (nullable): low and high of the height, then of the
 *   width; %NULL is none
 * @dilation: (array fixed-size=2) (nullable): steps from tap to tap of the kernel
 * @groups: the channels and features are cut into so many parts; each sees only its own
 *
 * A convolution: see gyre_conv_dilated(). gyre_padding_same() gives a padding.
 *
 * Returns: (transfer none): f32[n, h', w', o]; a poison tensor where the shapes don't fit
 */
GyreTensor *
gyre_conv (GyreTensor   *x,
           GyreTensor   *kernel,
           const gint64 *strides,
           const gint64 *padding,
           const gint64 *dilation,
           gint64        groups)
{
  return gyre_conv_dilated (x, kernel, strides, padding, dilation, NULL, groups);
}
