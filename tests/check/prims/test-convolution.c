/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-check-program.h"

#include "device/gyre-check-device.h"
#include "fuse/gyre-fuse-private.h"
#include "partition/gyre-partition-private.h"

#include <gyre/gyre-ops.h>

/* Convolutions and pools, and their gradients, on a device, against the interpreter in
 * double, in odd sizes, by all algorithms and kernels that there are: for CPUs with much
 * local memory, with so little that channels come in blocks, and for other devices; as a
 * product of all samples' columns, and of as few as there is memory for. */

typedef GyreTensor *(*PoolFunc) (GyreTensor *x, const gint64 *window,
                                 const gint64 *strides, const gint64 *padding);

/* Of a pool k is the window. */
typedef struct
{
  const char *name;
  GyreShape x, k;
  gint64 strides[2], padding[4], dilation[2], input_dilation[2];
  gint64 groups;
  PoolFunc pool;
} ConvCase;

#define DIMS(...) GYRE_SHAPE (__VA_ARGS__)
#define USUAL { 1, 1 }, { 1, 1, 1, 1 }, { 1, 1 }, { 1, 1 }, 1
#define POOL(Y, X) { (Y), (X) }
#define LARGEST { 1, 1 }, { 1, 1 }, 1, gyre_max_pool
#define TOTAL { 1, 1 }, { 1, 1 }, 1, gyre_sum_pool
#define VALID { 1, 1 }, { 0 }, { 1, 1 }, { 1, 1 }

static const ConvCase cases[] = {
  { "image 1x1", DIMS (1, 1, 1, 1), DIMS (3, 3, 1, 1), USUAL },
  { "image 5x3", DIMS (1, 5, 3, 3), DIMS (3, 3, 3, 65), USUAL },
  { "65 channels", DIMS (2, 5, 3, 65), DIMS (3, 3, 65, 3), USUAL },
  { "one row of tiles", DIMS (2, 14, 14, 4), DIMS (3, 3, 4, 32), USUAL },
  { "28x28x1", DIMS (2, 28, 28, 1), DIMS (3, 3, 1, 32), USUAL },
  { "wide", DIMS (1, 2, 67, 3), DIMS (1, 3, 3, 17), USUAL },
  { "1x1 kernel", DIMS (3, 5, 3, 7), DIMS (1, 1, 7, 40), VALID, 1 },
  { "kernel of the image's size", DIMS (3, 5, 3, 7), DIMS (5, 3, 7, 4), VALID, 1 },
  { "kernel larger than the image", DIMS (2, 2, 3, 4), DIMS (5, 5, 4, 6),
    { 1, 1 }, { 2, 2, 2, 2 }, { 1, 1 }, { 1, 1 }, 1 },
  { "stride larger than the kernel", DIMS (2, 9, 8, 3), DIMS (2, 2, 3, 5),
    { 4, 3 }, { 0, 1, 1, 0 }, { 1, 1 }, { 1, 1 }, 1 },
  { "strides leave a rest", DIMS (2, 8, 7, 3), DIMS (3, 3, 3, 5),
    { 2, 3 }, { 0 }, { 1, 1 }, { 1, 1 }, 1 },
  { "dilated", DIMS (2, 7, 8, 5), DIMS (3, 3, 5, 18),
    { 1, 2 }, { 2, 2, 1, 3 }, { 2, 3 }, { 1, 1 }, 1 },
  { "transposed", DIMS (2, 5, 6, 4), DIMS (3, 3, 4, 5),
    { 1, 1 }, { 2, 1, 2, 1 }, { 1, 1 }, { 2, 2 }, 1 },
  { "cut", DIMS (2, 7, 6, 4), DIMS (3, 2, 4, 5),
    { 1, 1 }, { -1, 1, 0, -2 }, { 1, 1 }, { 1, 1 }, 1 },
  { "groups", DIMS (2, 5, 6, 6), DIMS (3, 3, 3, 10), USUAL + 1 },
  { "groups = channels", DIMS (2, 5, 6, 5), DIMS (3, 3, 1, 10), USUAL + 4 },
  { "everything", DIMS (3, 6, 5, 4), DIMS (2, 3, 2, 34),
    { 3, 2 }, { 1, 2, 3, 0 }, { 2, 2 }, { 2, 3 }, 2 },
  { "no sample", DIMS (0, 6, 5, 4), DIMS (2, 3, 4, 5), USUAL },

  { "pool that tiles", DIMS (2, 6, 4, 32), DIMS (2, 2), POOL (2, 2), { 0 }, LARGEST },
  { "pool that tiles, 19 channels", DIMS (2, 6, 4, 19), DIMS (2, 2), POOL (2, 2), { 0 },
    LARGEST },
  { "pool that leaves a rest", DIMS (2, 7, 5, 16), DIMS (2, 2), POOL (2, 2), { 0 },
    LARGEST },
  { "pool that overlaps", DIMS (2, 9, 8, 17), DIMS (3, 3), POOL (2, 1), { 1, 1, 0, 1 },
    LARGEST },
  { "pool of one channel", DIMS (2, 9, 8, 1), DIMS (3, 2), POOL (1, 2), { 1, 1, 0, 1 },
    LARGEST },
  { "pool with steps apart", DIMS (2, 9, 8, 5), DIMS (2, 1), POOL (3, 4), { 0 },
    LARGEST },
  { "pool larger than the image", DIMS (1, 1, 2, 3), DIMS (3, 4), POOL (1, 1),
    { 1, 1, 2, 1 }, LARGEST },
  { "pool of nothing", DIMS (2, 1, 2, 16), DIMS (2, 2), POOL (1, 1),
    { 2, 2, 0, 2 }, TOTAL },
  { "pool of sums", DIMS (2, 9, 8, 17), DIMS (3, 3), POOL (2, 1), { 1, 1, 0, 1 }, TOTAL },
};

/* algorithm: for GYRE_CONV */
static const struct
{
  const char *name, *algorithm;
  GyreTarget target;
} targets[] = {
  { "CPU, direct", "direct", { TRUE, 64, 1 << 20, 3 } },
  { "CPU of little local memory, direct", "direct", { TRUE, 64, 2048, 3 } },
  { "any device, direct", "direct", { FALSE, 64, 32768, 3 } },
  { "CPU, im2col", "im2col", { TRUE, 64, 1 << 20, 3 } },
  { "any device of little memory, im2col", "im2col", { FALSE, 64, 32768, 3, 1 << 16 } },
  { "any device, chosen", "auto", { FALSE, 64, 32768, 3 } },
};

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

static void
add_outputs (GyreGraph *graph, GyreTensor *y, GyreTensor *const *wrt, guint n)
{
  GyreTensor *ct = gyre_graph_input (graph, "ct", GYRE_F32, &y->shape), *grads[2];

  gyre_vjp (&y, &ct, 1, wrt, n, grads);
  gyre_graph_add_output (graph, y);
  for (guint i = 0; i < n; i++)
    gyre_graph_add_output (graph, grads[i]);
}

/* Inputs x, a cotangent, and of a convolution k between; outputs y and the gradients */
static GyreGraph *
make_graph (const ConvCase *which)
{
  GyreGraph *graph = gyre_graph_new ();
  GyreTensor *wrt[2], *y;

  gyre_graph_push (graph);
  wrt[0] = gyre_graph_input (graph, "x", GYRE_F32, &which->x);
  if (which->pool != NULL)
    {
      y = which->pool (wrt[0], which->k.dims, which->strides, which->padding);
      add_outputs (graph, y, wrt, 1);
    }
  else
    {
      wrt[1] = gyre_graph_input (graph, "k", GYRE_F32, &which->k);
      y = gyre_conv_dilated (wrt[0], wrt[1], which->strides, which->padding,
                             which->dilation, which->input_dilation, which->groups);
      add_outputs (graph, y, wrt, 2);
    }
  gyre_graph_pop ();
  gyre_assert_no_error (graph->error);

  return graph;
}

/* Numbers are multiples of 1/64 below 1, so that products are exact, and so are sums
 * below 4096: f32 and double agree to the bit. */
static void
compare (const char *name, const char *target, guint output, const GyreRef *got,
         const GyreRef *wanted)
{
  for (gint64 i = 0; i < gyre_shape_n_elements (&wanted->shape); i++)
    if (got->data[i] != wanted->data[i])
      ck_abort_msg ("%s, %s: element %d of output %u is %.9g, not %.9g", name, target,
                    (int) i, output, got->data[i], wanted->data[i]);
}

static void
check_program (const ConvCase *which, GyreProgram *program)
{
  GyreRef inputs[3], wanted[3], got[3];
  GError *error = NULL;
  g_autoptr (GyreGraph) oracle = make_graph (which);
  guint n_inputs = oracle->inputs->len, n_outputs = oracle->outputs->len;

  for (guint i = 0; i < n_inputs; i++)
    {
      GyreTensor *input = g_ptr_array_index (oracle->inputs, i);

      inputs[i] = gyre_check_make_ref (GYRE_F32, &input->shape, -1, 1, i + 1);
    }
  gyre_interpret (oracle, inputs, wanted, &error);
  gyre_assert_no_error (error);

  for (guint t = 0; t < G_N_ELEMENTS (targets); t++)
    {
      GyreDevice *device = g_ptr_array_index (devices, 0);
      GyreTarget target = targets[t].target;

      target.local_memory =
          MIN (target.local_memory, gyre_device_get_local_memory (device));
      g_setenv ("GYRE_CONV", targets[t].algorithm, TRUE);
      gyre_check_run_program_as (program, device, &target, inputs, got);
      g_unsetenv ("GYRE_CONV");
      for (guint i = 0; i < n_outputs; i++)
        {
          compare (which->name, targets[t].name, i, &got[i], &wanted[i]);
          g_free (got[i].data);
        }
    }
  for (guint i = 0; i < n_inputs; i++)
    g_free (inputs[i].data);
  for (guint i = 0; i < n_outputs; i++)
    g_free (wanted[i].data);
}

START_TEST (alone)
{
  GyreMeshSpec mesh = { 0 };
  GError *error = NULL;
  g_autoptr (GyreProgram) program = gyre_program_new (make_graph (&cases[_i]), &mesh);
  g_autoptr (GyreProgram) fused = gyre_fuse (program, &error);

  gyre_assert_no_error (error);
  check_program (&cases[_i], fused);
}
END_TEST

/* Samples in shares of 5, 0 and 2 */
START_TEST (in_shares)
{
  double weights[] = { 5, 0, 2 };
  GyreMeshSpec mesh = { 1, { { "data", 3, FALSE, FALSE } }, { weights } };
  GyreSpec specs[3] = { { { 0 } } };
  GError *error = NULL;
  g_autoptr (GyreGraph) graph = make_graph (&cases[_i]);
  g_autoptr (GyreProgram) program = NULL, fused = NULL;

  for (guint i = 0; i < graph->inputs->len; i += graph->inputs->len - 1)
    {
      specs[i].axes[0] = 1;
      specs[i].base[0] = cases[_i].x.dims[0];
    }
  program = gyre_partition (graph, &mesh, specs, NULL, &error);
  gyre_assert_no_error (error);
  fused = gyre_fuse (program, &error);
  gyre_assert_no_error (error);
  check_program (&cases[_i], fused);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "convolution", NULL, NULL);

  tcase_add_unchecked_fixture (tcase, set_up, tear_down);
  tcase_add_loop_test (tcase, alone, 0, (int) G_N_ELEMENTS (cases));
  tcase_add_loop_test (tcase, in_shares, 0, (int) G_N_ELEMENTS (cases));
}

GYRE_CHECK_MAIN ("prims-convolution", add_tests)
