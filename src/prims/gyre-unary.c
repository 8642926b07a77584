/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-unary-private.h"
#include "prims/gyre-random-host-private.h"

#include <math.h>

/* Element-wise functions of one operand: a table.  A new one is a line of it, the
 * cotangent, and a builder. */

typedef struct
{
  GyrePrim    prim;
  const char *real;           /* C expressions of the element, f32 and integers */
  const char *integer;
  const char *header;
  double    (*function) (double x);
  /* The cotangent of x, given that of y = f (x); NULL: zero. */
  GyreTensor *(*pull)   (GyreTensor *x, GyreTensor *y, GyreTensor *ct);
} GyreUnary;

static const GyreUnary *
get_rule (const GyreTensor *node)
{
  return (const GyreUnary *) node->prim;
}

/* Functions that math.h doesn't have */

static double f_neg (double x)       { return -x; }
static double f_sign (double x)      { return isnan (x) ? x : (x > 0) - (x < 0); }
static double f_square (double x)    { return x * x; }
static double f_not (double x)       { return x == 0; }
static double f_rsqrt (double x)     { return 1 / sqrt (x); }
static double f_logistic (double x)  { return 1 / (1 + exp (-x)); }
static double f_is_finite (double x) { return isfinite (x) != 0; }
static double f_same (double x)      { return x; }

/* Cotangents */

static GyreTensor *
pull_neg (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_neg (ct);
}

static GyreTensor *
pull_abs (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_sign (x));
}

static GyreTensor *
pull_exp (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, y);
}

static GyreTensor *
pull_expm1 (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_add_scalar (y, 1));
}

static GyreTensor *
pull_log (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_div (ct, x);
}

static GyreTensor *
pull_log1p (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_div (ct, gyre_add_scalar (x, 1));
}

static GyreTensor *
pull_sqrt (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_div (gyre_mul_scalar (ct, 0.5), y);
}

static GyreTensor *
pull_rsqrt (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_mul_scalar (gyre_div (y, x), -0.5));
}

static GyreTensor *
pull_square (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_mul_scalar (x, 2));
}

static GyreTensor *
pull_sin (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_cos (x));
}

static GyreTensor *
pull_cos (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_neg (gyre_mul (ct, gyre_sin (x)));
}

/* 1 - y² */
static GyreTensor *
pull_tanh (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_sub (gyre_full_like (y, 1), gyre_square (y)));
}

/* y (1 - y) */
static GyreTensor *
pull_logistic (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_mul (y, gyre_sub (gyre_full_like (y, 1), y)));
}

/* 2/√π exp (-x²) */
static GyreTensor *
pull_erf (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct,
                   gyre_mul_scalar (gyre_exp (gyre_neg (gyre_square (x))), M_2_SQRTPI));
}

/* √π/2 exp (y²) */
static GyreTensor *
pull_erf_inv (GyreTensor *x, GyreTensor *y, GyreTensor *ct)
{
  return gyre_mul (ct, gyre_mul_scalar (gyre_exp (gyre_square (y)), 1 / M_2_SQRTPI));
}

/* The rules that all share */

static gboolean
unary_infer_any (GyreTensor *const  *operands,
                 guint               n,
                 const void         *attrs,
                 GyreDtype          *dtype,
                 GyreShape          *shape,
                 GError            **error)
{
  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;
  return TRUE;
}

static gboolean
unary_infer_float (GyreTensor *const  *operands,
                   guint               n,
                   const void         *attrs,
                   GyreDtype          *dtype,
                   GyreShape          *shape,
                   GError            **error)
{
  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_FLOAT, error) &&
         unary_infer_any (operands, n, attrs, dtype, shape, error);
}

static gboolean
unary_infer_number (GyreTensor *const  *operands,
                    guint               n,
                    const void         *attrs,
                    GyreDtype          *dtype,
                    GyreShape          *shape,
                    GError            **error)
{
  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_NUMBER, error) &&
         unary_infer_any (operands, n, attrs, dtype, shape, error);
}

static gboolean
unary_infer_bool (GyreTensor *const  *operands,
                  guint               n,
                  const void         *attrs,
                  GyreDtype          *dtype,
                  GyreShape          *shape,
                  GError            **error)
{
  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES (GYRE_BOOL), error) &&
         unary_infer_any (operands, n, attrs, dtype, shape, error);
}

static gboolean
unary_infer_predicate (GyreTensor *const  *operands,
                       guint               n,
                       const void         *attrs,
                       GyreDtype          *dtype,
                       GyreShape          *shape,
                       GError            **error)
{
  if (!unary_infer_float (operands, n, attrs, dtype, shape, error))
    return FALSE;

  *dtype = GYRE_BOOL;
  return TRUE;
}

static void
unary_vjp (GyreTensor  *node,
           GyreTensor  *ct,
           GyreTensor **cts)
{
  cts[0] = get_rule (node)->pull (node->operands[0], node, ct);
}

static const char *
unary_fuse (GyreEmit          *emit,
            const GyreTensor  *node,
            const char *const *ix)
{
  const GyreUnary *rule = get_rule (node);
  gboolean real = node->operands[0]->dtype == GYRE_F32;

  if (rule->header != NULL)
    gyre_emit_need (emit, rule->header);

  return gyre_prims_expand (emit, node, ix, real ? rule->real : rule->integer);
}

static GyreTensor *
unary_simplify (GyreGraph        *graph,
                const GyreTensor *node)
{
  return gyre_prims_fold (graph, node);
}

/* f (f (x)) = x */
static GyreTensor *
unary_simplify_involution (GyreGraph        *graph,
                           const GyreTensor *node)
{
  const GyreTensor *x = node->operands[0];

  return x->prim == node->prim ? x->operands[0] : gyre_prims_fold (graph, node);
}

/* A barrier for gradients alone: once they are taken it is nothing. */
static GyreTensor *
unary_simplify_same (GyreGraph        *graph,
                     const GyreTensor *node)
{
  return node->operands[0];
}

static void
unary_reference (const GyreTensor *node,
                 const GyreRef    *in,
                 GyreRef          *out)
{
  const GyreUnary *rule = get_rule (node);
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    {
      double y = rule->function (in[0].data[i]);

      out->data[i] =
          out->dtype == GYRE_F32 ? y : gyre_prims_wrap (out->dtype, (gint64) y);
    }
}

#define UNARY(NAME, INFER, VJP, LINEAR, SIMPLIFY)                                        \
  { .name = NAME, .flags = GYRE_PRIM_ELEMENTWISE, .n_operands = 1, .linear = (LINEAR),   \
    .infer = unary_infer_##INFER, .vjp = (VJP), .partition = gyre_partition_elementwise, \
    .fuse = unary_fuse, .simplify = (SIMPLIFY), .cost = gyre_prims_cost_elements,        \
    .reference = unary_reference }
#define FLOAT(NAME) UNARY (NAME, float, unary_vjp, 0, unary_simplify)

#define WRAPPED "(($t) (0u - (uint) $a))"

static const GyreUnary unaries[] = {
  [GYRE_UNARY_NEG] = {
    UNARY ("neg", number, unary_vjp, 1, unary_simplify_involution),
    .real = "(-$a)",
    .integer = WRAPPED, .function = f_neg, .pull = pull_neg,
  },
  [GYRE_UNARY_ABS] = {
    UNARY ("abs", number, unary_vjp, 0, unary_simplify),
    .real = "fabs ($a)",
    .integer = "(($t) abs ($a))", .function = fabs, .pull = pull_abs,
  },
  [GYRE_UNARY_SIGN] = {
    UNARY ("sign", number, gyre_prims_vjp_zero, 0, unary_simplify),
    .real = "($a != $a ? $a : (float) (($a > 0.0f) - ($a < 0.0f)))",
    .integer = "(($t) (($a > 0) - ($a < 0)))", .function = f_sign,
  },
  [GYRE_UNARY_NOT] = {
    UNARY ("not", bool, gyre_prims_vjp_zero, 0, unary_simplify_involution),
    .integer = "((uchar) !$a)", .function = f_not,
  },
  [GYRE_UNARY_EXP] = {
    FLOAT ("exp"),
    .real = "exp ($a)", .function = exp, .pull = pull_exp,
  },
  [GYRE_UNARY_EXPM1] = {
    FLOAT ("expm1"),
    .real = "expm1 ($a)", .function = expm1, .pull = pull_expm1,
  },
  [GYRE_UNARY_LOG] = {
    FLOAT ("log"),
    .real = "log ($a)", .function = log, .pull = pull_log,
  },
  [GYRE_UNARY_LOG1P] = {
    FLOAT ("log1p"),
    .real = "log1p ($a)", .function = log1p, .pull = pull_log1p,
  },
  [GYRE_UNARY_SQRT] = {
    FLOAT ("sqrt"),
    .real = "sqrt ($a)", .function = sqrt, .pull = pull_sqrt,
  },
  [GYRE_UNARY_RSQRT] = {
    FLOAT ("rsqrt"),
    .real = "rsqrt ($a)", .function = f_rsqrt, .pull = pull_rsqrt,
  },
  [GYRE_UNARY_SQUARE] = {
    FLOAT ("square"),
    .real = "($a * $a)", .function = f_square, .pull = pull_square,
  },
  [GYRE_UNARY_SIN] = {
    FLOAT ("sin"),
    .real = "sin ($a)", .function = sin, .pull = pull_sin,
  },
  [GYRE_UNARY_COS] = {
    FLOAT ("cos"),
    .real = "cos ($a)", .function = cos, .pull = pull_cos,
  },
  [GYRE_UNARY_TANH] = {
    FLOAT ("tanh"),
    /* Some devices' tanh stays an ulp below 1, which a large factor would make seen. */
    .real = "(fabs ($a) > 9.1f ? copysign (1.0f, $a) : tanh ($a))",
    .function = tanh, .pull = pull_tanh,
  },
  [GYRE_UNARY_LOGISTIC] = {
    FLOAT ("logistic"),
    .real = "(1.0f / (1.0f + exp (-$a)))", .function = f_logistic,
    .pull = pull_logistic,
  },
  [GYRE_UNARY_ERF] = {
    FLOAT ("erf"),
    .real = "erf ($a)", .function = erf, .pull = pull_erf,
  },
  [GYRE_UNARY_ERF_INV] = {
    FLOAT ("erf_inv"),
    .real = "gyre_erf_inv ($a)", .header = "random.clh",
    .function = gyre_erf_inv_double, .pull = pull_erf_inv,
  },
  [GYRE_UNARY_FLOOR] = {
    UNARY ("floor", float, gyre_prims_vjp_zero, 0, unary_simplify),
    .real = "floor ($a)", .function = floor,
  },
  [GYRE_UNARY_IS_FINITE] = {
    UNARY ("is_finite", predicate, gyre_prims_vjp_zero, 0, unary_simplify),
    .real = "((uchar) (isfinite ($a) != 0))", .function = f_is_finite,
  },
  [GYRE_UNARY_STOP_GRADIENT] = {
    UNARY ("stop_gradient", any, gyre_prims_vjp_zero, 1, unary_simplify_same),
    .real = "$a",
    .integer = "$a", .function = f_same,
  },
};

GyreTensor *
gyre_unary_emit (GyreUnaryRule  rule,
                 GyreTensor    *x)
{
  g_return_val_if_fail (x != NULL, NULL);

  return gyre_prims_emit1 (&unaries[rule].prim, x, NULL);
}
