/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

/* pad: low and high elements at the ends of each dimension, interior ones between its
 * elements; negative low and high cut.  As in lax.pad. */

typedef struct
{
  double value;
  gint64 low[GYRE_MAX_RANK];
  gint64 high[GYRE_MAX_RANK];
  gint64 interior[GYRE_MAX_RANK];
} GyrePadAttrs;

static const GyrePadAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

static gboolean
is_whole (const GyreTensor *node,
          int               i)
{
  const GyrePadAttrs *pad = get_attrs (node);

  return pad->low[i] == 0 && pad->high[i] == 0 && pad->interior[i] == 0;
}

static gboolean
pad_infer (GyreTensor *const  *operands,
           guint               n,
           const void         *attrs,
           GyreDtype          *dtype,
           GyreShape          *shape,
           GError            **error)
{
  const GyrePadAttrs *pad = attrs;
  const GyreTensor *x = operands[0];

  *dtype = x->dtype;
  *shape = x->shape;
  for (int i = 0; i < x->shape.rank; i++)
    {
      gint64 extent = x->shape.dims[i];

      extent += MAX (extent - 1, 0) * pad->interior[i] + pad->low[i] + pad->high[i];
      if (pad->interior[i] < 0 || extent < 0)
        {
          g_autofree char *text = gyre_prims_describe (x);

          return gyre_prims_error (
              error,
              "operand 0 is %s, and its dimension %d can't be padded "
              "by %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
              " between: what is between can't be negative, "
              "and no more can be cut than there is",
              text, i, pad->low[i], pad->high[i], pad->interior[i]);
        }
      shape->dims[i] = extent;
    }

  return TRUE;
}

/* Cuts what was put on, then takes every (interior + 1)-th. */
static void
pad_vjp (GyreTensor  *node,
         GyreTensor  *ct,
         GyreTensor **cts)
{
  const GyrePadAttrs *pad = get_attrs (node);
  gint64 low[GYRE_MAX_RANK], high[GYRE_MAX_RANK];
  gint64 start[GYRE_MAX_RANK] = { 0 }, stride[GYRE_MAX_RANK],
         zeros[GYRE_MAX_RANK] = { 0 };

  for (int i = 0; i < node->shape.rank; i++)
    {
      low[i] = -pad->low[i];
      high[i] = -pad->high[i];
      stride[i] = pad->interior[i] + 1;
    }

  ct = gyre_pad (ct, 0, low, high, zeros);
  cts[0] = gyre_slice (ct, start, ct->shape.dims, stride);
}

static gboolean
pad_partition (const GyreTensor    *node,
               const GyreMeshSpec  *mesh,
               const GyreSpec      *in,
               GyreSpec            *want,
               GyreSpec            *out,
               GError             **error)
{
  want[0].flat = 0;
  for (int i = 0; i < node->shape.rank; i++)
    if (is_whole (node, i))
      gyre_prims_pass_dim (&want[0], i, out, i);
    else
      gyre_prims_drop_dim (&want[0], i);

  if (get_attrs (node)->value == 0)
    gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

/* The operand's index along dimension i; conditions are appended where it may have
 * none. */
static const char *
fuse_index (GyreEmit         *emit,
            const GyreTensor *node,
            int               i,
            const char       *ix,
            GString          *conditions)
{
  const GyrePadAttrs *pad = get_attrs (node);
  const char *separator = conditions->len > 0 ? " && " : "";
  const char *at, *to;

  if (is_whole (node, i))
    return ix;

  at = gyre_emit_let (
      emit, "int",
      gyre_emit_printf (emit, "%s - (%" G_GINT64_FORMAT ")", ix, pad->low[i]));
  to = at;
  g_string_append_printf (conditions, "%s%s >= 0", separator, at);
  if (pad->interior[i] > 0)
    {
      to = gyre_emit_let (
          emit, "int",
          gyre_emit_printf (emit, "%s / %" G_GINT64_FORMAT, at, pad->interior[i] + 1));
      g_string_append_printf (conditions, " && %s %% %" G_GINT64_FORMAT " == 0", at,
                              pad->interior[i] + 1);
    }
  g_string_append_printf (conditions, " && %s < %s", to,
                          gyre_emit_extent (emit, node->operands[0], i));
  return to;
}

static const char *
pad_fuse (GyreEmit          *emit,
          const GyreTensor  *node,
          const char *const *ix)
{
  g_autoptr (GString) conditions = g_string_new (NULL);
  const char *jx[GYRE_MAX_RANK], *value;

  for (int i = 0; i < node->shape.rank; i++)
    jx[i] = fuse_index (emit, node, i, ix[i], conditions);
  if (conditions->len == 0)
    return gyre_emit_operand (emit, node, 0, jx);

  value =
      gyre_emit_variable (emit, gyre_dtype_ctype (node->dtype),
                          gyre_emit_literal (emit, node->dtype, get_attrs (node)->value));
  gyre_emit_open_if (emit, gyre_emit_printf (emit, "%s", conditions->str));
  gyre_emit_statement (emit, "%s = %s;", value, gyre_emit_operand (emit, node, 0, jx));
  gyre_emit_close_if (emit);
  return value;
}

static GyreTensor *
pad_simplify (GyreGraph        *graph,
              const GyreTensor *node)
{
  gboolean whole = TRUE;

  for (int i = 0; i < node->shape.rank; i++)
    whole = whole && is_whole (node, i);

  if (!whole && gyre_prims_is_value (node->operands[0], get_attrs (node)->value))
    return gyre_full_like ((GyreTensor *) node, get_attrs (node)->value);

  return whole ? node->operands[0] : NULL;
}

static void
pad_reference (const GyreTensor *node,
               const GyreRef    *in,
               GyreRef          *out)
{
  const GyrePadAttrs *pad = get_attrs (node);
  gint64 n = gyre_shape_n_elements (&out->shape);
  gint64 ix[GYRE_MAX_RANK];

  for (gint64 flat = 0; flat < n; flat++)
    {
      gboolean inside = TRUE;

      gyre_prims_unravel (&out->shape, flat, ix);
      for (int i = 0; i < out->shape.rank; i++)
        {
          gint64 at = ix[i] - pad->low[i], step = pad->interior[i] + 1;

          ix[i] = at / step;
          inside = inside && at >= 0 && at % step == 0 && ix[i] < in[0].shape.dims[i];
        }
      out->data[flat] =
          inside ? in[0].data[gyre_prims_ravel (&in[0].shape, ix)] : pad->value;
    }
}

static void
pad_print (const GyreTensor *node,
           GString          *out)
{
  const GyrePadAttrs *pad = get_attrs (node);
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%.9g", pad->value);
  g_string_append_printf (out, " {%s", number);
  for (int i = 0; i < node->shape.rank; i++)
    g_string_append_printf (
        out, ",%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, pad->low[i],
        pad->high[i], pad->interior[i]);
  g_string_append_c (out, '}');
}

const GyrePrim gyre_prim_pad = {
  .name = "pad",
  .attrs_size = sizeof (GyrePadAttrs),
  .n_operands = 1,
  .infer = pad_infer,
  .vjp = pad_vjp,
  .partition = pad_partition,
  .fuse = pad_fuse,
  .simplify = pad_simplify,
  .cost = gyre_prims_cost_elements,
  .reference = pad_reference,
  .print = pad_print,
};

/**
 * gyre_pad:
 * @x: any dtype
 * @value: what is put on
 * @low: (array): for each dimension how many come before it; negative: cut
 * @high: (array): for each dimension how many come after it; negative: cut
 * @interior: (array) (nullable): how many come between two elements; %NULL is 0
 * everywhere
 *
 * As lax.pad: out[low + i (interior + 1)] = x[i], and @value elsewhere. Gradient: what
 * stands in ct where @x stood. Sharding: dimensions that are not padded may be split,
 * others are gathered first; with zeros a partial sum stays one.
 *
 * Returns: (transfer none): the padded tensor; a poison tensor where more is cut than
 *   there is
 */
GyreTensor *
gyre_pad (GyreTensor   *x,
          double        value,
          const gint64 *low,
          const gint64 *high,
          const gint64 *interior)
{
  GyrePadAttrs attrs = { 0 };

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison)
    return x;

  attrs.value = gyre_prims_round (x->dtype, value);
  for (int i = 0; i < x->shape.rank; i++)
    {
      attrs.low[i] = low[i];
      attrs.high[i] = high[i];
      attrs.interior[i] = interior != NULL ? interior[i] : 0;
    }
  return gyre_prims_emit1 (&gyre_prim_pad, x, &attrs);
}
