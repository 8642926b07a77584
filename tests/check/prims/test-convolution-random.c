/* SPDX-License-Identifier: Apache-2.0 */
#include "prims/gyre-conv-check.h"

#include "device/gyre-check-device.h"
#include "ir/gyre-graph-private.h"

#include <gyre/gyre-error.h>

/* Convolutions (of images and rows, with groups, dilated, transposed) and pools of random
 * shapes, by a fixed seed: each by one algorithm in turn, on one device or by shares of
 * which one may be nothing, against the interpreter; or refused, and then rightly.
 * $GYRE_TEST_CASES is how many of each kind there are, $GYRE_TEST_SEED the first seed. */

typedef void (*FillFunc) (GyreConvCase *which, GRand *random);

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

static gint64
pick (GRand *random, gint64 low, gint64 high)
{
  return g_rand_int_range (random, (gint32) low, (gint32) high + 1);
}

/* One of few, since kernels are compiled for each */
static gint64
pick_channels (GRand *random)
{
  static const gint64 some[] = { 1, 2, 3, 4, 16, 17, 33, 65 };

  return some[g_rand_int_range (random, 0, G_N_ELEMENTS (some))];
}

static void
fill_usual (GyreConvCase *which, GRand *random)
{
  which->x = GYRE_SHAPE (pick (random, 1, 4), pick (random, 1, 9), pick (random, 1, 9),
                         pick_channels (random));
  which->groups = 1;
  for (int i = 0; i < 2; i++)
    {
      which->strides[i] = g_rand_boolean (random) ? 1 : pick (random, 1, 4);
      which->dilation[i] = g_rand_boolean (random) ? 1 : pick (random, 1, 3);
      which->input_dilation[i] = 1;
    }
  for (int i = 0; i < 4; i++)
    which->padding[i] = pick (random, 0, 3);
}

static void
fill_kernel (GyreConvCase *which, GRand *random)
{
  which->k = GYRE_SHAPE (pick (random, 1, 5), pick (random, 1, 5),
                         which->x.dims[3] / which->groups, pick_channels (random));
}

static void
fill_conv2d (GyreConvCase *which, GRand *random)
{
  fill_usual (which, random);
  fill_kernel (which, random);
  which->padding[pick (random, 0, 3)] -= g_rand_boolean (random);
}

/* Each channel, or each pair, by itself; one or two features of it */
static void
fill_groups (GyreConvCase *which, GRand *random)
{
  fill_usual (which, random);
  which->groups = which->x.dims[3] % 2 == 0 && g_rand_boolean (random)
                  ? which->x.dims[3] / 2 : which->x.dims[3];
  fill_kernel (which, random);
  which->k.dims[3] = which->groups * pick (random, 1, 2);
}

static void
fill_conv1d (GyreConvCase *which, GRand *random)
{
  fill_usual (which, random);
  fill_kernel (which, random);
  which->x.dims[1] = which->k.dims[0] = which->strides[0] = which->dilation[0] = 1;
  which->padding[0] = which->padding[1] = 0;
}

static void
fill_transposed (GyreConvCase *which, GRand *random)
{
  fill_usual (which, random);
  fill_kernel (which, random);
  for (int i = 0; i < 2; i++)
    {
      which->strides[i] = 1;
      which->input_dilation[i] = pick (random, 1, 3);
      gyre_padding_transposed (which->k.dims[i], which->input_dilation[i],
                               which->dilation[i], g_rand_boolean (random),
                               which->padding + 2 * i);
    }
}

static void
fill_pool (GyreConvCase *which, GRand *random)
{
  fill_usual (which, random);
  which->k = GYRE_SHAPE (pick (random, 1, 4), pick (random, 1, 4));
  which->dilation[0] = which->dilation[1] = 1;
  which->pool = g_rand_boolean (random) ? gyre_max_pool : gyre_sum_pool;
}

/* The kernel, or window, is within the padded image. */
static gboolean
fits (const GyreConvCase *which)
{
  for (int i = 0; i < 2; i++)
    {
      gint64 padded = (which->x.dims[1 + i] - 1) * which->input_dilation[i] + 1
                      + which->padding[2 * i] + which->padding[2 * i + 1];

      if ((which->k.dims[i] - 1) * which->dilation[i] + 1 > padded)
        return FALSE;
    }

  return TRUE;
}

static char *
name_case (const GyreConvCase *self, guint32 seed)
{
  g_autofree char *x = gyre_shape_to_string (&self->x);
  g_autofree char *k = gyre_shape_to_string (&self->k);

  return g_strdup_printf (
      "seed %u: %s by %s, strides %dx%d, padding %d:%dx%d:%d, dilation %dx%d, spread "
      "%dx%d, groups %d", seed, x, k, (int) self->strides[0], (int) self->strides[1],
      (int) self->padding[0], (int) self->padding[1], (int) self->padding[2],
      (int) self->padding[3], (int) self->dilation[0], (int) self->dilation[1],
      (int) self->input_dilation[0], (int) self->input_dilation[1], (int) self->groups);
}

static void
check_refused (const GyreConvCase *which)
{
  g_autoptr (GyreGraph) graph = gyre_conv_check_graph (which);

  ck_assert_msg (g_error_matches (graph->error, GYRE_ERROR, GYRE_ERROR_SHAPE),
                 "%s is not refused", which->name);
}

static void
check_seed (FillFunc fill, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  double weights[] = { 5, pick (random, 0, 2), 1 };
  guint target = (guint) pick (random, 0, gyre_conv_n_targets - 1);
  GyreConvCase which = { NULL };
  g_autofree char *name = NULL;

  fill (&which, random);
  which.name = name = name_case (&which, seed);
  if (!fits (&which))
    check_refused (&which);
  else
    gyre_conv_check (&which, g_ptr_array_index (devices, 0), target, target + 1, weights,
                     g_rand_boolean (random) ? 3 : 0);
}

static guint
read_number (const char *variable, guint otherwise)
{
  const char *text = g_getenv (variable);

  return text != NULL ? (guint) g_ascii_strtoull (text, NULL, 10) : otherwise;
}

static const FillFunc fills[] = {
  fill_conv2d, fill_groups, fill_conv1d, fill_transposed, fill_pool
};

START_TEST (random_shapes)
{
  guint n = read_number ("GYRE_TEST_CASES", 4), seed = read_number ("GYRE_TEST_SEED", 1);

  for (guint i = 0; i < n; i++)
    check_seed (fills[_i], seed + i);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "random", NULL, NULL);

  tcase_add_unchecked_fixture (tcase, set_up, tear_down);
  tcase_set_timeout (tcase, 0);
  tcase_add_loop_test (tcase, random_shapes, 0, (int) G_N_ELEMENTS (fills));
}

GYRE_CHECK_MAIN ("prims-convolution-random", add_tests)
