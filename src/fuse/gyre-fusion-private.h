/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fuse/gyre-fuse-private.h"

G_BEGIN_DECLS

/* An extent as the kernel's text knows it: of a dimension that the sharding splits only
 * the launch tells how much the device holds. */
typedef struct
{
  gint64  dim;     /* global */
  gint64  base;    /* as in GyreSpec */
  guint8  axes;    /* that split it; 0: dim is the extent */
  guint8  flat;    /* axes that split it flat, by the bounds of group */
  guint16 group;
} GyreExtent;

/* A product of extents: literal · factors */
typedef struct
{
  gint64     literal;
  guint      n;
  GyreExtent factors[GYRE_MAX_RANK];
} GyreExtents;

typedef enum
{
  GYRE_SIZE_EXTENT,   /* what the device holds */
  GYRE_SIZE_OFFSET,   /* where it begins */
  GYRE_SIZE_GLOBAL    /* of the whole array */
} GyreSizeKind;

/* An int argument of a kernel. */
typedef struct
{
  GyreSizeKind kind;
  GyreExtents  extents;
  const char  *name;
} GyreSize;

typedef struct _GyreFusedKernel GyreFusedKernel;

struct _GyreFusedKernel
{
  const char *name;
  const char *source;      /* headers included */
  guint       n_sizes;
  GyreSize   *sizes;
  guint       dims;        /* of the NDRange, 1 to 3; the first is the innermost */
  GyreExtents range[3];
  gsize       local[3];
  gboolean   *overwrites;  /* [n_results][n_operands], see gyre_fused_may_overwrite () */
  /* Runs first, and writes so many bytes of scratch that this one reads; or NULL.  Its
   * arguments: scratch, operands, sizes.  This one's: results, operands, scratch,
   * sizes. */
  GyreFusedKernel *before;
  gsize            scratch;
};

/* What a fused node computes: a graph whose inputs are the node's operands, in order, and
 * whose outputs are its results. */
typedef struct
{
  GyreGraph       *body;
  GyreSpec        *specs;      /* by id in body */
  /* for others, for CPUs; made when first asked for; in body's arena */
  GyreFusedKernel *kernels[2];
} GyreFusion;

typedef struct
{
  GyreFusion *fusion;          /* of the program's arena */
} GyreFusedAttrs;

typedef struct
{
  guint index;
} GyreProjectAttrs;

/* The fusion frees body with the arena. */
GyreFusion *gyre_fusion_new         (GyreArena *arena,
                                     GyreGraph *body);
/* Emits the node, and the projects where there are several results: results[i]. */
void        gyre_fusion_emit        (GyreFusion        *self,
                                     GyreGraph         *graph,
                                     GyreTensor *const *operands,
                                     GyreTensor       **results);
/* NULL on an error: a header of the kernel that isn't there. */
const GyreFusedKernel *gyre_fusion_get_kernel (GyreFusion  *self,
                                               gboolean     cpu,
                                               GError     **error);

static inline const GyreFusion *
gyre_fusion_of (const GyreTensor *node)
{
  return ((const GyreFusedAttrs *) node->attrs)->fusion;
}

/* Extents and their products */
GyreExtent  gyre_extent_of          (const GyreTensor *value,
                                     const GyreSpec   *spec,
                                     int               dim);
gboolean    gyre_extent_is_one      (const GyreExtent *self);
void        gyre_extents_multiply   (GyreExtents       *self,
                                     const GyreExtent  *factor);
/* of all dimensions after dim: how far apart its elements are */
GyreExtents gyre_extents_stride     (const GyreTensor *value,
                                     const GyreSpec   *spec,
                                     int               dim);
gboolean    gyre_extents_equal      (const GyreExtents *a,
                                     const GyreExtents *b);
/* Whether a view only adds or drops dimensions of one element; then dims[d] is set to the
 * dimension of the view that dimension d of its operand is, or -1 where it is one of
 * those.  specs: by id. */
gboolean    gyre_extents_map_view   (const GyreTensor *view,
                                     const GyreSpec   *specs,
                                     int              *dims);
/* The number that it is on the device that lower is for. */
gint64      gyre_size_evaluate      (GyreSizeKind       kind,
                                     const GyreExtents *extents,
                                     const GyreLower   *lower);

G_END_DECLS
