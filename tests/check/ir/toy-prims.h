/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A few primitives for tests of what looks at primitives through their rules alone. */

#include "ir/gyre-prim-private.h"

static inline gboolean
toy_infer (GyreTensor *const  *operands,
           guint               n,
           const void         *attrs,
           GyreDtype          *dtype,
           GyreShape          *shape,
           GError            **error)
{
  for (guint i = 1; i < n; i++)
    if (!gyre_shape_equal (&operands[0]->shape, &operands[i]->shape))
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE, "operand %u has another shape",
                     i);
        return FALSE;
      }
  *dtype = operands[0]->dtype;
  *shape = operands[0]->shape;
  return TRUE;
}

static inline void
toy_add_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  for (gint64 i = 0; i < gyre_shape_n_elements (&out->shape); i++)
    out->data[i] = in[0].data[i] + in[1].data[i];
}

static inline void
toy_mul_reference (const GyreTensor *node,
                   const GyreRef    *in,
                   GyreRef          *out)
{
  for (gint64 i = 0; i < gyre_shape_n_elements (&out->shape); i++)
    out->data[i] = in[0].data[i] * in[1].data[i];
}

typedef struct
{
  float factor;
} ToyScale;

static inline void
toy_scale_reference (const GyreTensor *node,
                     const GyreRef    *in,
                     GyreRef          *out)
{
  const ToyScale *attrs = node->attrs;

  for (gint64 i = 0; i < gyre_shape_n_elements (&out->shape); i++)
    out->data[i] = attrs->factor * in[0].data[i];
}

/* 1·x = x; a·(b·x) = (a·b)·x */
static inline GyreTensor *
toy_scale_simplify (GyreGraph        *graph,
                    const GyreTensor *node)
{
  const ToyScale *attrs = node->attrs;
  GyreTensor *x = node->operands[0];
  const ToyScale *inner = x->attrs;

  if (attrs->factor == 1)
    return x;
  if (x->prim != node->prim)
    return NULL;
  return gyre_graph_emit (graph, node->prim, x->operands, 1,
                          &(ToyScale) { attrs->factor * inner->factor });
}

static inline void
toy_scale_print (const GyreTensor *node,
                 GString          *out)
{
  const ToyScale *attrs = node->attrs;

  g_string_append_printf (out, " {%d}", (int) attrs->factor);
}

/* The sum over the members that differ from this one in axis 0 alone. */
static inline void
toy_sum_reference_mesh (const GyreTensor   *node,
                        const GyreMeshSpec *mesh,
                        const GyreRef      *in,
                        GyreRef            *out)
{
  guint n = gyre_mesh_spec_n_devices (mesh);

  for (guint m = 0; m < n; m++)
    for (guint other = 0; other < n; other++)
      {
        gboolean together = TRUE;

        for (guint a = 1; a < mesh->n_axes; a++)
          together &=
              gyre_mesh_spec_coord (mesh, m, a) == gyre_mesh_spec_coord (mesh, other, a);
        for (gint64 i = 0; together && i < gyre_shape_n_elements (&out[m].shape); i++)
          out[m].data[i] += in[other].data[i];
      }
}

static const GyrePrim toy_add = {
  .name = "toy-add", .n_operands = 2, .linear = 3, .infer = toy_infer,
  .flags = GYRE_PRIM_ELEMENTWISE | GYRE_PRIM_COMMUTATIVE | GYRE_PRIM_ADDITIVE,
  .reference = toy_add_reference,
};

static const GyrePrim toy_mul = {
  .name = "toy-mul", .n_operands = 2, .linear = 3, .infer = toy_infer,
  .flags = GYRE_PRIM_ELEMENTWISE | GYRE_PRIM_COMMUTATIVE,
  .reference = toy_mul_reference,
};

static const GyrePrim toy_scale = {
  .name = "toy-scale", .n_operands = 1, .linear = 1, .infer = toy_infer,
  .attrs_size = sizeof (ToyScale), .flags = GYRE_PRIM_ELEMENTWISE,
  .simplify = toy_scale_simplify,
  .reference = toy_scale_reference, .print = toy_scale_print,
};

static const GyrePrim toy_sum = {
  .name = "toy-sum", .n_operands = 1, .linear = 1, .infer = toy_infer,
  .flags = GYRE_PRIM_COLLECTIVE, .reference_mesh = toy_sum_reference_mesh,
};

/* A node that may not be merged or dropped. */
static const GyrePrim toy_noise = {
  .name = "toy-noise", .n_operands = 1, .infer = toy_infer, .flags = GYRE_PRIM_IMPURE,
};

static inline GyreTensor *
toy_unary (const GyrePrim *prim,
           GyreTensor     *x)
{
  return gyre_graph_emit (x->graph, prim, &x, 1, NULL);
}

static inline GyreTensor *
toy_binary (const GyrePrim *prim,
            GyreTensor     *a,
            GyreTensor     *b)
{
  return gyre_graph_emit (a->graph, prim, (GyreTensor *[]) { a, b }, 2, NULL);
}

static inline GyreTensor *
toy_scaled (GyreTensor *x,
            float       factor)
{
  return gyre_graph_emit (x->graph, &toy_scale, &x, 1, &(ToyScale) { factor });
}
