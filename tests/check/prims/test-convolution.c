/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-conv-check.h"

#include "device/gyre-check-device.h"

/* Convolutions and pools, and their gradients, on a device, against the interpreter in
 * double, in odd sizes, by all algorithms and kernels that there are: for CPUs with much
 * local memory, with so little that channels come in blocks, and for other devices; as a
 * product of all samples' columns, and of as few as there is memory for. */

#define DIMS(...) GYRE_SHAPE (__VA_ARGS__)
#define USUAL { 1, 1 }, { 1, 1, 1, 1 }, { 1, 1 }, { 1, 1 }, 1
#define POOL(Y, X) { (Y), (X) }
#define LARGEST { 1, 1 }, { 1, 1 }, 1, gyre_max_pool
#define TOTAL { 1, 1 }, { 1, 1 }, 1, gyre_sum_pool
#define VALID { 1, 1 }, { 0 }, { 1, 1 }, { 1, 1 }

static const GyreConvCase cases[] = {
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
  { "channels by themselves", DIMS (2, 5, 6, 19), DIMS (3, 3, 1, 19), USUAL + 18 },
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

START_TEST (alone)
{
  gyre_conv_check (&cases[_i], g_ptr_array_index (devices, 0), 0, gyre_conv_n_targets,
                   NULL, 0);
}
END_TEST

/* Samples in shares of 5, 0 and 2; one target for each case, in turn */
START_TEST (in_shares)
{
  guint target = (guint) _i % gyre_conv_n_targets;

  gyre_conv_check (&cases[_i], g_ptr_array_index (devices, 0), target, target + 1,
                   (double[]){ 5, 0, 2 }, 3);
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
