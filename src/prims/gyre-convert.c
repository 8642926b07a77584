/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <math.h>
#include <string.h>

/* Changes of dtype: of the number, and of what its bits are taken for. */

typedef struct
{
  GyreDtype dtype;
} GyreConvertAttrs;

static GyreDtype
get_dtype (const GyreTensor *node)
{
  return ((const GyreConvertAttrs *) node->attrs)->dtype;
}

static gboolean
convert_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  *dtype = ((const GyreConvertAttrs *) attrs)->dtype;
  *shape = operands[0]->shape;
  return TRUE;
}

/* Integers have no gradient, in neither direction. */
static void
convert_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  if (node->dtype == GYRE_F32 && node->operands[0]->dtype == GYRE_F32)
    cts[0] = ct;
}

static const char *
convert_fuse (GyreEmit          *emit,
              const GyreTensor  *node,
              const char *const *ix)
{
  static const char *const saturating[GYRE_N_DTYPES] = {
    [GYRE_F32] = "$a",
    [GYRE_I32] = "convert_int_sat_rtz ($a)",
    [GYRE_U32] = "convert_uint_sat_rtz ($a)",
    [GYRE_U8] = "convert_uchar_sat_rtz ($a)",
    [GYRE_BOOL] = "((uchar) ($a != 0.0f))",
  };

  if (node->operands[0]->dtype == GYRE_F32)
    return gyre_prims_expand (emit, node, ix, saturating[node->dtype]);

  return gyre_prims_expand (emit, node, ix, node->dtype == GYRE_BOOL
                                            ? "((uchar) ($a != 0))" : "(($t) $a)");
}

static GyreTensor *
convert_simplify (GyreGraph        *graph,
                  const GyreTensor *node)
{
  if (node->operands[0]->dtype == node->dtype)
    return node->operands[0];

  return gyre_prims_fold (graph, node);
}

/* What a float becomes as an integer: truncated, saturated, NaN to 0. */
static double
truncate_float (GyreDtype dtype,
                double    x)
{
  static const double limits[GYRE_N_DTYPES][2] = {
    [GYRE_I32] = { G_MININT32, G_MAXINT32 },
    [GYRE_U32] = { 0, G_MAXUINT32 },
    [GYRE_U8] = { 0, G_MAXUINT8 },
  };

  return isnan (x) ? 0 : CLAMP (trunc (x), limits[dtype][0], limits[dtype][1]);
}

static double
convert_number (GyreDtype from,
                GyreDtype to,
                double    x)
{
  if (to == GYRE_BOOL)
    return x != 0;
  if (from == GYRE_F32 && to != GYRE_F32)
    return truncate_float (to, x);

  return to == GYRE_F32 ? x : gyre_prims_wrap (to, (gint64) x);
}

static void
convert_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    out->data[i] = convert_number (in[0].dtype, out->dtype, in[0].data[i]);
}

static void
convert_print (const GyreTensor *node,
               GString          *out)
{
  g_string_append_printf (out, " {%s}", gyre_dtype_name (get_dtype (node)));
}

const GyrePrim gyre_prim_convert = {
  .name = "convert",
  .flags = GYRE_PRIM_ELEMENTWISE,
  .attrs_size = sizeof (GyreConvertAttrs),
  .n_operands = 1,
  .infer = convert_infer,
  .vjp = convert_vjp,
  .partition = gyre_partition_elementwise,
  .fuse = convert_fuse,
  .simplify = convert_simplify,
  .cost = gyre_prims_cost_elements,
  .reference = convert_reference,
  .print = convert_print,
};

/**
 * gyre_convert:
 * @x: any dtype
 * @dtype: another
 *
 * The numbers of @x in another dtype. Floats are truncated towards zero and saturate when
 * they become integers, NaN becomes 0; integers wrap; what is not 0 is true. Gradient:
 * none, since integers have none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): @dtype of the shape of @x
 */
GyreTensor *
gyre_convert (GyreTensor *x,
              GyreDtype   dtype)
{
  GyreConvertAttrs attrs = { dtype };

  g_return_val_if_fail (x != NULL, NULL);

  return x->dtype == dtype ? x : gyre_prims_emit1 (&gyre_prim_convert, x, &attrs);
}

static gboolean
bitcast_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  *dtype = ((const GyreConvertAttrs *) attrs)->dtype;
  *shape = operands[0]->shape;
  if (gyre_dtype_size (*dtype) != 4)
    return gyre_prims_error (error,
                             "the bits can't become %s, which is not of 32 bits: use "
                             "f32, i32 or u32",
                             gyre_dtype_name (*dtype));

  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_FLOAT | GYRE_DTYPES_WORD,
                                 error);
}

static const char *
bitcast_fuse (GyreEmit          *emit,
              const GyreTensor  *node,
              const char *const *ix)
{
  return gyre_prims_expand (emit, node, ix, "as_$t ($a)");
}

static guint32
bits_of (GyreDtype dtype,
         double    x)
{
  float value = (float) x;
  guint32 bits;

  if (dtype != GYRE_F32)
    return (guint32) (gint64) x;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static double
number_of (GyreDtype dtype,
           guint32   bits)
{
  float value;

  if (dtype != GYRE_F32)
    return gyre_prims_wrap (dtype, bits);

  memcpy (&value, &bits, sizeof value);
  return value;
}

static void
bitcast_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    out->data[i] = number_of (out->dtype, bits_of (in[0].dtype, in[0].data[i]));
}

const GyrePrim gyre_prim_bitcast = {
  .name = "bitcast",
  .flags = GYRE_PRIM_ELEMENTWISE,
  .attrs_size = sizeof (GyreConvertAttrs),
  .n_operands = 1,
  .infer = bitcast_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = gyre_partition_elementwise,
  .fuse = bitcast_fuse,
  .simplify = convert_simplify,
  .cost = gyre_prims_cost_elements,
  .reference = bitcast_reference,
  .print = convert_print,
};

/**
 * gyre_bitcast:
 * @x: f32, i32 or u32
 * @dtype: one of these
 *
 * The bits of @x, taken for another dtype. Gradient: zero. Element-wise: takes any
 * sharding.
 *
 * Returns: (transfer none): @dtype of the shape of @x
 */
GyreTensor *
gyre_bitcast (GyreTensor *x,
              GyreDtype   dtype)
{
  GyreConvertAttrs attrs = { dtype };

  g_return_val_if_fail (x != NULL, NULL);

  return gyre_prims_emit1 (&gyre_prim_bitcast, x, &attrs);
}
