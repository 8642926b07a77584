/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"
#include "prims/gyre-prim-cases.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"
#include "partition/gyre-partition-private.h"

#include <string.h>

/* Every case of the table of primitives on a device, against the interpreter in double:
 * each node a kernel of its own, and in shares, as the partitioner spreads it.  (Fused,
 * on one member, they are in the tests of primitives.) */

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

static GyreGraph *
case_graph (const GyrePrimCase *item)
{
  GyreTensor *result;
  GyreGraph *graph = gyre_prim_case_graph (item, &result);

  gyre_graph_pop ();
  gyre_assert_no_error (graph->error);

  return graph;
}

/* f32 against double.  A device's functions may be off by 16 ulp (tanh, pow, the
 * standard's limits for the full profile), sums of some dozen numbers of size 10 by an
 * ulp of each; a number that is a step's neighbour in double may be on the other side, so
 * integers that are made from floats are exact only where the case says so. */
static double
get_tolerance (const GyrePrimCase *item,
               const GyreRef      *wanted,
               gint64              i)
{
  double size = fabs (wanted->data[i]);

  if (wanted->dtype != GYRE_F32)
    return 0;
  if (item->flags & GYRE_CASE_EXACT)
    return size * ldexp (1, -24);

  return 2e-6 + 4e-6 * size;
}

static void
compare (const GyrePrimCase *item,
         const GyreRef      *got,
         const GyreRef      *wanted)
{
  ck_assert_int_eq (got->dtype, wanted->dtype);
  ck_assert (gyre_shape_equal (&got->shape, &wanted->shape));
  for (gint64 i = 0; i < gyre_shape_n_elements (&wanted->shape); i++)
    {
      /* what is past the largest float is infinite on a device */
      double target =
          wanted->dtype == GYRE_F32 ? (float) wanted->data[i] : wanted->data[i];

      if (!gyre_check_near (got->data[i], target, get_tolerance (item, wanted, i)))
        ck_abort_msg ("%s: element %" G_GINT64_FORMAT " is %.9g, not %.9g", item->name, i,
                      got->data[i], wanted->data[i]);
    }
}

static void
check_program (const GyrePrimCase *item,
               GyreProgram        *program)
{
  const GPtrArray *outputs = program->graph->outputs;
  g_autofree GyreRef *wanted = g_new0 (GyreRef, outputs->len);
  g_autofree GyreRef *got = g_new0 (GyreRef, outputs->len);
  GyreRef inputs[4];
  GError *error = NULL;
  g_autoptr (GyreProgram) fused = gyre_fuse (program, &error);
  g_autoptr (GyreGraph) oracle = case_graph (item);

  gyre_assert_no_error (error);
  for (guint i = 0; i < item->n_inputs; i++)
    inputs[i] = gyre_prim_case_input (item, i);

  gyre_interpret (oracle, inputs, wanted, &error);
  gyre_assert_no_error (error);
  gyre_check_run_program (fused, g_ptr_array_index (devices, 0), inputs, got);
  for (guint i = 0; i < outputs->len; i++)
    {
      compare (item, &got[i], &wanted[i]);
      g_free (got[i].data);
      g_free (wanted[i].data);
    }
  for (guint i = 0; i < item->n_inputs; i++)
    g_free (inputs[i].data);
}

START_TEST (each_node_alone)
{
  const GyrePrimCase *item = &gyre_prim_cases[_i];
  GyreMeshSpec mesh = { 0 };
  g_autoptr (GyreProgram) program = gyre_program_new (case_graph (item), &mesh);

  if (program->graph->nodes->len <= item->n_inputs + 1)
    return;   /* one node: it is alone anyway */

  g_setenv ("GYRE_FUSE", "0", TRUE);
  check_program (item, program);
  g_unsetenv ("GYRE_FUSE");
}
END_TEST

/* Three members of unlike shares, one with nothing; dimension 0 of all inputs that have
 * the extent of the first one's is split. */
START_TEST (in_shares)
{
  const GyrePrimCase *item = &gyre_prim_cases[_i];
  double weights[] = { 5, 0, 2 };
  GyreMeshSpec mesh = { 1, { { "data", 3, FALSE, FALSE } }, { weights } };
  GyreSpec specs[4];
  GError *error = NULL;
  g_autoptr (GyreGraph) graph = case_graph (item);
  g_autoptr (GyreProgram) program = NULL;

  memset (specs, 0, sizeof specs);
  for (guint i = 0; i < item->n_inputs; i++)
    {
      const GyreShape *shape = &item->inputs[i].shape;

      if (shape->rank == 0 || shape->dims[0] != item->inputs[0].shape.dims[0])
        continue;
      specs[i].axes[0] = 1;
      specs[i].base[0] = shape->dims[0];
    }
  program = gyre_partition (graph, &mesh, specs, NULL, &error);
  gyre_assert_no_error (error);
  check_program (item, program);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "prims", set_up, tear_down);

  tcase_add_loop_test (tcase, each_node_alone, 0, (int) gyre_prim_n_cases);
  tcase_add_loop_test (tcase, in_shares, 0, (int) gyre_prim_n_cases);
}

GYRE_CHECK_MAIN ("fuse-prims", add_tests)
