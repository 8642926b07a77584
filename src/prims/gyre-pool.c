/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-pool-private.h"

/* Sums and largest elements of windows.  The gradient of a sum is a sum again; that of
 * the largest goes to the first of them in the window, row by row. */

static const GyrePoolAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

/* Shapes */

static gboolean
check_attrs (const GyrePoolAttrs  *attrs,
             const GyreTensor     *x,
             GError              **error)
{
  g_autofree char *text = gyre_prims_describe (x);

  if (x->shape.rank != 4)
    return gyre_prims_error (error,
                             "operand 0 is %s, and must be f32[samples, height, width, "
                             "channels]", text);

  for (int i = 0; i < 2; i++)
    {
      gint64 padded = x->shape.dims[1 + i] + attrs->padding[i][0] + attrs->padding[i][1];

      if (attrs->window[i] < 1 || attrs->strides[i] < 1)
        return gyre_prims_error (error, "the window %" G_GINT64_FORMAT " and the stride %"
                                 G_GINT64_FORMAT " must be 1 or more", attrs->window[i],
                                 attrs->strides[i]);
      if (attrs->padding[i][0] < 0 || attrs->padding[i][1] < 0)
        return gyre_prims_error (error, "the paddings %" G_GINT64_FORMAT " and %"
                                 G_GINT64_FORMAT " must be 0 or more",
                                 attrs->padding[i][0], attrs->padding[i][1]);
      if (padded < attrs->window[i])
        return gyre_prims_error (error,
                                 "operand 0 is %s, whose dimension %d has "
                                 "%" G_GINT64_FORMAT " elements with its padding, and "
                                 "the window %" G_GINT64_FORMAT ": take a smaller one, "
                                 "or pad more",
                                 text, 1 + i, padded, attrs->window[i]);
      if (!gyre_prims_check_padded (&x->shape, 1 + i, padded, error))
        return FALSE;
    }

  return TRUE;
}

static GyreShape
result_shape (const GyrePoolAttrs *attrs,
              const GyreShape     *x)
{
  GyreShape shape = *x;

  for (int i = 0; i < 2; i++)
    shape.dims[1 + i] = (x->dims[1 + i] + attrs->padding[i][0] + attrs->padding[i][1]
                         - attrs->window[i]) / attrs->strides[i] + 1;

  return shape;
}

static gboolean
window_infer (GyreTensor *const  *operands,
              guint               n,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  if (!gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_FLOAT, error)
      || !check_attrs (attrs, operands[0], error))
    return FALSE;

  *dtype = GYRE_F32;
  *shape = result_shape (attrs, &operands[0]->shape);
  return TRUE;
}

static gboolean
check_second (GyreTensor *const  *operands,
              const GyreShape    *wanted,
              GError            **error)
{
  g_autofree char *text = NULL, *given = NULL;

  if (!gyre_prims_check_dtype (operands[1], 1, GYRE_DTYPES_FLOAT, error))
    return FALSE;
  if (gyre_shape_equal (&operands[1]->shape, wanted))
    return TRUE;

  text = gyre_shape_to_string (wanted);
  given = gyre_prims_describe (operands[1]);
  return gyre_prims_error (error, "operand 1 is %s, and must be f32%s", given, text);
}

static gboolean
pick_infer (GyreTensor *const  *operands,
            guint               n,
            const void         *attrs,
            GyreDtype          *dtype,
            GyreShape          *shape,
            GError            **error)
{
  return window_infer (operands, 1, attrs, dtype, shape, error)
         && check_second (operands, &operands[0]->shape, error);
}

static gboolean
scatter_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  GyreShape y;

  if (!window_infer (operands, 1, attrs, dtype, &y, error)
      || !check_second (operands, &y, error))
    return FALSE;

  *shape = operands[0]->shape;
  return TRUE;
}

/* Gradients */

/* An element is in the windows whose first element is up to a window before: a sum over
 * windows of y with its steps filled by zeros, as wide, and one at each element. */
static void
sum_vjp (GyreTensor  *node,
         GyreTensor  *ct,
         GyreTensor **cts)
{
  const GyrePoolAttrs *attrs = get_attrs (node);
  GyrePoolAttrs sums = { { attrs->window[0], attrs->window[1] }, { 1, 1 } };
  const gint64 *x = node->operands[0]->shape.dims, *y = node->shape.dims;
  gint64 low[4] = { 0 }, high[4] = { 0 }, interior[4] = { 0 };

  for (int i = 0; i < 2; i++)
    {
      gint64 last = (y[1 + i] - 1) * attrs->strides[i];

      low[1 + i] = attrs->window[i] - 1 - attrs->padding[i][0];
      high[1 + i] = x[1 + i] + attrs->padding[i][0] - 1 - last;
      interior[1 + i] = attrs->strides[i] - 1;
    }

  cts[0] = gyre_prims_emit1 (&gyre_prim_window_sum, gyre_pad (ct, 0, low, high, interior),
                             &sums);
}

static void
max_vjp (GyreTensor  *node,
         GyreTensor  *ct,
         GyreTensor **cts)
{
  cts[0] = gyre_prims_emit2 (&gyre_prim_window_scatter, node->operands[0], ct,
                             node->attrs);
}

/* By x they change in jumps only. */
static void
pick_vjp (GyreTensor  *node,
          GyreTensor  *ct,
          GyreTensor **cts)
{
  cts[1] = gyre_prims_emit2 (&gyre_prim_window_scatter, node->operands[0], ct,
                             node->attrs);
}

static void
scatter_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  cts[1] = gyre_prims_emit2 (&gyre_prim_window_pick, node->operands[0], ct, node->attrs);
}

/* Sharding: samples and channels may be split. */

static void
pass_split (GyreSpec *want,
            GyreSpec *out)
{
  want->flat = 0;
  gyre_prims_drop_dim (want, 1);
  gyre_prims_drop_dim (want, 2);
  gyre_prims_pass_dim (want, 0, out, 0);
  gyre_prims_pass_dim (want, 3, out, 3);
}

static gboolean
sum_partition (const GyreTensor    *node,
               const GyreMeshSpec  *mesh,
               const GyreSpec      *in,
               GyreSpec            *want,
               GyreSpec            *out,
               GError             **error)
{
  pass_split (&want[0], out);
  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static gboolean
max_partition (const GyreTensor    *node,
               const GyreMeshSpec  *mesh,
               const GyreSpec      *in,
               GyreSpec            *want,
               GyreSpec            *out,
               GError             **error)
{
  pass_split (&want[0], out);
  return TRUE;
}

static gboolean
pair_partition (const GyreTensor    *node,
                const GyreMeshSpec  *mesh,
                const GyreSpec      *in,
                GyreSpec            *want,
                GyreSpec            *out,
                GError             **error)
{
  guint8 partial = gyre_partition_keep_partial (node, in);

  for (int i = 0; i < 2; i++)
    {
      want[i].flat = 0;
      gyre_prims_drop_dim (&want[i], 1);
      gyre_prims_drop_dim (&want[i], 2);
    }
  gyre_prims_share_dim (want, 0, 0);
  gyre_prims_share_dim (want, 3, 3);
  pass_split (&want[0], out);

  if ((partial & gyre_spec_split_axes (out)) == 0)
    want[1].partial = out->partial = partial;
  return TRUE;
}

/* Kernels */

typedef struct
{
  const char *jx[4];     /* the element's indices in x */
  gboolean    open;      /* whether it may not be there */
} WindowLoop;

static gboolean
is_inside (const GyreTensor *node,
           int               i)
{
  const GyrePoolAttrs *attrs = get_attrs (node);

  return attrs->padding[i][0] == 0
         && (node->shape.dims[1 + i] - 1) * attrs->strides[i] + attrs->window[i]
            <= node->operands[0]->shape.dims[1 + i];
}

/* A loop over the elements of the window at ix */
static void
open_window (GyreEmit          *emit,
             const GyreTensor  *node,
             const char *const *ix,
             WindowLoop        *loop)
{
  const GyrePoolAttrs *attrs = get_attrs (node);
  g_autoptr (GString) conditions = g_string_new (NULL);

  loop->jx[0] = ix[0];
  loop->jx[3] = ix[3];
  for (int i = 0; i < 2; i++)
    {
      const char *step = gyre_emit_open_loop (
          emit, gyre_emit_printf (emit, "%" G_GINT64_FORMAT, attrs->window[i]));
      const char *at = gyre_emit_printf (
          emit, "%s * %" G_GINT64_FORMAT " + %s - %" G_GINT64_FORMAT, ix[1 + i],
          attrs->strides[i], step, attrs->padding[i][0]);

      loop->jx[1 + i] = gyre_emit_let (emit, "int", at);
      if (!is_inside (node, i))
        g_string_append_printf (conditions, "%s%s >= 0 && %s < %s",
                                conditions->len > 0 ? " && " : "", loop->jx[1 + i],
                                loop->jx[1 + i],
                                gyre_emit_extent (emit, node->operands[0], 1 + i));
    }

  loop->open = conditions->len > 0;
  if (loop->open)
    gyre_emit_open_if (emit, gyre_arena_strdup (emit->arena, conditions->str));
}

static void
close_window (GyreEmit         *emit,
              const WindowLoop *loop)
{
  if (loop->open)
    gyre_emit_close_if (emit);
  gyre_emit_close_loop (emit);
  gyre_emit_close_loop (emit);
}

static const char *
sum_fuse (GyreEmit          *emit,
          const GyreTensor  *node,
          const char *const *ix)
{
  const char *sum = gyre_emit_variable (emit, "float", "0.0f");
  WindowLoop loop;

  open_window (emit, node, ix, &loop);
  gyre_emit_statement (emit, "%s += %s;", sum,
                       gyre_emit_operand (emit, node, 0, loop.jx));
  close_window (emit, &loop);

  return sum;
}

static const char *
max_fuse (GyreEmit          *emit,
          const GyreTensor  *node,
          const char *const *ix)
{
  const char *largest = gyre_emit_variable (emit, "float", "-INFINITY"), *element;
  WindowLoop loop;

  open_window (emit, node, ix, &loop);
  element = gyre_emit_let (emit, "float", gyre_emit_operand (emit, node, 0, loop.jx));
  gyre_emit_statement (emit, "%s = %s > %s || %s != %s ? %s : %s;", largest, largest,
                       element, largest, largest, largest, element);
  close_window (emit, &loop);

  return largest;
}

static const char *
pick_fuse (GyreEmit          *emit,
           const GyreTensor  *node,
           const char *const *ix)
{
  const char *picked = gyre_emit_variable (emit, "float", "0.0f");
  const char *largest = gyre_emit_variable (emit, "float", "0.0f");
  const char *any = gyre_emit_variable (emit, "int", "0");
  const char *element, *value;
  WindowLoop loop;

  open_window (emit, node, ix, &loop);
  element = gyre_emit_let (emit, "float", gyre_emit_operand (emit, node, 0, loop.jx));
  value = gyre_emit_let (emit, "float", gyre_emit_operand (emit, node, 1, loop.jx));
  gyre_emit_statement (emit, "%s = %s && !(%s > %s) ? %s : %s;", picked, any, element,
                       largest, picked, value);
  gyre_emit_statement (emit, "%s = %s && !(%s > %s) ? %s : %s;", largest, any, element,
                       largest, largest, element);
  gyre_emit_statement (emit, "%s = 1;", any);
  close_window (emit, &loop);

  return picked;
}

static double
window_cost (const GyreTensor *node)
{
  const GyrePoolAttrs *attrs = get_attrs (node);
  gboolean scatters = node->prim == &gyre_prim_window_scatter;
  const GyreTensor *y = scatters ? node->operands[1] : node;

  return (double) gyre_shape_n_elements (&y->shape)
         * (double) (attrs->window[0] * attrs->window[1]);
}

static void
window_print (const GyreTensor *node,
              GString          *out)
{
  const GyrePoolAttrs *attrs = get_attrs (node);
  const gint64 *y = attrs->padding[0], *x = attrs->padding[1];

  g_string_append_printf (out,
                          " {window=%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                          ",strides=%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
                          attrs->window[0], attrs->window[1], attrs->strides[0],
                          attrs->strides[1]);
  if (y[0] != 0 || y[1] != 0 || x[0] != 0 || x[1] != 0)
    g_string_append_printf (out,
                            ",pad=%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT
                            "x%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT,
                            y[0], y[1], x[0], x[1]);
  g_string_append_c (out, '}');
}

const GyrePrim gyre_prim_window_sum = {
  .name = "window_sum",
  .flags = GYRE_PRIM_REDUCTION,
  .attrs_size = sizeof (GyrePoolAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = window_infer,
  .vjp = sum_vjp,
  .partition = sum_partition,
  .fuse = sum_fuse,
  .cost = window_cost,
  .reference = gyre_window_sum_reference,
  .print = window_print,
};

const GyrePrim gyre_prim_window_max = {
  .name = "window_max",
  .flags = GYRE_PRIM_REDUCTION,
  .attrs_size = sizeof (GyrePoolAttrs),
  .n_operands = 1,
  .infer = window_infer,
  .vjp = max_vjp,
  .partition = max_partition,
  .fuse = max_fuse,
  .cost = window_cost,
  .reference = gyre_window_max_reference,
  .print = window_print,
};

const GyrePrim gyre_prim_window_pick = {
  .name = "window_pick",
  .flags = GYRE_PRIM_REDUCTION,
  .attrs_size = sizeof (GyrePoolAttrs),
  .n_operands = 2,
  .linear = 1 << 1,
  .infer = pick_infer,
  .vjp = pick_vjp,
  .partition = pair_partition,
  .fuse = pick_fuse,
  .cost = window_cost,
  .reference = gyre_window_pick_reference,
  .print = window_print,
};

const GyrePrim gyre_prim_window_scatter = {
  .name = "window_scatter",
  .attrs_size = sizeof (GyrePoolAttrs),
  .n_operands = 2,
  .linear = 1 << 1,
  .infer = scatter_infer,
  .vjp = scatter_vjp,
  .partition = pair_partition,
  .lower = gyre_window_scatter_lower,
  .cost = window_cost,
  .reference = gyre_window_scatter_reference,
  .print = window_print,
};
