/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-types.h>

#include "base/gyre-arena-private.h"

G_BEGIN_DECLS

typedef struct _GyrePrim  GyrePrim;
typedef struct _GyreGraph GyreGraph;

/* A value, which is also the node that makes it: a primitive applied to operands.
 * Immutable once emitted; lives in its graph's arena.  Every node makes one value; a
 * node of several results ("fused" alone) makes a tuple whose parts are taken by the
 * primitive "project". */
struct _GyreTensor
{
  const GyrePrim *prim;
  GyreGraph      *graph;
  guint           id;           /* index in graph->nodes */
  GyreDtype       dtype;
  GyreShape       shape;        /* global in automatic axes, local in manual ones */
  guint           n_operands;
  GyreTensor    **operands;
  const void     *attrs;        /* prim->attrs_size bytes, or NULL */
  const char     *path;         /* layer path that it was made in, "" outside; interned */
  gboolean        poison;       /* what follows an error: an f32 scalar, whose dims[]
                                   are all 1; in no list of nodes */
};

/* An axis name that collectives may use while a function is traced. */
typedef struct
{
  const char *name;     /* interned */
  guint       size;     /* number of devices along it */
  gboolean    manual;
  gboolean    ragged;   /* the devices' leading extents differ (pmap) */
} GyreAxis;

#define GYRE_MAX_AXES 4

/* The nodes stand in topological order.  Passes build a new graph from an old one. */
struct _GyreGraph
{
  GyreArena  *arena;
  GPtrArray  *nodes;
  GPtrArray  *inputs;          /* nodes of the primitive "input", in order */
  GPtrArray  *outputs;         /* any nodes; one may stand more than once */
  GError     *error;           /* the first; later ones are dropped */
  const char *path;            /* what new nodes get as their path */
  guint       n_axes;
  GyreAxis    axes[GYRE_MAX_AXES];
};

GyreGraph  *gyre_graph_new         (void);
void        gyre_graph_free        (GyreGraph *self);
/* A graph without nodes, with the axes of another. */
GyreGraph  *gyre_graph_new_like    (const GyreGraph *other);

/* Emits a node: runs the primitive's infer rule.  Operands of another graph are a
 * programmer error.  Never returns NULL: on an error of shapes it keeps the first on
 * the graph, prefixed with the primitive's name and the path, and returns a poison
 * tensor. */
GyreTensor *gyre_graph_emit        (GyreGraph          *self,
                                    const GyrePrim     *prim,
                                    GyreTensor *const  *operands,
                                    guint               n_operands,
                                    const void         *attrs);
GyreTensor *gyre_graph_input       (GyreGraph       *self,
                                    const char      *name,
                                    GyreDtype        dtype,
                                    const GyreShape *shape);
void        gyre_graph_add_output  (GyreGraph  *self,
                                    GyreTensor *value);
/* Keeps the error (transfer full) if it is the first; NULL where there is one already.
 * Returns a poison tensor. */
GyreTensor *gyre_graph_fail        (GyreGraph *self,
                                    GError    *error);
GyreTensor *gyre_graph_fail_with   (GyreGraph  *self,
                                    GyreError   code,
                                    const char *format,
                                    ...) G_GNUC_PRINTF (3, 4);
/* Re-emits a node of another graph here with the operands given, keeping its path. */
GyreTensor *gyre_graph_copy_node   (GyreGraph         *self,
                                    const GyreTensor  *node,
                                    GyreTensor *const *operands);
/* The text form: a line a node, "%3 = f32[256,512] matmul %1 %2 {trans_b}  ; dense_0".
 * Stable: golden tests compare it. */
char       *gyre_graph_to_string   (const GyreGraph *self);
/* Parts of it: the line of a node without its path; its type alone, "f32[256,512]"; and
 * all of it, with a note on each line. */
typedef void (*GyreTensorNoteFunc) (const GyreTensor *node, GString *out, gpointer data);
void        gyre_tensor_print         (const GyreTensor *self, GString *out);
void        gyre_tensor_print_type    (const GyreTensor *self, GString *out);
char       *gyre_graph_to_string_full (const GyreGraph *self, GyreTensorNoteFunc note,
                                       gpointer data);

/* The graph that builders without operands (constants, iota) emit into. */
GyreGraph  *gyre_graph_get_current (void);
/* That, or NULL with a critical that says where the public call belongs. */
GyreGraph  *gyre_graph_require     (const char *call);
void        gyre_graph_push        (GyreGraph *self);
void        gyre_graph_pop         (void);

/* number of uses of each node (outputs count), indexed by id; free with g_free */
guint      *gyre_graph_count_uses  (const GyreGraph *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreGraph, gyre_graph_free)

G_END_DECLS
