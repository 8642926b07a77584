/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-binary-private.h"

#include <math.h>

/* Element-wise functions of two operands of one dtype and shape: a table.  The builders
 * broadcast first. */

typedef struct
{
  GyrePrim    prim;
  const char *real;         /* C expressions of the element, by dtype */
  const char *sint;
  const char *uint;
  double    (*function) (double a, double b);
  gint64    (*integer)  (gint64 a, gint64 b);
  void (*pull) (GyreTensor *a,
                GyreTensor *b,
                GyreTensor *y,
                GyreTensor *ct,
                GyreTensor **cts);
  /* A simpler equal, or NULL. */
  GyreTensor *(*simpler) (GyreTensor *a, GyreTensor *b, const GyreTensor *node);
} GyreBinary;

static const GyreBinary *
get_rule (const GyreTensor *node)
{
  return (const GyreBinary *) node->prim;
}

/* Functions on the host.  Integers are computed modulo 2⁶⁴ and wrapped after. */

static double f_add (double a, double b) { return a + b; }
static double f_sub (double a, double b) { return a - b; }
static double f_mul (double a, double b) { return a * b; }
static double f_div (double a, double b) { return a / b; }
static double f_max (double a, double b) { return a > b || isnan (a) ? a : b; }
static double f_min (double a, double b) { return a < b || isnan (a) ? a : b; }

static gint64 i_add (gint64 a, gint64 b) { return a + b; }
static gint64 i_sub (gint64 a, gint64 b) { return a - b; }
static gint64 i_mul (gint64 a, gint64 b) { return (gint64) ((guint64) a * (guint64) b); }
static gint64 i_div (gint64 a, gint64 b) { return b == 0 ? 0 : a / b; }
static gint64 i_rem (gint64 a, gint64 b) { return b == 0 ? a : a % b; }
static gint64 i_max (gint64 a, gint64 b) { return MAX (a, b); }
static gint64 i_min (gint64 a, gint64 b) { return MIN (a, b); }
static gint64 i_and (gint64 a, gint64 b) { return a & b; }
static gint64 i_or  (gint64 a, gint64 b) { return a | b; }
static gint64 i_xor (gint64 a, gint64 b) { return a ^ b; }

/* A shift by the width or more, or by less than 0, gives 0, or the sign. */
static gint64
i_shift_left (gint64 a, gint64 b)
{
  return b < 0 || b > 31 ? 0 : (gint64) ((guint64) a << b);
}

static gint64
i_shift_right (gint64 a, gint64 b)
{
  return b < 0 || b > 31 ? (a < 0 ? -1 : 0) : a >> b;
}

/* Cotangents */

static void
pull_add (GyreTensor *a, GyreTensor *b, GyreTensor *y, GyreTensor *ct, GyreTensor **cts)
{
  cts[0] = ct;
  cts[1] = ct;
}

static void
pull_sub (GyreTensor *a, GyreTensor *b, GyreTensor *y, GyreTensor *ct, GyreTensor **cts)
{
  cts[0] = ct;
  cts[1] = gyre_neg (ct);
}

static void
pull_mul (GyreTensor *a, GyreTensor *b, GyreTensor *y, GyreTensor *ct, GyreTensor **cts)
{
  cts[0] = gyre_mul (ct, b);
  cts[1] = gyre_mul (ct, a);
}

static void
pull_div (GyreTensor *a, GyreTensor *b, GyreTensor *y, GyreTensor *ct, GyreTensor **cts)
{
  cts[0] = gyre_div (ct, b);
  cts[1] = gyre_neg (gyre_mul (ct, gyre_div (y, b)));
}

/* a - b trunc (a / b) */
static void
pull_rem (GyreTensor *a, GyreTensor *b, GyreTensor *y, GyreTensor *ct, GyreTensor **cts)
{
  GyreTensor *quotient = gyre_div (a, b);
  GyreTensor *whole = gyre_mul (gyre_sign (quotient), gyre_floor (gyre_abs (quotient)));

  cts[0] = ct;
  cts[1] = gyre_neg (gyre_mul (ct, whole));
}

/* The exponent's gradient a^b ln a is taken as 0 at a = 0; a constant exponent has
 * none. */
static void
pull_pow (GyreTensor *a, GyreTensor *b, GyreTensor *y, GyreTensor *ct, GyreTensor **cts)
{
  GyreTensor *zero = gyre_full_like (b, 0), *one = gyre_full_like (b, 1);
  GyreTensor *less = gyre_select (gyre_equal (b, zero), one, gyre_sub (b, one));

  cts[0] = gyre_mul (ct, gyre_mul (b, gyre_pow (a, less)));
  if (!gyre_prims_is_constant (b, NULL))
    cts[1] = gyre_mul (
        ct, gyre_mul (y, gyre_log (gyre_select (gyre_equal (a, zero), one, a))));
}

/* Each of two equals has a half. */
static GyreTensor *
pull_winner (GyreTensor *winner, GyreTensor *loser, GyreTensor *y, GyreTensor *ct)
{
  GyreTensor *half = gyre_select (gyre_equal (winner, loser), gyre_full_like (y, 0.5),
                                  gyre_full_like (y, 1));

  return gyre_mul (ct, gyre_select (gyre_equal (winner, y), half, gyre_full_like (y, 0)));
}

static void
pull_extreme (GyreTensor  *a,
              GyreTensor  *b,
              GyreTensor  *y,
              GyreTensor  *ct,
              GyreTensor **cts)
{
  cts[0] = pull_winner (a, b, y, ct);
  cts[1] = pull_winner (b, a, y, ct);
}

/* Simpler equals */

static GyreTensor *
simpler_add (GyreTensor *a, GyreTensor *b, const GyreTensor *node)
{
  return gyre_prims_is_value (b, 0) ? a : gyre_prims_is_value (a, 0) ? b : NULL;
}

static GyreTensor *
simpler_sub (GyreTensor *a, GyreTensor *b, const GyreTensor *node)
{
  if (gyre_prims_is_value (b, 0))
    return a;

  return gyre_prims_is_value (a, 0) ? gyre_neg (b) : NULL;
}

/* 0 · NaN is NaN: floats keep their zeros. */
static GyreTensor *
simpler_mul (GyreTensor *a, GyreTensor *b, const GyreTensor *node)
{
  if (gyre_prims_is_value (b, 1))
    return a;
  if (gyre_prims_is_value (a, 1))
    return b;
  if (node->dtype != GYRE_F32 &&
      (gyre_prims_is_value (a, 0) || gyre_prims_is_value (b, 0)))
    return gyre_prims_constant (node->graph, node->dtype, &node->shape, 0);
  if (node->dtype == GYRE_F32 && gyre_prims_is_value (b, -1))
    return gyre_neg (a);
  if (node->dtype == GYRE_F32 && gyre_prims_is_value (a, -1))
    return gyre_neg (b);

  return NULL;
}

static GyreTensor *
simpler_div (GyreTensor *a, GyreTensor *b, const GyreTensor *node)
{
  return gyre_prims_is_value (b, 1) ? a : NULL;
}

static GyreTensor *
simpler_pow (GyreTensor *a, GyreTensor *b, const GyreTensor *node)
{
  double exponent;

  if (!gyre_prims_is_constant (b, &exponent))
    return NULL;
  if (exponent == 0)
    return gyre_prims_constant (node->graph, node->dtype, &node->shape, 1);
  if (exponent == 1)
    return a;
  if (exponent == 2)
    return gyre_square (a);
  if (exponent == 3)
    return gyre_mul (gyre_square (a), a);
  if (exponent == 0.5)
    return gyre_sqrt (a);
  if (exponent == -1)
    return gyre_div (gyre_full_like (a, 1), a);

  return exponent == -0.5 ? gyre_rsqrt (a) : NULL;
}

static GyreTensor *
simpler_same (GyreTensor *a, GyreTensor *b, const GyreTensor *node)
{
  return a == b ? a : NULL;
}

static GyreTensor *
simpler_shift (GyreTensor *a, GyreTensor *b, const GyreTensor *node)
{
  return gyre_prims_is_value (b, 0) ? a : NULL;
}

/* The rules that all share */

static gboolean
binary_infer (GyreTensor *const  *operands,
              guint               n,
              guint               dtypes,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  const GyreTensor *a = operands[0], *b = operands[1];
  g_autofree char *text_a = gyre_prims_describe (a);
  g_autofree char *text_b = gyre_prims_describe (b);

  if (a->dtype != b->dtype)
    return gyre_prims_error (error,
                             "operand 0 is %s and operand 1 is %s, but their dtypes "
                             "must be equal: use gyre_convert ()",
                             text_a, text_b);
  if (!gyre_shape_equal (&a->shape, &b->shape))
    return gyre_prims_error (error,
                             "operand 0 is %s and operand 1 is %s, but their shapes "
                             "must be equal: use gyre_broadcast_to ()",
                             text_a, text_b);

  *dtype = a->dtype;
  *shape = a->shape;
  return gyre_prims_check_dtype (a, 0, dtypes, error);
}

#define INFER(NAME, DTYPES)                                                     \
  static gboolean                                                               \
  binary_infer_##NAME (GyreTensor *const *operands, guint n, const void *attrs, \
                       GyreDtype *dtype, GyreShape *shape, GError **error)      \
  {                                                                             \
    return binary_infer (operands, n, (DTYPES), dtype, shape, error);           \
  }

INFER (number, GYRE_DTYPES_NUMBER)
INFER (float, GYRE_DTYPES_FLOAT)
INFER (bits, GYRE_DTYPES_BITS)
INFER (word, GYRE_DTYPES_WORD)

static void
binary_vjp (GyreTensor  *node,
            GyreTensor  *ct,
            GyreTensor **cts)
{
  if (node->dtype == GYRE_F32)
    get_rule (node)->pull (node->operands[0], node->operands[1], node, ct, cts);
}

static const char *
binary_fuse (GyreEmit          *emit,
             const GyreTensor  *node,
             const char *const *ix)
{
  const GyreBinary *rule = get_rule (node);
  const char *format = node->dtype == GYRE_F32 ? rule->real
                       : node->dtype == GYRE_I32 ? rule->sint : rule->uint;

  return gyre_prims_expand (emit, node, ix, format);
}

static GyreTensor *
binary_simplify (GyreGraph        *graph,
                 const GyreTensor *node)
{
  const GyreBinary *rule = get_rule (node);
  GyreTensor *folded = gyre_prims_fold (graph, node);

  if (folded != NULL || rule->simpler == NULL)
    return folded;

  return rule->simpler (node->operands[0], node->operands[1], node);
}

static void
binary_reference (const GyreTensor *node,
                  const GyreRef    *in,
                  GyreRef          *out)
{
  const GyreBinary *rule = get_rule (node);
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    {
      double a = in[0].data[i], b = in[1].data[i];

      out->data[i] =
          out->dtype == GYRE_F32
              ? rule->function (a, b)
              : gyre_prims_wrap (out->dtype, rule->integer ((gint64) a, (gint64) b));
    }
}

#define BINARY(NAME, INFER, FLAGS, LINEAR)                                           \
  .prim = { .name = NAME, .flags = GYRE_PRIM_ELEMENTWISE | (FLAGS), .n_operands = 2, \
            .linear = (LINEAR), .infer = binary_infer_##INFER, .vjp = binary_vjp,    \
            .partition = gyre_partition_elementwise, .fuse = binary_fuse,            \
            .simplify = binary_simplify, .cost = gyre_prims_cost_elements,           \
            .reference = binary_reference }
/* Signed integers overflow as unsigned ones do. */
#define WRAPPED(OP)    "(($t) ((uint) $a " OP " (uint) $b))"
#define PLAIN(OP)      "(($t) ($a " OP " $b))"
#define INTEGERS(EXPRESSION) .sint = EXPRESSION, .uint = EXPRESSION

static const GyreBinary binaries[] = {
  [GYRE_BINARY_ADD] = {
    BINARY ("add", number, GYRE_PRIM_COMMUTATIVE | GYRE_PRIM_ADDITIVE, 3),
    .real = "($a + $b)",
    INTEGERS (WRAPPED ("+")), .function = f_add, .integer = i_add, .pull = pull_add,
    .simpler = simpler_add,
  },
  [GYRE_BINARY_SUB] = {
    BINARY ("sub", number, GYRE_PRIM_ADDITIVE, 3),
    .real = "($a - $b)",
    INTEGERS (WRAPPED ("-")), .function = f_sub, .integer = i_sub, .pull = pull_sub,
    .simpler = simpler_sub,
  },
  [GYRE_BINARY_MUL] = {
    BINARY ("mul", number, GYRE_PRIM_COMMUTATIVE, 3),
    .real = "($a * $b)",
    INTEGERS (WRAPPED ("*")), .function = f_mul, .integer = i_mul, .pull = pull_mul,
    .simpler = simpler_mul,
  },
  [GYRE_BINARY_DIV] = {
    BINARY ("div", number, 0, 1),
    .real = "($a / $b)",
    .sint = "($b == 0 ? 0 : $b == -1 ? (int) (0u - (uint) $a) : $a / $b)",
    .uint = "(($t) ($b == 0 ? 0 : $a / $b))", .function = f_div, .integer = i_div,
    .pull = pull_div, .simpler = simpler_div,
  },
  [GYRE_BINARY_REM] = {
    BINARY ("rem", number, 0, 0),
    .real = "fmod ($a, $b)",
    .sint = "($b == 0 ? $a : $b == -1 ? 0 : $a % $b)",
    .uint = "(($t) ($b == 0 ? $a : $a % $b))", .function = fmod, .integer = i_rem,
    .pull = pull_rem,
  },
  [GYRE_BINARY_POW] = {
    BINARY ("pow", float, 0, 0),
    .real = "pow ($a, $b)", .function = pow, .pull = pull_pow, .simpler = simpler_pow,
  },
  [GYRE_BINARY_MAXIMUM] = {
    BINARY ("max", number, GYRE_PRIM_COMMUTATIVE, 0),
    .real = "($a > $b || $a != $a ? $a : $b)",
    INTEGERS ("($a > $b ? $a : $b)"), .function = f_max, .integer = i_max,
    .pull = pull_extreme, .simpler = simpler_same,
  },
  [GYRE_BINARY_MINIMUM] = {
    BINARY ("min", number, GYRE_PRIM_COMMUTATIVE, 0),
    .real = "($a < $b || $a != $a ? $a : $b)",
    INTEGERS ("($a < $b ? $a : $b)"), .function = f_min, .integer = i_min,
    .pull = pull_extreme, .simpler = simpler_same,
  },
  [GYRE_BINARY_AND] = {
    BINARY ("and", bits, GYRE_PRIM_COMMUTATIVE, 0),
    INTEGERS (PLAIN ("&")), .integer = i_and, .simpler = simpler_same,
  },
  [GYRE_BINARY_OR] = {
    BINARY ("or", bits, GYRE_PRIM_COMMUTATIVE, 0),
    INTEGERS (PLAIN ("|")), .integer = i_or, .simpler = simpler_same,
  },
  [GYRE_BINARY_XOR] = {
    BINARY ("xor", bits, GYRE_PRIM_COMMUTATIVE, 0),
    INTEGERS (PLAIN ("^")), .integer = i_xor,
  },
  [GYRE_BINARY_SHIFT_LEFT] = {
    BINARY ("shift_left", word, 0, 0),
    INTEGERS ( "(((uint) $b) > 31u ? 0 : ($t) ((uint) $a << (uint) $b))"),
    .integer = i_shift_left, .simpler = simpler_shift,
  },
  [GYRE_BINARY_SHIFT_RIGHT] = {
    BINARY ("shift_right", word, 0, 0),
    .sint = "($a >> (((uint) $b) > 31u ? 31u : (uint) $b))",
    .uint = "($b > 31u ? 0u : $a >> $b)", .integer = i_shift_right,
    .simpler = simpler_shift,
  },
};

GyreTensor *
gyre_binary_emit (GyreBinaryRule  rule,
                  GyreTensor     *a,
                  GyreTensor     *b)
{
  const GyrePrim *prim = &binaries[rule].prim;
  GyreTensor *operands[] = { a, b };

  g_return_val_if_fail (a != NULL, NULL);
  g_return_val_if_fail (b != NULL, NULL);

  if (!gyre_prims_broadcast (prim->name, operands, 2))
    return operands[0];

  return gyre_graph_emit (operands[0]->graph, prim, operands, 2, NULL);
}
