/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-collective-private.h"

#include <string.h>

/* Collectives that hand each member another part: psum_scatter, all_to_all, ppermute. */

static const GyreAxisAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

static const char *
get_axis (const GyreTensor *node)
{
  return g_quark_to_string (get_attrs (node)->axis);
}

/* A row for each member. */
static gboolean
check_rows (const GyreTensor  *x,
            const void        *attrs,
            GError           **error)
{
  guint n = ((const GyreAxisAttrs *) attrs)->size;
  g_autofree char *text = NULL;

  if (x->shape.rank > 0 && x->shape.dims[0] == (gint64) n)
    return TRUE;

  text = gyre_prims_describe (x);
  return gyre_prims_error (error, "operand 0 is %s: its leading dimension must be %u, a "
                           "row for each member", text, n);
}

/* psum_scatter */

static gboolean
scatter_infer (GyreTensor *const  *operands,
               guint               n,
               const void         *attrs,
               GyreDtype          *dtype,
               GyreShape          *shape,
               GError            **error)
{
  const GyreShape *x = &operands[0]->shape;

  if (!check_rows (operands[0], attrs, error))
    return FALSE;

  *dtype = operands[0]->dtype;
  shape->rank = x->rank - 1;
  memcpy (shape->dims, x->dims + 1, (gsize) shape->rank * sizeof (gint64));
  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_FLOAT | GYRE_DTYPES_WORD,
                                 error);
}

/* The row that a member has is of everybody's sum. */
static void
scatter_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  if (node->dtype == GYRE_F32)
    cts[0] = gyre_all_gather (ct, get_axis (node));
}

static gboolean
scatter_partition (const GyreTensor    *node,
                   const GyreMeshSpec  *mesh,
                   const GyreSpec      *in,
                   GyreSpec            *want,
                   GyreSpec            *out,
                   GError             **error)
{
  want[0].flat = 0;
  gyre_prims_drop_dim (&want[0], 0);
  for (int i = 0; i < node->shape.rank; i++)
    gyre_prims_pass_dim (&want[0], i + 1, out, i);

  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static gboolean
scatter_lower (GyreLower         *lower,
               const GyreTensor  *node,
               GError           **error)
{
  return gyre_axis_lower (lower, node, GYRE_COLLECTIVE_REDUCE_SCATTER, GYRE_REDUCE_SUM,
                          0);
}

static void
scatter_reference (const GyreTensor   *node,
                   const GyreMeshSpec *mesh,
                   const GyreRef      *in,
                   GyreRef            *out)
{
  guint axis = gyre_axis_attrs_find (node->attrs, mesh),
        n = gyre_mesh_spec_n_devices (mesh);
  gint64 length = gyre_shape_n_elements (&node->shape);

  for (guint m = 0; m < n; m++)
    for (gint64 i = 0; i < length; i++)
      {
        gint64 at = length * gyre_mesh_spec_coord (mesh, m, axis) + i;
        double sum = 0;

        for (guint peer = 0; peer < n; peer++)
          if (gyre_members_are_peers (mesh, 1u << axis, m, peer))
            sum += in[peer].data[at];
        out[m].data[i] =
            node->dtype == GYRE_F32 ? sum : gyre_prims_wrap (node->dtype, (gint64) sum);
      }
}

static const GyrePrim psum_scatter = {
  .name = "psum_scatter",
  .flags = GYRE_PRIM_COLLECTIVE,
  .attrs_size = sizeof (GyreAxisAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = scatter_infer,
  .vjp = scatter_vjp,
  .partition = scatter_partition,
  .lower = scatter_lower,
  .cost = gyre_prims_cost_elements,
  .reference_mesh = scatter_reference,
  .print = gyre_axis_print,
};

/* all_to_all */

static gboolean
swap_infer (GyreTensor *const  *operands,
            guint               n,
            const void         *attrs,
            GyreDtype          *dtype,
            GyreShape          *shape,
            GError            **error)
{
  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;
  return check_rows (operands[0], attrs, error);
}

static void
swap_vjp (GyreTensor  *node,
          GyreTensor  *ct,
          GyreTensor **cts)
{
  if (node->dtype == GYRE_F32)
    cts[0] = gyre_all_to_all (ct, get_axis (node));
}

static gboolean
swap_partition (const GyreTensor    *node,
                const GyreMeshSpec  *mesh,
                const GyreSpec      *in,
                GyreSpec            *want,
                GyreSpec            *out,
                GError             **error)
{
  want[0].flat = 0;
  gyre_prims_drop_dim (&want[0], 0);
  for (int i = 1; i < node->shape.rank; i++)
    gyre_prims_pass_dim (&want[0], i, out, i);

  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static gboolean
swap_lower (GyreLower         *lower,
            const GyreTensor  *node,
            GError           **error)
{
  return gyre_axis_lower (lower, node, GYRE_COLLECTIVE_ALL_TO_ALL, GYRE_REDUCE_SUM, 0);
}

static void
swap_reference (const GyreTensor   *node,
                const GyreMeshSpec *mesh,
                const GyreRef      *in,
                GyreRef            *out)
{
  guint axis = gyre_axis_attrs_find (node->attrs, mesh),
        n = gyre_mesh_spec_n_devices (mesh);
  gint64 row = gyre_shape_n_elements (&node->shape) / get_attrs (node)->size;

  for (guint m = 0; m < n && row > 0; m++)
    for (guint peer = 0; peer < n; peer++)
      if (gyre_members_are_peers (mesh, 1u << axis, m, peer))
        memcpy (out[m].data + row * gyre_mesh_spec_coord (mesh, peer, axis),
                in[peer].data + row * gyre_mesh_spec_coord (mesh, m, axis),
                (gsize) row * sizeof (double));
}

static const GyrePrim all_to_all = {
  .name = "all_to_all",
  .flags = GYRE_PRIM_COLLECTIVE,
  .attrs_size = sizeof (GyreAxisAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = swap_infer,
  .vjp = swap_vjp,
  .partition = swap_partition,
  .lower = swap_lower,
  .cost = gyre_prims_cost_elements,
  .reference_mesh = swap_reference,
  .print = gyre_axis_print,
};

/* ppermute */

static const GyrePermuteAttrs *
get_permute (const GyreTensor *node)
{
  return node->attrs;
}

static guint
find_axes (const GyrePermuteAttrs *self,
           const GyreMeshSpec     *mesh)
{
  guint mask = 0;

  for (guint i = 0; i < self->n_axes; i++)
    for (guint a = 0; a < mesh->n_axes; a++)
      if (strcmp (mesh->axes[a].name, g_quark_to_string (self->axes[i])) == 0)
        mask |= 1u << a;

  return mask;
}

static gboolean
permute_infer (GyreTensor *const  *operands,
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

/* Back the way that it came. */
static void
permute_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  GyrePermuteAttrs attrs = *get_permute (node);

  if (node->dtype != GYRE_F32)
    return;
  memset (attrs.sources, GYRE_NO_SOURCE, sizeof attrs.sources);
  for (guint to = 0; to < G_N_ELEMENTS (attrs.sources); to++)
    if (get_permute (node)->sources[to] != GYRE_NO_SOURCE)
      attrs.sources[get_permute (node)->sources[to]] = (guint8) to;
  cts[0] = gyre_prims_emit1 (node->prim, ct, &attrs);
}

static gboolean
permute_lower (GyreLower         *lower,
               const GyreTensor  *node,
               GError           **error)
{
  GyreCollectiveOp op = { 0 };

  op.kind = GYRE_COLLECTIVE_PERMUTE;
  op.axes = (guint8) find_axes (node->attrs, lower->mesh);
  op.in = node->operands[0]->id;
  op.out = node->id;
  op.order = get_attrs (node)->order;
  op.sources = get_permute (node)->sources;
  gyre_lower_collective (lower, node, &op);
  return TRUE;
}

/* The peers of a member along the axes, in order; of them its place. */
static guint
list_peers (const GyreMeshSpec *mesh,
            guint               axes,
            guint               m,
            guint              *peers)
{
  guint n = 0, place = 0;

  for (guint peer = 0; peer < gyre_mesh_spec_n_devices (mesh); peer++)
    if (gyre_members_are_peers (mesh, axes, m, peer))
      {
        if (peer == m)
          place = n;
        peers[n++] = peer;
      }

  return place;
}

static void
permute_reference (const GyreTensor   *node,
                   const GyreMeshSpec *mesh,
                   const GyreRef      *in,
                   GyreRef            *out)
{
  guint n = gyre_mesh_spec_n_devices (mesh), axes = find_axes (node->attrs, mesh);
  gsize size = (gsize) gyre_shape_n_elements (&node->shape) * sizeof (double);
  g_autofree guint *peers = g_new0 (guint, n);

  for (guint m = 0; m < n && size > 0; m++)
    {
      guint8 source = get_permute (node)->sources[list_peers (mesh, axes, m, peers)];

      if (source == GYRE_NO_SOURCE)
        memset (out[m].data, 0, size);
      else
        memcpy (out[m].data, in[peers[source]].data, size);
    }
}

static void
permute_print (const GyreTensor *node,
               GString          *out)
{
  const GyrePermuteAttrs *attrs = get_permute (node);

  g_string_append (out, " {");
  for (guint i = 0; i < attrs->n_axes; i++)
    g_string_append_printf (out, "%s%s", i > 0 ? "+" : "",
                            g_quark_to_string (attrs->axes[i]));
  for (guint to = 0; to < G_N_ELEMENTS (attrs->sources); to++)
    if (attrs->sources[to] != GYRE_NO_SOURCE)
      g_string_append_printf (out, ",%u-%u", attrs->sources[to], to);
  g_string_append_c (out, '}');
}

static const GyrePrim ppermute = {
  .name = "ppermute",
  .flags = GYRE_PRIM_COLLECTIVE,
  .attrs_size = sizeof (GyrePermuteAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = permute_infer,
  .vjp = permute_vjp,
  .partition = gyre_partition_elementwise,
  .lower = permute_lower,
  .cost = gyre_prims_cost_elements,
  .reference_mesh = permute_reference,
  .print = permute_print,
};

const GyrePrim *const gyre_prim_psum_scatter = &psum_scatter;
const GyrePrim *const gyre_prim_all_to_all = &all_to_all;
const GyrePrim *const gyre_prim_ppermute = &ppermute;
