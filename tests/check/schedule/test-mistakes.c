/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <gyre/gyre.h>

/* A small program, as a newcomer writes it, with a mistake in it each time.  What it is
 * told says what is wrong and what would be right; nothing is let pass in silence. */

typedef enum
{
  NO_MISTAKE,
  WRONG_AXIS,
  WRONG_PATH,
  WRONG_KIND,
  MISSING_ENTRY,
  OTHER_STRUCTURE,
  NO_GRADS,
  NULL_RESULT,
  NULL_LOSS,
  VECTOR_LOSS,
  INTEGER_PARAM,
  UNLIKE_DTYPES,
  UNLIKE_SHAPES
} Mistake;

typedef struct
{
  Mistake     mistake;
  gboolean    pmap;
  const char *shardings, *broadcast, *donate;
  GyreShape   x;
} Program;

static GyreMesh *mesh;
static const Program *current;   /* the one that runs */

static void
open_mesh (void)
{
  g_autoptr (GError) error = NULL;

  mesh = gyre_mesh_open ("data=*", "pocl*2", &error);
  gyre_assert_no_error (error);
}

static void
close_mesh (void)
{
  g_clear_object (&mesh);
}

/* mean ((x w)²) */
static GyreTensor *
loss_fn (GyreTree *params, GyreTree **aux, gpointer data)
{
  GyreTree *args = data;
  Mistake mistake = current->mistake;
  GyreTensor *x = gyre_tree_get (args, mistake == WRONG_PATH ? "batch/X" : "batch/x");
  GyreTensor *y;

  if (mistake == WRONG_KIND)
    x = gyre_tree_get (args, "batch");
  if (mistake == UNLIKE_SHAPES)
    x = gyre_transpose (x, NULL);
  y = gyre_matmul (x, gyre_tree_get (params, "w"));
  if (mistake == UNLIKE_DTYPES)
    y = gyre_mul (y, gyre_constant (GYRE_I32, 2));
  if (mistake == NULL_LOSS)
    return NULL;

  return mistake == VECTOR_LOSS ? y : gyre_mean (gyre_square (y));
}

static GyreTensor *
sgd (GyreTensor *param, GyreTensor *grad)
{
  return gyre_sub (param, gyre_mul_scalar (grad, 0.5));
}

static GyreTree *
step_fn (GyreTree *args, gpointer data)
{
  const Program *program = data;
  GyreTree *params = gyre_tree_get_tree (
      args, program->mistake == MISSING_ENTRY ? "parameters" : "params");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_fn, params, args, &loss, NULL);

  if (program->mistake == WRONG_AXIS)
    grads = gyre_pmean_tree (grads, "dada");
  else if (program->pmap)
    grads = gyre_pmean_tree (grads, "data");
  if (program->mistake == OTHER_STRUCTURE)
    grads = gyre_tree_build (GYRE_TENSOR_ENTRY ("v", loss), NULL);
  if (program->mistake == NO_GRADS)
    grads = NULL;
  if (program->mistake == NULL_RESULT)
    return NULL;

  return gyre_tree_build (GYRE_TREE_ENTRY ("params", gyre_tree_map2 (sgd, params, grads)),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

static GyreStep *
make_step (Program *program)
{
  g_autoptr (GError) error = NULL;
  GyreStep *step =
      program->pmap
          ? gyre_step_pmap (step_fn, mesh, "data", program->broadcast, NULL,
                            program->donate, program, NULL, &error)
          : gyre_step_jit (step_fn, mesh, program->shardings, program->donate, program,
                           NULL, &error);

  gyre_assert_no_error (error);
  current = program;
  return step;
}

/* w is ones [3, 2], or [2, 3, 2] for pmap, and x is ones. */
static GyreTree *
make_args (const Program *program)
{
  g_autoptr (GyreTree) one = gyre_tree_build (
      GYRE_NEW_ARRAY_ENTRY ("w", gyre_array_new_full (GYRE_F32, GYRE_SHAPE (3, 2), 1)),
      NULL);
  g_autoptr (GyreTree) batch = gyre_tree_build (
      GYRE_NEW_ARRAY_ENTRY ("x", gyre_array_new_full (GYRE_F32, program->x, 1)), NULL);
  g_autoptr (GyreTree) params = NULL;
  g_autoptr (GyreArray) count = gyre_array_new_scalar (GYRE_I32, 1);

  if (program->mistake == INTEGER_PARAM)
    gyre_tree_set_array (one, "count", count);
  params = program->pmap ? gyre_replicate (one, mesh, NULL) : gyre_tree_ref (one);

  return gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                          GYRE_TREE_ENTRY ("batch", batch), NULL);
}

#define JIT(mistake) \
  { mistake, FALSE, "params=, batch=data", NULL, "params", { 2, { 8, 3 } } }
#define PMAP(mistake) \
  { mistake, TRUE, NULL, NULL, "params", { 3, { 2, 4, 3 } } }

static struct
{
  Program     program;
  GyreError   code;
  const char *says[3];
} mistakes[] = {
  { PMAP (WRONG_AXIS),
    GYRE_ERROR_SHARDING,
    { "pmean: 'dada' is not a manual axis", "has: 'data'", "gyre_step_pmap ()" } },
  { JIT (WRONG_AXIS),
    GYRE_ERROR_SHARDING,
    { "pmean: 'dada'", "collectives by name are for gyre_step_pmap ()",
      "leave the collective out" } },
  { { NO_MISTAKE, TRUE, NULL, NULL, NULL, { 3, { 3, 4, 3 } } },
    GYRE_ERROR_SHARDING,
    { "argument batch/x", "leading dimension of 2", "gyre_shard_batch ()" } },
  { { NO_MISTAKE, TRUE, NULL, "lr", NULL, { 3, { 2, 4, 3 } } },
    GYRE_ERROR_TREE,
    { "'lr' is named as broadcast", "params, batch" } },
  { { NO_MISTAKE, FALSE, "bacth=data", NULL, NULL, { 2, { 8, 3 } } },
    GYRE_ERROR_TREE,
    { "'bacth' is named in the shardings", "params, batch" } },
  { { NO_MISTAKE, FALSE, "params/v=data", NULL, NULL, { 2, { 8, 3 } } },
    GYRE_ERROR_TREE,
    { "'params/v' is named in the shardings", "params, batch" } },
  { { NO_MISTAKE, FALSE, "batch=data", NULL, "parms", { 2, { 8, 3 } } },
    GYRE_ERROR_TREE,
    { "'parms' is named as donated", "params, batch" } },
  { JIT (WRONG_PATH), GYRE_ERROR_TREE, { "has no \"batch/X\"", "x: f32[8, 3]" } },
  { JIT (WRONG_KIND), GYRE_ERROR_TREE, { "\"batch\" is", "not a tensor" } },
  { JIT (OTHER_STRUCTURE), GYRE_ERROR_TREE, { "gyre_tree_map2", "differ at \"v\"" } },
  { JIT (NO_GRADS), GYRE_ERROR_TREE, { "gyre_tree_map2: the second tree is NULL" } },
  { JIT (NULL_RESULT), GYRE_ERROR_TRACE, { "returned NULL", "gyre_tree_build ()" } },
  { JIT (NULL_LOSS), GYRE_ERROR_TRACE, { "returned NULL", "the loss, f32[]" } },
  { JIT (VECTOR_LOSS),
    GYRE_ERROR_SHAPE,
    { "the loss is f32[8, 2]", "must be a scalar", "gyre_mean ()" } },
  { JIT (INTEGER_PARAM),
    GYRE_ERROR_SHAPE,
    { "\"count\" is i32[]", "only f32", "leave it out" } },
  { JIT (UNLIKE_DTYPES),
    GYRE_ERROR_SHAPE,
    { "f32[8, 2]", "i32[8, 2]", "gyre_convert ()" } },
  { JIT (UNLIKE_SHAPES), GYRE_ERROR_SHAPE, { "matmul", "f32[3, 8]", "f32[3, 2]" } },
};

START_TEST (says_what_to_do)
{
  Program *program = &mistakes[_i].program;
  g_autoptr (GyreStep) step = make_step (program);
  g_autoptr (GyreTree) args = make_args (program);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (gyre_step_run_tree (step, args, &error));
  gyre_assert_error (error, GYRE_ERROR, mistakes[_i].code);
  for (guint i = 0; i < 3 && mistakes[_i].says[i] != NULL; i++)
    gyre_assert_error_says (error, mistakes[_i].says[i]);
}
END_TEST

/* An entry that isn't there leaves the program with NULL: it is told of that, too. */
START_TEST (misses_an_entry)
{
  Program program = JIT (MISSING_ENTRY);
  g_autoptr (GyreStep) step = make_step (&program);
  g_autoptr (GyreTree) args = make_args (&program);
  g_autoptr (GError) error = NULL;
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_FATAL_MASK);

  g_test_expect_message ("Gyre", G_LOG_LEVEL_CRITICAL, "gyre_value_and_grad:*params*");
  g_test_expect_message ("Gyre", G_LOG_LEVEL_CRITICAL, "gyre_tree_map2:*");
  ck_assert_ptr_null (gyre_step_run_tree (step, args, &error));
  g_test_assert_expected_messages ();
  g_log_set_always_fatal (fatal);
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_TREE);
  gyre_assert_error_says (error, "has no \"parameters\"");
}
END_TEST

/* Without a mistake: w becomes w - 0.5 · ∂/∂w mean ((x w)²), which is 1 - 0.5 · 3. */
START_TEST (computes_without_a_mistake)
{
  Program programs[] = { JIT (NO_MISTAKE), PMAP (NO_MISTAKE) };
  Program *program = &programs[_i];
  g_autoptr (GyreStep) step = make_step (program);
  g_autoptr (GyreTree) args = make_args (program);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) result = gyre_step_run_tree (step, args, &error);

  gyre_assert_no_error (error);
  gyre_assert_near (gyre_tree_get_mean (result, "loss"), 9, 1e-5);   /* f32 */
  gyre_assert_near (gyre_tree_get_mean (result, "params/w"), -0.5, 1e-5);
}
END_TEST

START_TEST (donated_arrays_are_gone)
{
  Program program = PMAP (NO_MISTAKE);
  g_autoptr (GyreStep) step = make_step (&program);
  g_autoptr (GyreTree) args = make_args (&program);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreTree) result = gyre_step_run_tree (step, args, &error);

  gyre_assert_no_error (error);
  ck_assert_ptr_null (gyre_step_run_tree (step, args, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DONATED);
  gyre_assert_error_says (error, "argument params/w");
  gyre_assert_error_says (error, "use the step's result in its place");
}
END_TEST

/* What is on the host is copied to the devices: nothing is taken over. */
START_TEST (arrays_of_the_host_stay)
{
  Program programs[] = { JIT (NO_MISTAKE), PMAP (NO_MISTAKE) };
  Program *program = &programs[_i];
  g_autoptr (GyreStep) step = make_step (program);
  g_autoptr (GyreTree) args = gyre_tree_new_dict ();
  g_autoptr (GyreTree) made = make_args (program);
  g_autoptr (GyreArray) w = gyre_array_new_full (
      GYRE_F32, program->pmap ? GYRE_SHAPE (2, 3, 2) : GYRE_SHAPE (3, 2), 1);
  g_autoptr (GyreTree) params = gyre_tree_build (GYRE_ARRAY_ENTRY ("w", w), NULL);

  gyre_tree_set (args, "params", params);
  gyre_tree_set (args, "batch", gyre_tree_get_tree (made, "batch"));
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GyreTree) result = gyre_step_run_tree (step, args, &error);

      gyre_assert_no_error (error);
      gyre_assert_near (gyre_tree_get_mean (result, "params/w"), -0.5, 1e-5); /* f32 */
      gyre_assert_near (gyre_tree_get_mean (params, "w"), 1, 0);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = gyre_check_case (suite, "mistakes", open_mesh, close_mesh);

  tcase_add_loop_test (tcase, says_what_to_do, 0, G_N_ELEMENTS (mistakes));
  tcase_add_test (tcase, misses_an_entry);
  tcase_add_loop_test (tcase, computes_without_a_mistake, 0, 2);
  tcase_add_test (tcase, donated_arrays_are_gone);
  tcase_add_loop_test (tcase, arrays_of_the_host_stay, 0, 2);
}

GYRE_CHECK_MAIN ("mistakes", add_tests)
