/* SPDX-License-Identifier: Apache-2.0 */
#include "autodiff/interpret.h"
#include "base/gyre-arena-private.h"

/* The loss of a linear model: Σ (w · x + b)²; what it made stands in aux. */
static GyreTensor *
square_loss (GyreTree  *params,
             GyreTree **aux,
             gpointer   data)
{
  GyreTensor *w = gyre_tree_get_tensor (params, "w");
  GyreTensor *b = gyre_tree_get_tensor (params, "layer/b");
  GyreTensor *output = gyre_add (gyre_mul (w, data), b);

  if (aux != NULL)
    *aux = gyre_tree_build (GYRE_TENSOR_ENTRY ("output", output), NULL);

  return gyre_sum (gyre_mul (output, output));
}

static GyreTree *
make_args (void)
{
  GyreTree *args = gyre_tree_new_dict ();

  set_placeholder (args, "params/layer/b");
  set_placeholder (args, "params/w");
  set_placeholder (args, "x");

  return args;
}

static const GyreAval avals[] = {
  { GYRE_F32, { 1, { 2 } } }, { GYRE_F32, { 1, { 2 } } }, { GYRE_F32, { 1, { 2 } } },
};
static const double numbers[] = { 0.5, -0.25, 2, 3, -1, 4 };   /* b, w, x */

static GyreTree *
step (GyreTree *args,
      gpointer  data)
{
  GyreTree *grads, *aux;
  GyreTensor *loss;

  grads = gyre_value_and_grad (square_loss, gyre_tree_get_tree (args, "params"),
                               gyre_tree_get_tensor (args, "x"), &loss, &aux);
  return gyre_tree_build (GYRE_TREE_ENTRY ("aux", aux), GYRE_TREE_ENTRY ("grads", grads),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

START_TEST (gives_value_gradient_and_more)
{
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;
  g_autofree double *results = NULL;
  /* outputs w·x + b: -1.5, 11.75; gradients by b, by w; loss */
  const double expected[] = { -1.5, 11.75, -3, 23.5, 3, 94, 2.25 + 138.0625 };

  gyre_trace_run (trace, step, NULL, args, avals, &error);
  gyre_assert_no_error (error);
  ck_assert_str_eq (g_ptr_array_index (trace->result_paths, 1), "grads/layer/b");
  results = interpret (trace->graph, numbers);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    gyre_assert_near (results[i], expected[i], 1e-12); /* double rounding */
}
END_TEST

/* w² · held, where held was computed from w before: only w² is differentiated. */
static GyreTensor *
held_loss (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  GyreTensor *w = gyre_tree_as_tensor (params);

  return gyre_sum (gyre_mul (gyre_mul (w, w), data));
}

static GyreTree *
held_step (GyreTree *args,
           gpointer  data)
{
  GyreTree *w = gyre_tree_get_tree (args, "params/w");

  return gyre_value_and_grad (held_loss, w, gyre_exp (gyre_tree_as_tensor (w)), NULL,
                              NULL);
}

START_TEST (holds_what_data_brings)
{
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;
  g_autofree double *results = NULL;

  gyre_trace_run (trace, held_step, NULL, args, avals, &error);
  gyre_assert_no_error (error);
  results = interpret (trace->graph, numbers);
  for (int i = 0; i < 2; i++) /* double rounding */
    gyre_assert_near (results[i], 2 * numbers[2 + i] * exp (numbers[2 + i]), 1e-12);
}
END_TEST

static GyreTensor *
null_loss (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  return NULL;
}

static GyreTensor *
vector_loss (GyreTree  *params,
             GyreTree **aux,
             gpointer   data)
{
  return gyre_exp (gyre_tree_get_tensor (params, "w"));
}

static const struct
{
  GyreLossFunc func;
  GyreDtype    dtype;
  const char  *says;
} failures[] = {
  { null_loss, GYRE_F32, "the function returned NULL" },
  { vector_loss, GYRE_F32, "gyre_value_and_grad: the loss is f32[2]" },
  { square_loss, GYRE_I32, "the parameter \"layer/b\" is i32[2], and only f32" },
};

static GyreTree *
failing_step (GyreTree *args,
              gpointer  data)
{
  GyreTensor *loss = NULL;
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTree *grads = gyre_value_and_grad (*(GyreLossFunc *) data, params,
                                         gyre_tree_get_tensor (args, "x"), &loss, NULL);

  ck_assert_ptr_nonnull (loss);
  ck_assert (gyre_tree_same_structure (grads, params, NULL));
  ck_assert (gyre_tree_get_tensor (grads, "w")->poison);
  return grads;
}

START_TEST (says_what_is_wrong)
{
  g_autoptr (GyreTrace) trace = gyre_trace_new ();
  g_autoptr (GyreTree) args = make_args ();
  g_autoptr (GError) error = NULL;
  GyreAval changed[] = { avals[0], avals[1], avals[2] };
  GyreLossFunc func = failures[_i].func;

  changed[0].dtype = failures[_i].dtype;
  ck_assert (!gyre_trace_run (trace, failing_step, &func, args, changed, &error));
  gyre_assert_error_says (error, failures[_i].says);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "value", gives_value_gradient_and_more);
  gyre_check_add (suite, "data", holds_what_data_brings);
  gyre_check_add_loop (suite, "errors", says_what_is_wrong, G_N_ELEMENTS (failures));
}

GYRE_CHECK_MAIN ("value-and-grad", add_tests)
