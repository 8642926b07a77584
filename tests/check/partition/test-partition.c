/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre-ops.h>

#include "ir/gyre-simplify-private.h"
#include "partition/gyre-partition-private.h"

/* A network 6-5-3 on 8 rows with its loss, gradients and an update, as one device would
 * see it; and what the partitioner makes of it on a mesh. GYRE_GOLDEN_UPDATE=1 writes the
 * golden files anew. */

typedef struct
{
  GyreGraph *graph;
  GyreSpec   inputs[16];
  int        donated[16];
} Step;

enum
{
  IMAGE,
  LABEL,
  PARAMS,          /* bias, kernel, bias, kernel */
  MOMENTS = PARAMS + 4,
  N_INPUTS = MOMENTS + 4
};

static const GyreShape param_shapes[] = {
  { 1, { 5 } }, { 2, { 6, 5 } }, { 1, { 3 } }, { 2, { 5, 3 } },
};

typedef enum
{
  DESCENT,      /* p - 0.1 g */
  MOMENTUM,     /* m' = 0.9 m + g; p - 0.1 m' */
  CLIPPED       /* the same with g scaled by the norm of all gradients */
} Update;

static GyreTensor *
make_loss (GyreTensor *image, GyreTensor *label, GyreTensor *const *params)
{
  GyreTensor *x = gyre_add (gyre_matmul (image, params[1]), params[0]);
  GyreTensor *y;

  x = gyre_max (x, gyre_constant (GYRE_F32, 0));
  y = gyre_log_softmax (gyre_add (gyre_matmul (x, params[3]), params[2]), -1);
  y = gyre_sum_axis (gyre_mul (y, gyre_one_hot (label, 3)), -1, FALSE);
  return gyre_neg (gyre_mean (y));
}

static void
clip (GyreTensor **grads)
{
  GyreTensor *sum = gyre_constant (GYRE_F32, 0);
  GyreTensor *scale;

  for (int i = 0; i < 4; i++)
    sum = gyre_add (sum, gyre_sum (gyre_mul (grads[i], grads[i])));
  scale = gyre_div (gyre_constant (GYRE_F32, 1), gyre_sqrt (sum));
  for (int i = 0; i < 4; i++)
    grads[i] = gyre_mul (grads[i], scale);
}

static void
build_outputs (GyreGraph          *graph,
               GyreTensor         *loss,
               GyreTensor *const  *params,
               GyreTensor *const  *moments,
               GyreTensor        **grads,
               Update              update)
{
  gyre_graph_add_output (graph, loss);
  if (update == CLIPPED)
    clip (grads);
  for (int i = 0; i < 4; i++)
    {
      GyreTensor *change = grads[i];

      if (update != DESCENT)
        change = gyre_add (gyre_mul_scalar (moments[i], 0.9), grads[i]);
      gyre_graph_add_output (graph, gyre_sub (params[i], gyre_mul_scalar (change, 0.1)));
      gyre_graph_add_output (graph, change);
    }
}

static Step
build_step (Update update)
{
  Step        step  = { gyre_graph_new () };
  GyreTensor *image =
      gyre_graph_input (step.graph, "image", GYRE_F32, &GYRE_SHAPE (8, 6));
  GyreTensor *label = gyre_graph_input (step.graph, "label", GYRE_I32, &GYRE_SHAPE (8));
  GyreTensor *params[4], *moments[4], *grads[4], *loss;
  g_autoptr (GyreGraph) graph = NULL;

  for (int i = 0; i < 4; i++)
    params[i] = gyre_graph_input (step.graph, "param", GYRE_F32, &param_shapes[i]);
  for (int i = 0; i < 4; i++)
    moments[i] = gyre_graph_input (step.graph, "moment", GYRE_F32, &param_shapes[i]);
  gyre_graph_push (step.graph);
  loss = make_loss (image, label, params);
  gyre_grad_of (loss, params, 4, grads);
  build_outputs (step.graph, loss, params, moments, grads, update);
  gyre_graph_pop ();
  gyre_assert_no_error (step.graph->error);
  graph      = step.graph;
  step.graph = gyre_graph_simplify (graph);

  for (int i = IMAGE; i <= LABEL; i++)
    {
      step.inputs[i].axes[0] = 1;
      step.inputs[i].base[0] = 8;
    }
  step.donated[0] = -1;
  for (int i = 0; i < 4; i++)
    {
      step.donated[1 + 2 * i] = PARAMS + i;
      step.donated[2 + 2 * i] = update == DESCENT ? -1 : MOMENTS + i;
    }
  return step;
}

static GyreMeshSpec
data_mesh (guint size)
{
  return (GyreMeshSpec) { 1, { { "data", size, FALSE, FALSE } }, { NULL } };
}

static GyreProgram *
partition (Update update)
{
  Step               step  = build_step (update);
  GyreMeshSpec       mesh  = data_mesh (3);
  g_autoptr (GError) error = NULL;
  GyreProgram *program =
      gyre_partition (step.graph, &mesh, step.inputs, step.donated, &error);

  gyre_assert_no_error (error);
  gyre_graph_free (step.graph);
  return program;
}

static guint
count (const GyreProgram *program, const char *name)
{
  guint n = 0;

  for (guint i = 0; i < program->graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (program->graph->nodes, i);

      n += g_str_equal (node->prim->name, name);
    }
  return n;
}

static const GyreSpec *
input_spec (const GyreProgram *program, guint i)
{
  const GyreTensor *input = g_ptr_array_index (program->graph->inputs, i);

  return &program->specs[input->id];
}

static const GyreSpec *
output_spec (const GyreProgram *program, guint i)
{
  const GyreTensor *output = g_ptr_array_index (program->graph->outputs, i);

  return &program->specs[output->id];
}

static void
assert_golden (const GyreProgram *program, const char *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("GYRE_GOLDEN"), name, NULL);
  g_autofree char *text = gyre_program_to_string (program);
  g_autofree char *expected = NULL;

  if (g_getenv ("GYRE_GOLDEN_UPDATE"))
    g_file_set_contents (path, text, -1, NULL);
  g_file_get_contents (path, &expected, NULL, NULL);
  if (g_strcmp0 (text, expected) != 0)
    {
      g_printerr ("%s", text);
      ck_abort_msg ("%s differs from the program on standard error", name);
    }
}

/* Nothing is sent on the way forward: one sum for the loss, and the gradients. */
START_TEST (updates_between_halves)
{
  g_autoptr (GyreProgram) program = partition (MOMENTUM);

  ck_assert_uint_eq (count (program, "all_reduce"), 1);        /* the loss */
  ck_assert_uint_eq (count (program, "reduce_scatter"), 4);
  ck_assert_uint_eq (count (program, "all_gather"), 4);
  for (guint i = 0; i < 4; i++)
    {
      ck_assert (gyre_spec_is_replicated (input_spec (program, PARAMS + i)));
      ck_assert (gyre_spec_is_replicated (output_spec (program, 1 + 2 * i)));
      ck_assert_uint_eq (input_spec (program, MOMENTS + i)->flat, 1);
      ck_assert_uint_eq (output_spec (program, 2 + 2 * i)->flat, 1);
      ck_assert_uint_eq (output_spec (program, 2 + 2 * i)->group,
                         input_spec (program, MOMENTS + i)->group);
    }
  ck_assert (gyre_spec_is_replicated (output_spec (program, 0)));
  assert_golden (program, "momentum.txt");
}
END_TEST

/* The norm needs one more scalar, for all gradients together. */
START_TEST (clips_in_chunks)
{
  g_autoptr (GyreProgram) program = partition (CLIPPED);

  ck_assert_uint_eq (count (program, "all_reduce"), 2);
  ck_assert_uint_eq (count (program, "reduce_scatter"), 4);
  ck_assert_uint_eq (count (program, "all_gather"), 4);
}
END_TEST

/* Gradients that are results themselves are wanted whole. */
START_TEST (reduces_results)
{
  g_autoptr (GyreProgram) program = partition (DESCENT);

  ck_assert_uint_eq (count (program, "all_reduce"), 5);
  ck_assert_uint_eq (count (program, "reduce_scatter"), 0);
}
END_TEST

/* z zᵀ over the whole batch: rows of z are needed by all. */
START_TEST (gathers_for_whole_batch)
{
  g_autoptr (GyreGraph)   graph = gyre_graph_new ();
  g_autoptr (GError)      error = NULL;
  g_autoptr (GyreProgram) program = NULL;
  GyreMeshSpec            mesh = data_mesh (3);
  GyreSpec                specs[1] = { { { 1 }, { 8 }, 0, 0, 0 } };
  GyreTensor             *z, *loss, *grad;

  gyre_graph_push (graph);
  z    = gyre_graph_input (graph, "z", GYRE_F32, &GYRE_SHAPE (8, 4));
  loss = gyre_mean (gyre_square (gyre_matmul_full (z, FALSE, z, TRUE)));
  gyre_grad_of (loss, &z, 1, &grad);
  gyre_graph_add_output (graph, loss);
  gyre_graph_add_output (graph, grad);
  gyre_graph_pop ();
  program = gyre_partition (graph, &mesh, specs, NULL, &error);
  gyre_assert_no_error (error);
  ck_assert_uint_ge (count (program, "all_gather"), 1);
  ck_assert_uint_eq (output_spec (program, 0)->partial, 0);
  ck_assert_uint_eq (output_spec (program, 1)->partial, 0);
}
END_TEST

/* On one device nothing is inserted. */
START_TEST (leaves_one_device_alone)
{
  Step                    step  = build_step (MOMENTUM);
  GyreMeshSpec            mesh  = data_mesh (1);
  g_autoptr (GError)      error = NULL;
  g_autoptr (GyreProgram) program = NULL;

  memset (step.inputs, 0, sizeof step.inputs);
  program = gyre_partition (step.graph, &mesh, step.inputs, step.donated, &error);
  gyre_assert_no_error (error);
  ck_assert_uint_eq (program->graph->nodes->len, step.graph->nodes->len);
  gyre_graph_free (step.graph);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "between-halves", updates_between_halves);
  gyre_check_add (suite, "clip", clips_in_chunks);
  gyre_check_add (suite, "results", reduces_results);
  gyre_check_add (suite, "whole-batch", gathers_for_whole_batch);
  gyre_check_add (suite, "one-device", leaves_one_device_alone);
}

GYRE_CHECK_MAIN ("partition", add_tests)
