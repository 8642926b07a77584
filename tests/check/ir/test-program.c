/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"
#include "ir/gyre-program-private.h"
#include "ir/toy-prims.h"

START_TEST (prints_shardings)
{
  GyreGraph *graph = gyre_graph_new ();
  g_autoptr (GyreProgram) program = NULL;
  g_autofree char *text = NULL;
  double weights[] = { 2, 1 };
  GyreMeshSpec mesh = { 1,
                        { { g_intern_string ("data"), 2, FALSE, FALSE } },
                        { weights } };
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (6, 2));

  gyre_graph_add_output (graph, toy_scaled (x, 2));
  program = gyre_program_new (graph, &mesh);
  weights[0] = 5;
  ck_assert_double_eq (program->mesh.weights[0][0], 2);
  ck_assert_int_eq (program->donated[0], -1);

  program->specs[0] = program->specs[1] = (GyreSpec) { .axes = { 1 }, .base = { 6 } };
  program->donated[0] = 0;
  text = gyre_program_to_string (program);
  ck_assert_str_eq (text, "mesh data=2\n"
                          "%0 = f32[6,2] input {x}  @ [data:6,-]\n"
                          "%1 = f32[6,2] toy-scale %0 {2}  @ [data:6,-]\n"
                          "return %1\n"
                          "output 0 takes over input 0\n");
}
END_TEST

static gint64 flat_bounds[] = { 0, 7, 12 };

static gint64 *
get_flat_bounds (gpointer data,
                 guint    id)
{
  return flat_bounds;
}

START_TEST (lowering_sees_local_shapes_and_keeps_arguments)
{
  GyreGraph *graph = gyre_graph_new ();
  g_autoptr (GyreProgram) program = NULL;
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  g_autoptr (GArray) commands = g_array_new (FALSE, FALSE, sizeof (GyreCommand));
  g_autoptr (GArray) temps = g_array_new (FALSE, FALSE, sizeof (gsize));
  GyreMeshSpec mesh = { 1, { { g_intern_string ("data"), 2, FALSE, FALSE } } };
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (6, 2));
  GyreTensor *y = gyre_graph_input (graph, "y", GYRE_F32, &GYRE_SHAPE (6, 2));
  GyreCommandArg args[] = { GYRE_READ (0), GYRE_WRITE (1), GYRE_INT (3) };
  GyreLaunch launch = { .resource = "x.cl", .kernel = "k", .n_args = 3, .args = args,
                        .dims = 1, .global = { 6 } };
  const GyreCommand *command;
  GyreShape local;
  gint64 offsets[2];
  GyreLower lower;

  program = gyre_program_new (graph, &mesh);
  program->specs[0] = (GyreSpec) { .axes = { 1 }, .base = { 6 } };
  program->specs[1] = (GyreSpec) { .flat = 1 };
  lower = (GyreLower) { graph, &mesh, program->specs, 1, NULL, arena, commands, temps,
                        get_flat_bounds, NULL };

  gyre_lower_local_shape (&lower, x, &local, offsets);
  ck_assert (gyre_shape_equal (&local, &GYRE_SHAPE (3, 2)));
  ck_assert_int_eq (offsets[0], 3);
  gyre_lower_local_shape (&lower, y, &local, offsets);
  ck_assert (gyre_shape_equal (&local, &GYRE_SHAPE (5)));
  ck_assert_int_eq (offsets[0], 7);

  gyre_lower_launch (&lower, y, &launch);
  args[2].i = 9;
  command = &g_array_index (commands, GyreCommand, 0);
  ck_assert_int_eq (command->launch.args[2].i, 3);
  ck_assert_ptr_eq (command->node, y);
  ck_assert_uint_eq (gyre_lower_temp (&lower, 64), 0);
  ck_assert_uint_eq (gyre_lower_temp (&lower, 64), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "text", prints_shardings);
  gyre_check_add (suite, "lower", lowering_sees_local_shapes_and_keeps_arguments);
}

GYRE_CHECK_MAIN ("program", add_tests)
