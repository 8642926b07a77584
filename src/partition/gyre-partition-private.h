/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-program-private.h"

G_BEGIN_DECLS

/* Spreads a graph over a mesh: gives every value a sharding and inserts collectives.
 *
 * inputs   how each input comes (NULL: all replicated).  The program's specs may refine
 *          it: a replicated donated input that only the update of a parameter reads, such
 *          as an optimizer's moment, comes back flat: each device holds its chunk alone
 * donated  by output: the input whose buffer it may take over, or -1 (NULL: none).  Such
 * an
 *          output lies as that input does
 *
 * Partial sums become whole before their first non-linear use.  Where a whole sum is then
 * only used element-wise to make new donated state, it is reduce-scattered, the update
 * runs on each device's own chunk, and the new state is all-gathered. */
GyreProgram *gyre_partition (const GyreGraph     *graph,
                             const GyreMeshSpec  *mesh,
                             const GyreSpec      *inputs,
                             const int           *donated,
                             GError             **error);

G_END_DECLS
