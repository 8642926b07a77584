/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"
#include "ir/toy-prims.h"

static void
assert_cut (gint64        extent,
            guint         n,
            const double *weights,
            const gint64 *expected)
{
  gint64 bounds[9];

  gyre_shares_cut (extent, n, weights, bounds);
  ck_assert_int_eq (bounds[0], 0);
  ck_assert_int_eq (bounds[n], extent);
  for (guint i = 0; i < n; i++)
    ck_assert_int_eq (bounds[i + 1] - bounds[i], expected[i]);
}

#define COUNTS(...) ((const gint64[]) { __VA_ARGS__ })
#define WEIGHTS(...) ((const double[]) { __VA_ARGS__ })

START_TEST (cuts_by_largest_remainder)
{
  assert_cut (256, 3, WEIGHTS (5, 2, 1), COUNTS (160, 64, 32));
  assert_cut (10, 3, NULL, COUNTS (4, 3, 3));
  assert_cut (11, 3, NULL, COUNTS (4, 4, 3));
  /* 6.25, 2.5, 1.25: the second has most left over */
  assert_cut (10, 3, WEIGHTS (5, 2, 1), COUNTS (6, 3, 1));
  /* 37.5, 15, 7.5: a tie goes to the lower rank */
  assert_cut (60, 3, WEIGHTS (5, 2, 1), COUNTS (38, 15, 7));
  assert_cut (2, 7, NULL, COUNTS (1, 1, 0, 0, 0, 0, 0));
  assert_cut (0, 2, NULL, COUNTS (0, 0));
  assert_cut (7, 3, WEIGHTS (1, 0, 1), COUNTS (4, 0, 3));
  /* Thirds that aren't exact in binary are a tie all the same. */
  assert_cut (10, 3, WEIGHTS (0.1, 0.1, 0.1), COUNTS (4, 3, 3));
  assert_cut (30, 3, WEIGHTS (0.1, 0.2, 0.3), COUNTS (5, 10, 15));
}
END_TEST

/* A mesh of data=2, model=3 whose data members have shares 3 and 1. */
static GyreMeshSpec
make_mesh (double *weights)
{
  GyreMeshSpec mesh = { 0 };

  mesh.n_axes = 2;
  mesh.axes[0] = (GyreAxis) { g_intern_string ("data"), 2, FALSE, FALSE };
  mesh.axes[1] = (GyreAxis) { g_intern_string ("model"), 3, FALSE, FALSE };
  mesh.weights[0] = weights;

  return mesh;
}

START_TEST (coordinates_are_row_major)
{
  double weights[] = { 3, 1 };
  GyreMeshSpec mesh = make_mesh (weights);

  ck_assert_uint_eq (gyre_mesh_spec_n_devices (&mesh), 6);
  for (guint d = 0; d < 6; d++)
    {
      ck_assert_uint_eq (gyre_mesh_spec_coord (&mesh, d, 0), d / 3);
      ck_assert_uint_eq (gyre_mesh_spec_coord (&mesh, d, 1), d % 3);
    }
}
END_TEST

START_TEST (ranges_scale_and_nest)
{
  double weights[] = { 3, 1 };
  GyreMeshSpec mesh = make_mesh (weights);
  GyreSpec spec = { .axes = { 1 }, .base = { 8 } };
  GyreShape global = GYRE_SHAPE (40, 7), local;
  gint64 offsets[2], first, count, next = 0;

  /* 8 cut 6 : 2, each row 5 elements of the merged dimension */
  gyre_spec_local_shape (&spec, &mesh, &global, 4, &local, offsets);
  ck_assert (gyre_shape_equal (&local, &GYRE_SHAPE (10, 7)));
  ck_assert_int_eq (offsets[0], 30);
  ck_assert_int_eq (offsets[1], 0);

  /* Over both axes: 30 = 11 + 11 + ... of the first three quarters, nothing is lost. */
  spec.axes[0] = 3;
  spec.base[0] = 40;
  for (guint d = 0; d < 6; d++)
    {
      gyre_spec_local_range (&spec, &mesh, &global, d, 0, &first, &count);
      ck_assert_int_eq (first, next);
      ck_assert_int_eq (count, d < 3 ? 10 : (d == 3 ? 4 : 3));
      next = first + count;
    }
  ck_assert_int_eq (next, 40);
}
END_TEST

START_TEST (prints_as_text)
{
  double weights[] = { 3, 1 };
  GyreMeshSpec mesh = make_mesh (weights);
  g_autofree char *split = gyre_spec_to_string (
      &(GyreSpec) { .axes = { 3 }, .base = { 8 }, .partial = 0 }, &mesh, 2);
  g_autofree char *partial = gyre_spec_to_string (&(GyreSpec) { .partial = 1 }, &mesh, 0);
  g_autofree char *flat = gyre_spec_to_string (&(GyreSpec) { .flat = 1 }, &mesh, 1);

  ck_assert_str_eq (split, "[data+model:8,-]");
  ck_assert_str_eq (partial, "[] partial=data");
  ck_assert_str_eq (flat, "[-] flat=data");
}
END_TEST

typedef struct
{
  const GyrePrim *prim;
  GyreSpec        in[2];
  GyreSpec        want[2];
  GyreSpec        out;
} Case;

#define ROWS(axis)       { .axes = { axis }, .base = { (axis) ? 8 : 0 } }
#define PARTIAL(axis)    { .partial = axis }
#define FLAT(axis)       { .flat = axis }
#define ROWS_AND(axis, summands) { .axes = { axis }, .base = { 8 }, .partial = summands }

static const Case cases[] = {
  { &toy_add, { ROWS (1), ROWS (0) }, { ROWS (1), ROWS (1) }, ROWS (1) },
  /* One axis can't cut two dimensions: the first operand has its way. */
  { &toy_add,
    { ROWS (1), { .axes = { 0, 1 }, .base = { 0, 8 } } },
    { ROWS (1), ROWS (1) },
    ROWS (1) },
  { &toy_add,
    { ROWS (1), { .axes = { 0, 2 }, .base = { 0, 8 } } },
    { { .axes = { 1, 2 }, .base = { 8, 8 } }, { .axes = { 1, 2 }, .base = { 8, 8 } } },
    { .axes = { 1, 2 }, .base = { 8, 8 } } },
  /* A sum of partial sums is one; a partial sum and a whole are not. */
  { &toy_add, { PARTIAL (1), PARTIAL (1) }, { PARTIAL (1), PARTIAL (1) }, PARTIAL (1) },
  { &toy_add, { PARTIAL (1), ROWS (0) }, { ROWS (0), ROWS (0) }, ROWS (0) },
  { &toy_add, { PARTIAL (1), PARTIAL (2) }, { ROWS (0), ROWS (0) }, ROWS (0) },
  /* A product is linear in either operand, not in both. */
  { &toy_mul, { PARTIAL (1), ROWS (0) }, { PARTIAL (1), ROWS (0) }, PARTIAL (1) },
  { &toy_mul, { PARTIAL (1), PARTIAL (1) }, { ROWS (0), ROWS (0) }, ROWS (0) },
  { &toy_mul, { PARTIAL (1), ROWS (1) }, { ROWS (1), ROWS (1) }, ROWS (1) },
  { &toy_mul, { PARTIAL (1), ROWS (2) }, { ROWS_AND (2, 1), ROWS (2) }, ROWS_AND (2, 1) },
  { &toy_mul, { FLAT (1), ROWS (0) }, { FLAT (1), FLAT (1) }, FLAT (1) },
  { &toy_mul, { FLAT (1), ROWS (1) }, { ROWS (1), ROWS (1) }, ROWS (1) },
};

START_TEST (elementwise_rule)
{
  const Case *c = &cases[_i];
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  GyreMeshSpec mesh = make_mesh (NULL);
  GyreTensor *x = gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (8, 8));
  GyreTensor *node = toy_binary (c->prim, x, x);
  GyreSpec want[2] = { c->in[0], c->in[1] }, out = GYRE_SPEC_REPLICATED;

  ck_assert (gyre_partition_elementwise (node, &mesh, c->in, want, &out, NULL));
  for (int i = 0; i < 2; i++)
    ck_assert (gyre_spec_equal (&want[i], &c->want[i]));
  ck_assert (gyre_spec_equal (&out, &c->out));
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "shares", cuts_by_largest_remainder);
  gyre_check_add (suite, "coordinates", coordinates_are_row_major);
  gyre_check_add (suite, "ranges", ranges_scale_and_nest);
  gyre_check_add (suite, "text", prints_as_text);
  gyre_check_add_loop (suite, "elementwise", elementwise_rule, G_N_ELEMENTS (cases));
}

GYRE_CHECK_MAIN ("spec", add_tests)
