/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"
#include "ir/gyre-simplify-private.h"
#include "partition/gyre-partition-private.h"

#include <gyre/gyre-ops.h>
#include <string.h>

/* A whole training step, as small as it can be: two hidden layers, softmax cross-entropy,
 * Adam.  How many kernels it takes doesn't depend on sizes. */

#define BATCH   7
#define PIXELS  9
#define HIDDEN  6
#define CLASSES 4

#define N_PARAMS  6
#define N_INPUTS  (3 + 3 * N_PARAMS)   /* step, image, label; parameters, moments */
#define N_OUTPUTS (2 + 3 * N_PARAMS)   /* step, loss; the same */

/* Besides matrix products */
#define MAX_KERNELS 30

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

static const GyreShape param_shapes[N_PARAMS] = {
  { 2, { PIXELS, HIDDEN } }, { 1, { HIDDEN } },
  { 2, { HIDDEN, HIDDEN } }, { 1, { HIDDEN } },
  { 2, { HIDDEN, CLASSES } }, { 1, { CLASSES } },
};

static GyreTensor *
dense (GyreTensor *x,
       GyreTensor *kernel,
       GyreTensor *bias)
{
  return gyre_add (gyre_matmul (x, kernel), bias);
}

static GyreTensor *
relu (GyreTensor *x)
{
  GyreTensor *zero = gyre_full_like (x, 0);

  return gyre_select (gyre_greater (x, zero), x, zero);
}

static GyreTensor *
forward (GyreTensor  *image,
         GyreTensor  *label,
         GyreTensor **p)
{
  GyreTensor *x = gyre_mul_scalar (gyre_convert (image, GYRE_F32), 1.0 / 255);
  GyreTensor *logits, *picked;

  x = relu (dense (x, p[0], p[1]));
  x = relu (dense (x, p[2], p[3]));
  logits = dense (x, p[4], p[5]);
  picked = gyre_mul (gyre_one_hot (label, CLASSES), gyre_log_softmax (logits, -1));

  return gyre_mean (gyre_neg (gyre_sum_axis (picked, -1, FALSE)));
}

/* 1 - b^t */
static GyreTensor *
correction (GyreTensor *step,
            double      b)
{
  GyreTensor *t = gyre_convert (step, GYRE_F32);

  return gyre_sub (gyre_full_like (t, 1), gyre_pow (gyre_full_like (t, b), t));
}

static void
adam (GyreTensor  *step,
      GyreTensor  *g,
      GyreTensor **state,   /* parameter, moments */
      GyreTensor **result)
{
  GyreTensor *m = gyre_add (gyre_mul_scalar (state[1], 0.9), gyre_mul_scalar (g, 0.1));
  GyreTensor *v = gyre_add (gyre_mul_scalar (state[2], 0.999),
                            gyre_mul_scalar (gyre_square (g), 0.001));
  GyreTensor *scale =
      gyre_add_scalar (gyre_sqrt (gyre_div (v, correction (step, 0.999))), 1e-8);
  GyreTensor *move = gyre_div (gyre_div (m, correction (step, 0.9)), scale);

  result[0] = gyre_add (state[0], gyre_mul_scalar (move, -1e-3));
  result[1] = m;
  result[2] = v;
}

static void
build_step (GyreTensor **x,
            GyreTensor **y)
{
  GyreTensor *p[N_PARAMS], *grads[N_PARAMS];

  for (guint i = 0; i < N_PARAMS; i++)
    p[i] = x[3 + 3 * i];
  y[0] = gyre_add (x[0], gyre_full_like (x[0], 1));
  y[1] = forward (x[1], x[2], p);
  gyre_grad_of (y[1], p, N_PARAMS, grads);
  for (guint i = 0; i < N_PARAMS; i++)
    adam (y[0], grads[i], &x[3 + 3 * i], &y[2 + 3 * i]);
}

static void
describe_input (guint      i,
                GyreDtype *dtype,
                GyreShape *shape)
{
  *dtype = i == 1 ? GYRE_U8 : i < 3 ? GYRE_I32 : GYRE_F32;
  *shape = i == 0 ? GYRE_SCALAR : i == 1 ? GYRE_SHAPE (BATCH, PIXELS)
           : i == 2 ? GYRE_SHAPE (BATCH) : param_shapes[(i - 3) / 3];
}

static GyreGraph *
make_graph (void)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  GyreTensor *x[N_INPUTS], *y[N_OUTPUTS];
  GyreGraph *simple;

  gyre_graph_push (graph);
  for (guint i = 0; i < N_INPUTS; i++)
    {
      GyreDtype dtype;
      GyreShape shape;

      describe_input (i, &dtype, &shape);
      x[i] = gyre_graph_input (graph, "x", dtype, &shape);
    }
  build_step (x, y);
  for (guint i = 0; i < N_OUTPUTS; i++)
    gyre_graph_add_output (graph, y[i]);
  gyre_graph_pop ();
  gyre_assert_no_error (graph->error);

  simple = gyre_graph_simplify (graph);
  gyre_assert_no_error (simple->error);
  return simple;
}

static guint
count_kernels (const GyreProgram *program)
{
  guint n = 0;

  for (guint i = 0; i < program->graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (program->graph->nodes, i);

      n += node->prim == &gyre_prim_fused;
    }

  return n;
}

static void
make_inputs (GyreRef *inputs)
{
  for (guint i = 0; i < N_INPUTS; i++)
    {
      GyreDtype dtype;
      GyreShape shape;

      describe_input (i, &dtype, &shape);
      inputs[i] = gyre_check_make_ref (dtype, &shape, i > 2 && i % 3 != 2 ? -1 : 0,
                                       i == 1 ? 255 : i == 2 ? CLASSES : 1, i);
    }
}

/* Every result within a few roundings of sums of a dozen numbers of size 1; where Adam
 * divides a moment by the root of another that is near 0, one part in ten thousand of the
 * step of 1e-3. */
static void
check_run (GyreProgram *program)
{
  GyreRef inputs[N_INPUTS], wanted[N_OUTPUTS], got[N_OUTPUTS];
  g_autoptr (GyreGraph) oracle = make_graph ();
  GError *error = NULL;

  make_inputs (inputs);
  gyre_interpret (oracle, inputs, wanted, &error);
  gyre_assert_no_error (error);
  gyre_check_run_program (program, g_ptr_array_index (devices, 0), inputs, got);

  for (guint i = 0; i < N_OUTPUTS; i++)
    {
      for (gint64 k = 0; k < gyre_shape_n_elements (&wanted[i].shape); k++)
        if (!gyre_check_near (got[i].data[k], wanted[i].data[k],
                              1e-6 + 2e-6 * fabs (wanted[i].data[k])))
          ck_abort_msg ("output %u, element %" G_GINT64_FORMAT " is %.9g, not %.9g", i, k,
                        got[i].data[k], wanted[i].data[k]);
      g_free (got[i].data);
      g_free (wanted[i].data);
    }
  for (guint i = 0; i < N_INPUTS; i++)
    g_free (inputs[i].data);
}

START_TEST (takes_few_kernels)
{
  GyreMeshSpec mesh = { 0 };
  g_autoptr (GyreProgram) program = gyre_program_new (make_graph (), &mesh);
  g_autoptr (GyreProgram) fused = gyre_fuse (program, NULL);

  if (g_getenv ("GYRE_TEST_VERBOSE") != NULL)
    {
      g_autofree char *text = gyre_program_to_string (fused);

      g_printerr ("%s", text);
    }
  ck_assert_uint_le (count_kernels (fused), MAX_KERNELS);
  check_run (fused);
}
END_TEST

START_TEST (in_shares)
{
  double weights[] = { 5, 0, 2 };
  GyreMeshSpec mesh = { 1, { { "data", 3, FALSE, FALSE } }, { weights } };
  GyreSpec specs[N_INPUTS];
  GError *error = NULL;
  g_autoptr (GyreGraph) graph = make_graph ();
  g_autoptr (GyreProgram) program = NULL;
  g_autoptr (GyreProgram) fused = NULL;

  memset (specs, 0, sizeof specs);
  for (guint i = 1; i <= 2; i++)
    {
      specs[i].axes[0] = 1;
      specs[i].base[0] = BATCH;
    }
  program = gyre_partition (graph, &mesh, specs, NULL, &error);
  gyre_assert_no_error (error);
  fused = gyre_fuse (program, &error);
  gyre_assert_no_error (error);
  check_run (fused);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "mlp", set_up, tear_down);

  tcase_add_test (tcase, takes_few_kernels);
  tcase_add_test (tcase, in_shares);
}

GYRE_CHECK_MAIN ("fuse-mlp", add_tests)
