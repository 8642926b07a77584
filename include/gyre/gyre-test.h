/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* For the tests of layers: not part of <gyre/gyre.h>. */

#include <gyre/gyre.h>

G_BEGIN_DECLS

/**
 * GyreTestNumbers:
 * @path: "x", or a parameter's path, "dense_0/kernel"
 * @shape: its shape
 * @data: its elements, row-major
 *
 * An input or a parameter, as the reference function sees it.
 */
typedef struct
{
  char     *path;
  GyreShape shape;
  double   *data;
} GyreTestNumbers;

/**
 * GyreTestReference:
 * @inputs: x first, then the parameters
 * @n_inputs: how many
 * @y: zeroed, to be filled
 * @data: of the test
 *
 * What the layer should compute, in double on the host, by plain loops.
 */
typedef void (*GyreTestReference) (const GyreTestNumbers *inputs,
                                   guint                  n_inputs,
                                   GyreTestNumbers       *y,
                                   gpointer               data);

/**
 * GyreLayerTest:
 * @line: a model line, "swish2 beta=2"
 * @input: the shape of x, the batch first
 * @output: the shape of the reference's result
 * @reference: what the layer should compute
 * @data: for @reference
 * @devices: a device string; %NULL: $GYRE_DEVICES, else all
 * @tolerance: of values, relative to the largest of an array; 0: 1e-4, which f32 sums of
 *   some hundred terms keep. Gradients: ten times that
 *
 * A case of gyre_test_layer().
 */
typedef struct
{
  const char       *line;
  GyreShape         input;
  GyreShape         output;
  GyreTestReference reference;
  gpointer          data;
  const char       *devices;
  double            tolerance;
} GyreLayerTest;

GYRE_API gboolean      gyre_test_layer (const GyreLayerTest   *test,
                                        GError               **error);
/* The numbers of a parameter by the end of its path, "kernel"; for references. */
GYRE_API const double *gyre_test_find  (const GyreTestNumbers *inputs,
                                        guint                  n_inputs,
                                        const char            *name);

G_END_DECLS
