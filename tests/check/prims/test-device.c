/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"
#include "prims/gyre-prim-cases.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"

/* Every case on a device, by generated kernels, against the reference: on one member,
 * and on three of unlike weight, where the case can be split without collectives. */

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

/* Products are the business of GEMM providers. */
static gboolean
needs_gemm (const GyreGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (graph->nodes, i);

      if (g_str_equal (node->prim->name, "matmul"))
        return TRUE;
    }

  return FALSE;
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

START_TEST (alone)
{
  const GyrePrimCase *which = &gyre_prim_cases[_i];
  GyreMeshSpec mesh = { 0 };
  g_autoptr (GyreProgram) program = make_program (which, &mesh);

  if (!needs_gemm (program->graph))
    check_program (which, program);
}
END_TEST

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

/* Random bits are split as inputs are: what they are must not depend on it. */
static gboolean
spread (GyreProgram *program)
{
  gboolean any = FALSE;

  for (guint id = 0; id < program->graph->nodes->len; id++)
    {
      const GyreTensor *node = g_ptr_array_index (program->graph->nodes, id);
      gboolean drawn = node->prim->flags & GYRE_PRIM_GENERATOR && node->n_operands > 0;
      gboolean key = node->dtype == GYRE_U32 && node->prim == &gyre_prim_input;

      if ((node->prim == &gyre_prim_input && !key) || drawn)
        {
          if (node->shape.rank > 0)
            split_first (&program->specs[id], node);
          any = any || node->shape.rank > 0;
        }
      else if (node->prim != &gyre_prim_input && !spread_node (program, node))
        return FALSE;
    }

  return any;
}

static guint n_spread;

START_TEST (shares)
{
  const GyrePrimCase *which = &gyre_prim_cases[_i];
  double weights[] = { 5, 0, 2 };
  GyreMeshSpec mesh = { 1, { { "data", 3, FALSE, FALSE } }, { weights } };
  g_autoptr (GyreProgram) program = make_program (which, &mesh);

  if (needs_gemm (program->graph) || !spread (program))
    return;

  n_spread++;
  check_program (which, program);
}
END_TEST

START_TEST (many_were_spread)
{
  ck_assert_uint_gt (n_spread, gyre_prim_n_cases / 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "device", NULL, NULL);

  tcase_add_unchecked_fixture (tcase, set_up, tear_down);
  tcase_add_loop_test (tcase, alone, 0, (int) gyre_prim_n_cases);
  tcase_add_loop_test (tcase, shares, 0, (int) gyre_prim_n_cases);
  tcase_add_test (tcase, many_were_spread);
}

GYRE_CHECK_MAIN ("prims-device", add_tests)
