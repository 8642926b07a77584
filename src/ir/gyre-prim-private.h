/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-emit-private.h"
#include "ir/gyre-graph-private.h"
#include "ir/gyre-lower-private.h"
#include "ir/gyre-spec-private.h"

G_BEGIN_DECLS

typedef enum
{
  GYRE_PRIM_ELEMENTWISE = 1 << 0, /* all operands have the result's shape; element i
                                      of it needs elements i of them alone */
  GYRE_PRIM_COMMUTATIVE = 1 << 1,
  GYRE_PRIM_IMPURE = 1 << 2, /* never merged, folded or dropped */
  GYRE_PRIM_COLLECTIVE = 1 << 3,
  GYRE_PRIM_REDUCTION = 1 << 4, /* ends a fused kernel: loops over its operand */
  GYRE_PRIM_VIEW = 1 << 5,      /* the same numbers in the same order: reshape */
  GYRE_PRIM_GENERATOR = 1 << 6, /* cheap to make again in any sharding: iota */
  GYRE_PRIM_ADDITIVE = 1 << 7,  /* linear in its linear operands together, not in
                                      each by itself: add, select, concatenate; mul
                                      is not */
  GYRE_PRIM_PARTIALS = 1 << 8,  /* a reduction of which that of its results over parts is
                                      the result over all: sum, max, min; not arg-max */
} GyrePrimFlags;

/* Host numbers of the oracle: any dtype as double (u32 is exact). */
typedef struct
{
  GyreDtype dtype;
  GyreShape shape;
  double   *data;
} GyreRef;

/* A primitive is a name plus rules.  NULL means: the rule doesn't exist (vjp: no
 * gradient, an error where one is asked; fuse: must have lower). */
struct _GyrePrim
{
  const char   *name;
  GyrePrimFlags flags;
  gsize         attrs_size;       /* a plain struct without pointers, zeroed padding */
  int           n_operands;       /* -1: any number */
  guint32       linear;           /* bit i: linear in operand i, the others held */

  /* Result's dtype and shape, or FALSE and an error that names the operand, the shapes
   * and the remedy. */
  gboolean    (*infer)     (GyreTensor *const *operands, guint n, const void *attrs,
                            GyreDtype *dtype, GyreShape *shape, GError **error);
  /* ct: the cotangent of node.  cts[i] is set to that of operand i, built with the
   * public builders, or left NULL where it is zero or the operand is not f32. */
  void        (*vjp)       (GyreTensor *node, GyreTensor *ct, GyreTensor **cts);
  /* See gyre-spec-private.h. */
  gboolean    (*partition) (const GyreTensor *node, const GyreMeshSpec *mesh,
                            const GyreSpec *in, GyreSpec *want, GyreSpec *out,
                            GError **error);
  /* The node's value as a vector, row-major, from its operands given as vectors (those
   * of one element as they are), built in their graph; NULL: not possible.  Not needed
   * for element-wise primitives. */
  GyreTensor *(*flatten)   (GyreGraph *graph, const GyreTensor *node,
                            GyreTensor *const *operands);
  /* The C expression of one element: see gyre-emit-private.h. */
  const char *(*fuse)      (GyreEmit *emit, const GyreTensor *node,
                            const char *const *ix);
  /* Commands for one device: see gyre-lower-private.h. Not needed where fuse is given. */
  gboolean    (*lower)     (GyreLower *lower, const GyreTensor *node, GError **error);
  /* A simpler equal of the node, built in its graph, or NULL. */
  GyreTensor *(*simplify)  (GyreGraph *graph, const GyreTensor *node);
  /* Floating point operations. */
  double      (*cost)      (const GyreTensor *node);
  /* out has its dtype and shape, and zeroed data to be filled.  In double; integers wrap
   * as their dtype does; bool is 0 or 1. */
  void        (*reference) (const GyreTensor *node, const GyreRef *in, GyreRef *out);
  /* The same of a collective, for all members at once: operand i of member m is
   * in[m * node->n_operands + i], its result out[m].  Members are the devices of mesh,
   * which has the axes of the graph: gyre_mesh_spec_coord () says who is with whom. */
  void        (*reference_mesh) (const GyreTensor *node, const GyreMeshSpec *mesh,
                                 const GyreRef *in, GyreRef *out);
  /* Appends " {…}", or nothing. */
  void        (*print)     (const GyreTensor *node, GString *out);
};

/* The input of a graph: attrs are GyreInputAttrs. */
extern const GyrePrim gyre_prim_input;

typedef struct
{
  guint     index;    /* its place in graph->inputs */
  GQuark    name;     /* for messages */
  GyreDtype dtype;
  GyreShape shape;
} GyreInputAttrs;

/* Runs the graph on the host in double with the reference rules: the oracle.
 * inputs[i] for graph->inputs[i]; outputs[i].data is allocated, g_free.  A collective is
 * run as on a mesh of one unless gyre_interpret_mesh () is used, which takes the inputs
 * of n members (inputs[member * n_inputs + i]) in manual axes and gives their outputs
 * (outputs[member * n_outputs + i]).  n_members is the product of the axes' sizes. */
gboolean gyre_interpret      (const GyreGraph *graph, const GyreRef *inputs,
                              GyreRef *outputs, GError **error);
gboolean gyre_interpret_mesh (const GyreGraph *graph, guint n_members,
                              const GyreRef *inputs, GyreRef *outputs, GError **error);
/* The same where members were traced apart since their extents differ: a graph each,
 * which come to the same collectives in one order. */
gboolean gyre_interpret_ragged (const GyreGraph *const *graphs, guint n_members,
                                const GyreRef *inputs, GyreRef *outputs, GError **error);

G_END_DECLS
