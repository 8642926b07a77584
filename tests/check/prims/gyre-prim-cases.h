/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-ops.h>

#include "ir/gyre-prim-private.h"

/* One table of cases for every primitive.  Each test runs it in a mode of its own:
 * gradients against finite differences, splits against the whole, devices against the
 * reference. */

typedef struct
{
  GyreDtype dtype;
  GyreShape shape;
  double low, high; /* numbers lie between these; integers may reach both */
} GyrePrimInput;

typedef enum
{
  GYRE_CASE_SMOOTH = 1 << 0, /* finite differences tell its gradient */
  GYRE_CASE_EXACT = 1 << 1,  /* devices give the reference's numbers, rounded to f32 */
} GyreCaseFlags;

/* One of unary, binary and build makes it. */
typedef struct
{
  const char *name;
  GyreTensor *(*unary) (GyreTensor *x);
  GyreTensor *(*binary) (GyreTensor *a, GyreTensor *b);
  GyreTensor *(*build) (GyreTensor *const *x);
  guint flags;
  double slack; /* of gradients, relative; 0: 1e-6, what steps of 1e-5 leave */
  guint n_inputs;
  GyrePrimInput inputs[3];
} GyrePrimCase;

extern const GyrePrimCase gyre_prim_cases[];
extern const guint gyre_prim_n_cases;

/* A graph with the inputs and the result as its output, pushed as the current one:
 * gyre_graph_pop () and gyre_graph_free () when done.  The case's name is in its path. */
GyreGraph *gyre_prim_case_graph (const GyrePrimCase *self, GyreTensor **result);
/* The numbers of input i, always the same; g_free data.  Floats are exact as f32. */
GyreRef gyre_prim_case_input (const GyrePrimCase *self, guint i);
/* Numbers between low and high, by a seed. */
GyreRef gyre_prim_case_numbers (const GyrePrimInput *input, guint32 seed);
