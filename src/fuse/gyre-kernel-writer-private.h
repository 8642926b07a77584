/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fuse/gyre-fusion-private.h"

G_BEGIN_DECLS

/* A read of an operand or a write of a result, at these indices. */
typedef struct
{
  const GyreTensor  *value;   /* in body: an input or an output */
  gboolean           store;
  guint              index;   /* which input or output */
  const char *const *ix;
} GyreAccess;

/* A reduction in two kernels: the first one's work-items each reduce every so many
 * elements along one dimension, and the second one reduces what they made. */
typedef struct
{
  const GyreTensor *node;      /* the reduction */
  int               dim;       /* of its operand */
  gboolean          partials;  /* the second: partial results stand for the operand */
  const char       *count;     /* the first: elements along dim, and the index of */
  const char       *format;    /* each, from that of the loop */
} GyreKernelWindow;

/* What stands behind GyreEmit: the statements of a kernel, as they come. */
typedef struct
{
  GyreEmit          emit;
  const GyreFusion *fusion;
  GString          *text;
  guint             depth;      /* of blocks */
  guint             n_names;
  GArray           *memo;       /* Memo: elements that have a name by now */
  GArray           *blocks;     /* guint: length of memo where each open block began */
  GPtrArray        *headers;
  GArray           *sizes;      /* GyreSize */
  GArray           *accesses;   /* GyreAccess */
  const GyreTensor *rule;       /* whose rule is being asked */
  /* or NULL */
  const GyreKernelWindow *window;
  gboolean          measuring;  /* addresses are left out of the text */
  gboolean          in_step;    /* a barrier in each innermost loop */
  guint             n_loops;
  gboolean          innermost;  /* no loop was closed in the one that is open */
  guint             n_ifs;      /* that are open */
  gboolean          uniform;    /* all work-items run through all loops alike */
} GyreKernelWriter;

void        gyre_kernel_writer_init    (GyreKernelWriter *self,
                                        const GyreFusion *fusion,
                                        GyreArena        *arena,
                                        gboolean          measuring);
void        gyre_kernel_writer_clear   (GyreKernelWriter *self);
/* The C expression, a name or a literal, of the element of a value of the body. */
const char *gyre_kernel_writer_element (GyreKernelWriter  *self,
                                        const GyreTensor  *value,
                                        const char *const *ix);
void        gyre_kernel_writer_store   (GyreKernelWriter  *self,
                                        guint              output,
                                        const char *const *ix,
                                        const char        *expression);
/* The name of the argument that holds this; made where it is new. */
const char *gyre_kernel_writer_size    (GyreKernelWriter  *self,
                                        GyreSizeKind       kind,
                                        const GyreExtents *extents);
/* Whether, in its loops, neighbouring work-items read neighbouring elements, as in a sum
 * over rows.  On a CPU work-items then do best in step, a barrier after each round: the
 * compiler makes a vector of them. */
gboolean    gyre_kernel_writer_is_columns (const GyreKernelWriter *self,
                                           const char             *innermost);
/* Whether name occurs as a whole identifier. */
gboolean    gyre_text_has_name         (const char *text,
                                        const char *name);

/* How the work-items cover the results: dimensions that every access takes together are
 * one range, so that a chain over arrays of one shape is one-dimensional. */
typedef struct
{
  const char *ix[GYRE_MAX_RANK];     /* index of each dimension of the results */
  guint       n_ranges;              /* the first is the innermost */
  const char *names[GYRE_MAX_RANK];  /* the ranges' indices */
  GyreExtents extents[GYRE_MAX_RANK];
  gboolean    columns;
} GyreKernelGrid;

/* One range a dimension, but none where there is one element. */
void        gyre_kernel_grid_init      (GyreKernelGrid   *self,
                                        const GyreTensor *result,
                                        const GyreSpec   *spec,
                                        GyreArena        *arena);
/* Merges what the accesses of a measuring writer allow to merge. */
void        gyre_kernel_grid_collapse  (GyreKernelGrid         *self,
                                        const GyreKernelWriter *writer);

G_END_DECLS
