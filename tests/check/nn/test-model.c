/* SPDX-License-Identifier: Apache-2.0 */
#include "gyre-check.h"

#include <math.h>
#include <string.h>

#include <gyre/gyre.h>

#include "ir/gyre-prim-private.h"
#include "nn/gyre-init-private.h"

static GyreLayer *
parse (const char *line)
{
  g_autoptr (GError) error = NULL;
  GyreLayer *model = gyre_model_parse (line, &error);

  gyre_assert_no_error (error);
  return model;
}

static GyreTree *
init (const char *line,
      GyreShape   shape,
      GyreDtype   dtype)
{
  g_autoptr (GyreLayer) model = parse (line);
  g_autoptr (GError) error = NULL;
  GyreTree *trees = gyre_model_init (model, shape, dtype, gyre_key_new (0), &error);

  gyre_assert_no_error (error);
  return trees;
}

static const struct
{
  const char *line;
  const char *paths;
} named[] = {
  { "dense features=3", "dense_0/bias dense_0/kernel" },
  { "dense features=3 ! relu ! dense features=2 use-bias=false",
    "dense_0/bias dense_0/kernel dense_1/kernel" },
  { "sequential ( dense features=3 ) ! dense features=2 ! sequential ( dense features=1 "
    ")",
    "dense_0/bias dense_0/kernel sequential_0/dense_0/bias sequential_0/dense_0/kernel "
    "sequential_1/dense_0/bias sequential_1/dense_0/kernel" },
  { "relu", "" },
  { "residual ( dense features=5 ! relu ) ! dense features=1 use-bias=false",
    "dense_0/kernel residual_0/dense_0/bias residual_0/dense_0/kernel" },
  { "repeat times=2 ( dense features=5 use-bias=false ! residual ( dense features=5 "
    "use-bias=false ) )",
    "repeat_0/0/dense_0/kernel repeat_0/0/residual_0/dense_0/kernel "
    "repeat_0/1/dense_0/kernel repeat_0/1/residual_0/dense_0/kernel" },
  { "dense features=4 name=head use-bias=false ! dense features=5 use-bias=false",
    "dense_1/kernel head/kernel" },
};

START_TEST (names_parameters_by_path)
{
  g_autoptr (GyreTree) trees = init (named[_i].line, GYRE_SHAPE (2, 5), GYRE_F32);
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves =
    gyre_tree_flatten (gyre_tree_get_tree (trees, "params"), &paths);
  g_autofree char *joined = NULL;

  g_ptr_array_add (paths, NULL);
  joined = g_strjoinv (" ", (char **) paths->pdata);
  ck_assert_str_eq (joined, named[_i].paths);
  ck_assert_uint_eq (gyre_tree_n_leaves (gyre_tree_get_tree (trees, "state")), 0);
  g_ptr_array_unref (paths);
}
END_TEST

/* The kernel is a normal cut at 2 deviations, of variance 1 / fan-in, drawn from
 * fold_in (root, crc32 (path)): crc32 of "dense_1/kernel" is that of zlib. */
START_TEST (begins_as_jax_does)
{
  g_autoptr (GyreTree) trees =
      init ("flatten ! dense features=512 ! relu ! dense features=10",
            GYRE_SHAPE (1, 28, 28, 1), GYRE_F32);
  GyreArray *kernel = gyre_tree_get_array (trees, "params/dense_1/kernel");
  GyreArray *bias = gyre_tree_get_array (trees, "params/dense_1/bias");
  GyreShape shape = gyre_array_get_shape (kernel);
  g_autoptr (GBytes) bytes = gyre_array_get (kernel, NULL);
  g_autoptr (GBytes) zeros = gyre_array_get (bias, NULL);
  g_autofree float *drawn = g_new (float, 512 * 10);
  const float *numbers = g_bytes_get_data (bytes, NULL);
  float scale = sqrtf (1.0f / 512) / 0.87962566103423978f;
  double squares = 0;

  ck_assert (gyre_shape_equal (&shape, &GYRE_SHAPE (512, 10)));
  gyre_key_truncated_normal (gyre_key_fold_in (gyre_key_new (0), 0xf712fb51), -2, 2,
                             512 * 10, drawn);
  for (int i = 0; i < 512 * 10; i++)
    {
      ck_assert (numbers[i] == drawn[i] * scale);
      squares += (double) numbers[i] * numbers[i];
    }
  /* the deviation of 5120 draws is within 4 % of what was asked for, at four sigma */
  gyre_assert_near (sqrt (squares / 5120), sqrt (1.0 / 512), 0.04 * sqrt (1.0 / 512));

  for (int i = 0; i < 10; i++)
    ck_assert (((const float *) g_bytes_get_data (zeros, NULL))[i] == 0);
}
END_TEST

static const struct
{
  GyreInit init;
  double   mean;
  double   deviation;
  double   limit;     /* of the magnitude */
} initial[] = {
  { { GYRE_INIT_ONES, 0 }, 1, 0, 1 },
  { { GYRE_INIT_CONSTANT, 0.25 }, 0.25, 0, 0.25 },
  { { GYRE_INIT_NORMAL, 0.5 }, 0, 0.5, 4 },
  { { GYRE_INIT_UNIFORM, 2 }, 1, 0.57735, 2 },
  { { GYRE_INIT_TRUNCATED_NORMAL, 1 }, 0, 0.87963, 2 },
  { { GYRE_INIT_LECUN_NORMAL, 0 }, 0, 0.1, 0.22737 },
  { { GYRE_INIT_LECUN_UNIFORM, 0 }, 0, 0.1, 0.17321 },
  { { GYRE_INIT_GLOROT_NORMAL, 0 }, 0, 0.081650, 0.18565 },
  { { GYRE_INIT_GLOROT_UNIFORM, 0 }, 0, 0.081650, 0.14143 },
  { { GYRE_INIT_HE_NORMAL, 0 }, 0, 0.141421, 0.32155 },
  { { GYRE_INIT_HE_UNIFORM, 0 }, 0, 0.141421, 0.24495 },
  { { GYRE_INIT_ORTHOGONAL, 2 }, 0, 0.2, 2 },
};

/* 4 * 25 in, 4 * 50 out; means and deviations of 5000 draws, at five sigma */
START_TEST (draws_from_the_distribution)
{
  GyreShape shape = GYRE_SHAPE (2, 2, 25, 50);
  g_autoptr (GError) error = NULL;
  g_autofree float *numbers =
    gyre_init_make (&initial[_i].init, &shape, gyre_key_new (7), &error);
  double sum = 0, squares = 0, mean;

  gyre_assert_no_error (error);
  for (int i = 0; i < 5000; i++)
    {
      ck_assert_msg (fabs ((double) numbers[i]) <= initial[_i].limit, "%g",
                     (double) numbers[i]);
      sum += (double) numbers[i];
    }
  mean = sum / 5000;
  for (int i = 0; i < 5000; i++)
    squares += pow ((double) numbers[i] - mean, 2);
  gyre_assert_near (mean, initial[_i].mean,
                    5 * initial[_i].deviation / sqrt (5000) + 1e-9);
  gyre_assert_near (sqrt (squares / 5000), initial[_i].deviation,
                    0.05 * initial[_i].deviation + 1e-9);
}
END_TEST

static const GyreShape matrices[] = {
  { 2, { 7, 4 } }, { 2, { 4, 7 } }, { 2, { 5, 5 } }, { 3, { 2, 3, 4 } }, { 2, { 1, 6 } },
};

/* Rows and columns that are fewer are orthogonal and as long as the scale. */
START_TEST (orthogonal_is)
{
  const GyreShape *shape = &matrices[_i];
  GyreInit init = { GYRE_INIT_ORTHOGONAL, 3 };
  g_autofree float *a = gyre_init_make (&init, shape, gyre_key_new (1), NULL);
  int columns = (int) shape->dims[shape->rank - 1];
  int rows = (int) gyre_shape_n_elements (shape) / columns;
  int n = MAX (rows, columns), k = MIN (rows, columns);

  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++)
      {
        double dot = 0;

        for (int l = 0; l < n; l++)
          dot += rows >= columns ? (double) a[l * k + i] * (double) a[l * k + j]
                                 : (double) a[i * n + l] * (double) a[j * n + l];
        gyre_assert_near (dot, i == j ? 9 : 0, 1e-5);
      }
}
END_TEST

/* Of one column Q is the normal draw itself, as long as the scale: R is positive. */
START_TEST (orthogonal_keeps_signs)
{
  GyreShape shape = GYRE_SHAPE (6, 1);
  GyreInit init = { GYRE_INIT_ORTHOGONAL, 1 };
  g_autofree float *a = gyre_init_make (&init, &shape, gyre_key_new (1), NULL);
  float drawn[6];

  gyre_key_normal (gyre_key_new (1), 6, drawn);
  for (int i = 0; i < 6; i++)
    ck_assert (a[i] * drawn[i] > 0);
}
END_TEST

START_TEST (needs_two_dimensions_for_a_fan)
{
  GyreShape shape = GYRE_SHAPE (5);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (gyre_init_make (&gyre_init_lecun_normal, &shape, gyre_key_new (0),
                                      &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "[5]");
}
END_TEST

START_TEST (names_the_layer_that_refuses)
{
  g_autoptr (GyreLayer) model = parse ("flatten ! sequential ( dense features=3 )");
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (
      gyre_model_init (model, GYRE_SHAPE (1, 4, 4), GYRE_U8, gyre_key_new (0), &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (error, "sequential_0/dense_0: it takes f32");
  gyre_assert_error_says (error, "u8[1, 16]");
}
END_TEST

static const struct
{
  const char *line;
  const char *says;
} refused[] = {
  { "dense features=4 ! repeat times=2 ( residual ( dense features=3 ) )",
    "repeat_0/0/residual_0: it adds its input, f32[2, 4], to what the layers inside make "
    "of it, f32[2, 3]" },
  { "dense features=4 name=a ! dense features=4 name=a", "a: two layers have this name" },
  { "dense features=4 ! dense features=4 name=dense_0", "dense_0: two layers" },
  { "dense features=4 name=a/b", "name=a/b: a layer's name is a part of a path" },
};

START_TEST (refuses_shapes_and_names)
{
  g_autoptr (GyreLayer) model = parse (refused[_i].line);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (
      gyre_model_init (model, GYRE_SHAPE (2, 5), GYRE_F32, gyre_key_new (0), &error));
  ck_assert_ptr_nonnull (error);
  gyre_assert_error_says (error, refused[_i].says);
}
END_TEST

START_TEST (prints_containers_as_they_were_read)
{
  const char *line = "repeat times=2 ( residual ( dense name=a features=4 ! relu ) )";
  g_autoptr (GyreLayer) model = parse (line);
  g_autofree char *printed = gyre_model_to_string (model);

  ck_assert_str_eq (printed, line);
}
END_TEST

/* Applies a model to x f32[2, 3] with the parameters of another model. */
static GError *
apply_with (const char *line,
            const char *initialised,
            gboolean    training)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GyreTree) trees = init (initialised, GYRE_SHAPE (2, 3), GYRE_F32);
  g_autoptr (GyreLayer) model = parse (line);
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves =
    gyre_tree_flatten (gyre_tree_get_tree (trees, "params"), &paths);
  GyreTree *params;

  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
  params = gyre_tree_new_dict ();
  for (guint i = 0; i < leaves->len; i++)
    {
      GyreShape shape = gyre_array_get_shape (gyre_tree_as_array (leaves->pdata[i]));

      gyre_tree_set_path (params, paths->pdata[i],
                          gyre_tree_new_tensor (gyre_graph_input (graph, paths->pdata[i],
                                                                  GYRE_F32, &shape)));
    }
  gyre_model_apply (model, params, NULL,
                    gyre_graph_input (graph, "x", GYRE_F32, &GYRE_SHAPE (2, 3)), training,
                    NULL, NULL);
  gyre_graph_pop ();
  gyre_owner_pop ();
  g_ptr_array_unref (paths);

  return graph->error != NULL ? g_error_copy (graph->error) : NULL;
}

START_TEST (says_which_parameter_does_not_fit)
{
  g_autoptr (GError) none = apply_with ("dense features=4", "dense features=4", TRUE);
  g_autoptr (GError) missing = apply_with ("dense features=4", "relu", TRUE);
  g_autoptr (GError) shape = apply_with ("dense features=4", "dense features=5", TRUE);

  gyre_assert_no_error (none);
  gyre_assert_error (missing, GYRE_ERROR, GYRE_ERROR_TREE);
  gyre_assert_error_says (missing, "there is no parameter \"dense_0/kernel\"");
  gyre_assert_error (shape, GYRE_ERROR, GYRE_ERROR_SHAPE);
  gyre_assert_error_says (shape, "\"dense_0/kernel\" is f32[3, 5]");
  gyre_assert_error_says (shape, "f32[3, 4]");
}
END_TEST

START_TEST (asks_for_a_key_in_training_only)
{
  g_autoptr (GError) training = apply_with ("relu ! dropout", "relu", TRUE);
  g_autoptr (GError) evaluation = apply_with ("relu ! dropout", "relu", FALSE);

  gyre_assert_error (training, GYRE_ERROR, GYRE_ERROR_INVALID);
  gyre_assert_error_says (training, "dropout_0: it draws random numbers");
  gyre_assert_no_error (evaluation);
}
END_TEST

START_TEST (finds_the_label_that_is_out_of_range)
{
  static const gint32 numbers[] = { 0, 9, 3, 10, -1, 2 };
  g_autoptr (GyreArray) bad = gyre_array_new (GYRE_I32, GYRE_SHAPE (6), numbers);
  g_autoptr (GyreArray) good = gyre_array_new (GYRE_I32, GYRE_SHAPE (3), numbers);
  g_autoptr (GyreArray) pairs = gyre_array_new (GYRE_I32, GYRE_SHAPE (3, 2), numbers);
  g_autoptr (GyreArray) floats = gyre_array_new (GYRE_F32, GYRE_SHAPE (3), numbers);
  g_autoptr (GError) error = NULL;

  ck_assert (gyre_labels_check (good, 10, &error));
  gyre_assert_no_error (error);

  ck_assert (!gyre_labels_check (bad, 10, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_DATA);
  gyre_assert_error_says (error, "label 10 in row 3 is none of the 10 classes, 0 to 9");
  g_clear_error (&error);

  ck_assert (!gyre_labels_check (pairs, 10, &error));
  gyre_assert_error_says (error, "label 10 in row 1");
  g_clear_error (&error);

  ck_assert (!gyre_labels_check (floats, 10, &error));
  gyre_assert_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add_loop (suite, "paths", names_parameters_by_path, G_N_ELEMENTS (named));
  gyre_check_add (suite, "jax", begins_as_jax_does);
  gyre_check_add_loop (suite, "draws", draws_from_the_distribution,
                       G_N_ELEMENTS (initial));
  gyre_check_add_loop (suite, "orthogonal", orthogonal_is, G_N_ELEMENTS (matrices));
  gyre_check_add (suite, "signs", orthogonal_keeps_signs);
  gyre_check_add (suite, "fan", needs_two_dimensions_for_a_fan);
  gyre_check_add (suite, "refusal", names_the_layer_that_refuses);
  gyre_check_add_loop (suite, "refused", refuses_shapes_and_names,
                       G_N_ELEMENTS (refused));
  gyre_check_add (suite, "containers", prints_containers_as_they_were_read);
  gyre_check_add (suite, "parameters", says_which_parameter_does_not_fit);
  gyre_check_add (suite, "key", asks_for_a_key_in_training_only);
  gyre_check_add (suite, "labels", finds_the_label_that_is_out_of_range);
}

GYRE_CHECK_MAIN ("model", add_tests)
