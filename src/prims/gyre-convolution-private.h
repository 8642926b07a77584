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

/* Which of the three is computed by the others */
typedef enum
{
  GYRE_CONV_Y,
  GYRE_CONV_X,
  GYRE_CONV_K
} GyreConvGives;

/* A convolution on a device: the sizes are those of x → y, whatever is computed. */
typedef struct
{
  GyreConvGives gives;
  guint    x, k, y;         /* values */
  gint64   n, in[2], out[2];
  gint64   channels, out_channels, groups;
  gint64   taps[2];
  gint64   strides[2], low[2], dilation[2], spread[2];
  gboolean turned;          /* of kernels that give x as a y: the kernel's taps backwards,
                               its channels swapped */
} GyreConvJob;

/* One way to compute it.  The table in gyre-convolution-choose.c lists them: the first
 * that serves the job and suits it is taken, else the first that serves it.  None of
 * n, channels and so on is 0. */
typedef struct
{
  const char *name;

  /* whether it can */
  gboolean (*serves) (const GyreLower *lower, const GyreConvJob *job);
  /* whether it is the best, as far as is known; where it serves */
  gboolean (*suits)  (const GyreLower *lower, const GyreConvJob *job);
  void     (*lower)  (GyreLower *lower, const GyreTensor *node, const GyreConvJob *job);
} GyreConvAlgorithm;

extern const GyreConvAlgorithm gyre_conv_direct;     /* serves all */
extern const GyreConvAlgorithm gyre_conv_im2col;
extern const GyreConvAlgorithm gyre_conv_fft;

/* NULL: $GYRE_CONV names none that there is */
const GyreConvAlgorithm *gyre_convolution_choose (const GyreLower    *lower,
                                                  const GyreConvJob  *job,
                                                  GError            **error);

/* How work-groups of one work-item do it, for CPUs: src/prims/gyre-convolution-rows.c.
 * FALSE where the local memory is too small. */
gboolean gyre_convolution_rows_lower   (GyreLower *lower, const GyreTensor *node,
                                        const GyreConvJob *job);
gboolean gyre_convolution_rows_serves  (const GyreLower *lower, const GyreConvJob *job);
/* The same of as many groups as channels and features: gyre-convolution-depth.c */
gboolean gyre_convolution_depth_lower  (GyreLower *lower, const GyreTensor *node,
                                        const GyreConvJob *job);
/* The job of x as a y: from y to x. */
GyreConvJob gyre_convolution_turn      (const GyreConvJob *job);
/* All kernels of convolution.cl and convolution-columns.cl take these, in this order:
 * adds them after n arguments, and returns how many there are then. */
guint    gyre_convolution_add_sizes    (const GyreConvJob *job, GyreCommandArg *args,
                                        guint n);

#define GYRE_CONV_MAX_ARGS 24

G_END_DECLS
