/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"

#include <gyre/gyre-ops.h>
#include <string.h>

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

/* Graphs that are run fused and not, whole and in shares, and compared with the
 * interpreter */

#define MAX_VALUES 8

typedef struct
{
  const char *name;
  GyreShape   inputs[MAX_VALUES];   /* f32; the first of rank 0 after another ends them */
  guint       n_inputs;
  guint       n_outputs;
  void      (*build) (GyreTensor **x, GyreTensor **y);
  gboolean    split;                /* dimension 0 of input 0 may be split */
  guint       n_kernels;            /* when fused */
} Case;

static void
build_chain (GyreTensor **x,
             GyreTensor **y)
{
  y[0] = gyre_mul (gyre_tanh (gyre_add (x[0], x[1])), x[0]);
}

/* dense + relu, and the mask of backward */
static void
build_bias_relu (GyreTensor **x,
                 GyreTensor **y)
{
  GyreTensor *z = gyre_add (x[0], x[1]);
  GyreTensor *zero = gyre_full_like (z, 0);

  y[0] = gyre_max (z, zero);
  y[1] = gyre_select (gyre_greater (z, zero), x[2], zero);
}

static void
build_softmax (GyreTensor **x,
               GyreTensor **y)
{
  GyreTensor *shifted = gyre_sub (x[0], gyre_max_axis (x[0], -1, TRUE));

  y[0] = gyre_sub (shifted, gyre_log (gyre_sum_axis (gyre_exp (shifted), -1, TRUE)));
}

static void
build_bias_gradient (GyreTensor **x,
                     GyreTensor **y)
{
  y[0] = gyre_sum_axis (gyre_square (x[0]), 0, FALSE);
}

static void
build_total (GyreTensor **x,
             GyreTensor **y)
{
  y[0] = gyre_sqrt (gyre_sum (gyre_square (x[0])));
}

static void
build_largest (GyreTensor **x,
               GyreTensor **y)
{
  y[0] = gyre_max_dims (gyre_exp (x[0]), NULL, 0, FALSE);
}

static void
build_transposes (GyreTensor **x,
                  GyreTensor **y)
{
  y[0] = gyre_add (gyre_transpose (x[0], NULL), x[1]);
  y[1] = gyre_sum_axis (gyre_transpose (gyre_exp (x[0]), NULL), 1, TRUE);
}

/* Adam: the new parameter and both moments */
static void
build_adam (GyreTensor **x,
            GyreTensor **y)
{
  GyreTensor *p = x[0], *m = x[1], *v = x[2], *g = x[3];

  y[1] = gyre_add (gyre_mul_scalar (m, 0.9), gyre_mul_scalar (g, 0.1));
  y[2] = gyre_add (gyre_mul_scalar (v, 0.999), gyre_mul_scalar (gyre_square (g), 0.001));
  y[0] = gyre_sub (
      p,
      gyre_mul_scalar (gyre_div (y[1], gyre_add_scalar (gyre_sqrt (y[2]), 1e-8)), 1e-3));
}

static void
build_pieces (GyreTensor **x,
              GyreTensor **y)
{
  GyreTensor *both = gyre_concatenate ((GyreTensor *[]) { x[0], x[1] }, 2, 0);
  gint64 low[] = { 1, 0 }, high[] = { 0, 2 }, none[] = { 0, 0 };
  gint64 start[] = { 1, 1 }, limit[] = { 4, 5 };

  y[0] = gyre_mul_scalar (gyre_pad (both, 0.5, low, high, none), 2);
  y[1] = gyre_add_scalar (gyre_slice (both, start, limit, NULL), 1);
}

static void
build_constant (GyreTensor **x,
                GyreTensor **y)
{
  y[0] = gyre_full (GYRE_SHAPE (3, 5), GYRE_F32, 0.25);
  y[1] = gyre_add (x[0], gyre_iota (gyre_tensor_get_shape (x[0]), GYRE_F32, 0));
}

static const Case cases[] = {
  { "chain", { GYRE_SHAPE (7, 5, 3), GYRE_SHAPE (7, 5, 3) }, 2, 1, build_chain, TRUE, 1 },
  { "bias-relu",
    { GYRE_SHAPE (9, 4), GYRE_SHAPE (4), GYRE_SHAPE (9, 4) },
    3,
    2,
    build_bias_relu,
    TRUE,
    1 },
  { "softmax", { GYRE_SHAPE (6, 10) }, 1, 1, build_softmax, TRUE, 3 },
  { "bias-gradient", { GYRE_SHAPE (33, 70) }, 1, 1, build_bias_gradient, TRUE, 1 },
  { "total", { GYRE_SHAPE (50, 41) }, 1, 1, build_total, FALSE, 1 },
  { "long-total", { GYRE_SHAPE (40, 777) }, 1, 1, build_total, FALSE, 1 },
  { "long-largest", { GYRE_SHAPE (40, 700) }, 1, 1, build_largest, FALSE, 1 },
  { "transposes",
    { GYRE_SHAPE (3, 5), GYRE_SHAPE (5, 3) },
    2,
    2,
    build_transposes,
    FALSE,
    2 },
  { "adam",
    { GYRE_SHAPE (30, 20), GYRE_SHAPE (30, 20), GYRE_SHAPE (30, 20),
      GYRE_SHAPE (30, 20) },
    4,
    3,
    build_adam,
    FALSE,
    1 },
  { "pieces", { GYRE_SHAPE (3, 5), GYRE_SHAPE (2, 5) }, 2, 2, build_pieces, FALSE, 3 },
  { "constant", { GYRE_SHAPE (4, 2) }, 1, 2, build_constant, TRUE, 2 },
  { "empty", { GYRE_SHAPE (0, 5) }, 1, 1, build_bias_gradient, FALSE, 1 },
};

static GyreGraph *
build_graph (const Case *item)
{
  GyreGraph *graph = gyre_graph_new ();
  GyreTensor *x[MAX_VALUES], *y[MAX_VALUES];

  gyre_graph_push (graph);
  for (guint i = 0; i < item->n_inputs; i++)
    x[i] = gyre_graph_input (graph, "x", GYRE_F32, &item->inputs[i]);
  item->build (x, y);
  for (guint i = 0; i < item->n_outputs; i++)
    gyre_graph_add_output (graph, y[i]);
  gyre_graph_pop ();
  gyre_assert_no_error (graph->error);

  return graph;
}

static guint
count_kernels (const GyreProgram *program)
{
  guint n = 0;

  for (guint i = 0; i < program->graph->nodes->len; i++)
    n += ((GyreTensor *) g_ptr_array_index (program->graph->nodes, i))->prim ==
         &gyre_prim_fused;

  return n;
}

/* f32 against double: a few roundings an element, and one an addition of a sum. */
static void
compare (const GyreRef *got,
         const GyreRef *wanted,
         const char    *name)
{
  gint64 n = gyre_shape_n_elements (&wanted->shape);

  ck_assert (gyre_shape_equal (&got->shape, &wanted->shape));
  for (gint64 i = 0; i < n; i++)
    if (!gyre_check_near (got->data[i], wanted->data[i],
                          1e-6 + 4e-6 * fabs (wanted->data[i])))
      ck_abort_msg ("%s: element %" G_GINT64_FORMAT " is %.9g, not %.9g", name, i,
                    got->data[i], wanted->data[i]);
}

static void
clear_refs (GyreRef *refs,
            guint    n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&refs[i].data, g_free);
}

static void
check_program (const Case  *item,
               GyreProgram *program)
{
  GyreRef inputs[MAX_VALUES], wanted[MAX_VALUES], again[MAX_VALUES], got[MAX_VALUES];
  GError *error = NULL;
  g_autoptr (GyreProgram) fused = gyre_fuse (program, &error);

  gyre_assert_no_error (error);
  for (guint i = 0; i < item->n_inputs; i++)
    inputs[i] = gyre_check_make_ref (GYRE_F32, &item->inputs[i], -2, 2, i);

  ck_assert (gyre_interpret (program->graph, inputs, wanted, &error));
  ck_assert (gyre_interpret (fused->graph, inputs, again, &error));
  gyre_check_run_program (fused, g_ptr_array_index (devices, 0), inputs, got);
  for (guint i = 0; i < item->n_outputs; i++)
    {
      compare (&again[i], &wanted[i], item->name);
      compare (&got[i], &wanted[i], item->name);
    }

  clear_refs (inputs, item->n_inputs);
  clear_refs (wanted, item->n_outputs);
  clear_refs (again, item->n_outputs);
  clear_refs (got, item->n_outputs);
}

START_TEST (fused)
{
  const Case *item = &cases[_i];
  GyreMeshSpec mesh = { 0 };
  g_autoptr (GyreProgram) program = gyre_program_new (build_graph (item), &mesh);
  g_autoptr (GyreProgram) result = gyre_fuse (program, NULL);

  ck_assert_uint_eq (count_kernels (result), item->n_kernels);
  check_program (item, program);
}
END_TEST

START_TEST (each_node_alone)
{
  const Case *item = &cases[_i];
  GyreMeshSpec mesh = { 0 };
  g_autoptr (GyreProgram) program = gyre_program_new (build_graph (item), &mesh);

  g_setenv ("GYRE_FUSE", "0", TRUE);
  check_program (item, program);
  g_unsetenv ("GYRE_FUSE");
}
END_TEST

static void
spread (GyreProgram *program)
{
  const GPtrArray *nodes = program->graph->nodes;

  for (guint id = 0; id < nodes->len; id++)
    {
      const GyreTensor *node = g_ptr_array_index (nodes, id);
      GyreSpec in[MAX_VALUES], want[MAX_VALUES];

      for (guint i = 0; i < node->n_operands; i++)
        in[i] = want[i] = program->specs[node->operands[i]->id];
      if (node->prim == &gyre_prim_input)
        {
          const GyreTensor *first = g_ptr_array_index (program->graph->inputs, 0);

          if (node->shape.rank != first->shape.rank)
            continue;
          program->specs[id].axes[0] = 1;
          program->specs[id].base[0] = node->shape.dims[0];
          continue;
        }
      ck_assert (node->prim->partition (node, &program->mesh, in, want,
                                        &program->specs[id], NULL));
      /* as the partitioner does: what can be made anywhere is made where it is wanted */
      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i]->prim->flags & GYRE_PRIM_GENERATOR)
          program->specs[node->operands[i]->id] = want[i];
    }
}

/* Three members, one of them with nothing. */
START_TEST (shares)
{
  const Case *item = &cases[_i];
  double weights[] = { 5, 0, 2 };
  GyreMeshSpec mesh = { 1, { { "data", 3, FALSE, FALSE } }, { weights } };
  g_autoptr (GyreProgram) program = NULL;

  if (!item->split)
    return;

  program = gyre_program_new (build_graph (item), &mesh);
  spread (program);
  check_program (item, program);
}
END_TEST

/* The text of all kernels of a case that is split; it is compared byte by byte.  With
 * GYRE_TEST_UPDATE=1 the file is written instead. */

static void
append_kernels (GyreProgram *program,
                guint        member,
                GString     *out)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  GyreTarget target = { TRUE, 4096, 65536, 2 };
  GyreLower lower = {
    program->graph,
    &program->mesh,
    program->specs,
    member,
    &target,
    arena,
    g_array_new (FALSE, TRUE, sizeof (GyreCommand)),
    g_array_new (FALSE, TRUE, sizeof (gsize)),
  };

  for (guint i = 0; i < program->graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (program->graph->nodes, i);

      if (node->prim->lower != NULL)
        ck_assert (node->prim->lower (&lower, node, NULL));
    }
  for (guint i = 0; i < lower.commands->len; i++)
    {
      const GyreCommand *command = &g_array_index (lower.commands, GyreCommand, i);

      g_string_append_printf (out, "%s%s", i > 0 ? "\n" : "", command->launch.source);
    }
  g_array_unref (lower.commands);
  g_array_unref (lower.temps);
}

static const struct
{
  const char *name;
  guint       index;   /* in cases */
} texts[] = { { "bias-relu", 1 },
              { "softmax", 2 },
              { "bias-gradient", 3 },
              { "long-total", 5 },
              { "adam", 8 } };

START_TEST (text)
{
  const Case *item = &cases[texts[_i].index];
  g_autofree char *name = g_strdup_printf ("fuse/%s.cl", texts[_i].name);
  g_autofree char *path = gyre_check_data (name);
  g_autofree char *wanted = NULL;
  g_autoptr (GString) got = g_string_new (NULL);
  g_autoptr (GString) other = g_string_new (NULL);
  GError *error = NULL;
  double weights[] = { 5, 0, 2 }, others[] = { 1, 1, 4 };
  GyreMeshSpec mesh = { 1, { { "data", 3, FALSE, FALSE } }, { weights } };
  g_autoptr (GyreProgram) program = gyre_program_new (build_graph (item), &mesh);
  g_autoptr (GyreProgram) result = NULL;

  ck_assert_str_eq (item->name, texts[_i].name);
  spread (program);
  result = gyre_fuse (program, NULL);
  append_kernels (result, 0, got);

  /* neither the member nor the shares make a difference */
  memcpy (result->mesh.weights[0], others, sizeof others);
  append_kernels (result, 2, other);
  ck_assert_str_eq (got->str, other->str);

  if (g_getenv ("GYRE_TEST_UPDATE") != NULL)
    ck_assert (g_file_set_contents (path, got->str, -1, &error));
  ck_assert (g_file_get_contents (path, &wanted, NULL, &error));
  ck_assert_str_eq (got->str, wanted);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "fuse", set_up, tear_down);

  tcase_add_loop_test (tcase, fused, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tcase, each_node_alone, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tcase, shares, 0, G_N_ELEMENTS (cases));
  gyre_check_add_loop (suite, "text", text, G_N_ELEMENTS (texts));
}

GYRE_CHECK_MAIN ("fuse", add_tests)
