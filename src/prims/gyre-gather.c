/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

#include <string.h>

/* gather_rows and its adjoint, scatter_add_rows.  A row out of range is taken for the
 * nearest one in both. */

typedef struct
{
  gint64 n;
} GyreScatterAttrs;

static gboolean
check_rows (const GyreTensor  *rows,
            guint              i,
            GError           **error)
{
  return gyre_prims_check_dtype (rows, i, GYRE_DTYPES (GYRE_I32), error);
}

static gint64
clamp_row (double row,
           gint64 n)
{
  return CLAMP ((gint64) row, 0, n - 1);
}

static gint64
count_from (const GyreShape *shape,
            int              dim)
{
  gint64 n = 1;

  for (int i = dim; i < shape->rank; i++)
    n *= shape->dims[i];

  return n;
}

/* gather_rows: x[n, …], rows[b…] → [b…, …] */

static gboolean
gather_infer (GyreTensor *const  *operands,
              guint               n,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  const GyreShape *x = &operands[0]->shape, *rows = &operands[1]->shape;
  g_autofree char *text = gyre_prims_describe (operands[0]);
  g_autofree char *text_rows = gyre_prims_describe (operands[1]);

  if (!check_rows (operands[1], 1, error))
    return FALSE;
  if (x->rank == 0 || x->rank - 1 + rows->rank > GYRE_MAX_RANK)
    return gyre_prims_error (error,
                             "operand 0 is %s and operand 1 is %s: there must be rows to "
                             "take, and no more than %d dimensions in all",
                             text, text_rows, GYRE_MAX_RANK);
  if (x->dims[0] == 0 && gyre_shape_n_elements (rows) > 0)
    return gyre_prims_error (
        error,
        "operand 0 is %s, which has no row, and operand 1 is %s: give "
        "a table of 1 row or more",
        text, text_rows);

  *dtype = operands[0]->dtype;
  *shape = *rows;
  for (int i = 1; i < x->rank; i++)
    shape->dims[shape->rank++] = x->dims[i];
  return TRUE;
}

static void
gather_vjp (GyreTensor  *node,
            GyreTensor  *ct,
            GyreTensor **cts)
{
  if (node->dtype == GYRE_F32)
    cts[0] =
        gyre_scatter_add_rows (node->operands[0]->shape.dims[0], node->operands[1], ct);
}

/* Splits of rows pass, and those of the table's other dimensions where the axis is
 * free. */
static gboolean
gather_partition (const GyreTensor    *node,
                  const GyreMeshSpec  *mesh,
                  const GyreSpec      *in,
                  GyreSpec            *want,
                  GyreSpec            *out,
                  GError             **error)
{
  const GyreShape *x = &node->operands[0]->shape;
  int n_rows = node->operands[1]->shape.rank;
  guint8 partial = gyre_partition_keep_partial (node, in);

  want[0].flat = want[1].flat = 0;
  gyre_prims_drop_dim (&want[0], 0);
  for (int i = 0; i < n_rows; i++)
    gyre_prims_pass_dim (&want[1], i, out, i);
  for (int i = 1; i < x->rank; i++)
    if (want[0].axes[i] & gyre_spec_split_axes (&want[1]))
      gyre_prims_drop_dim (&want[0], i);
    else
      gyre_prims_pass_dim (&want[0], i, out, n_rows + i - 1);

  if ((partial & gyre_spec_split_axes (out)) == 0)
    want[0].partial = out->partial = partial;
  return TRUE;
}

static const char *
gather_fuse (GyreEmit          *emit,
             const GyreTensor  *node,
             const char *const *ix)
{
  const GyreTensor *x = node->operands[0];
  int n_rows = node->operands[1]->shape.rank;
  const char *row = gyre_emit_operand (emit, node, 1, ix);
  const char *jx[GYRE_MAX_RANK];

  jx[0] = gyre_emit_let (emit, "int",
                         gyre_emit_printf (emit, "clamp (%s, 0, %s - 1)", row,
                                           gyre_emit_extent (emit, x, 0)));
  for (int i = 1; i < x->shape.rank; i++)
    jx[i] = ix[n_rows + i - 1];

  return gyre_emit_operand (emit, node, 0, jx);
}

static void
gather_reference (const GyreTensor *node,
                  const GyreRef    *in,
                  GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&in[1].shape), width = count_from (&in[0].shape, 1);

  for (gint64 i = 0; i < n && width > 0; i++)
    memcpy (out->data + i * width,
            in[0].data + clamp_row (in[1].data[i], in[0].shape.dims[0]) * width,
            (gsize) width * sizeof (double));
}

const GyrePrim gyre_prim_gather_rows = {
  .name = "gather_rows",
  .n_operands = 2,
  .linear = 1,
  .infer = gather_infer,
  .vjp = gather_vjp,
  .partition = gather_partition,
  .fuse = gather_fuse,
  .cost = gyre_prims_cost_elements,
  .reference = gather_reference,
};

/* scatter_add_rows: rows[b…], update[b…, …] → [n, …] */

static gint64
get_n (const GyreTensor *node)
{
  return ((const GyreScatterAttrs *) node->attrs)->n;
}

static gboolean
leads (const GyreShape *rows,
       const GyreShape *update)
{
  if (update->rank < rows->rank)
    return FALSE;

  for (int i = 0; i < rows->rank; i++)
    if (rows->dims[i] != update->dims[i])
      return FALSE;

  return TRUE;
}

static gboolean
scatter_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  const GyreShape *rows = &operands[0]->shape, *update = &operands[1]->shape;
  gint64 n_rows = ((const GyreScatterAttrs *) attrs)->n;
  g_autofree char *text_rows = gyre_prims_describe (operands[0]);
  g_autofree char *text = gyre_prims_describe (operands[1]);

  if (!check_rows (operands[0], 0, error) ||
      !gyre_prims_check_dtype (operands[1], 1, GYRE_DTYPES_FLOAT, error))
    return FALSE;
  if (!leads (rows, update) || update->rank - rows->rank >= GYRE_MAX_RANK)
    return gyre_prims_error (
        error,
        "operand 0 is %s and operand 1 is %s, whose first dimensions "
        "must be those of operand 0",
        text_rows, text);
  if (n_rows < 0 || (n_rows == 0 && gyre_shape_n_elements (rows) > 0))
    return gyre_prims_error (error,
                             "operand 0 is %s, and there can't be %" G_GINT64_FORMAT
                             " rows to add to: give 1 or more",
                             text_rows, n_rows);

  *dtype = GYRE_F32;
  *shape = GYRE_SHAPE (n_rows);
  for (int i = rows->rank; i < update->rank; i++)
    shape->dims[shape->rank++] = update->dims[i];
  return TRUE;
}

static void
scatter_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  cts[1] = gyre_gather_rows (ct, node->operands[0]);
}

/* Rows that are split give each member a summand. */
static gboolean
scatter_partition (const GyreTensor    *node,
                   const GyreMeshSpec  *mesh,
                   const GyreSpec      *in,
                   GyreSpec            *want,
                   GyreSpec            *out,
                   GError             **error)
{
  int n_rows = node->operands[0]->shape.rank;
  guint8 partial = gyre_partition_keep_partial (node, in);

  want[0].flat = want[1].flat = 0;
  for (int i = 0; i < n_rows; i++)
    {
      if (want[1].axes[i] == 0 &&
          (want[0].axes[i] & gyre_spec_split_axes (&want[1])) == 0)
        gyre_prims_pass_dim (&want[0], i, &want[1], i);
      gyre_prims_pass_dim (&want[1], i, &want[0], i);
      out->partial |= want[1].axes[i];
    }
  for (int i = n_rows; i < node->operands[1]->shape.rank; i++)
    gyre_prims_pass_dim (&want[1], i, out, i - n_rows + 1);

  if ((partial & (gyre_spec_split_axes (out) | out->partial)) == 0)
    {
      want[1].partial = partial;
      out->partial |= partial;
    }
  return TRUE;
}

/* Each work-item has a column and a range of the result's rows, and adds in the order of
 * rows: the sum does not depend on how they are spread. */
static gboolean
scatter_lower (GyreLower         *lower,
               const GyreTensor  *node,
               GError           **error)
{
  GyreShape rows, update;
  gint64 n = get_n (node), count, width, parts;
  GyreCommandArg args[6];
  GyreLaunch launch = { 0 };

  gyre_lower_local_shape (lower, node->operands[0], &rows, NULL);
  gyre_lower_local_shape (lower, node->operands[1], &update, NULL);
  count = gyre_shape_n_elements (&rows);
  width = count_from (&update, rows.rank);
  parts = MIN (MAX (n, 1), MAX (lower->target->compute_units, 1));

  gyre_lower_fill (lower, node, node->id, 0, n * width);
  args[0] = GYRE_WRITE (node->id);
  args[1] = GYRE_READ (node->operands[0]->id);
  args[2] = GYRE_READ (node->operands[1]->id);
  args[3] = GYRE_INT (n);
  args[4] = GYRE_INT (count);
  args[5] = GYRE_INT (width);

  launch.resource = "scatter.cl";
  launch.kernel = "gyre_scatter_add_rows";
  launch.n_args = G_N_ELEMENTS (args);
  launch.args = args;
  launch.dims = 2;
  launch.global[0] = (gsize) width;
  launch.global[1] = count > 0 ? (gsize) parts : 0;
  gyre_lower_launch (lower, node, &launch);
  return TRUE;
}

static double
scatter_cost (const GyreTensor *node)
{
  return (double) gyre_shape_n_elements (&node->operands[1]->shape);
}

static void
scatter_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&in[0].shape), width = count_from (&out->shape, 1);

  for (gint64 i = 0; i < n; i++)
    for (gint64 j = 0; j < width; j++)
      out->data[clamp_row (in[0].data[i], get_n (node)) * width + j] +=
          in[1].data[i * width + j];
}

static void
scatter_print (const GyreTensor *node,
               GString          *out)
{
  g_string_append_printf (out, " {n=%" G_GINT64_FORMAT "}", get_n (node));
}

const GyrePrim gyre_prim_scatter_add_rows = {
  .name = "scatter_add_rows",
  .attrs_size = sizeof (GyreScatterAttrs),
  .n_operands = 2,
  .linear = 1 << 1,
  .infer = scatter_infer,
  .vjp = scatter_vjp,
  .partition = scatter_partition,
  .lower = scatter_lower,
  .cost = scatter_cost,
  .reference = scatter_reference,
  .print = scatter_print,
};

/**
 * gyre_gather_rows:
 * @x: any dtype, of shape [n, …]: a table
 * @rows: i32[b…]; a row out of range is taken for the nearest one, as JAX's indexing does
 *
 * out[i…, j…] = x[rows[i…], j…]. Gradient: gyre_scatter_add_rows() of ct. Sharding: @rows
 * may be split, and the table's other dimensions; the table's rows are gathered first.
 *
 * Returns: (transfer none): a tensor of shape [b…, …]; a poison tensor where there is no
 * row
 */
GyreTensor *
gyre_gather_rows (GyreTensor *x,
                  GyreTensor *rows)
{
  g_return_val_if_fail (x != NULL && rows != NULL, NULL);

  return gyre_prims_emit2 (&gyre_prim_gather_rows, x, rows, NULL);
}

/**
 * gyre_scatter_add_rows:
 * @n: how many rows the result has
 * @rows: i32[b…]; a row out of range is taken for the nearest one
 * @update: f32[b…, …]
 *
 * out[r, j…] = Σ update[i…, j…] over the i… where rows[i…] = r, added in their order.
 * Gradient: gyre_gather_rows() of ct. Sharding: where @rows and @update are split the
 * result is a partial sum; other dimensions of @update may be split. Kernel: scatter.cl.
 *
 * Returns: (transfer none): f32[n, …]; a poison tensor where the shapes don't fit
 */
GyreTensor *
gyre_scatter_add_rows (gint64      n,
                       GyreTensor *rows,
                       GyreTensor *update)
{
  GyreScatterAttrs attrs = { n };

  g_return_val_if_fail (rows != NULL && update != NULL, NULL);

  return gyre_prims_emit2 (&gyre_prim_scatter_add_rows, rows, update, &attrs);
}

/**
 * gyre_one_hot:
 * @labels: i32[…]
 * @n_classes: how many classes
 *
 * out[i…, c] = 1 where labels[i…] = c, and 0 elsewhere: all 0 for a label out of range.
 * It has no gradient. Sharding: stays split as @labels is.
 *
 * Returns: (transfer none): f32[…, n_classes]
 */
GyreTensor *
gyre_one_hot (GyreTensor *labels,
              gint64      n_classes)
{
  GyreShape shape;

  g_return_val_if_fail (labels != NULL, NULL);

  if (labels->poison)
    return labels;

  shape = labels->shape;
  if (n_classes < 0 || shape.rank == GYRE_MAX_RANK || labels->dtype != GYRE_I32)
    {
      g_autofree char *text = gyre_prims_describe (labels);

      return gyre_prims_fail (labels->graph,
                              "one_hot: labels are %s and there are %" G_GINT64_FORMAT
                              " classes: labels must be i32, of less than %d "
                              "dimensions, and classes 0 or more",
                              text, n_classes, GYRE_MAX_RANK);
    }

  shape.dims[shape.rank++] = n_classes;
  return gyre_convert (
      gyre_equal (gyre_expand_dims (labels, -1), gyre_iota (shape, GYRE_I32, -1)),
      GYRE_F32);
}
