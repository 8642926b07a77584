/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-test.h>

/* gyre_test_layer () finds the mistakes of tests/plugins/mistakes.c, and no others. */

static void
square (const GyreTestNumbers *inputs,
        guint                  n_inputs,
        GyreTestNumbers       *y,
        gpointer               data)
{
  double scale = data != NULL ? *(const double *) data : 1;

  for (gint64 i = 0; i < gyre_shape_n_elements (&y->shape); i++)
    y->data[i] = scale * inputs[0].data[i] * inputs[0].data[i];
}

static void
square_pairs (const GyreTestNumbers *inputs,
              guint                  n_inputs,
              GyreTestNumbers       *y,
              gpointer               data)
{
  const double *x = inputs[0].data;

  for (gint64 i = 0; i < gyre_shape_n_elements (&y->shape); i++)
    y->data[i] = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
}

static void
dense (const GyreTestNumbers *inputs,
       guint                  n_inputs,
       GyreTestNumbers       *y,
       gpointer               data)
{
  const double *kernel = gyre_test_find (inputs, n_inputs, "kernel");
  const double *bias = gyre_test_find (inputs, n_inputs, "bias");
  gint64 rows = y->shape.dims[0], n = y->shape.dims[1], k = inputs[0].shape.dims[1];

  for (gint64 i = 0; i < rows * n; i++)
    {
      y->data[i] = bias[i % n];
      for (gint64 j = 0; j < k; j++)
        y->data[i] += inputs[0].data[i / n * k + j] * kernel[j * n + i % n];
    }
}

static double sixty_four = 64;

static const struct
{
  const char       *line;
  GyreShape         output;
  GyreTestReference reference;
  gpointer          data;
  const char       *says;     /* NULL: all is right */
} cases[] = {
  { "dense features=3", { 2, { 8, 3 } }, dense, NULL, NULL },
  { "mistake-gradient", { 2, { 8, 8 } }, square, NULL,
    "mistake-gradient: wrong gradient: dx[0, 0] is " },
  { "mistake-shape", { 2, { 8, 4 } }, square_pairs, NULL,
    "mistake-shape: wrong shape rule: it says that the result is f32[8, 8], the "
    "reference makes [8, 4]" },
  { "mistake-split", { 2, { 8, 8 } }, square, &sixty_four,
    "mistake-split: wrong split: right on one device, but not on more: wrong value: y[" },
};

static void
run_case (gsize         i,
          const char   *says)
{
  g_autofree char *devices = gyre_check_device_spec ("pocl");
  const GyreLayerTest test = { cases[i].line, GYRE_SHAPE (8, 8), cases[i].output,
                               cases[i].reference, cases[i].data, devices, 0 };
  g_autoptr (GError) error = NULL;
  gboolean good = gyre_test_layer (&test, &error);

  if (says == NULL)
    gyre_assert_no_error (error);
  else
    gyre_assert_error_says (error, says);
  ck_assert_int_eq (good, says == NULL);
}

START_TEST (names_the_mistake)
{
  run_case (_i, cases[_i].says);
}
END_TEST

/* Only Oclgrind sees an element behind the last. */
START_TEST (finds_what_is_out_of_bounds)
{
  g_autofree char *oclgrind = g_find_program_in_path ("oclgrind");
  g_autofree char *devices = gyre_check_device_spec ("pocl");
  const GyreLayerTest test = { "mistake-bounds", GYRE_SHAPE (8, 8), GYRE_SHAPE (8, 8),
                               square, NULL, devices, 0 };
  g_autoptr (GError) error = NULL;

  if (oclgrind == NULL)
    return;

  ck_assert (!gyre_test_layer (&test, &error));
  gyre_assert_error_says (error, "mistake-bounds: a kernel reads or writes out of "
                                 "bounds");
  gyre_assert_error_says (error, "mistake_bounds");
}
END_TEST

static void
add_tests (Suite *suite)
{
  const char *built = g_getenv ("GYRE_PLUGIN_PATH");
  g_autofree char *path = g_strdup_printf ("%s:%s", g_getenv ("GYRE_TEST_PLUGINS"),
                                           built != NULL ? built : "");

  g_setenv ("GYRE_PLUGIN_PATH", path, TRUE);
  gyre_check_add (suite, "bounds", finds_what_is_out_of_bounds);
  gyre_check_add_loop (suite, "mistakes", names_the_mistake, G_N_ELEMENTS (cases));
}

GYRE_CHECK_MAIN ("kit", add_tests)
