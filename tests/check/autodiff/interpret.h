/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tests of traced functions without devices: numbers in, numbers out, in double. */

#include <gyre/gyre-ops.h>

#include "gyre-check.h"
#include "ir/gyre-prim-private.h"
#include "trace/gyre-trace-private.h"

#define MAX_VALUES 32

/* Runs a graph on inputs that lie one after the other; so do the outputs, to be freed. */
static inline double *
interpret (const GyreGraph *graph,
           const double    *numbers)
{
  GyreRef inputs[MAX_VALUES], outputs[MAX_VALUES];
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) result = g_array_new (FALSE, FALSE, sizeof (double));

  g_assert (graph->inputs->len <= MAX_VALUES && graph->outputs->len <= MAX_VALUES);
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const GyreTensor *input = g_ptr_array_index (graph->inputs, i);

      inputs[i] = (GyreRef) { input->dtype, input->shape, (double *) numbers };
      numbers += gyre_shape_n_elements (&input->shape);
    }

  gyre_interpret (graph, inputs, outputs, &error);
  gyre_assert_no_error (error);
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      guint n = (guint) gyre_shape_n_elements (&outputs[i].shape);

      g_array_append_vals (result, outputs[i].data, n);
      g_free (outputs[i].data);
    }

  return (double *) g_array_free (g_steal_pointer (&result), FALSE);
}

/* Numbers in [-1, 1) that look random and are always the same. */
static inline void
fill_numbers (double *numbers,
              gsize   n,
              guint32 seed)
{
  for (gsize i = 0; i < n; i++)
    {
      seed = seed * 1664525u + 1013904223u;
      numbers[i] = (seed >> 8) / 8388608.0 - 1;
    }
}

/* A tree whose leaves only stand for what will be traced. */
static inline void
set_placeholder (GyreTree   *tree,
                 const char *path)
{
  static int nothing;
  g_autoptr (GyreTree) leaf = gyre_tree_new_tensor ((GyreTensor *) &nothing);

  gyre_tree_set_path (tree, path, leaf);
}
