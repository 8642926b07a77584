/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-graph-private.h"

G_BEGIN_DECLS

/* An abstract mesh: axes with sizes; device d has the row-major coordinates of d.  Along
 * an axis the members may have unlike weights (shares). */
typedef struct
{
  guint    n_axes;
  GyreAxis axes[GYRE_MAX_AXES];
  double  *weights[GYRE_MAX_AXES];   /* axes[a].size of them, or NULL: equal */
} GyreMeshSpec;

guint gyre_mesh_spec_n_devices (const GyreMeshSpec *self);
guint gyre_mesh_spec_coord     (const GyreMeshSpec *self, guint device, guint axis);

/* How one value lies on the mesh.  Masks are over mesh axes.
 *  axes[i]   the axes that split dimension i (usually one or none)
 *  base[i]   the extent that is cut: dims[i] = base[i] · k, and the boundaries of
 *            dimension i are those of base[i] times k (after a reshape that merged a
 * split
 *            dimension with inner ones).  0 where not split.
 *  partial   the axes over which the members hold summands; the value is their sum
 *  flat      the axes that split the flattened array, row-major (updates between the
 *            halves of the ring); then axes[] are all 0, and the boundaries are given by
 *            the plan.  Only inputs, outputs and views of rank other than 1 have it; what
 *            computes on flat values has rank 1
 *  group     flat: which gradient's boundaries these are, from 1; values of one group are
 *            cut alike
 * All zero: replicated. */
typedef struct
{
  guint8 axes[GYRE_MAX_RANK];
  gint64 base[GYRE_MAX_RANK];
  guint8 partial;
  guint8 flat;
  guint16 group;
} GyreSpec;

#define GYRE_SPEC_REPLICATED ((GyreSpec) { 0 })

gboolean gyre_spec_equal         (const GyreSpec *a, const GyreSpec *b);
gboolean gyre_spec_is_replicated (const GyreSpec *self);
/* all axes that split it, flat ones too */
guint8   gyre_spec_split_axes    (const GyreSpec *self);
char    *gyre_spec_to_string     (const GyreSpec *self, const GyreMeshSpec *mesh,
                                  int rank);

/* Cuts extent at n + 1 integer boundaries by weight: largest remainder, ties to the lower
 * rank; they sum to extent exactly.  weights NULL: equal. */
void gyre_shares_cut (gint64 extent, guint n, const double *weights, gint64 *bounds);

/* The part of dimension dim that a device holds: [first, first + count). */
void gyre_spec_local_range (const GyreSpec *self, const GyreMeshSpec *mesh,
                            const GyreShape *global, guint device, int dim,
                            gint64 *first, gint64 *count);
void gyre_spec_local_shape (const GyreSpec *self, const GyreMeshSpec *mesh,
                            const GyreShape *global, guint device,
                            GyreShape *local, gint64 *offsets);

/* The partition rule of a primitive.
 *   in[i]    how operand i lies now (may be partial)
 *   want[i]  set to how it is needed: the partitioner inserts what gets it there (an
 *            all-reduce where partial is dropped, an all-gather where a split is, a local
 *            slice where one is added).  Preset to in[i] with partial cleared
 *   out      set to how the result lies then.  Preset to replicated
 * A rule keeps a partial operand partial (want[i].partial = in[i].partial, and
 * out->partial the same) where the primitive is linear in it and the other operands allow
 * it.  Rules for the common families: */
gboolean gyre_partition_elementwise (const GyreTensor *node, const GyreMeshSpec *mesh,
                                     const GyreSpec *in, GyreSpec *want, GyreSpec *out,
                                     GError **error);
/* The axes over which the result may stay a partial sum: where all linear operands of an
 * additive primitive are partial alike, or one linear operand of another. */
guint8   gyre_partition_keep_partial (const GyreTensor *node, const GyreSpec *in);
/* everything replicated */
gboolean gyre_partition_replicated  (const GyreTensor *node, const GyreMeshSpec *mesh,
                                     const GyreSpec *in, GyreSpec *want, GyreSpec *out,
                                     GError **error);

G_END_DECLS
