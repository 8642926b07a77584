/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-trace.h>

#include "ir/gyre-graph-private.h"

G_BEGIN_DECLS

/* What is known of an argument while a function is traced. */
typedef struct
{
  GyreDtype dtype;
  GyreShape shape;
} GyreAval;

/* A function that was recorded as a graph.  Leaf i of the arguments is input i of the
 * graph; the leaves of the results are its outputs, in order, but for those that are
 * arrays already: they are results of every run as they are. */
typedef struct
{
  GyreGraph *graph;          /* owned; may be stolen once the function has run */
  GyreArena *arena;          /* owns what the function made */

  GyreTree  *args;           /* as the function saw them, tensors for leaves */
  GPtrArray *arg_paths;      /* by leaf: char * */
  GyreTree  *results;        /* as the function returned them */
  GPtrArray *result_leaves;  /* GyreTree * */
  GPtrArray *result_paths;   /* by leaf of the results: char * */
} GyreTrace;

GyreTrace *gyre_trace_new        (void);
void       gyre_trace_free       (GyreTrace *self);
/* An axis that collectives may name; before the function is run. */
void       gyre_trace_add_axis   (GyreTrace  *self,
                                  const char *name,
                                  guint       size,
                                  gboolean    manual,
                                  gboolean    ragged);
/* Calls func once, with tensors in the place of the leaves of args: of avals[i] for
 * leaf i in the order of gyre_tree_flatten (); nodes are made anew around them.  args
 * itself isn't kept.  Fails with the first error of the graph. */
gboolean   gyre_trace_run        (GyreTrace       *self,
                                  GyreStepFunc     func,
                                  gpointer         data,
                                  GyreTree        *args,
                                  const GyreAval  *avals,
                                  GError         **error);
/* The results with other leaves (GyreTree *), one an output of the graph: new nodes are
 * made.  The graph isn't needed for it.  (transfer full) */
GyreTree  *gyre_trace_unflatten  (GyreTrace  *self,
                                  GPtrArray  *outputs,
                                  GError    **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreTrace, gyre_trace_free)

G_END_DECLS
