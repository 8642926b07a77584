/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gyre-check.h"
#include "ir/toy-prims.h"

START_TEST (prints_as_text)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autofree char *text = NULL;
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2, 3));
  GyreTensor *y = gyre_graph_input (graph, "y", GYRE_F32, &GYRE_SHAPE (2, 3));
  GyreTensor *sum;

  graph->n_axes = 1;
  graph->axes[0] = (GyreAxis) { g_intern_string ("data"), 4, TRUE, FALSE };
  graph->path = g_intern_string ("dense_0");
  sum = toy_binary (&toy_add, x, y);
  graph->path = "";
  gyre_graph_add_output (graph, toy_scaled (sum, 3));
  gyre_graph_add_output (graph, sum);

  text = gyre_graph_to_string (graph);
  ck_assert_str_eq (text, "axis data=4 manual\n"
                          "%0 = f32[2,3] input {x}\n"
                          "%1 = f32[2,3] input {y}\n"
                          "%2 = f32[2,3] toy-add %0 %1  ; dense_0\n"
                          "%3 = f32[2,3] toy-scale %2 {3}\n"
                          "return %3 %2\n");
}
END_TEST

START_TEST (keeps_the_first_error)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2, 3));
  GyreTensor *y = gyre_graph_input (graph, "y", GYRE_F32, &GYRE_SHAPE (3));
  GyreTensor *bad, *worse;
  guint n = graph->nodes->len;

  graph->path = g_intern_string ("dense_1");
  bad = toy_binary (&toy_add, x, y);
  worse = toy_binary (&toy_mul, y, x);
  ck_assert (bad->poison && worse->poison && toy_scaled (bad, 2)->poison);
  ck_assert_int_eq (gyre_shape_n_elements (&bad->shape), 1);
  ck_assert_int_eq (bad->shape.dims[3], 1);
  gyre_assert_error (graph->error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  ck_assert_str_eq (graph->error->message,
                    "toy-add in dense_1: operand 1 has another shape");
  ck_assert_uint_eq (graph->nodes->len, n);
}
END_TEST

START_TEST (copies_attrs_and_operands)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2));
  GyreTensor *operands[] = { x };
  ToyScale attrs = { 2 };
  GyreTensor *y = gyre_graph_emit (graph, &toy_scale, operands, 1, &attrs);

  attrs.factor = 5;
  operands[0] = y;
  ck_assert_float_eq (((const ToyScale *) y->attrs)->factor, 2);
  ck_assert_ptr_eq (y->operands[0], x);
}
END_TEST

START_TEST (copies_nodes_with_their_path)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GyreGraph) other = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2));
  GyreTensor *copy;

  graph->n_axes = 1;
  graph->axes[0] = (GyreAxis) { g_intern_string ("data"), 2, FALSE, FALSE };
  graph->path = g_intern_string ("a/b");
  gyre_graph_add_output (graph, toy_scaled (x, 2));
  before = gyre_graph_to_string (graph);

  other = gyre_graph_new_like (graph);
  copy = gyre_graph_copy_node (other, x, NULL);
  copy = gyre_graph_copy_node (other, g_ptr_array_index (graph->nodes, 1), &copy);
  gyre_graph_add_output (other, copy);
  after = gyre_graph_to_string (other);
  ck_assert_str_eq (after, before);
  ck_assert_uint_eq (other->inputs->len, 1);
  ck_assert_str_eq (other->path, "");
}
END_TEST

START_TEST (counts_uses)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autofree guint *uses = NULL;
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2));
  GyreTensor *square = toy_binary (&toy_mul, x, x);

  toy_scaled (x, 2);
  gyre_graph_add_output (graph, square);
  gyre_graph_add_output (graph, square);
  uses = gyre_graph_count_uses (graph);
  ck_assert_uint_eq (uses[0], 3);
  ck_assert_uint_eq (uses[1], 2);
  ck_assert_uint_eq (uses[2], 0);
}
END_TEST

START_TEST (current_graphs_nest)
{
  g_autoptr (GyreGraph) outer = gyre_graph_new ();
  g_autoptr (GyreGraph) inner = gyre_graph_new ();

  ck_assert_ptr_null (gyre_graph_get_current ());
  gyre_graph_push (outer);
  gyre_graph_push (inner);
  ck_assert_ptr_eq (gyre_graph_get_current (), inner);
  gyre_graph_pop ();
  ck_assert_ptr_eq (gyre_graph_get_current (), outer);
  gyre_graph_pop ();
  ck_assert_ptr_null (gyre_graph_get_current ());
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "text", prints_as_text);
  gyre_check_add (suite, "error", keeps_the_first_error);
  gyre_check_add (suite, "attrs", copies_attrs_and_operands);
  gyre_check_add (suite, "copy", copies_nodes_with_their_path);
  gyre_check_add (suite, "uses", counts_uses);
  gyre_check_add (suite, "current", current_graphs_nest);
}

GYRE_CHECK_MAIN ("graph", add_tests)
