/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ir/gyre-graph-private.h"

G_BEGIN_DECLS

/* The writer of a generated kernel.  A primitive's fuse rule says how *one element* of
 * its result is computed: it is given the C expressions of the element's local indices
 * (ix[0 .. rank-1], simple enough to repeat; type int) and returns the C expression of
 * the element (in the C type of its dtype: float, int, uint, uchar; bool is uchar),
 * asking for elements of its operands at whatever indices it needs.  What it returns and
 * is given lives as long as the emitter.  Extents and offsets come as expressions, since
 * a dimension that the sharding splits is an argument of the kernel:
 *
 *   transpose:  for (i …) jx[perm[i]] = ix[i];  return gyre_emit_operand (e, node, 0,
 * jx);
 *   add:        return gyre_emit_printf (e, "(%s + %s)", gyre_emit_operand (e, node, 0,
 * ix), …);
 *   iota:       return gyre_emit_printf (e, "(%s + %s)", ix[d], gyre_emit_offset (e,
 * node, d));
 */
typedef struct _GyreEmit GyreEmit;

typedef struct
{
  const char *(*operand) (GyreEmit *self, const GyreTensor *node, guint i,
                          const char *const *ix);
  const char *(*extent)  (GyreEmit *self, const GyreTensor *value, int dim);
  const char *(*offset)  (GyreEmit *self, const GyreTensor *value, int dim);
  const char *(*global_extent) (GyreEmit *self, const GyreTensor *value, int dim);
  const char *(*let)     (GyreEmit *self, const char *ctype, const char *expression);
  const char *(*variable) (GyreEmit *self, const char *ctype, const char *initial);
  void        (*statement) (GyreEmit *self, const char *statement);
  const char *(*open_loop) (GyreEmit *self, const char *extent);
  void        (*close_loop) (GyreEmit *self);
  void        (*open_if)  (GyreEmit *self, const char *condition);
  void        (*close_if) (GyreEmit *self);
  void        (*need)     (GyreEmit *self, const char *header);
} GyreEmitFuncs;

/* The fuse stage makes one of these; ir knows only this face. */
struct _GyreEmit
{
  const GyreEmitFuncs *funcs;
  GyreArena           *arena;
};

/* element of operand i of node at indices ix */
const char *gyre_emit_operand   (GyreEmit *self, const GyreTensor *node, guint i,
                                 const char *const *ix);
/* local extent, first global index of the local block, and global extent of a
 * dimension */
const char *gyre_emit_extent    (GyreEmit *self, const GyreTensor *value, int dim);
const char *gyre_emit_offset    (GyreEmit *self, const GyreTensor *value, int dim);
const char *gyre_emit_global_extent (GyreEmit *self, const GyreTensor *value, int dim);
/* "const ctype vN = expression;": returns vN.  An expression used twice belongs in
 * one. */
const char *gyre_emit_let       (GyreEmit *self, const char *ctype,
                                 const char *expression);
/* "ctype vN = initial;": a variable that statements assign */
const char *gyre_emit_variable  (GyreEmit *self, const char *ctype, const char *initial);
void        gyre_emit_statement (GyreEmit *self, const char *format,
                                 ...) G_GNUC_PRINTF (2, 3);
/* "for (int rN = 0; rN < extent; rN++) {": returns rN.  For reductions. */
const char *gyre_emit_open_loop (GyreEmit *self, const char *extent);
void        gyre_emit_close_loop (GyreEmit *self);
/* For elements that only exist under a condition (pad, concatenate). */
void        gyre_emit_open_if   (GyreEmit *self, const char *condition);
void        gyre_emit_close_if  (GyreEmit *self);
/* The generated kernel starts with this header of cl/ ("random.clh"). */
void        gyre_emit_need      (GyreEmit *self, const char *header);
const char *gyre_emit_printf    (GyreEmit *self, const char *format,
                                 ...) G_GNUC_PRINTF (2, 3);
const char *gyre_dtype_ctype    (GyreDtype dtype);
/* a literal that reads back exactly: 0.1f as "0x1.99999ap-4f", INFINITY, NAN, 7u;
 * negative ones in parentheses */
const char *gyre_emit_literal   (GyreEmit *self, GyreDtype dtype, double value);

G_END_DECLS
