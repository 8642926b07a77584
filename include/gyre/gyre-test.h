/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* For the tests of layers: not part of <gyre/gyre.h>. */

#include <gyre/gyre.h>

G_BEGIN_DECLS

/**
 * GyreTestNumbers:
 * @path: "x", a parameter's path, "dense_0/kernel", that of model state,
 *   "batch_norm_0/mean", or "key"
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
 * @inputs: x first, then the parameters, the model state before the step, and the key
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
 * GyreTestState:
 * @inputs: as for #GyreTestReference
 * @n_inputs: how many
 * @path: of model state, "batch_norm_0/mean"
 * @next: what the state is before the step; to be set to what it is after
 * @data: of the test
 *
 * What a layer should make of its state in a step, in double on the host.
 */
typedef void (*GyreTestState) (const GyreTestNumbers *inputs,
                               guint                  n_inputs,
                               const char            *path,
                               GyreTestNumbers       *next,
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
 * @dtype: of x: 0 is f32
 * @limit: of x that is no f32: numbers are drawn from 0 to it, without it; 0: 10
 * @state: what the model state should become; %NULL: whatever it becomes on one device
 *   has to become the same on three
 * @evaluation: whether the layer is applied as in evaluation, not as in training
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
  GyreDtype         dtype;
  gint64            limit;
  GyreTestState     state;
  gboolean          evaluation;
} GyreLayerTest;

GYRE_API gboolean      gyre_test_layer (const GyreLayerTest   *test,
                                        GError               **error);
/* The numbers of a parameter by the end of its path, "kernel"; for references. */
GYRE_API const double *gyre_test_find  (const GyreTestNumbers *inputs,
                                        guint                  n_inputs,
                                        const char            *name);
/* The key that a layer draws by; for references of what is random. */
GYRE_API GyreKey       gyre_test_key   (const GyreTestNumbers *inputs,
                                        guint                  n_inputs,
                                        const char            *layer);

G_END_DECLS
