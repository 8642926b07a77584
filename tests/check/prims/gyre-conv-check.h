/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-device.h>
#include <gyre/gyre-ops.h>

#include "ir/gyre-lower-private.h"

/* A convolution or a pool, and its gradients, on a device against the interpreter in
 * double. */

typedef GyreTensor *(*GyrePoolFunc) (GyreTensor *x, const gint64 *window,
                                 const gint64 *strides, const gint64 *padding);

/* Of a pool k is the window. */
typedef struct
{
  const char *name;
  GyreShape x, k;
  gint64 strides[2], padding[4], dilation[2], input_dilation[2];
  gint64 groups;
  GyrePoolFunc pool;
} GyreConvCase;

/* Algorithms (GYRE_CONV), and devices that they shall believe in */
typedef struct
{
  const char *name, *algorithm;
  GyreTarget target;
} GyreConvTarget;

extern const GyreConvTarget gyre_conv_targets[];
extern const guint gyre_conv_n_targets;

/* Inputs x, a cotangent, and of a convolution k between; outputs y and the gradients;
 * graph->error where it is refused */
GyreGraph *gyre_conv_check_graph (const GyreConvCase *which);
/* By targets first to end - 1; weights: shares of the samples, or NULL: one device */
void gyre_conv_check (const GyreConvCase *which, GyreDevice *device, guint first,
                      guint end, double *weights, guint n_weights);
