/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-ops.h>

#include "ir/gyre-prim-private.h"

G_BEGIN_DECLS

/* What the families of primitives share. */

#define GYRE_DTYPES(dtype)    (1u << (dtype))
#define GYRE_DTYPES_FLOAT     GYRE_DTYPES (GYRE_F32)
#define GYRE_DTYPES_INTEGER   (GYRE_DTYPES_WORD | GYRE_DTYPES (GYRE_U8))
#define GYRE_DTYPES_NUMBER    (GYRE_DTYPES_FLOAT | GYRE_DTYPES_INTEGER)
#define GYRE_DTYPES_WORD      (GYRE_DTYPES (GYRE_I32) | GYRE_DTYPES (GYRE_U32))
#define GYRE_DTYPES_BITS      (GYRE_DTYPES_INTEGER | GYRE_DTYPES (GYRE_BOOL))
#define GYRE_DTYPES_ANY       (GYRE_DTYPES_NUMBER | GYRE_DTYPES (GYRE_BOOL))

/* Whether a primitive is one of a plugin's own, with its own kernel. */
gboolean gyre_plugin_prim_is (const GyrePrim *prim);

/* Attributes that other families and stages look at. */
typedef struct { GyreDtype dtype; int dim; GyreShape shape; } GyreIotaAttrs;
typedef struct
{
  GyreDtype dtype;
  int       pad;
  double    value;
  GyreShape shape;
} GyreConstantAttrs;
typedef struct { GyreShape shape; int dims[GYRE_MAX_RANK]; } GyreBroadcastAttrs;
typedef struct { GyreShape shape; } GyreShapeAttrs;
typedef struct { int perm[GYRE_MAX_RANK]; } GyreTransposeAttrs;
typedef struct { gboolean trans_a, trans_b; } GyreMatmulAttrs;
typedef struct { guint32 dims; } GyreReduceAttrs;     /* mask of dimensions */

extern const GyrePrim gyre_prim_constant;
extern const GyrePrim gyre_prim_iota;
extern const GyrePrim gyre_prim_broadcast_in_dim;
extern const GyrePrim gyre_prim_reshape;
extern const GyrePrim gyre_prim_transpose;
extern const GyrePrim gyre_prim_slice;
extern const GyrePrim gyre_prim_pad;
extern const GyrePrim gyre_prim_concatenate;
extern const GyrePrim gyre_prim_gather_rows;
extern const GyrePrim gyre_prim_scatter_add_rows;
extern const GyrePrim gyre_prim_convert;
extern const GyrePrim gyre_prim_bitcast;
extern const GyrePrim gyre_prim_select;
extern const GyrePrim gyre_prim_matmul;

/* "f32[3, 4]"; g_free */
char       *gyre_prims_describe (const GyreTensor *tensor);
/* Sets a GYRE_ERROR_SHAPE and returns FALSE: for infer rules. */
gboolean    gyre_prims_error    (GError **error, const char *format,
                                 ...) G_GNUC_PRINTF (2, 3);
/* Keeps a GYRE_ERROR_SHAPE on the graph: for builders. */
GyreTensor *gyre_prims_fail     (GyreGraph *graph, const char *format,
                                 ...) G_GNUC_PRINTF (2, 3);
/* Whether the dtype of operand i is one of the mask; the error names those that are. */
gboolean    gyre_prims_check_dtype (const GyreTensor *operand, guint i, guint mask,
                                    GError **error);
/* Whether windows over dimension dim of x, of so many elements with what is put around
 * and between, can be counted in the 32 bits that kernels have. */
gboolean    gyre_prims_check_padded (const GyreShape *x, int dim, gint64 padded,
                                     GError **error);
/* Whether the graph has failed, or one of these has: then builders need not look
 * closer. */
gboolean    gyre_prims_poisoned (GyreTensor *const *operands, guint n);

GyreTensor *gyre_prims_emit1    (const GyrePrim *prim, GyreTensor *a, const void *attrs);
GyreTensor *gyre_prims_emit2    (const GyrePrim *prim, GyreTensor *a, GyreTensor *b,
                                 const void *attrs);
/* A constant in a graph that need not be the current one. */
GyreTensor *gyre_prims_constant (GyreGraph *graph, GyreDtype dtype,
                                 const GyreShape *shape, double value);
/* Whether it is a constant of one value, and which. */
gboolean    gyre_prims_is_constant (const GyreTensor *tensor, double *value);
gboolean    gyre_prims_is_value    (const GyreTensor *tensor, double value);
/* Folds an element-wise node of constants to a constant, or returns NULL. */
GyreTensor *gyre_prims_fold     (GyreGraph *graph, const GyreTensor *node);

/* -1 is the last dimension; FALSE where out of range */
gboolean    gyre_prims_dim      (const GyreTensor *tensor, int dim, int *result);

/* Broadcasts operands to their common shape as NumPy does; FALSE (the error is kept on
 * the graph) where there is none. */
gboolean    gyre_prims_broadcast (const char *call, GyreTensor **operands, guint n);

/* A number as its dtype keeps it: integers wrap, floats are rounded to f32. */
double      gyre_prims_wrap     (GyreDtype dtype, gint64 value);
double      gyre_prims_round    (GyreDtype dtype, double value);

/* Row-major indices of the flat index of a shape, and back. */
void        gyre_prims_unravel  (const GyreShape *shape, gint64 flat, gint64 *ix);
gint64      gyre_prims_ravel    (const GyreShape *shape, const gint64 *ix);

/* Expressions: $a and $b stand for the operands, $t for the result's C type: "($a + $b)".
 * expand binds an operand that stands in it twice to a variable first. */
const char *gyre_prims_expand   (GyreEmit *emit, const GyreTensor *node,
                                 const char *const *ix, const char *format);
const char *gyre_prims_substitute (GyreEmit *emit, const char *format, const char *a,
                                   const char *b, const char *type);

/* Partition: dimension from of an operand's spec becomes dimension to of the result's. */
void        gyre_prims_pass_dim (const GyreSpec *in, int from, GyreSpec *out, int to);
void        gyre_prims_drop_dim (GyreSpec *spec, int dim);
/* Dimension i_a of the first operand and i_b of the second are one: a split that one of
 * them has is taken for both, where the axis is free in the other. */
void        gyre_prims_share_dim (GyreSpec *want, int i_a, int i_b);
/* Of one operand, linear: partial stays. */
void        gyre_prims_keep_partial (const GyreSpec *in, GyreSpec *want, GyreSpec *out);

double      gyre_prims_cost_elements (const GyreTensor *node);
void        gyre_prims_vjp_zero (GyreTensor *node, GyreTensor *ct, GyreTensor **cts);
void        gyre_prims_print_shape (GString *out, const GyreShape *shape);

G_END_DECLS
