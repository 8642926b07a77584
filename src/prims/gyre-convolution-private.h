/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "prims/gyre-prims-private.h"

G_BEGIN_DECLS

/* Convolution is linear in three values, x[n, h, w, c], kernel k[h, w, c / groups, o] and
 * y[n, h, w, o]: element p of y meets element i of x at tap t where
 *
 *   p · stride + t · dilation - low = i · spread
 *
 * along both dimensions of the image, and o is of the group that c is of.  Three
 * primitives give one of them by the other two; each is the gradient of the others. */
typedef struct
{
  gint64 strides[2];
  gint64 padding[2][2];    /* low and high; negative: cut */
  gint64 dilation[2];      /* steps between the kernel's taps */
  gint64 spread[2];        /* steps between the image's elements */
  gint64 groups;
  gint64 result[4];        /* of the two gradients: what they give */
} GyreConvAttrs;

extern const GyrePrim gyre_prim_convolution;         /* x, kernel → y */
extern const GyrePrim gyre_prim_convolution_image;   /* kernel, y → x */
extern const GyrePrim gyre_prim_convolution_kernel;  /* x, y → kernel */

gboolean gyre_convolution_lower        (GyreLower *lower, const GyreTensor *node,
                                        GError **error);
gboolean gyre_convolution_image_lower  (GyreLower *lower, const GyreTensor *node,
                                        GError **error);
gboolean gyre_convolution_kernel_lower (GyreLower *lower, const GyreTensor *node,
                                        GError **error);

void gyre_convolution_reference        (const GyreTensor *node, const GyreRef *in,
                                        GyreRef *out);
void gyre_convolution_image_reference  (const GyreTensor *node, const GyreRef *in,
                                        GyreRef *out);
void gyre_convolution_kernel_reference (const GyreTensor *node, const GyreRef *in,
                                        GyreRef *out);

/* A convolution as the kernels do it: from an image to an image. */
typedef struct
{
  gint64   n, in[2], out[2];
  gint64   channels, out_channels, groups;
  gint64   taps[2];
  gint64   strides[2], low[2], dilation[2], spread[2];
  gboolean turned;          /* the kernel's taps backwards, its channels swapped */
} GyreConvJob;

/* How work-groups of one work-item do it: src/prims/gyre-convolution-rows.c. FALSE where
 * the local memory is too small. */
gboolean gyre_convolution_rows_lower   (GyreLower *lower, const GyreTensor *node,
                                        const GyreConvJob *job, guint image,
                                        guint kernel);
gboolean gyre_convolution_rows_kernel_lower (GyreLower *lower, const GyreTensor *node,
                                             const GyreConvJob *job, guint image,
                                             guint result);

G_END_DECLS
