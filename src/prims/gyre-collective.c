/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-collective-private.h"

#include <math.h>
#include <string.h>

/* Collectives over a manual axis: each member calls them with its own value. */

static const char *
describe_axes (GyreGraph *graph,
               GString   *names)
{
  for (guint a = 0; a < graph->n_axes; a++)
    if (graph->axes[a].manual)
      g_string_append_printf (names, "%s'%s'", names->len > 0 ? ", " : "",
                              graph->axes[a].name);

  return names->str;
}

static gboolean
is_any_manual (GyreGraph *graph)
{
  for (guint a = 0; a < graph->n_axes; a++)
    if (graph->axes[a].manual)
      return TRUE;

  return FALSE;
}

static void
fail_axis (GyreGraph  *graph,
           const char *call,
           const char *name)
{
  g_autoptr (GString) names = g_string_new (NULL);

  if (is_any_manual (graph))
    gyre_graph_fail_with (graph, GYRE_ERROR_SHARDING,
                          "%s: '%s' is not a manual axis of this function, which has: "
                          "%s. Name one, as gyre_step_pmap () was given it", call, name,
                          describe_axes (graph, names));
  else
    gyre_graph_fail_with (graph, GYRE_ERROR_SHARDING,
                          "%s: '%s' is not a manual axis of this function, which has "
                          "none: collectives by name are for gyre_step_pmap (). A "
                          "function for gyre_step_jit () sees whole arrays: leave the "
                          "collective out, and the partitioner puts it in", call, name);
}

gboolean
gyre_axis_attrs_init (GyreAxisAttrs   *self,
                      GyreGraph       *graph,
                      const char      *call,
                      const char      *name,
                      const GyreAxis **axis)
{
  for (guint a = 0; a < graph->n_axes; a++)
    if (graph->axes[a].manual && strcmp (graph->axes[a].name, name) == 0)
      {
        *axis = &graph->axes[a];
        self->axis = g_quark_from_string (name);
        self->size = graph->axes[a].size;
        return TRUE;
      }

  fail_axis (graph, call, name);
  return FALSE;
}

guint
gyre_axis_attrs_find (const GyreAxisAttrs *self,
                      const GyreMeshSpec  *mesh)
{
  const char *name = g_quark_to_string (self->axis);

  for (guint a = 0; a < mesh->n_axes; a++)
    if (strcmp (mesh->axes[a].name, name) == 0)
      return a;

  g_return_val_if_reached (0);
}

static const GyreAxisAttrs *
get_attrs (const GyreTensor *node)
{
  return node->attrs;
}

gboolean
gyre_members_are_peers (const GyreMeshSpec *mesh,
                        guint               axes,
                        guint               a,
                        guint               b)
{
  for (guint i = 0; i < mesh->n_axes; i++)
    if ((axes & 1u << i) == 0 &&
        gyre_mesh_spec_coord (mesh, a, i) != gyre_mesh_spec_coord (mesh, b, i))
      return FALSE;

  return TRUE;
}

void
gyre_axis_print (const GyreTensor *node,
                 GString          *out)
{
  g_string_append_printf (out, " {%s}", g_quark_to_string (get_attrs (node)->axis));
}

gboolean
gyre_axis_lower (GyreLower          *lower,
                 const GyreTensor   *node,
                 GyreCollectiveKind  kind,
                 GyreReduceOp        reduce,
                 int                 dim)
{
  GyreCollectiveOp op = { 0 };

  op.kind = kind;
  op.op = reduce;
  op.axes = (guint8) (1u << gyre_axis_attrs_find (node->attrs, lower->mesh));
  op.dim = dim;
  op.in = node->operands[0]->id;
  op.out = node->id;
  op.order = get_attrs (node)->order;
  gyre_lower_collective (lower, node, &op);
  return TRUE;
}

/* psum, pmax, pmin */

typedef struct
{
  GyrePrim     prim;
  GyreReduceOp op;
  double     (*function) (double a, double b);
} GyreCross;

static double f_sum (double a, double b) { return a + b; }
static double f_max (double a, double b) { return a > b || isnan (a) ? a : b; }
static double f_min (double a, double b) { return a < b || isnan (a) ? a : b; }

static gboolean
cross_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;
  return gyre_prims_check_dtype (operands[0], 0, GYRE_DTYPES_FLOAT | GYRE_DTYPES_WORD,
                                 error);
}

/* Each member's cotangent reaches every member. */
static void
psum_vjp (GyreTensor  *node,
          GyreTensor  *ct,
          GyreTensor **cts)
{
  if (node->dtype == GYRE_F32)
    cts[0] = gyre_psum (ct, g_quark_to_string (get_attrs (node)->axis));
}

/* To those that are the extreme, in equal parts. */
static void
extreme_vjp (GyreTensor  *node,
             GyreTensor  *ct,
             GyreTensor **cts)
{
  const char *axis = g_quark_to_string (get_attrs (node)->axis);
  GyreTensor *is_it;

  if (node->dtype != GYRE_F32)
    return;
  is_it = gyre_convert (gyre_equal (node->operands[0], node), GYRE_F32);
  cts[0] = gyre_mul (gyre_psum (ct, axis), gyre_div (is_it, gyre_psum (is_it, axis)));
}

static gboolean
cross_lower (GyreLower         *lower,
             const GyreTensor  *node,
             GError           **error)
{
  return gyre_axis_lower (lower, node, GYRE_COLLECTIVE_ALL_REDUCE,
                          ((const GyreCross *) node->prim)->op, -1);
}

static void
cross_reference (const GyreTensor   *node,
                 const GyreMeshSpec *mesh,
                 const GyreRef      *in,
                 GyreRef            *out)
{
  const GyreCross *rule = (const GyreCross *) node->prim;
  guint axis = gyre_axis_attrs_find (node->attrs, mesh),
        n = gyre_mesh_spec_n_devices (mesh);

  for (guint m = 0; m < n; m++)
    for (gint64 i = 0; i < gyre_shape_n_elements (&out[m].shape); i++)
      {
        double sum = 0;
        gboolean first = TRUE;

        for (guint peer = 0; peer < n; peer++)
          if (gyre_members_are_peers (mesh, 1u << axis, m, peer))
            {
              sum = first ? in[peer].data[i] : rule->function (sum, in[peer].data[i]);
              first = FALSE;
            }
        out[m].data[i] =
            node->dtype == GYRE_F32 ? sum : gyre_prims_wrap (node->dtype, (gint64) sum);
      }
}

#define CROSS(NAME, LINEAR, VJP, OP, FUNCTION)         \
  {                                                    \
    .prim = { .name = NAME,                            \
              .flags = GYRE_PRIM_COLLECTIVE,           \
              .attrs_size = sizeof (GyreAxisAttrs),    \
              .n_operands = 1,                         \
              .linear = (LINEAR),                      \
              .infer = cross_infer,                    \
              .vjp = (VJP),                            \
              .partition = gyre_partition_elementwise, \
              .lower = cross_lower,                    \
              .cost = gyre_prims_cost_elements,        \
              .reference_mesh = cross_reference,       \
              .print = gyre_axis_print },              \
    .op = (OP), .function = (FUNCTION),                \
  }

static const GyreCross psum = CROSS ("psum", 1, psum_vjp, GYRE_REDUCE_SUM, f_sum);
static const GyreCross pmax = CROSS ("pmax", 0, extreme_vjp, GYRE_REDUCE_MAX, f_max);
static const GyreCross pmin = CROSS ("pmin", 0, extreme_vjp, GYRE_REDUCE_MIN, f_min);

/* all_gather */

static gboolean
gather_infer (GyreTensor *const  *operands,
              guint               n,
              const void         *attrs,
              GyreDtype          *dtype,
              GyreShape          *shape,
              GError            **error)
{
  const GyreShape *x = &operands[0]->shape;

  if (x->rank == GYRE_MAX_RANK)
    return gyre_prims_error (error,
                             "operand 0 has %d dimensions already, and can't have one "
                             "more: reshape it",
                             x->rank);

  *dtype = operands[0]->dtype;
  shape->rank = x->rank + 1;
  shape->dims[0] = ((const GyreAxisAttrs *) attrs)->size;
  memcpy (shape->dims + 1, x->dims, x->rank * sizeof (gint64));
  return TRUE;
}

/* Each member has its own row of the sum of all cotangents. */
static void
gather_vjp (GyreTensor  *node,
            GyreTensor  *ct,
            GyreTensor **cts)
{
  const char *axis = g_quark_to_string (get_attrs (node)->axis);

  if (node->dtype == GYRE_F32)
    cts[0] = gyre_psum_scatter (ct, axis);
}

static gboolean
gather_partition (const GyreTensor    *node,
                  const GyreMeshSpec  *mesh,
                  const GyreSpec      *in,
                  GyreSpec            *want,
                  GyreSpec            *out,
                  GError             **error)
{
  want[0].flat = 0;
  for (int i = 0; i < node->operands[0]->shape.rank; i++)
    gyre_prims_pass_dim (&want[0], i, out, i + 1);

  gyre_prims_keep_partial (&in[0], &want[0], out);
  return TRUE;
}

static gboolean
gather_lower (GyreLower         *lower,
              const GyreTensor  *node,
              GError           **error)
{
  return gyre_axis_lower (lower, node, GYRE_COLLECTIVE_ALL_GATHER, GYRE_REDUCE_SUM, 0);
}

static void
gather_reference (const GyreTensor   *node,
                  const GyreMeshSpec *mesh,
                  const GyreRef      *in,
                  GyreRef            *out)
{
  guint axis = gyre_axis_attrs_find (node->attrs, mesh),
        n = gyre_mesh_spec_n_devices (mesh);
  gint64 step = gyre_shape_n_elements (&node->operands[0]->shape);

  for (guint m = 0; m < n && step > 0; m++)
    for (guint peer = 0; peer < n; peer++)
      if (gyre_members_are_peers (mesh, 1u << axis, m, peer))
        memcpy (out[m].data + step * gyre_mesh_spec_coord (mesh, peer, axis),
                in[peer].data, (gsize) step * sizeof (double));
}

static const GyrePrim gather = {
  .name = "all_gather_manual",
  .flags = GYRE_PRIM_COLLECTIVE,
  .attrs_size = sizeof (GyreAxisAttrs),
  .n_operands = 1,
  .linear = 1,
  .infer = gather_infer,
  .vjp = gather_vjp,
  .partition = gather_partition,
  .lower = gather_lower,
  .cost = gyre_prims_cost_elements,
  .reference_mesh = gather_reference,
  .print = gyre_axis_print,
};

/* axis_index */

static gboolean
index_infer (GyreTensor *const  *operands,
             guint               n,
             const void         *attrs,
             GyreDtype          *dtype,
             GyreShape          *shape,
             GError            **error)
{
  *dtype = GYRE_I32;
  *shape = GYRE_SCALAR;
  return TRUE;
}

static gboolean
index_lower (GyreLower         *lower,
             const GyreTensor  *node,
             GError           **error)
{
  guint axis = gyre_axis_attrs_find (node->attrs, lower->mesh);
  gint32 coord = (gint32) gyre_mesh_spec_coord (lower->mesh, lower->device, axis);
  float pattern;

  memcpy (&pattern, &coord, sizeof pattern);
  gyre_lower_fill (lower, node, node->id, pattern, 1);
  return TRUE;
}

static void
index_reference (const GyreTensor   *node,
                 const GyreMeshSpec *mesh,
                 const GyreRef      *in,
                 GyreRef            *out)
{
  guint axis = gyre_axis_attrs_find (node->attrs, mesh),
        n = gyre_mesh_spec_n_devices (mesh);

  for (guint m = 0; m < n; m++)
    out[m].data[0] = gyre_mesh_spec_coord (mesh, m, axis);
}

static const GyrePrim axis_index = {
  .name = "axis_index",
  .attrs_size = sizeof (GyreAxisAttrs),
  .infer = index_infer,
  .vjp = gyre_prims_vjp_zero,
  .partition = gyre_partition_replicated,
  .lower = index_lower,
  .reference_mesh = index_reference,
  .print = gyre_axis_print,
};

void
gyre_collectives_number (GyreGraph *graph)
{
  const GyrePrim *const prims[] = {
    &psum.prim, &pmax.prim, &pmin.prim, &gather, gyre_prim_psum_scatter,
    gyre_prim_all_to_all, gyre_prim_ppermute,
  };
  guint order = 0;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      GyreTensor *node = g_ptr_array_index (graph->nodes, i);

      for (guint p = 0; p < G_N_ELEMENTS (prims); p++)
        if (node->prim == prims[p])
          {
            GyreAxisAttrs *attrs = gyre_arena_memdup (graph->arena, node->attrs,
                                                      node->prim->attrs_size);

            attrs->order = ++order;
            node->attrs = attrs;
          }
    }
}

/* The builders, over one axis each */

GyreTensor *
gyre_collective_emit (const GyrePrim *prim,
                      GyreTensor     *x,
                      const char     *call,
                      const char     *axis)
{
  GyreAxisAttrs attrs = { 0 };
  const GyreAxis *found;

  if (x->poison)
    return x;
  if (!gyre_axis_attrs_init (&attrs, x->graph, call, axis, &found))
    return gyre_graph_fail (x->graph, NULL);

  return gyre_prims_emit1 (prim, x, &attrs);
}

const GyrePrim *const gyre_prim_psum = &psum.prim;
const GyrePrim *const gyre_prim_pmax = &pmax.prim;
const GyrePrim *const gyre_prim_pmin = &pmin.prim;
const GyrePrim *const gyre_prim_all_gather_manual = &gather;
const GyrePrim *const gyre_prim_axis_index = &axis_index;
