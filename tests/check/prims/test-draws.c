/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"
#include "prims/gyre-prim-cases.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"

/* Random numbers on a device, by generated kernels, drawn in shares by three members of
 * unlike weight: each has its part of what one would draw. */

static GPtrArray *devices;

static void
set_up (void)
{
  devices = gyre_check_open ("pocl");
}

static void
tear_down (void)
{
  g_clear_pointer (&devices, g_ptr_array_unref);
}

/* Where functions are not exact, OpenCL allows up to 16 ulp of 6e-8 for each, and the
 * reference rounds nothing between. */
static void
compare (const GyrePrimCase *which, const GyreRef *got, const GyreRef *wanted)
{
  for (gint64 i = 0; i < gyre_shape_n_elements (&wanted->shape); i++)
    {
      double expected =
          wanted->dtype == GYRE_F32 ? (float) wanted->data[i] : wanted->data[i];
      double slack = which->flags & GYRE_CASE_EXACT || wanted->dtype != GYRE_F32
                         ? 0
                         : 1e-6 + 4e-6 * fabs (expected);

      if (!gyre_check_near (got->data[i], expected, slack))
        ck_abort_msg ("%s: element %d is %.9g, not %.9g within %.3g", which->name,
                      (int) i, got->data[i], expected, slack);
    }
}

static void
check_program (const GyrePrimCase *which, GyreProgram *program)
{
  GyreRef inputs[3], wanted, got;
  GError *error = NULL;
  g_autoptr (GyreProgram) fused = gyre_fuse (program, &error);

  gyre_assert_no_error (error);
  for (guint i = 0; i < which->n_inputs; i++)
    inputs[i] = gyre_prim_case_input (which, i);

  gyre_interpret (program->graph, inputs, &wanted, &error);
  gyre_assert_no_error (error);
  gyre_check_run_program (fused, g_ptr_array_index (devices, 0), inputs, &got);
  compare (which, &got, &wanted);

  for (guint i = 0; i < which->n_inputs; i++)
    g_free (inputs[i].data);
  g_free (wanted.data);
  g_free (got.data);
}

static GyreProgram *
make_program (const GyrePrimCase *which, const GyreMeshSpec *mesh)
{
  GyreTensor *y;
  GyreGraph *graph = gyre_prim_case_graph (which, &y);

  gyre_graph_pop ();
  gyre_assert_no_error (graph->error);
  return gyre_program_new (graph, mesh);
}

static void
split_first (GyreSpec *spec, const GyreTensor *value)
{
  spec->axes[0] = 1;
  spec->base[0] = value->shape.dims[0];
}

/* As the partitioner does it, but for collectives: FALSE where one is needed. */
static gboolean
spread_node (GyreProgram *program, const GyreTensor *node)
{
  g_autofree GyreSpec *in = g_new0 (GyreSpec, node->n_operands + 1);
  g_autofree GyreSpec *want = g_new0 (GyreSpec, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    in[i] = want[i] = program->specs[node->operands[i]->id];
  ck_assert (node->prim->partition (node, &program->mesh, in, want,
                                    &program->specs[node->id], NULL));

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i]->prim->flags & GYRE_PRIM_GENERATOR)
      program->specs[node->operands[i]->id] = want[i];
    else if (!gyre_spec_equal (&in[i], &want[i]))
      return FALSE;
  return TRUE;
}

/* Random bits are split from where they are made; FALSE where there are none, or where
 * what follows needs them whole. */
static gboolean
spread (GyreProgram *program)
{
  gboolean any = FALSE;

  for (guint id = 0; id < program->graph->nodes->len; id++)
    {
      const GyreTensor *node = g_ptr_array_index (program->graph->nodes, id);

      if (g_str_equal (node->prim->name, "random_bits"))
        {
          split_first (&program->specs[id], node);
          any = TRUE;
        }
      else if (node->prim != &gyre_prim_input && !spread_node (program, node))
        {
          return FALSE;
        }
    }

  return any;
}

START_TEST (shares_of_draws)
{
  guint n_drawn = 0;

  for (guint i = 0; i < gyre_prim_n_cases; i++)
    {
      const GyrePrimCase *which = &gyre_prim_cases[i];
      double weights[] = { 5, 0, 2 };
      GyreMeshSpec mesh = { 1, { { "data", 3, FALSE, FALSE } }, { weights } };
      g_autoptr (GyreProgram) program = make_program (which, &mesh);

      if (!spread (program))
        continue;
      n_drawn++;
      check_program (which, program);
    }

  /* bits, uniform, normal, truncated, bernoulli, gumbel, exponential; randint */
  ck_assert_uint_ge (n_drawn, 7);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "draws", set_up, tear_down);

  tcase_add_test (tcase, shares_of_draws);
}

GYRE_CHECK_MAIN ("prims-draws", add_tests)
