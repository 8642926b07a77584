/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"
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

#define UNARY(NAME, INFER, VJP, LINEAR, SIMPLIFY)                                       \
  { .name = NAME, .flags = GYRE_PRIM_ELEMENTWISE, .n_operands = 1, .linear = (LINEAR),  \
    .infer = unary_infer_##INFER, .vjp = (VJP), .partition = gyre_partition_elementwise, \
    .fuse = unary_fuse, .simplify = (SIMPLIFY), .cost = gyre_prims_cost_elements,       \
    .reference = unary_reference }
#define FLOAT(NAME) UNARY (NAME, float, unary_vjp, 0, unary_simplify)

enum
{
  NEG, ABS, SIGN, NOT, EXP, EXPM1, LOG, LOG1P, SQRT, RSQRT, SQUARE, SIN, COS, TANH,
  LOGISTIC, ERF, ERF_INV, FLOOR, IS_FINITE, STOP_GRADIENT
};

#define WRAPPED "(($t) (0u - (uint) $a))"

static const GyreUnary unaries[] = {
  [NEG] = { UNARY ("neg", number, unary_vjp, 1, unary_simplify_involution),
            .real = "(-$a)", .integer = WRAPPED, .function = f_neg, .pull = pull_neg },
  [ABS] = { UNARY ("abs", number, unary_vjp, 0, unary_simplify), .real = "fabs ($a)",
            .integer = "($a > 0 ? $a : " WRAPPED ")", .function = fabs,
            .pull = pull_abs },
  [SIGN] = { UNARY ("sign", number, gyre_prims_vjp_zero, 0, unary_simplify),
             .real = "($a != $a ? $a : (float) (($a > 0.0f) - ($a < 0.0f)))",
             .integer = "(($t) (($a > 0) - ($a < 0)))", .function = f_sign },
  [NOT] = { UNARY ("not", bool, gyre_prims_vjp_zero, 0, unary_simplify_involution),
            .integer = "((uchar) !$a)", .function = f_not },
  [EXP] = { FLOAT ("exp"), .real = "exp ($a)", .function = exp, .pull = pull_exp },
  [EXPM1] = { FLOAT ("expm1"), .real = "expm1 ($a)", .function = expm1,
              .pull = pull_expm1 },
  [LOG] = { FLOAT ("log"), .real = "log ($a)", .function = log, .pull = pull_log },
  [LOG1P] = { FLOAT ("log1p"), .real = "log1p ($a)", .function = log1p,
              .pull = pull_log1p },
  [SQRT] = { FLOAT ("sqrt"), .real = "sqrt ($a)", .function = sqrt, .pull = pull_sqrt },
  [RSQRT] = { FLOAT ("rsqrt"), .real = "rsqrt ($a)", .function = f_rsqrt,
              .pull = pull_rsqrt },
  [SQUARE] = { FLOAT ("square"), .real = "($a * $a)", .function = f_square,
               .pull = pull_square },
  [SIN] = { FLOAT ("sin"), .real = "sin ($a)", .function = sin, .pull = pull_sin },
  [COS] = { FLOAT ("cos"), .real = "cos ($a)", .function = cos, .pull = pull_cos },
  [TANH] = { FLOAT ("tanh"), .real = "tanh ($a)", .function = tanh, .pull = pull_tanh },
  [LOGISTIC] = { FLOAT ("logistic"), .real = "(1.0f / (1.0f + exp (-$a)))",
                 .function = f_logistic, .pull = pull_logistic },
  [ERF] = { FLOAT ("erf"), .real = "erf ($a)", .function = erf, .pull = pull_erf },
  [ERF_INV] = { FLOAT ("erf_inv"), .real = "gyre_erf_inv ($a)", .header = "random.clh",
                .function = gyre_erf_inv_double, .pull = pull_erf_inv },
  [FLOOR] = { UNARY ("floor", float, gyre_prims_vjp_zero, 0, unary_simplify),
              .real = "floor ($a)", .function = floor },
  [IS_FINITE] = { UNARY ("is_finite", predicate, gyre_prims_vjp_zero, 0, unary_simplify),
                  .real = "((uchar) (isfinite ($a) != 0))", .function = f_is_finite },
  [STOP_GRADIENT] = { UNARY ("stop_gradient",
                             any,
                             gyre_prims_vjp_zero,
                             1,
                             unary_simplify_same),
                      .real = "$a", .integer = "$a", .function = f_same },
};

static GyreTensor *
emit (int         rule,
      GyreTensor *x)
{
  g_return_val_if_fail (x != NULL, NULL);

  return gyre_prims_emit1 (&unaries[rule].prim, x, NULL);
}

/**
 * gyre_neg:
 * @x: f32, i32, u32 or u8, of any shape
 *
 * y = -x, of numbers; integers wrap.
 * Gradient: -ct. Linear: a partial sum stays one. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_neg (GyreTensor *x)
{
  return emit (NEG, x);
}

/**
 * gyre_abs:
 * @x: f32, i32, u32 or u8, of any shape
 *
 * y = |x|, of numbers.
 * Gradient: ct · sign (x): 0 at 0. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_abs (GyreTensor *x)
{
  return emit (ABS, x);
}

/**
 * gyre_sign:
 * @x: f32, i32, u32 or u8, of any shape
 *
 * y = -1, 0 or 1, of numbers; NaN stays.
 * Gradient: zero. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_sign (GyreTensor *x)
{
  return emit (SIGN, x);
}

/**
 * gyre_not:
 * @x: bool, of any shape
 *
 * y = the opposite, of bool.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_not (GyreTensor *x)
{
  return emit (NOT, x);
}

/**
 * gyre_exp:
 * @x: f32, of any shape
 *
 * y = eˣ.
 * Gradient: ct · y. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_exp (GyreTensor *x)
{
  return emit (EXP, x);
}

/**
 * gyre_expm1:
 * @x: f32, of any shape
 *
 * y = eˣ - 1, exact near 0.
 * Gradient: ct · (y + 1). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_expm1 (GyreTensor *x)
{
  return emit (EXPM1, x);
}

/**
 * gyre_log:
 * @x: f32, of any shape
 *
 * y = ln x.
 * Gradient: ct / x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_log (GyreTensor *x)
{
  return emit (LOG, x);
}

/**
 * gyre_log1p:
 * @x: f32, of any shape
 *
 * y = ln (1 + x), exact near 0.
 * Gradient: ct / (1 + x). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_log1p (GyreTensor *x)
{
  return emit (LOG1P, x);
}

/**
 * gyre_sqrt:
 * @x: f32, of any shape
 *
 * y = √x.
 * Gradient: ct / 2y. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_sqrt (GyreTensor *x)
{
  return emit (SQRT, x);
}

/**
 * gyre_rsqrt:
 * @x: f32, of any shape
 *
 * y = 1 / √x.
 * Gradient: -ct · y / 2x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_rsqrt (GyreTensor *x)
{
  return emit (RSQRT, x);
}

/**
 * gyre_square:
 * @x: f32, of any shape
 *
 * y = x².
 * Gradient: 2 ct · x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_square (GyreTensor *x)
{
  return emit (SQUARE, x);
}

/**
 * gyre_sin:
 * @x: f32, of any shape
 *
 * y = sin x, x in radians.
 * Gradient: ct · cos x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_sin (GyreTensor *x)
{
  return emit (SIN, x);
}

/**
 * gyre_cos:
 * @x: f32, of any shape
 *
 * y = cos x, x in radians.
 * Gradient: -ct · sin x. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_cos (GyreTensor *x)
{
  return emit (COS, x);
}

/**
 * gyre_tanh:
 * @x: f32, of any shape
 *
 * y = tanh x.
 * Gradient: ct · (1 - y²). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_tanh (GyreTensor *x)
{
  return emit (TANH, x);
}

/**
 * gyre_logistic:
 * @x: f32, of any shape
 *
 * y = 1 / (1 + e⁻ˣ), the sigmoid.
 * Gradient: ct · y (1 - y). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_logistic (GyreTensor *x)
{
  return emit (LOGISTIC, x);
}

/**
 * gyre_erf:
 * @x: f32, of any shape
 *
 * y = 2/√π ∫₀ˣ exp (-t²) dt.
 * Gradient: ct · 2/√π exp (-x²). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_erf (GyreTensor *x)
{
  return emit (ERF, x);
}

/**
 * gyre_erf_inv:
 * @x: f32, of any shape
 *
 * y = the inverse of erf: a polynomial in w = -ln (1 - x²) by M. Giles, Approximating
 * the erfinv function, 2010 (cl/random.clh); ±∞ at ±1.
 * Gradient: ct · √π/2 exp (y²). Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_erf_inv (GyreTensor *x)
{
  return emit (ERF_INV, x);
}

/**
 * gyre_floor:
 * @x: f32, of any shape
 *
 * y = the largest integer that is not above x.
 * Gradient: zero. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_floor (GyreTensor *x)
{
  return emit (FLOOR, x);
}

/**
 * gyre_is_finite:
 * @x: f32, of any shape
 *
 * y = whether x is neither infinite nor NaN → bool.
 * Gradient: none. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the shape of @x
 */
GyreTensor *
gyre_is_finite (GyreTensor *x)
{
  return emit (IS_FINITE, x);
}

/**
 * gyre_stop_gradient:
 * @x: any dtype, of any shape
 *
 * y = x, of any dtype; no gradient flows through it.
 * Gradient: zero. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): a tensor like @x
 */
GyreTensor *
gyre_stop_gradient (GyreTensor *x)
{
  return emit (STOP_GRADIENT, x);
}
