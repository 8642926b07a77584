/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <string.h>

#include <gyre/gyre-ops.h>

#include "ir/gyre-simplify-private.h"
#include "partition/gyre-partition-private.h"

/* One step of a network, spread by the shardings of its inputs alone.
 *
 *   x [8,20] · w0 [20,4], tanh; · w1 [4,12] + b1, tanh; · w2 [12,4]; mean of squares
 *
 * GYRE_GOLDEN_UPDATE=1 writes the golden files anew. */

enum { X, W0, W1, B1, W2, N_INPUTS };

static const GyreShape shapes[N_INPUTS] = {
  { 2, { 8, 20 } }, { 2, { 20, 4 } }, { 2, { 4, 12 } }, { 1, { 12 } }, { 2, { 12, 4 } },
};
static const char *const names[N_INPUTS] = { "x", "w0", "w1", "b1", "w2" };

typedef struct
{
  int    input;
  int    dim;
  guint8 axes;
} Split;

/* Divides by the norm of all of them. */
static void
clip (GyreTensor **grads,
      int          n)
{
  GyreTensor *sum = gyre_constant (GYRE_F32, 0);

  for (int i = 0; i < n; i++)
    sum = gyre_add (sum, gyre_sum (gyre_square (grads[i])));
  for (int i = 0; i < n; i++)
    grads[i] = gyre_div (grads[i], gyre_sqrt (sum));
}

static GyreGraph *
build_step (gboolean clipped)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  GyreTensor *in[N_INPUTS], *grads[N_INPUTS - 1], *h, *loss;

  for (int i = 0; i < N_INPUTS; i++)
    in[i] = gyre_graph_input (graph, names[i], GYRE_F32, &shapes[i]);
  gyre_graph_push (graph);
  h = gyre_tanh (gyre_matmul (in[X], in[W0]));
  h = gyre_tanh (gyre_add (gyre_matmul (h, in[W1]), in[B1]));
  loss = gyre_mean (gyre_square (gyre_matmul (h, in[W2])));
  gyre_grad_of (loss, in + W0, N_INPUTS - 1, grads);
  gyre_graph_add_output (graph, loss);
  if (clipped)
    clip (grads, N_INPUTS - 1);
  for (int i = 0; i < N_INPUTS - 1; i++)
    gyre_graph_add_output (graph, gyre_sub (in[W0 + i], gyre_mul_scalar (grads[i], 0.1)));
  gyre_graph_pop ();
  gyre_assert_no_error (graph->error);
  return gyre_graph_simplify (graph);
}

static GyreProgram *
partition_step (const GyreMeshSpec *mesh,
                const Split        *splits,
                guint               n_splits,
                gboolean            clipped)
{
  g_autoptr (GyreGraph) graph = build_step (clipped);
  g_autoptr (GError) error = NULL;
  GyreSpec specs[N_INPUTS];
  int donated[N_INPUTS] = { -1, W0, W1, B1, W2 };
  GyreProgram *program;

  memset (specs, 0, sizeof specs);
  for (guint i = 0; i < n_splits; i++)
    {
      specs[splits[i].input].axes[splits[i].dim] = splits[i].axes;
      specs[splits[i].input].base[splits[i].dim]
        = shapes[splits[i].input].dims[splits[i].dim];
    }
  program = gyre_partition (graph, mesh, specs, donated, &error);
  gyre_assert_no_error (error);
  return program;
}

static GyreProgram *
partition (const GyreMeshSpec *mesh,
           const Split        *splits,
           guint               n_splits)
{
  return partition_step (mesh, splits, n_splits, FALSE);
}

static guint
count (const GyreProgram *program,
       const char        *name)
{
  guint n = 0;

  for (guint i = 0; i < program->graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (program->graph->nodes, i);

      n += g_str_equal (node->prim->name, name);
    }
  return n;
}

static void
assert_counts (const GyreProgram *program,
               guint              n_reduce,
               guint              n_scatter,
               guint              n_gather)
{
  if (count (program, "all_reduce") != n_reduce
      || count (program, "reduce_scatter") != n_scatter
      || count (program, "all_gather") != n_gather)
    {
      g_autofree char *text = gyre_program_to_string (program);

      g_printerr ("%s", text);
      ck_abort_msg ("%u all_reduce, %u reduce_scatter, %u all_gather",
                    count (program, "all_reduce"), count (program, "reduce_scatter"),
                    count (program, "all_gather"));
    }
}

/* What a donated input is, the result that takes it over is too. */
static void
assert_outputs_like_inputs (const GyreProgram *program)
{
  for (guint i = W0; i < N_INPUTS; i++)
    {
      const GyreTensor *input = g_ptr_array_index (program->graph->inputs, i);
      const GyreTensor *output = g_ptr_array_index (program->graph->outputs, i);

      ck_assert (gyre_spec_equal (&program->specs[input->id],
                                  &program->specs[output->id]));
    }
}

static void
assert_golden (const GyreProgram *program,
               const char        *name)
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

/* Columns, then rows: one sum on the way forward, of h w2, and one on the way back, of
 * the gradient of what the pair was given. */
START_TEST (column_then_row)
{
  const GyreMeshSpec mesh = { 1, { { "tp", 2, FALSE, FALSE } }, { NULL } };
  const Split splits[] = { { W1, 1, 1 }, { B1, 0, 1 }, { W2, 0, 1 } };
  g_autoptr (GyreProgram) program = partition (&mesh, splits, G_N_ELEMENTS (splits));

  assert_counts (program, 2, 0, 0);
  assert_outputs_like_inputs (program);
  assert_golden (program, "column-then-row.txt");
}
END_TEST

/* Both at once: h w2 forward and its counterpart on the way back over tp; over dp the
 * loss and each gradient, that of w0 between the halves. */
START_TEST (data_and_tensor)
{
  const GyreMeshSpec mesh
    = { 2, { { "dp", 2, FALSE, FALSE }, { "tp", 2, FALSE, FALSE } }, { NULL } };
  const Split splits[]
    = { { X, 0, 1 }, { W1, 1, 2 }, { B1, 0, 2 }, { W2, 0, 2 } };
  g_autoptr (GyreProgram) program = partition (&mesh, splits, G_N_ELEMENTS (splits));

  assert_counts (program, 2 + 1 + 3, 1, 1);
  assert_outputs_like_inputs (program);
  assert_golden (program, "data-and-tensor.txt");
}
END_TEST

/* Parameters split over the axis of the data: each is gathered before its use, and its
 * gradient is scattered to those who keep its parts. */
START_TEST (sharded_parameters)
{
  const GyreMeshSpec mesh = { 1, { { "dp", 2, FALSE, FALSE } }, { NULL } };
  const Split splits[] = { { X, 0, 1 }, { W0, 0, 1 }, { W1, 0, 1 }, { B1, 0, 1 },
                           { W2, 0, 1 } };
  g_autoptr (GyreProgram) program = partition (&mesh, splits, G_N_ELEMENTS (splits));

  assert_counts (program, 1, 4, 4);
  assert_outputs_like_inputs (program);
  assert_golden (program, "sharded-parameters.txt");
}
END_TEST

/* The norm of gradients in parts is a sum over the parts: one number for all of them is
 * all-reduced besides the loss, and no gradient. */
START_TEST (clips_in_parts)
{
  const GyreMeshSpec mesh = { 1, { { "dp", 2, FALSE, FALSE } }, { NULL } };
  const Split splits[] = { { X, 0, 1 }, { W0, 0, 1 }, { W1, 1, 1 }, { B1, 0, 1 },
                           { W2, 0, 1 } };
  g_autoptr (GyreProgram) program =
      partition_step (&mesh, splits, G_N_ELEMENTS (splits), TRUE);

  assert_counts (program, 2, 4, 4);
  assert_outputs_like_inputs (program);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "column-then-row", column_then_row);
  gyre_check_add (suite, "data-and-tensor", data_and_tensor);
  gyre_check_add (suite, "sharded-parameters", sharded_parameters);
  gyre_check_add (suite, "clip", clips_in_parts);
}

GYRE_CHECK_MAIN ("shardings", add_tests)
