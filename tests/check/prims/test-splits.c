/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"
#include "prims/gyre-prim-cases.h"

#include <string.h>

/* The partition rule of each primitive, node by node: three members of unlike weight
 * compute their parts by the reference, from parts of the operands that lie as the
 * rule wants them. Put together as the rule says that the result lies, they are the
 * whole. */

#define N_MEMBERS 3

static double weights[N_MEMBERS] = { 5, 2, 1 };
static const GyreMeshSpec mesh = {
  .n_axes = 1,
  .axes = { { "data", N_MEMBERS, FALSE, FALSE } },
  .weights = { weights },
};

typedef struct
{
  const char *name;
  GyreGraph *graph;
  GyreRef *whole;  /* by node id */
  GyreSpec *specs; /* by node id */
} Problem;

static gint64
count (const GyreShape *shape)
{
  return gyre_shape_n_elements (shape);
}

/* Calls for each element of a member's part: its place in the part and in the whole. */
static gint64
place_in_whole (const GyreShape *global,
                const GyreShape *local,
                const gint64 *offsets,
                gint64 flat)
{
  gint64 ix[GYRE_MAX_RANK], place = 0;

  for (int i = local->rank - 1; i >= 0; i--)
    {
      ix[i] = flat % local->dims[i];
      flat /= local->dims[i];
    }
  for (int i = 0; i < global->rank; i++)
    place = place * global->dims[i] + ix[i] + offsets[i];

  return place;
}

static GyreRef
allocate_part (const GyreSpec *spec, const GyreRef *whole, guint member, gint64 *offsets)
{
  GyreRef part = { whole->dtype };

  gyre_spec_local_shape (spec, &mesh, &whole->shape, member, &part.shape, offsets);
  part.data = g_new0 (double, count (&part.shape) + 1);
  return part;
}

/* What a member holds: its elements, or its summand of each.  Summands are unlike, and
 * those of the first two members cancel what isn't the whole. */
static GyreRef
take_part (const GyreSpec *spec, const GyreRef *whole, guint member)
{
  gint64 offsets[GYRE_MAX_RANK];
  GyreRef part = allocate_part (spec, whole, member, offsets);

  for (gint64 i = 0; i < count (&part.shape); i++)
    {
      gint64 place = place_in_whole (&whole->shape, &part.shape, offsets, i);
      double noise = (double) (place % 7 + 1);

      part.data[i] = whole->data[place];
      if (spec->partial != 0)
        part.data[i] = member == 0 ? noise : member == 1 ? part.data[i] - noise - 2 : 2;
    }

  return part;
}

static void
compute_part (const Problem *self,
              const GyreTensor *node,
              const GyreSpec *want,
              guint member,
              GyreRef *out)
{
  g_autofree GyreRef *in = g_new0 (GyreRef, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    in[i] = take_part (&want[i], &self->whole[node->operands[i]->id], member);

  node->prim->reference (node, in, out);
  for (guint i = 0; i < node->n_operands; i++)
    g_free (in[i].data);
}

/* Adds the member's part where it lies, and counts who has given each element. */
static void
put_part (const Problem *self,
          const GyreTensor *node,
          const GyreSpec *want,
          const GyreSpec *spec,
          guint member,
          double *sum,
          guint *givers)
{
  const GyreRef *whole = &self->whole[node->id];
  gint64 offsets[GYRE_MAX_RANK];
  GyreRef out = allocate_part (spec, whole, member, offsets);

  compute_part (self, node, want, member, &out);
  for (gint64 i = 0; i < count (&out.shape); i++)
    {
      gint64 place = place_in_whole (&whole->shape, &out.shape, offsets, i);

      /* What all hold is the whole for each. */
      if (spec->partial == 0)
        gyre_assert_near (out.data[i], whole->data[place],
                          1e-9 * (1 + fabs (out.data[i])));
      sum[place] += out.data[i];
      givers[place]++;
    }
  g_free (out.data);
}

static void
check_node (const Problem *self,
            const GyreTensor *node,
            const GyreSpec *want,
            const GyreSpec *spec)
{
  const GyreRef *whole = &self->whole[node->id];
  gint64 n = count (&node->shape);
  g_autofree double *sum = g_new0 (double, n + 1);
  g_autofree guint *givers = g_new0 (guint, n + 1);

  ck_assert_msg ((spec->partial & gyre_spec_split_axes (spec)) == 0,
                 "%s: %s splits what it sums", self->name, node->prim->name);
  for (guint m = 0; m < N_MEMBERS; m++)
    put_part (self, node, want, spec, m, sum, givers);

  for (gint64 i = 0; i < n; i++)
    {
      ck_assert_msg (givers[i] == (gyre_spec_split_axes (spec) != 0 ? 1 : N_MEMBERS),
                     "%s: element %d of %s is given by %u members", self->name, (int) i,
                     node->prim->name, givers[i]);
      /* Sums of integers wrap on their way, too. */
      if (node->dtype == GYRE_I32)
        sum[i] = (gint32) (guint32) (gint64) sum[i];
      if (spec->partial != 0 &&
          !gyre_check_near (sum[i], whole->data[i], 1e-9 * (1 + fabs (sum[i]))))
        ck_abort_msg ("%s: element %d of %s is %g in parts and %g in whole", self->name,
                      (int) i, node->prim->name, sum[i], whole->data[i]);
    }
}

static void
partition_node (Problem *self, const GyreTensor *node)
{
  g_autofree GyreSpec *in = g_new0 (GyreSpec, node->n_operands + 1);
  g_autofree GyreSpec *want = g_new0 (GyreSpec, node->n_operands + 1);
  g_autoptr (GError) error = NULL;
  GyreSpec out = GYRE_SPEC_REPLICATED;

  for (guint i = 0; i < node->n_operands; i++)
    {
      in[i] = want[i] = self->specs[node->operands[i]->id];
      want[i].partial = 0;
    }

  ck_assert (node->prim->partition (node, &mesh, in, want, &out, &error));
  gyre_assert_no_error (error);
  for (guint i = 0; i < node->n_operands; i++)
    ck_assert_msg ((want[i].partial & ~in[i].partial) == 0,
                   "%s: %s wants a whole operand as a sum", self->name, node->prim->name);
  check_node (self, node, want, &out);
  self->specs[node->id] = out;
}

static void
partition_all (Problem *self, const GyreSpec *inputs)
{
  guint n_inputs = 0;

  for (guint n = 0; n < self->graph->nodes->len; n++)
    {
      const GyreTensor *node = g_ptr_array_index (self->graph->nodes, n);

      if (node->prim == &gyre_prim_input)
        self->specs[n] = inputs[n_inputs++];
      else
        partition_node (self, node);
    }
}

static void
split (GyreSpec *spec, const GyreShape *shape, int dim)
{
  *spec = GYRE_SPEC_REPLICATED;
  if (dim < shape->rank)
    {
      spec->axes[dim] = 1;
      spec->base[dim] = shape->dims[dim];
    }
}

/* Every dimension of every input by itself; all inputs along the same dimension; and
 * sums. */
static void
try_all_splits (Problem *self, const GyrePrimCase *which)
{
  GyreSpec inputs[3];

  for (guint i = 0; i < which->n_inputs; i++)
    for (int dim = 0; dim < which->inputs[i].shape.rank; dim++)
      {
        memset (inputs, 0, sizeof inputs);
        split (&inputs[i], &which->inputs[i].shape, dim);
        partition_all (self, inputs);
        for (guint j = 0; j < which->n_inputs; j++)
          split (&inputs[j], &which->inputs[j].shape, dim);
        partition_all (self, inputs);
      }

  for (guint mask = 1; mask < 1u << which->n_inputs; mask++)
    {
      gboolean floats = TRUE;

      memset (inputs, 0, sizeof inputs);
      for (guint i = 0; i < which->n_inputs; i++)
        if (mask >> i & 1)
          {
            inputs[i].partial = 1;
            floats = floats && which->inputs[i].dtype == GYRE_F32;
          }
      if (floats)
        partition_all (self, inputs);
    }
}

static void
compute_whole (Problem *self, const GyrePrimCase *which)
{
  GyreRef inputs[3];
  g_autoptr (GError) error = NULL;

  g_ptr_array_set_size (self->graph->outputs, 0);
  for (guint n = 0; n < self->graph->nodes->len; n++)
    gyre_graph_add_output (self->graph, g_ptr_array_index (self->graph->nodes, n));

  for (guint i = 0; i < which->n_inputs; i++)
    inputs[i] = gyre_prim_case_input (which, i);
  gyre_interpret (self->graph, inputs, self->whole, &error);
  gyre_assert_no_error (error);
  for (guint i = 0; i < which->n_inputs; i++)
    g_free (inputs[i].data);
}

START_TEST (parts_make_the_whole)
{
  const GyrePrimCase *which = &gyre_prim_cases[_i];
  GyreTensor *y, *grads[3], *wrt[3];
  Problem self = { which->name };
  guint n = 0;

  self.graph = gyre_prim_case_graph (which, &y);
  /* The primitives of its gradient are partitioned too. */
  for (guint i = 0; i < which->n_inputs; i++)
    if (which->inputs[i].dtype == GYRE_F32)
      wrt[n++] = g_ptr_array_index (self.graph->inputs, i);
  if (which->flags & GYRE_CASE_SMOOTH)
    gyre_grad_of (gyre_sum (gyre_square (y)), wrt, n, grads);
  gyre_assert_no_error (self.graph->error);

  self.whole = g_new0 (GyreRef, self.graph->nodes->len);
  self.specs = g_new0 (GyreSpec, self.graph->nodes->len);
  compute_whole (&self, which);
  try_all_splits (&self, which);

  for (guint i = 0; i < self.graph->nodes->len; i++)
    g_free (self.whole[i].data);
  g_free (self.whole);
  g_free (self.specs);
  gyre_graph_pop ();
  gyre_graph_free (self.graph);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "splits", parts_make_the_whole, (int) gyre_prim_n_cases);
}

GYRE_CHECK_MAIN ("prims-splits", add_tests)
