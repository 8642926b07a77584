/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-prims-private.h"

/* reshape: the same numbers in the same order.
 *
 * Both shapes are cut into groups of dimensions with equal products, as short as
 * possible: [8, 3, 4, 5] → [24, 20] has the groups {8, 3} → {24} and {4, 5} → {20}.
 * Indices are computed, and splits are passed, a group at a time. */

typedef struct
{
  int from, from_end;     /* dimensions of the operand */
  int to, to_end;         /* dimensions of the result */
} Group;

static guint
find_groups (const GyreShape *a,
             const GyreShape *b,
             Group           *groups)
{
  int i = 0, j = 0;
  guint n = 0;

  if (gyre_shape_n_elements (a) == 0)
    {
      groups[0] = (Group) { 0, a->rank, 0, b->rank };
      return 1;
    }

  while (i < a->rank || j < b->rank)
    {
      Group group = { i, i, j, j };
      gint64 x = i < a->rank ? a->dims[i++] : 1, y = j < b->rank ? b->dims[j++] : 1;

      while (x != y)
        if (x < y)
          x *= a->dims[i++];
        else
          y *= b->dims[j++];

      group.from_end = i;
      group.to_end = j;
      groups[n++] = group;
    }

  return n;
}

static gboolean
reshape_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  g_autofree char *text = gyre_prims_describe (operands[0]);
  g_autofree char *to = NULL;

  *dtype = operands[0]->dtype;
  *shape = ((const GyreShapeAttrs *) attrs)->shape;
  to = gyre_shape_to_string (shape);
  if (gyre_shape_n_elements (shape) != gyre_shape_n_elements (&operands[0]->shape))
    return gyre_prims_error (
        error,
        "operand 0 is %s, of %" G_GINT64_FORMAT " elements, and "
        "can't become %s: the product of the extents must be the same",
        text, gyre_shape_n_elements (&operands[0]->shape), to);

  return TRUE;
}

static void
reshape_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  cts[0] = gyre_reshape (ct, node->operands[0]->shape);
}

/* The first dimension of a range that isn't of extent 1, and how many elements of the
 * range one step along it takes. */
static int
find_outermost (const GyreShape *shape,
                int              first,
                int              end,
                gint64          *step)
{
  int outermost = first;

  while (outermost < end - 1 && shape->dims[outermost] == 1)
    outermost++;

  *step = 1;
  for (int i = outermost + 1; i < end; i++)
    *step *= shape->dims[i];

  return outermost;
}

/* A split outermost dimension of a group: its boundaries are steps in the group, and must
 * be whole steps of the result's outermost dimension. */
static gboolean
pass_group (const GyreTensor *node,
            const Group      *group,
            const GyreSpec   *in,
            GyreSpec         *out)
{
  const GyreShape *from = &node->operands[0]->shape;
  gint64 from_step, to_step, unit;
  int i, j;

  if (group->from == group->from_end || group->to == group->to_end)
    return FALSE;

  i = find_outermost (from, group->from, group->from_end, &from_step);
  j = find_outermost (&node->shape, group->to, group->to_end, &to_step);
  for (int k = group->from; k < group->from_end; k++)
    if (k != i && in->axes[k] != 0)
      return FALSE;

  if (in->base[i] == 0 || to_step == 0)
    return FALSE;
  unit = from->dims[i] / in->base[i] * from_step;
  if (unit % to_step != 0 || node->shape.dims[j] != in->base[i] * (unit / to_step))
    return FALSE;

  gyre_prims_pass_dim (in, i, out, j);
  return TRUE;
}

static gboolean
reshape_partition (const GyreTensor    *node,
                   const GyreMeshSpec  *mesh,
                   const GyreSpec      *in,
                   GyreSpec            *want,
                   GyreSpec            *out,
                   GError             **error)
{
  Group groups[2 * GYRE_MAX_RANK + 1];
  guint n = find_groups (&node->operands[0]->shape, &node->shape, groups);

  for (guint g = 0; g < n; g++)
    {
      gboolean split = FALSE;

      for (int i = groups[g].from; i < groups[g].from_end; i++)
        split = split || want[0].axes[i] != 0;
      if (!split || pass_group (node, &groups[g], &want[0], out))
        continue;
      for (int i = groups[g].from; i < groups[g].from_end; i++)
        gyre_prims_drop_dim (&want[0], i);
    }

  out->flat = want[0].flat;
  out->group = want[0].group;
  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

/* The row-major index in the group, from local indices. */
static const char *
fuse_ravel (GyreEmit          *emit,
            const GyreTensor  *node,
            const Group       *group,
            const char *const *ix)
{
  const char *flat = group->to < group->to_end ? ix[group->to] : "0";

  for (int j = group->to + 1; j < group->to_end; j++)
    flat = gyre_emit_printf (emit, "(%s * %s + %s)", flat,
                             gyre_emit_extent (emit, node, j), ix[j]);

  return group->to_end - group->to > 1 ? gyre_emit_let (emit, "int", flat) : flat;
}

static void
fuse_unravel (GyreEmit          *emit,
              const GyreTensor  *x,
              const Group       *group,
              const char        *flat,
              const char       **jx)
{
  for (int i = group->from_end - 1; i > group->from; i--)
    {
      const char *extent = gyre_emit_extent (emit, x, i);

      if (x->shape.dims[i] == 1)
        {
          jx[i] = "0";
          continue;
        }
      jx[i] =
          gyre_emit_let (emit, "int", gyre_emit_printf (emit, "%s %% %s", flat, extent));
      flat =
          gyre_emit_let (emit, "int", gyre_emit_printf (emit, "%s / %s", flat, extent));
    }

  if (group->from < group->from_end)
    jx[group->from] = flat;
}

static const char *
reshape_fuse (GyreEmit          *emit,
              const GyreTensor  *node,
              const char *const *ix)
{
  const GyreTensor *x = node->operands[0];
  Group groups[2 * GYRE_MAX_RANK + 1];
  guint n = find_groups (&x->shape, &node->shape, groups);
  const char *jx[GYRE_MAX_RANK];

  for (guint g = 0; g < n; g++)
    fuse_unravel (emit, x, &groups[g], fuse_ravel (emit, node, &groups[g], ix), jx);

  return gyre_emit_operand (emit, node, 0, jx);
}

static GyreTensor *
reshape_simplify (GyreGraph        *graph,
                  const GyreTensor *node)
{
  GyreTensor *x = node->operands[0];

  if (gyre_shape_equal (&x->shape, &node->shape))
    return x;

  return x->prim == node->prim ? gyre_reshape (x->operands[0], node->shape)
                               : gyre_prims_fold (graph, node);
}

static void
reshape_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  gint64 n = gyre_shape_n_elements (&out->shape);

  for (gint64 i = 0; i < n; i++)
    out->data[i] = in[0].data[i];
}

static GyreTensor *
reshape_flatten (GyreGraph         *graph,
                 const GyreTensor  *node,
                 GyreTensor *const *operands)
{
  return gyre_reshape (operands[0], GYRE_SHAPE (gyre_shape_n_elements (&node->shape)));
}

static void
reshape_print (const GyreTensor *node,
               GString          *out)
{
  gyre_prims_print_shape (out, &node->shape);
}

static double
no_cost (const GyreTensor *node)
{
  return 0;
}

const GyrePrim gyre_prim_reshape = {
  .name = "reshape",
  .flags = GYRE_PRIM_VIEW,
  .attrs_size = sizeof (GyreShapeAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = reshape_infer,
  .vjp = reshape_vjp,
  .partition = reshape_partition,
  .fuse = reshape_fuse,
  .simplify = reshape_simplify,
  .flatten = reshape_flatten,
  .cost = no_cost,
  .reference = reshape_reference,
  .print = reshape_print,
};

/* The extent that stands for -1: what is left of the elements; -1 where that isn't
 * whole. */
static void
resolve_shape (const GyreTensor *x,
               GyreShape        *shape)
{
  gint64 n = gyre_shape_n_elements (&x->shape), others = 1;
  int unknown = -1;

  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] == -1 && unknown < 0)
      unknown = i;
    else
      others *= shape->dims[i];

  if (unknown >= 0 && others > 0 && n % others == 0)
    shape->dims[unknown] = n / others;
}

/**
 * gyre_reshape:
 * @x: any dtype
 * @shape: the shape of the result; one extent may be -1: what is left
 *
 * The same numbers in row-major order in another shape. Costs nothing. Gradient: ct in
 * the shape of @x. Sharding: a split dimension stays so where it is kept, or merged or
 * cut as the outermost of its factors; else it is gathered first. A partial sum stays
 * one.
 *
 * Returns: (transfer none): a tensor of @shape; a poison tensor where the numbers of
 *   elements differ
 */
GyreTensor *
gyre_reshape (GyreTensor *x,
              GyreShape   shape)
{
  GyreShapeAttrs attrs = { shape };

  g_return_val_if_fail (x != NULL, NULL);

  if (x->poison)
    return x;

  resolve_shape (x, &attrs.shape);
  if (gyre_shape_equal (&x->shape, &attrs.shape))
    return x;

  return gyre_prims_emit1 (&gyre_prim_reshape, x, &attrs);
}
