/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/gyre-builder-private.h"

#include <gyre/gyre-ops.h>

#include "prims/gyre-reshard-private.h"

typedef struct
{
  const GyreTensor *value;
  const GyrePrim   *prim;
  GyreReshardAttrs  attrs;
  GyreSpec          spec;
} Reshard;

typedef struct
{
  Reshard     key;
  GyreTensor *result;
} ReshardEntry;

static guint
reshard_hash (gconstpointer data)
{
  const Reshard *key = data;

  return g_direct_hash (key->value) ^ g_direct_hash (key->prim) ^
         ((guint) key->attrs.axes << 8) ^ (guint) (key->attrs.dim + 1);
}

static gboolean
reshard_equal (gconstpointer a, gconstpointer b)
{
  const Reshard *x = a;
  const Reshard *y = b;

  return x->value == y->value && x->prim == y->prim && x->attrs.axes == y->attrs.axes &&
         x->attrs.dim == y->attrs.dim && gyre_spec_equal (&x->spec, &y->spec) &&
         x->spec.group == y->spec.group;
}

void
gyre_spec_builder_init (GyreSpecBuilder    *self,
                        GyreGraph          *graph,
                        const GyreMeshSpec *mesh)
{
  self->graph    = graph;
  self->mesh     = mesh;
  self->specs    = g_array_new (FALSE, TRUE, sizeof (GyreSpec));
  self->reshards = g_hash_table_new_full (reshard_hash, reshard_equal, g_free, NULL);
}

void
gyre_spec_builder_clear (GyreSpecBuilder *self)
{
  g_array_unref (self->specs);
  g_hash_table_unref (self->reshards);
}

void
gyre_spec_builder_put (GyreSpecBuilder *self,
                       const GyreSpec  *spec)
{
  while (self->specs->len < self->graph->nodes->len)
    g_array_append_val (self->specs, *spec);
}

void
gyre_spec_builder_put_flat (GyreSpecBuilder *self,
                            const GyreSpec  *spec,
                            gint64           size)
{
  GyreSpec whole = GYRE_SPEC_REPLICATED;

  while (self->specs->len < self->graph->nodes->len)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->nodes, self->specs->len);

      if (gyre_shape_n_elements (&node->shape) == size)
        g_array_append_val (self->specs, *spec);
      else
        g_array_append_val (self->specs, whole);
    }
}

const GyreSpec *
gyre_spec_builder_get (const GyreSpecBuilder *self,
                       const GyreTensor      *value)
{
  return &g_array_index (self->specs, GyreSpec, value->id);
}

static GyreTensor *
emit_reshard (GyreSpecBuilder *self,
              GyreTensor      *value,
              const GyrePrim  *prim,
              guint8           axes,
              int              dim,
              const GyreSpec  *spec)
{
  GyreReshardAttrs attrs = { axes, (gint8) dim };
  ReshardEntry     probe = { { value, prim, attrs, *spec }, NULL };
  ReshardEntry    *entry = g_hash_table_lookup (self->reshards, &probe.key);

  if (entry)
    return entry->result;
  entry         = g_memdup2 (&probe, sizeof probe);
  entry->result = gyre_graph_emit (self->graph, prim, &value, 1, &attrs);
  gyre_spec_builder_put (self, spec);
  g_hash_table_insert (self->reshards, &entry->key, entry);
  return entry->result;
}

/* A partial sum over axes that shall split a dimension goes at once to where its parts
 * are wanted. */
static GyreTensor *
scatter_partial (GyreSpecBuilder *self, GyreTensor *value, const GyreSpec *want)
{
  GyreSpec spec = *gyre_spec_builder_get (self, value);

  for (int dim = 0; dim < value->shape.rank; dim++)
    {
      guint8 axes = want->axes[dim];

      if (axes == 0 || spec.axes[dim] != 0 || (spec.partial & axes) != axes ||
          (want->partial & axes) != 0 || gyre_dtype_size (value->dtype) != 4)
        continue;
      spec.partial &= (guint8) ~axes;
      spec.axes[dim] = axes;
      spec.base[dim] = want->base[dim] ? want->base[dim] : value->shape.dims[dim];
      value = emit_reshard (self, value, &gyre_prim_reduce_scatter, axes, dim, &spec);
    }
  return value;
}

/* partial → whole, or at once into the chunks of a flat spec */
static GyreTensor *
reduce_partial (GyreSpecBuilder *self, GyreTensor *value, const GyreSpec *want)
{
  GyreSpec spec = *gyre_spec_builder_get (self, value);
  guint8   axes = spec.partial & (guint8) ~want->partial;

  if (axes == 0)
    return value;
  spec.partial &= (guint8) ~axes;
  if (want->flat == axes && value->shape.rank == 1)
    {
      spec.flat  = axes;
      spec.group = want->group;
      return emit_reshard (self, value, &gyre_prim_reduce_scatter, axes, -1, &spec);
    }
  return emit_reshard (self, value, &gyre_prim_all_reduce, axes, -1, &spec);
}

static gboolean
dim_differs (const GyreSpec *a, const GyreSpec *b, int dim)
{
  return a->axes[dim] != b->axes[dim] ||
         (a->axes[dim] != 0 && a->base[dim] != b->base[dim]);
}

/* Split dimensions that are wanted otherwise become whole. */
static GyreTensor *
gather_splits (GyreSpecBuilder *self, GyreTensor *value, const GyreSpec *want)
{
  GyreSpec spec = *gyre_spec_builder_get (self, value);

  if (spec.flat != 0 && (spec.flat != want->flat || spec.group != want->group))
    {
      guint8 axes = spec.flat;

      spec.flat  = 0;
      spec.group = 0;
      value = emit_reshard (self, value, &gyre_prim_all_gather, axes, -1, &spec);
    }
  for (int dim = 0; dim < value->shape.rank; dim++)
    if (spec.axes[dim] != 0 && dim_differs (&spec, want, dim))
      {
        guint8 axes = spec.axes[dim];

        spec.axes[dim] = 0;
        spec.base[dim] = 0;
        value = emit_reshard (self, value, &gyre_prim_all_gather, axes, dim, &spec);
      }
  return value;
}

static GyreTensor *
split_whole (GyreSpecBuilder *self, GyreTensor *value, const GyreSpec *want)
{
  GyreSpec spec = *gyre_spec_builder_get (self, value);

  for (int dim = 0; dim < value->shape.rank; dim++)
    if (want->axes[dim] != 0 && spec.axes[dim] == 0)
      {
        spec.axes[dim] = want->axes[dim];
        spec.base[dim] = want->base[dim] ? want->base[dim] : value->shape.dims[dim];
        value = emit_reshard (self, value, &gyre_prim_shard, spec.axes[dim], dim, &spec);
      }
  if (want->flat != 0 && spec.flat == 0)
    {
      spec.flat  = want->flat;
      spec.group = want->group;
      value = emit_reshard (self, value, &gyre_prim_shard, spec.flat, -1, &spec);
    }
  return value;
}

/* What all members have is a sum, too, with an equal part from each. */
static GyreTensor *
make_summands (GyreSpecBuilder *self, GyreTensor *value, const GyreSpec *want)
{
  GyreSpec spec = *gyre_spec_builder_get (self, value);
  guint8   axes = want->partial & (guint8) ~spec.partial;
  double   n    = 1;

  for (guint a = 0; a < self->mesh->n_axes; a++)
    if (axes & 1 << a)
      n *= self->mesh->axes[a].size;
  if (n == 1)
    return value;
  spec.partial |= axes;
  value = gyre_mul_scalar (value, 1 / n);
  gyre_spec_builder_put (self, &spec);
  return value;
}

GyreTensor *
gyre_spec_builder_move (GyreSpecBuilder *self,
                        GyreTensor      *value,
                        const GyreSpec  *want)
{
  value = scatter_partial (self, value, want);
  value = reduce_partial (self, value, want);
  value = gather_splits (self, value, want);
  value = split_whole (self, value, want);
  return make_summands (self, value, want);
}

GyreTensor *
gyre_spec_builder_flatten (GyreSpecBuilder *self,
                           GyreTensor      *value)
{
  GyreSpec spec = *gyre_spec_builder_get (self, value);

  if (value->shape.rank == 1)
    return value;
  value = gyre_reshape (value, GYRE_SHAPE (gyre_shape_n_elements (&value->shape)));
  gyre_spec_builder_put (self, &spec);
  return value;
}

GyreTensor *
gyre_spec_builder_unflatten (GyreSpecBuilder *self,
                             GyreTensor      *value,
                             const GyreShape *shape)
{
  GyreSpec spec = *gyre_spec_builder_get (self, value);

  if (gyre_shape_equal (&value->shape, shape))
    return value;
  value = gyre_reshape (value, *shape);
  gyre_spec_builder_put (self, &spec);
  return value;
}
