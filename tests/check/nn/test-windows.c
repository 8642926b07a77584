/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre.h>

/* Layers that look at images through windows: which shapes come out, and what they
 * refuse. */

static GyreLayer *
parse (const char *line)
{
  g_autoptr (GError) error = NULL;
  GyreLayer *model = gyre_model_parse (line, &error);

  gyre_assert_no_error (error);
  return model;
}

static const struct
{
  const char *line;
  GyreShape   x, y;
} shapes[] = {
  { "conv2d features=7", GYRE_SHAPE (2, 5, 3, 4), GYRE_SHAPE (2, 5, 3, 7) },
  { "conv2d features=7 padding=valid", GYRE_SHAPE (2, 5, 3, 4), GYRE_SHAPE (2, 3, 1, 7) },
  { "conv2d features=7 strides=2", GYRE_SHAPE (2, 5, 4, 4), GYRE_SHAPE (2, 3, 2, 7) },
  { "conv2d features=7 strides=5,1 kernel-size=1,2", GYRE_SHAPE (1, 6, 4, 1),
    GYRE_SHAPE (1, 2, 4, 7) },
  { "conv2d features=7 padding=2", GYRE_SHAPE (1, 1, 1, 1), GYRE_SHAPE (1, 3, 3, 7) },
  { "conv2d features=7 padding=1,2", GYRE_SHAPE (1, 1, 1, 1), GYRE_SHAPE (1, 1, 3, 7) },
  { "conv2d features=7 padding=1,2,0,3", GYRE_SHAPE (1, 1, 1, 1),
    GYRE_SHAPE (1, 2, 2, 7) },
  { "conv2d features=8 feature-group-count=4", GYRE_SHAPE (1, 2, 2, 4),
    GYRE_SHAPE (1, 2, 2, 8) },
  { "conv2d features=7 kernel-size=5", GYRE_SHAPE (1, 2, 2, 3), GYRE_SHAPE (1, 2, 2, 7) },
  { "conv2d features=7 kernel-dilation=2 padding=VALID", GYRE_SHAPE (1, 6, 7, 3),
    GYRE_SHAPE (1, 2, 3, 7) },
  { "conv1d features=7", GYRE_SHAPE (2, 9, 4), GYRE_SHAPE (2, 9, 7) },
  { "conv1d features=6 strides=2 padding=1,2 feature-group-count=2",
    GYRE_SHAPE (2, 9, 4), GYRE_SHAPE (2, 5, 6) },
  { "conv1d features=6 padding=2 kernel-dilation=2", GYRE_SHAPE (2, 9, 4),
    GYRE_SHAPE (2, 9, 6) },
  { "conv-transpose2d features=5 strides=2", GYRE_SHAPE (2, 5, 6, 4),
    GYRE_SHAPE (2, 10, 12, 5) },
  { "conv-transpose2d features=5 strides=2,3 padding=VALID kernel-size=2,5",
    GYRE_SHAPE (2, 5, 6, 4), GYRE_SHAPE (2, 10, 20, 5) },
  { "conv-transpose2d features=5 padding=1", GYRE_SHAPE (2, 5, 6, 4),
    GYRE_SHAPE (2, 5, 6, 5) },
  { "max-pool2d", GYRE_SHAPE (2, 5, 6, 4), GYRE_SHAPE (2, 2, 3, 4) },
  { "max-pool2d padding=SAME", GYRE_SHAPE (2, 5, 6, 4), GYRE_SHAPE (2, 3, 3, 4) },
  { "max-pool2d window=3,2 strides=1", GYRE_SHAPE (2, 5, 6, 4),
    GYRE_SHAPE (2, 3, 5, 4) },
  { "avg-pool2d window=2,3", GYRE_SHAPE (2, 5, 6, 4), GYRE_SHAPE (2, 2, 2, 4) },
  { "global-avg-pool2d", GYRE_SHAPE (2, 5, 6, 4), GYRE_SHAPE (2, 4) },
};

START_TEST (gives_shapes)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *line = g_strconcat (shapes[_i].line, " ! flatten ! dense features=1",
                                       NULL);
  g_autoptr (GyreLayer) model = parse (line);
  g_autoptr (GyreTree) trees = NULL;
  GyreShape kernel;
  gint64 n = 1;

  /* the dense layer behind it has as many rows as numbers come out for a sample */
  for (int i = 1; i < shapes[_i].y.rank; i++)
    n *= shapes[_i].y.dims[i];
  trees = gyre_model_init (model, shapes[_i].x, GYRE_F32, gyre_key_new (0), &error);
  gyre_assert_no_error (error);
  kernel = gyre_array_get_shape (gyre_tree_get_array (trees, "params/dense_0/kernel"));
  ck_assert_int_eq (kernel.dims[0], n);
}
END_TEST

static const struct
{
  const char *line;
  GyreShape   x;
  const char *says;
} wrong[] = {
  { "conv2d features=7", GYRE_SHAPE (2, 5, 3),
    "f32[samples, height, width, channels], not f32[2, 5, 3]" },
  { "conv1d features=7", GYRE_SHAPE (2, 5, 3, 1), "f32[samples, width, channels]" },
  { "conv2d features=7 feature-group-count=2", GYRE_SHAPE (1, 5, 3, 4),
    "feature-group-count=2 must divide both the 4 channels" },
  { "conv1d features=6 feature-group-count=4", GYRE_SHAPE (1, 5, 6),
    "must divide both the 6 channels" },
  { "conv2d features=7 padding=VALID", GYRE_SHAPE (1, 5, 2, 4), "take a smaller kernel" },
  { "conv2d features=7 padding=1,2,3", GYRE_SHAPE (1, 5, 5, 4),
    "padding=1,2,3: it takes SAME, VALID, or 1, 2 or 4 integers" },
  { "max-pool2d", GYRE_SHAPE (1, 1, 5, 4), "take a smaller one" },
  { "max-pool2d", GYRE_SHAPE (1, 5), "not f32[1, 5]" },
  { "avg-pool2d padding=-1", GYRE_SHAPE (1, 5, 5, 4), "must be 0 or more" },
  { "global-avg-pool2d", GYRE_SHAPE (4, 4), "not f32[4, 4]" },
};

START_TEST (says_what_is_wrong)
{
  g_autoptr (GyreLayer) model = parse (wrong[_i].line);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) trees =
      gyre_model_init (model, wrong[_i].x, GYRE_F32, gyre_key_new (0), &error);

  ck_assert_msg (trees == NULL, "no error: %s", wrong[_i].line);
  gyre_assert_error (error, GYRE_ERROR, (int) error->code);
  gyre_assert_error_says (error, wrong[_i].says);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "shapes", gives_shapes, (int) G_N_ELEMENTS (shapes));
  gyre_check_add_loop (suite, "wrong", says_what_is_wrong, (int) G_N_ELEMENTS (wrong));
}

GYRE_CHECK_MAIN ("nn-windows", add_tests)
