/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* A step between the stages: what partition makes and fuse, plan and schedule refine. */
typedef struct
{
  GyreGraph   *graph;         /* owned */
  GyreMeshSpec mesh;
  GyreSpec    *specs;         /* by node id, in the graph's arena */
  /* By output: the input whose buffer it may take over (donated state), or -1. */
  int         *donated;
} GyreProgram;

GyreProgram *gyre_program_new  (GyreGraph *graph, const GyreMeshSpec *mesh);
void         gyre_program_free (GyreProgram *self);
/* The graph's text with each value's sharding. */
char        *gyre_program_to_string (const GyreProgram *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreProgram, gyre_program_free)

G_END_DECLS
