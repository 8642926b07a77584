/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

/* Comparisons, which give bool, and the choice by one. */

typedef struct
{
  GyrePrim    prim;
  const char *expression;
  gboolean  (*function) (double a, double b);
} GyreCompare;

static gboolean f_equal (double a, double b)         { return a == b; }
static gboolean f_not_equal (double a, double b)     { return a != b; }
static gboolean f_less (double a, double b)          { return a < b; }
static gboolean f_less_equal (double a, double b)    { return a <= b; }
static gboolean f_greater (double a, double b)       { return a > b; }
static gboolean f_greater_equal (double a, double b) { return a >= b; }

static gboolean
check_alike (const GyreTensor  *a,
             guint              i,
             const GyreTensor  *b,
             guint              j,
             GError           **error)
{
  g_autofree char *text_a = gyre_prims_describe (a);
  g_autofree char *text_b = gyre_prims_describe (b);

  if (a->dtype != b->dtype)
    return gyre_prims_error (error,
                             "operand %u is %s and operand %u is %s, but their dtypes "
                             "must be equal: use gyre_convert ()",
                             i, text_a, j, text_b);
  if (!gyre_shape_equal (&a->shape, &b->shape))
    return gyre_prims_error (error,
                             "operand %u is %s and operand %u is %s, but their shapes "
                             "must be equal: use gyre_broadcast_to ()",
                             i, text_a, j, text_b);

  return TRUE;
}

static gboolean
compare_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  *dtype = GYRE_BOOL;
  *shape = operands[0]->shape;
  return check_alike (operands[0], 0, operands[1], 1, error);
}

static const char *
compare_fuse (GyreEmit          *emit,
              const GyreTensor  *node,
              const char *const *ix)
{
  const GyreCompare *rule = (const GyreCompare *) node->prim;

  return gyre_prims_expand (emit, node, ix, rule->expression);
}

static GyreTensor *
compare_simplify (GyreGraph        *graph,
                  const GyreTensor *node)
{
  return gyre_prims_fold (graph, node);
}

static void
compare_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  const GyreCompare *rule = (const GyreCompare *) node->prim;
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    out->data[i] = rule->function (in[0].data[i], in[1].data[i]) ? 1 : 0;
}

#define COMPARE(NAME, OP, FLAGS)                                                        \
  { .prim = { .name = #NAME, .flags = GYRE_PRIM_ELEMENTWISE | (FLAGS), .n_operands = 2, \
              .infer = compare_infer, .vjp = gyre_prims_vjp_zero,                       \
              .partition = gyre_partition_elementwise, .fuse = compare_fuse,            \
              .simplify = compare_simplify, .cost = gyre_prims_cost_elements,           \
              .reference = compare_reference },                                         \
    .expression = "((uchar) ($a " OP " $b))", .function = f_##NAME }

enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

static const GyreCompare compares[] = {
  [EQUAL] = COMPARE (equal, "==", GYRE_PRIM_COMMUTATIVE),
  [NOT_EQUAL] = COMPARE (not_equal, "!=", GYRE_PRIM_COMMUTATIVE),
  [LESS] = COMPARE (less, "<", 0),
  [LESS_EQUAL] = COMPARE (less_equal, "<=", 0),
  [GREATER] = COMPARE (greater, ">", 0),
  [GREATER_EQUAL] = COMPARE (greater_equal, ">=", 0),
};

static GyreTensor *
compare_emit (int         rule,
              GyreTensor *a,
              GyreTensor *b)
{
  GyreTensor *operands[] = { a, b };

  g_return_val_if_fail (a != NULL && b != NULL, NULL);

  if (!gyre_prims_broadcast (compares[rule].prim.name, operands, 2))
    return operands[0];

  return gyre_graph_emit (operands[0]->graph, &compares[rule].prim, operands, 2, NULL);
}

/* Choice.  It is linear in both values together: a sum of choices is the choice of the
 * sums. */

static gboolean
select_infer (GyreTensor *const  *operands,
              guint               n,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  g_autofree char *text = gyre_prims_describe (operands[0]);

  *dtype = operands[1]->dtype;
  *shape = operands[1]->shape;
  if (operands[0]->dtype != GYRE_BOOL)
    return gyre_prims_error (error,
                             "operand 0 is %s, but a condition is bool: compare it "
                             "with something",
                             text);
  if (!check_alike (operands[1], 1, operands[2], 2, error))
    return FALSE;
  if (!gyre_shape_equal (&operands[0]->shape, shape))
    return gyre_prims_error (error,
                             "operand 0 is %s, but it must have the shape of operand "
                             "1: use gyre_broadcast_to ()",
                             text);

  return TRUE;
}

static void
select_vjp (GyreTensor  *node,
            GyreTensor  *ct,
            GyreTensor **cts)
{
  GyreTensor *condition = node->operands[0];
  GyreTensor *zero;

  if (node->dtype != GYRE_F32)
    return;

  zero = gyre_full_like (ct, 0);
  cts[1] = gyre_select (condition, ct, zero);
  cts[2] = gyre_select (condition, zero, ct);
}

/* A zero is also a partial sum of zeros, so that it does not stand against one. */
static gboolean
select_partition (const GyreTensor    *node,
                  const GyreMeshSpec  *mesh,
                  const GyreSpec      *in,
                  GyreSpec            *want,
                  GyreSpec            *out,
                  GError             **error)
{
  GyreSpec alike[] = { in[0], in[1], in[2] };
  gboolean zeros[3] = { FALSE };

  for (int i = 1; i < 3; i++)
    zeros[i] = gyre_prims_is_value (node->operands[i], 0);
  if (zeros[1])
    alike[1].partial = in[2].partial;
  else if (zeros[2])
    alike[2].partial = in[1].partial;

  if (!gyre_partition_elementwise (node, mesh, alike, want, out, error))
    return FALSE;

  for (int i = 1; i < 3; i++)
    if (zeros[i])
      want[i].partial = in[i].partial;
  return TRUE;
}

static const char *
select_fuse (GyreEmit          *emit,
             const GyreTensor  *node,
             const char *const *ix)
{
  const char *condition = gyre_emit_operand (emit, node, 0, ix);
  const char *a = gyre_emit_operand (emit, node, 1, ix);
  const char *b = gyre_emit_operand (emit, node, 2, ix);

  return gyre_emit_printf (emit, "(%s ? %s : %s)", condition, a, b);
}

static GyreTensor *
select_simplify (GyreGraph        *graph,
                 const GyreTensor *node)
{
  GyreTensor *const *operands = node->operands;
  double condition;

  if (gyre_prims_is_constant (operands[0], &condition))
    return condition != 0 ? operands[1] : operands[2];

  return operands[1] == operands[2] ? operands[1] : NULL;
}

static void
select_reference (const GyreTensor *node,
                  const GyreRef    *in,
                  GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    out->data[i] = in[0].data[i] != 0 ? in[1].data[i] : in[2].data[i];
}

const GyrePrim gyre_prim_select = {
  .name = "select",
  .flags = GYRE_PRIM_ELEMENTWISE | GYRE_PRIM_ADDITIVE,
  .n_operands = 3,
  .linear = 1 << 1 | 1 << 2,
  .infer = select_infer,
  .vjp = select_vjp,
  .partition = select_partition,
  .fuse = select_fuse,
  .simplify = select_simplify,
  .cost = gyre_prims_cost_elements,
  .reference = select_reference,
};

/**
 * gyre_select:
 * @condition: bool
 * @a: any dtype
 * @b: of the same dtype; the three shapes broadcast as NumPy's do
 *
 * y = condition ? a : b, element by element; what is not chosen does not matter, even
 * NaN. Gradient: ct where it was chosen, and 0 elsewhere. Element-wise: takes any
 * sharding; partial sums over the same axes stay one.
 *
 * Returns: (transfer none): a tensor of the dtype of @a and the common shape
 */
GyreTensor *
gyre_select (GyreTensor *condition,
             GyreTensor *a,
             GyreTensor *b)
{
  GyreTensor *operands[] = { condition, a, b };

  g_return_val_if_fail (condition != NULL && a != NULL && b != NULL, NULL);

  if (!gyre_prims_broadcast ("select", operands, 3))
    return operands[0];

  return gyre_graph_emit (operands[0]->graph, &gyre_prim_select, operands, 3, NULL);
}

/**
 * gyre_equal:
 * @a: any dtype
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * Whether a = b; false where one is NaN. No gradient. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the common shape
 */
GyreTensor *
gyre_equal (GyreTensor *a,
            GyreTensor *b)
{
  return compare_emit (EQUAL, a, b);
}

/**
 * gyre_not_equal:
 * @a: any dtype
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * Whether a ≠ b; true where one is NaN. No gradient. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the common shape
 */
GyreTensor *
gyre_not_equal (GyreTensor *a,
                GyreTensor *b)
{
  return compare_emit (NOT_EQUAL, a, b);
}

/**
 * gyre_less:
 * @a: any dtype
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * Whether a < b; false where one is NaN. No gradient. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the common shape
 */
GyreTensor *
gyre_less (GyreTensor *a,
           GyreTensor *b)
{
  return compare_emit (LESS, a, b);
}

/**
 * gyre_less_equal:
 * @a: any dtype
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * Whether a ≤ b; false where one is NaN. No gradient. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the common shape
 */
GyreTensor *
gyre_less_equal (GyreTensor *a,
                 GyreTensor *b)
{
  return compare_emit (LESS_EQUAL, a, b);
}

/**
 * gyre_greater:
 * @a: any dtype
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * Whether a > b; false where one is NaN. No gradient. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the common shape
 */
GyreTensor *
gyre_greater (GyreTensor *a,
              GyreTensor *b)
{
  return compare_emit (GREATER, a, b);
}

/**
 * gyre_greater_equal:
 * @a: any dtype
 * @b: of the same dtype; the shapes broadcast as NumPy's do
 *
 * Whether a ≥ b; false where one is NaN. No gradient. Element-wise: takes any sharding.
 *
 * Returns: (transfer none): bool of the common shape
 */
GyreTensor *
gyre_greater_equal (GyreTensor *a,
                    GyreTensor *b)
{
  return compare_emit (GREATER_EQUAL, a, b);
}
