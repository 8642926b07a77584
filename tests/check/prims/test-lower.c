/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-ops.h>

#include "ir/gyre-prim-private.h"

/* The commands that products and scatters are lowered to, for each of three members of
 * unlike weight, one of which has nothing. */

static GyreGraph *graph;
static double weights[] = { 5, 0, 3 };
static const GyreMeshSpec mesh = {
  .n_axes = 1, .axes = { { "data", 3, FALSE, FALSE } }, .weights = { weights },
};
static const GyreTarget target = { TRUE, 64, 1024, 4 };

static void
set_up (void)
{
  graph = gyre_graph_new ();
  gyre_graph_push (graph);
}

static void
tear_down (void)
{
  gyre_graph_pop ();
  g_clear_pointer (&graph, gyre_graph_free);
}

static void
split (GyreSpec   *specs,
       GyreTensor *value,
       int         dim)
{
  specs[value->id].axes[dim] = 1;
  specs[value->id].base[dim] = value->shape.dims[dim];
}

/* The commands of a device; g_array_unref */
static GArray *
lower (GyreTensor     *node,
       const GyreSpec *specs,
       guint           device)
{
  GArray *commands = g_array_new (FALSE, TRUE, sizeof (GyreCommand));
  GyreLower self = { graph, &mesh, specs, device, &target, graph->arena, commands };

  ck_assert (node->prim->lower (&self, node, NULL));
  return commands;
}

static void
expect_gemm (GyreTensor     *node,
             const GyreSpec *specs,
             guint           device,
             GyreGemm        wanted)
{
  GArray *commands = lower (node, specs, device);
  const GyreGemm *gemm = &g_array_index (commands, GyreCommand, 0).gemm;

  ck_assert_uint_eq (commands->len, 1);
  ck_assert_int_eq (g_array_index (commands, GyreCommand, 0).kind, GYRE_COMMAND_GEMM);
  ck_assert_int_eq (gemm->m, wanted.m);
  ck_assert_int_eq (gemm->n, wanted.n);
  ck_assert_int_eq (gemm->k, wanted.k);
  ck_assert_int_eq (gemm->batch, wanted.batch);
  ck_assert_int_eq (gemm->trans_a, wanted.trans_a);
  ck_assert_int_eq (gemm->trans_b, wanted.trans_b);
  ck_assert_int_eq (gemm->lda, wanted.lda);
  ck_assert_int_eq (gemm->ldb, wanted.ldb);
  ck_assert_int_eq (gemm->ldc, wanted.ldc);
  ck_assert_int_eq (gemm->stride_a, wanted.stride_a);
  ck_assert_int_eq (gemm->stride_b, wanted.stride_b);
  ck_assert_int_eq (gemm->stride_c, wanted.stride_c);
  ck_assert (gemm->alpha == 1 && gemm->beta == 0);
  g_array_unref (commands);
}

START_TEST (rows_are_shared)
{
  GyreTensor *a = gyre_graph_input (graph, "a", GYRE_F32, &GYRE_SHAPE (8, 3));
  GyreTensor *b = gyre_graph_input (graph, "b", GYRE_F32, &GYRE_SHAPE (4, 3));
  GyreTensor *c = gyre_matmul_full (a, FALSE, b, TRUE);
  GyreSpec specs[3] = { 0 };
  GyreGemm wanted = { .m = 5,
                      .n = 4,
                      .k = 3,
                      .batch = 1,
                      .trans_b = TRUE,
                      .lda = 3,
                      .ldb = 3,
                      .ldc = 4,
                      .stride_a = 15,
                      .stride_b = 12,
                      .stride_c = 20 };

  split (specs, a, 0);
  split (specs, c, 0);
  expect_gemm (c, specs, 0, wanted);
  wanted.m = 3;
  wanted.stride_a = 9;
  wanted.stride_c = 12;
  expect_gemm (c, specs, 2, wanted);
  /* The one that has nothing has the same command. */
  wanted.m = wanted.stride_a = wanted.stride_c = 0;
  expect_gemm (c, specs, 1, wanted);
}
END_TEST

START_TEST (the_sum_is_shared)
{
  GyreTensor *a = gyre_graph_input (graph, "a", GYRE_F32, &GYRE_SHAPE (2, 8, 3));
  GyreTensor *b = gyre_graph_input (graph, "b", GYRE_F32, &GYRE_SHAPE (2, 8, 4));
  GyreTensor *c = gyre_matmul_full (a, TRUE, b, FALSE);
  GyreSpec specs[3] = { 0 };
  GyreGemm wanted = { .m = 3,
                      .n = 4,
                      .k = 5,
                      .batch = 2,
                      .trans_a = TRUE,
                      .lda = 3,
                      .ldb = 4,
                      .ldc = 4,
                      .stride_a = 15,
                      .stride_b = 20,
                      .stride_c = 12 };

  split (specs, a, 1);
  split (specs, b, 1);
  specs[c->id].partial = 1;
  expect_gemm (c, specs, 0, wanted);
  wanted.k = wanted.stride_a = wanted.stride_b = 0;
  expect_gemm (c, specs, 1, wanted);
}
END_TEST

/* 6 rows of the result, 4 units: parts of rows by columns. */
START_TEST (scatter_fills_and_adds)
{
  GyreTensor *rows = gyre_graph_input (graph, "i", GYRE_I32, &GYRE_SHAPE (8));
  GyreTensor *update = gyre_graph_input (graph, "u", GYRE_F32, &GYRE_SHAPE (8, 3));
  GyreTensor *sums = gyre_scatter_add_rows (6, rows, update);
  GyreSpec specs[3] = { 0 };

  split (specs, rows, 0);
  split (specs, update, 0);
  specs[sums->id].partial = 1;
  for (guint device = 0; device < 3; device++)
    {
      const int counts[] = { 5, 0, 3 };
      GArray *commands = lower (sums, specs, device);
      const GyreCommand *fill = &g_array_index (commands, GyreCommand, 0),
                        *add = fill + 1;

      ck_assert_uint_eq (commands->len, 2);
      ck_assert_int_eq (fill->kind, GYRE_COMMAND_FILL);
      ck_assert_int_eq (fill->fill.count, 18);
      ck_assert_int_eq (add->kind, GYRE_COMMAND_LAUNCH);
      ck_assert_int_eq (add->launch.args[4].i, counts[device]);
      ck_assert_uint_eq (add->launch.global[0], 3);
      ck_assert_uint_eq (add->launch.global[1], counts[device] > 0 ? 4 : 0);
      g_array_unref (commands);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "lower", set_up, tear_down);

  tcase_add_test (tcase, rows_are_shared);
  tcase_add_test (tcase, the_sum_is_shared);
  tcase_add_test (tcase, scatter_fills_and_adds);
}

GYRE_CHECK_MAIN ("prims-lower", add_tests)
