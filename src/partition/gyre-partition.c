/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/gyre-partition-private.h"

#include "partition/gyre-builder-private.h"
#include "partition/gyre-kept-private.h"
#include "partition/gyre-region-private.h"

/* The pass goes forward over the source graph and asks each primitive's partition rule
 * how its operands must lie and how its result does then.  A partial sum that some use
 * needs whole is marked, and the pass is run again until no mark is added: such a sum is
 * reduced once, where it is made, for all of its uses.  The last run knows the marks, and
 * with them the regions of the updates. */
typedef struct
{
  const GyreGraph    *source;
  const GyreMeshSpec *mesh;
  const GyreSpec     *inputs;
  const int          *donated;
  gboolean           *whole;      /* by source id: partial sums to reduce where made */
  gboolean            marked;     /* a mark was added in this run */
  GyreSpec           *found;      /* by source id: the spec before a reduction */
  const GyreRegions  *regions;    /* NULL until the last run */
  GyreKept           *kept;
  GyreSpecBuilder     builder;
  GyreTensor        **values;     /* by source id: the value in the new graph */
  GyreTensor        **chunks;     /* by source id: flattened and split, in a region */
  GError            **error;
} Partitioner;

/* --- marks --- */

/* The partial operand of a node that is linear in it alone and keeps its size: reducing
 * that instead costs the same and serves more uses. */
static const GyreTensor *
earlier_sum (const Partitioner *self, const GyreTensor *node)
{
  const GyreTensor *sum = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const GyreTensor *operand = node->operands[i];

      if (self->found[operand->id].partial == 0)
        continue;
      if (sum ||
          gyre_shape_n_elements (&operand->shape) != gyre_shape_n_elements (&node->shape))
        return NULL;
      sum = operand;
    }
  return sum;
}

static void
mark_whole (Partitioner *self, const GyreTensor *node)
{
  for (const GyreTensor *sum = earlier_sum (self, node); sum;
       sum = earlier_sum (self, sum))
    node = sum;
  if (!self->whole[node->id])
    {
      self->whole[node->id] = TRUE;
      self->marked          = TRUE;
    }
}

/* --- nodes outside of regions --- */

static guint16
group_of_gradient (const Partitioner *self, const GyreTensor *node)
{
  return self->regions ? self->regions->gradient[node->id] : 0;
}

static GyreSpec
flat_spec (const Partitioner *self, guint16 group)
{
  GyreSpec spec = GYRE_SPEC_REPLICATED;

  spec.flat  = self->regions->axes[group - 1];
  spec.group = group;
  return spec;
}

/* Keeps a node's value; one that is marked is made whole, or scattered into chunks. */
static void
keep_value (Partitioner *self, const GyreTensor *node, GyreTensor *value)
{
  GyreSpec spec  = *gyre_spec_builder_get (&self->builder, value);
  guint16  group = group_of_gradient (self, node);

  self->found[node->id] = spec;
  if (group != 0)
    {
      GyreSpec flat = flat_spec (self, group);

      self->chunks[node->id] =
        gyre_spec_builder_move (&self->builder,
                                gyre_spec_builder_flatten (&self->builder, value), &flat);
    }
  else if (self->whole[node->id])
    {
      spec.partial = 0;
      value        = gyre_spec_builder_move (&self->builder, value, &spec);
    }
  self->values[node->id] = value;
}

/* A chunk outside of its region: gathered, in its shape. */
static GyreTensor *
whole_value (Partitioner *self, const GyreTensor *node)
{
  GyreTensor *value = self->values[node->id];
  GyreSpec    whole = GYRE_SPEC_REPLICATED;

  if (value)
    return value;
  value = gyre_spec_builder_move (&self->builder, self->chunks[node->id], &whole);
  value = gyre_spec_builder_unflatten (&self->builder, value, &node->shape);
  self->values[node->id] = value;
  return value;
}

/* An input that lives in chunks has no whole value until one is asked for. */
static void
partition_input (Partitioner *self, const GyreTensor *node, guint index)
{
  GyreSpec              spec  = self->inputs ? self->inputs[index] : GYRE_SPEC_REPLICATED;
  const GyreInputAttrs *attrs = node->attrs;
  GyreTensor           *value;
  guint16               group = self->regions ? self->regions->flat_input[node->id] : 0;

  if (group != 0)
    spec = flat_spec (self, group);
  value = gyre_graph_input (self->builder.graph, g_quark_to_string (attrs->name),
                            node->dtype, &node->shape);
  gyre_spec_builder_put (&self->builder, &spec);
  self->found[node->id] = spec;
  if (group != 0)
    self->chunks[node->id] = gyre_spec_builder_flatten (&self->builder, value);
  else
    self->values[node->id] = value;
}

/* An operand as nodes outside of updates see it: of state in parts, the whole. */
static GyreTensor *
used_value (Partitioner *self, const GyreTensor *node, const GyreTensor *operand)
{
  GyreTensor *value    = whole_value (self, operand);
  guint8      gathered = self->kept->gathered[operand->id];
  GyreSpec    spec     = *gyre_spec_builder_get (&self->builder, value);

  if (gathered == 0 || self->kept->specs[node->id])
    return value;
  for (int dim = 0; dim < operand->shape.rank; dim++)
    if ((spec.axes[dim] & gathered) != 0)
      {
        spec.axes[dim] = 0;
        spec.base[dim] = 0;
      }
  return gyre_spec_builder_move (&self->builder, value, &spec);
}

/* A node of an update of state in parts lies as that does. */
static gboolean
keep_parts (Partitioner *self, const GyreTensor *node, GyreSpec *want, GyreSpec *out)
{
  for (guint i = 0; i < node->n_operands; i++)
    want[i] = *self->kept->specs[node->id];
  *out = *self->kept->specs[node->id];
  return TRUE;
}

/* Whether the operand is to be reduced where it is made: it is wanted whole, or its sum
 * would stay partial in a larger value, which more bytes must move for. */
static gboolean
wants_whole (const GyreTensor *node,
             guint             i,
             const GyreSpec   *in,
             const GyreSpec   *want,
             const GyreSpec   *out)
{
  if ((in->partial & (guint8) ~want->partial) != 0)
    return (in->partial & gyre_spec_split_axes (want)) == 0;
  return (in->partial & out->partial) != 0 &&
         gyre_shape_n_elements (&node->shape) >
           gyre_shape_n_elements (&node->operands[i]->shape);
}

static gboolean
ask_rule (Partitioner      *self,
          const GyreTensor *node,
          const GyreSpec   *in,
          GyreSpec         *want,
          GyreSpec         *out)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      want[i]         = in[i];
      want[i].partial = 0;
    }
  *out = GYRE_SPEC_REPLICATED;
  if (self->kept->specs[node->id])
    return keep_parts (self, node, want, out);
  if (node->prim->partition)
    {
      if (node->prim->partition (node, self->mesh, in, want, out, &error))
        return TRUE;
      g_propagate_prefixed_error (self->error, g_steal_pointer (&error), "%s%s%s: ",
                                  node->path, *node->path ? ": " : "", node->prim->name);
      return FALSE;
    }
  return gyre_partition_replicated (node, self->mesh, in, want, out, self->error);
}

static gboolean
partition_node (Partitioner *self, const GyreTensor *node)
{
  guint                  n        = node->n_operands;
  g_autofree GyreSpec   *in       = g_new0 (GyreSpec, n + 1);
  g_autofree GyreSpec   *want     = g_new0 (GyreSpec, n + 1);
  g_autofree GyreTensor **operands = g_new0 (GyreTensor *, n + 1);
  GyreSpec               out;

  for (guint i = 0; i < n; i++)
    {
      operands[i] = used_value (self, node, node->operands[i]);
      in[i]       = *gyre_spec_builder_get (&self->builder, operands[i]);
    }
  if (!ask_rule (self, node, in, want, &out))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      if (wants_whole (node, i, &in[i], &want[i], &out))
        mark_whole (self, node->operands[i]);
      operands[i] = gyre_spec_builder_move (&self->builder, operands[i], &want[i]);
    }
  operands[n] = gyre_graph_copy_node (self->builder.graph, node, operands);
  gyre_spec_builder_put (&self->builder, &out);
  keep_value (self, node, operands[n]);
  return TRUE;
}

/* --- nodes of a region, and the reductions that end one --- */

static GyreTensor *
chunk_operand (Partitioner *self, const GyreTensor *operand, guint16 group)
{
  GyreSpec    flat  = flat_spec (self, group);
  GyreSpec    whole = GYRE_SPEC_REPLICATED;
  GyreTensor *value;

  if (self->chunks[operand->id])
    return self->chunks[operand->id];
  value = gyre_spec_builder_move (&self->builder, whole_value (self, operand), &whole);
  if (gyre_shape_n_elements (&operand->shape) == 1)
    return value;
  value = gyre_spec_builder_flatten (&self->builder, value);
  return gyre_spec_builder_move (&self->builder, value, &flat);
}

static GyreTensor *
emit_flattened (Partitioner *self, const GyreTensor *node, guint16 group)
{
  g_autofree GyreTensor **operands = g_new0 (GyreTensor *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = chunk_operand (self, node->operands[i], group);
  self->builder.graph->path = node->path;
  if (node->prim->flatten)
    return node->prim->flatten (self->builder.graph, node, operands);
  return gyre_graph_copy_node (self->builder.graph, node, operands);
}

static gboolean
flatten_node (Partitioner *self, const GyreTensor *node, guint16 group)
{
  GyreTensor *value = emit_flattened (self, node, group);
  GyreSpec    spec  = flat_spec (self, group);

  g_return_val_if_fail (value != NULL, FALSE);
  gyre_spec_builder_put_flat (&self->builder, &spec,
                              gyre_shape_n_elements (&node->shape));
  self->chunks[node->id] = value;
  self->found[node->id]  = spec;
  return TRUE;
}

/* The group whose chunks a reduction to one element reads, or 0. */
static guint16
sink_group (const Partitioner *self, const GyreTensor *node)
{
  const GyreTensor *operand;
  guint16           group;

  if (!self->regions || (node->prim->flags & GYRE_PRIM_REDUCTION) == 0 ||
      !node->prim->flatten || node->n_operands != 1 || node->prim->linear == 0 ||
      gyre_shape_n_elements (&node->shape) != 1)
    return 0;
  operand = node->operands[0];
  group   = self->regions->group[operand->id];
  return group ? group : self->regions->gradient[operand->id];
}

static gboolean
reduce_chunks (Partitioner *self, const GyreTensor *node, guint16 group)
{
  GyreTensor *value = emit_flattened (self, node, group);
  GyreSpec    spec  = GYRE_SPEC_REPLICATED;

  g_return_val_if_fail (value != NULL, FALSE);
  spec.partial = self->regions->axes[group - 1];
  gyre_spec_builder_put (&self->builder, &spec);
  self->values[node->id] =
      gyre_spec_builder_unflatten (&self->builder, value, &node->shape);
  self->found[node->id]  = spec;
  return TRUE;
}

/* --- outputs --- */

static GyreTensor *
partition_output (Partitioner *self, guint index)
{
  GyreTensor       *source  = g_ptr_array_index (self->source->outputs, index);
  int               donated = self->donated ? self->donated[index] : -1;
  const GyreTensor *input   = donated < 0 ? NULL
                              : g_ptr_array_index (self->source->inputs, donated);
  GyreSpec          is, want;

  if (input && self->regions && self->regions->flat_input[input->id] != 0)
    return gyre_spec_builder_unflatten (&self->builder, self->chunks[source->id],
                                        &source->shape);

  is = want = *gyre_spec_builder_get (&self->builder, whole_value (self, source));
  want.partial = 0;
  if (input)
    want = self->inputs ? self->inputs[donated] : GYRE_SPEC_REPLICATED;
  if ((is.partial & (guint8) ~want.partial) != 0)
    mark_whole (self, source);
  return gyre_spec_builder_move (&self->builder, whole_value (self, source), &want);
}

/* --- runs --- */

static gboolean
run_nodes (Partitioner *self)
{
  guint n_inputs = 0;

  for (guint i = 0; i < self->source->nodes->len; i++)
    {
      GyreTensor *node  = g_ptr_array_index (self->source->nodes, i);
      guint16     group = self->regions ? self->regions->group[i] : 0;
      guint16     sink  = sink_group (self, node);
      gboolean    ok    = TRUE;

      if (node->prim == &gyre_prim_input)
        partition_input (self, node, n_inputs++);
      else if (group != 0)
        ok = flatten_node (self, node, group);
      else if (sink != 0)
        ok = reduce_chunks (self, node, sink);
      else
        ok = partition_node (self, node);
      if (!ok)
        return FALSE;
    }
  return TRUE;
}

/* One run over the source; a new graph and its specs in the builder. */
static gboolean
run (Partitioner *self)
{
  guint n = self->source->nodes->len;

  self->marked = FALSE;
  memset (self->values, 0, sizeof (GyreTensor *) * n);
  memset (self->chunks, 0, sizeof (GyreTensor *) * n);
  gyre_spec_builder_init (&self->builder, gyre_graph_new_like (self->source), self->mesh);
  if (!run_nodes (self))
    return FALSE;
  for (guint i = 0; i < self->source->outputs->len; i++)
    gyre_graph_add_output (self->builder.graph, partition_output (self, i));
  if (!self->builder.graph->error)
    return TRUE;
  g_propagate_error (self->error, g_error_copy (self->builder.graph->error));
  return FALSE;
}

static void
drop_run (Partitioner *self)
{
  gyre_graph_free (self->builder.graph);
  gyre_spec_builder_clear (&self->builder);
}

/* Repeats until the marks are complete, then once more with the regions if there are
 * any. */
static gboolean
run_to_the_end (Partitioner *self)
{
  g_autoptr (GyreRegions) regions = NULL;

  if (!run (self))
    return FALSE;
  while (self->marked)
    {
      drop_run (self);
      if (!run (self))
        return FALSE;
    }
  regions = gyre_regions_new (self->source, self->found, self->whole, self->donated);
  if (regions->n_groups == 0)
    return TRUE;
  drop_run (self);
  self->regions = regions;
  if (!run (self))
    return FALSE;
  self->regions = NULL;
  return TRUE;
}

static GyreProgram *
take_program (Partitioner *self)
{
  GyreProgram *program = gyre_program_new (self->builder.graph, self->mesh);
  guint        n       = self->builder.graph->outputs->len;

  for (guint i = 0; i < self->builder.specs->len; i++)
    program->specs[i] = g_array_index (self->builder.specs, GyreSpec, i);
  for (guint i = 0; i < n; i++)
    program->donated[i] = self->donated ? self->donated[i] : -1;
  gyre_spec_builder_clear (&self->builder);
  return program;
}

GyreProgram *
gyre_partition (const GyreGraph     *graph,
                const GyreMeshSpec  *mesh,
                const GyreSpec      *inputs,
                const int           *donated,
                GError             **error)
{
  guint        n       = graph->nodes->len;
  Partitioner  self    = { graph, mesh, inputs, donated, .error = error };
  GyreProgram *program = NULL;

  self.kept   = gyre_kept_new (graph, inputs, donated);
  self.whole  = g_new0 (gboolean, n + 1);
  self.found  = g_new0 (GyreSpec, n + 1);
  self.values = g_new0 (GyreTensor *, n + 1);
  self.chunks = g_new0 (GyreTensor *, n + 1);
  if (run_to_the_end (&self))
    program = take_program (&self);
  else
    drop_run (&self);
  g_free (self.whole);
  g_free (self.found);
  g_free (self.values);
  g_free (self.chunks);
  gyre_kept_free (self.kept);
  return program;
}
