/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre-test.h>

#include <math.h>

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
    "reference makes f32[8, 4]" },
  { "mistake-width", { 2, { 8, 8 } }, square, NULL,
    "mistake-width: wrong shape rule: it says that the result is f32[8, 9], the "
    "reference makes f32[8, 8]" },
  { "mistake-elements", { 2, { 8, 8 } }, square, NULL,
    "its shape rule says [8, 9], but it is split by elements" },
  { "mistake-dtype", { 2, { 8, 8 } }, square, NULL,
    "mistake-dtype: wrong shape rule: it says that the result is i32[8, 8]" },
  { "mistake-end", { 2, { 8, 8 } }, square, NULL,
    "of 64 are wrong, all from there to the end: does the kernel make as many" },
  { "mistake-rule", { 2, { 8, 8 } }, square, NULL,
    "mistake-rule: wrong gradient: gyre_vjp: mistake-rule in mistake_rule_0 has no" },
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

/* Only Oclgrind sees an element behind the last, wherever the kernel is: forward, amid
 * others, whose values lie around its own, or backward. */
static const struct
{
  const char *line;
  const char *mistake;
  const char *kernel;
} unseen[] = {
  { "mistake-bounds", "a kernel reads or writes out of bounds", "mistake_bounds" },
  { "mistake-before", "a kernel reads or writes out of bounds", "mistake_before" },
  { "mistake-square ! mistake-read", "a kernel reads or writes out of bounds",
    "mistake_read" },
  { "mistake-backward", "a kernel reads or writes out of bounds", "mistake_bounds" },
  { "mistake-race", "a data race in a kernel", "mistake_race" },
};

START_TEST (finds_what_is_out_of_bounds)
{
  g_autofree char *oclgrind = g_find_program_in_path ("oclgrind");
  g_autofree char *devices = gyre_check_device_spec ("pocl");
  const GyreLayerTest test = { unseen[_i].line, GYRE_SHAPE (5, 7), GYRE_SHAPE (5, 7),
                               square, NULL, devices, 0 };
  g_autoptr (GError) error = NULL;

  if (oclgrind == NULL)
    return;

  ck_assert (!gyre_test_layer (&test, &error));
  gyre_assert_error_says (error, unseen[_i].mistake);
  gyre_assert_error_says (error, unseen[_i].kernel);
}
END_TEST

/* y[i, j] = table[x[i, j]] */
static void
embedding (const GyreTestNumbers *inputs,
           guint                  n_inputs,
           GyreTestNumbers       *y,
           gpointer               data)
{
  const double *table = gyre_test_find (inputs, n_inputs, "embedding");
  gint64 features = y->shape.dims[2];

  for (gint64 i = 0; i < gyre_shape_n_elements (&y->shape); i++)
    y->data[i] = table[(gint64) inputs[0].data[i / features] * features + i % features];
}

/* Mean and variance of column c */
static void
measure (const GyreTestNumbers *x,
         gint64                 c,
         double                *mean,
         double                *var)
{
  gint64 n = x->shape.dims[0], width = x->shape.dims[1];

  *mean = *var = 0;
  for (gint64 i = 0; i < n; i++)
    *mean += x->data[i * width + c] / (double) n;
  for (gint64 i = 0; i < n; i++)
    *var += (x->data[i * width + c] - *mean) * (x->data[i * width + c] - *mean)
            / (double) n;
}

static void
batch_norm (const GyreTestNumbers *inputs,
            guint                  n_inputs,
            GyreTestNumbers       *y,
            gpointer               data)
{
  const double *scale = gyre_test_find (inputs, n_inputs, "scale");
  const double *bias = gyre_test_find (inputs, n_inputs, "bias");
  gint64 width = y->shape.dims[1];

  for (gint64 i = 0; i < gyre_shape_n_elements (&y->shape); i++)
    {
      gint64 c = i % width;
      double mean = gyre_test_find (inputs, n_inputs, "mean")[c];
      double var = gyre_test_find (inputs, n_inputs, "var")[c];

      if (data == NULL)
        measure (&inputs[0], c, &mean, &var);
      y->data[i] = (inputs[0].data[i] - mean) / sqrt (var + 1e-5) * scale[c] + bias[c];
    }
}

static void
batch_norm_state (const GyreTestNumbers *inputs,
                  guint                  n_inputs,
                  const char            *path,
                  GyreTestNumbers       *next,
                  gpointer               data)
{
  for (gint64 c = 0; data == NULL && c < next->shape.dims[0]; c++)
    {
      double mean, var;

      measure (&inputs[0], c, &mean, &var);
      next->data[c] = 0.75 * next->data[c]
                      + 0.25 * (g_str_has_suffix (path, "/mean") ? mean : var);
    }
}

static void
dropout (const GyreTestNumbers *inputs,
         guint                  n_inputs,
         GyreTestNumbers       *y,
         gpointer               data)
{
  gsize n = (gsize) gyre_shape_n_elements (&y->shape);
  g_autofree guint8 *mask = g_new (guint8, n);

  gyre_key_bernoulli (gyre_test_key (inputs, n_inputs, "dropout_0"), 0.75f, n, mask);
  for (gsize i = 0; i < n; i++)
    y->data[i] = mask[i] ? inputs[0].data[i] / 0.75 : 0;
}

#define NORM "batch-norm momentum=0.75"

/* Layers of integers, with state, in evaluation, with a key */
static const GyreLayerTest others[] = {
  { "embedding num-embeddings=7 features=3", { 2, { 8, 2 } }, { 3, { 8, 2, 3 } },
    embedding, .dtype = GYRE_I32, .limit = 7 },
  { NORM, { 2, { 8, 3 } }, { 2, { 8, 3 } }, batch_norm, .state = batch_norm_state,
    .tolerance = 5e-4 },
  { NORM, { 2, { 8, 3 } }, { 2, { 8, 3 } }, batch_norm, .tolerance = 5e-4 },
  { NORM, { 2, { 8, 3 } }, { 2, { 8, 3 } }, batch_norm, .data = &sixty_four,
    .state = batch_norm_state, .evaluation = TRUE },
  { "dropout rate=0.25", { 2, { 8, 5 } }, { 2, { 8, 5 } }, dropout },
};

START_TEST (tests_layers_of_all_kinds)
{
  g_autofree char *devices = gyre_check_device_spec ("pocl");
  g_autoptr (GError) error = NULL;
  GyreLayerTest test = others[_i];

  test.devices = devices;
  gyre_test_layer (&test, &error);
  gyre_assert_no_error (error);
}
END_TEST

/* A reference of the state that is wrong is told of. */
static void
state_stays (const GyreTestNumbers *inputs,
             guint                  n_inputs,
             const char            *path,
             GyreTestNumbers       *next,
             gpointer               data)
{
}

START_TEST (names_a_wrong_state)
{
  g_autofree char *devices = gyre_check_device_spec ("pocl");
  g_autoptr (GError) error = NULL;
  GyreLayerTest test = others[1];

  test.devices = devices;
  test.state = state_stays;
  ck_assert (!gyre_test_layer (&test, &error));
  gyre_assert_error_says (error, NORM ": wrong state: batch_norm_0/mean[0] is ");
}
END_TEST

static void
add_tests (Suite *suite)
{
  const char *built = g_getenv ("GYRE_PLUGIN_PATH");
  g_autofree char *path = g_strdup_printf ("%s:%s", g_getenv ("GYRE_TEST_PLUGINS"),
                                           built != NULL ? built : "");

  g_setenv ("GYRE_PLUGIN_PATH", path, TRUE);
  gyre_check_add_loop (suite, "bounds", finds_what_is_out_of_bounds,
                       G_N_ELEMENTS (unseen));
  gyre_check_add_loop (suite, "mistakes", names_the_mistake, G_N_ELEMENTS (cases));
  gyre_check_add_loop (suite, "kinds", tests_layers_of_all_kinds, G_N_ELEMENTS (others));
  gyre_check_add (suite, "state", names_a_wrong_state);
}

GYRE_CHECK_MAIN ("kit", add_tests)
