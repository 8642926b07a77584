/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>
#include <string.h>

/* tanh (x w1 + b1) w2 + b2, mean squared error, SGD. */

#define LEARNING_RATE 0.01
#define INIT_SCALE    0.1f
#define ROWS_A_DEVICE 64     /* pmap */
#define ROWS          256    /* mesh, all devices together */

/* losses 2e-6 relative at step 0, 1e-4 after; parameters 1e-5 absolute */
#define BOUND_FIRST  2e-6
#define BOUND_LOSS   1e-4
#define BOUND_PARAM  1e-5

typedef struct
{
  Reference  *reference;
  JsonArray  *seeds;      /* of the parameters, X and y */
  JsonArray  *losses;
  JsonObject *final;
  const char *axis;       /* pmap: its axis; NULL: mesh */
  guint       n_devices;
  gint64      n_rows, n_in, n_hidden, n_out;
} Run;

static GyreTensor *
loss_func (GyreTree  *params,
           GyreTree **aux,
           gpointer   data)
{
  GyreTree *args = data;
  GyreTensor *x = gyre_tree_get_tensor (args, "x");
  GyreTensor *hidden =
    gyre_tanh (gyre_add (gyre_matmul (x, gyre_tree_get_tensor (params, "w1")),
                         gyre_tree_get_tensor (params, "b1")));
  GyreTensor *out = gyre_add (gyre_matmul (hidden, gyre_tree_get_tensor (params, "w2")),
                              gyre_tree_get_tensor (params, "b2"));

  return gyre_mse (out, gyre_tree_get_tensor (args, "y"));
}

static void
descend (const char *path,
         GyreTree   *leaf,
         gpointer    data)
{
  GyreTree **trees = data;   /* gradients, parameters after */
  GyreTensor *grad = gyre_tree_get_tensor (trees[0], path);
  GyreTensor *step = gyre_mul_scalar (grad, LEARNING_RATE);

  gyre_tree_set_tensor (trees[1], path, gyre_sub (gyre_tree_as_tensor (leaf), step));
}

/* {params, x, y} → {params, loss} */
static GyreTree *
trace_step (GyreTree *args,
            gpointer  data)
{
  const Run *run = data;
  GyreTree *params = gyre_tree_get_tree (args, "params");
  GyreTensor *loss;
  GyreTree *grads = gyre_value_and_grad (loss_func, params, args, &loss, NULL);
  GyreTree *trees[2];

  if (run->axis != NULL)
    {
      grads = gyre_pmean_tree (grads, run->axis);
      loss = gyre_pmean (loss, run->axis);
    }
  trees[0] = grads;
  trees[1] = gyre_tree_new_dict ();
  gyre_tree_foreach (params, descend, trees);

  return gyre_tree_build (GYRE_TREE_ENTRY ("params", trees[1]),
                          GYRE_TENSOR_ENTRY ("loss", loss), NULL);
}

/* An array with numbers of its own, or with a copy of them for each device. */
static GyreArray *
make_array (const Run *run,
            gboolean   copy,
            gint64     rows,
            gint64     columns,
            float     *numbers)
{
  gint64 n = (gint64) run->n_devices;
  gsize size = (gsize) (rows * MAX (columns, 1)) * sizeof (float);
  g_autofree char *copies = NULL;
  GyreShape shape = columns > 0 ? GYRE_SHAPE (rows, columns) : GYRE_SHAPE (rows);

  if (run->axis == NULL)
    return gyre_array_new (GYRE_F32, shape, numbers);

  memmove (shape.dims + 1, shape.dims, sizeof shape.dims[0] * (GYRE_MAX_RANK - 1));
  shape.rank++;
  shape.dims[0] = n;
  if (!copy)
    {
      shape.dims[1] = rows / n;
      return gyre_array_new (GYRE_F32, shape, numbers);
    }

  copies = g_malloc (size * (gsize) n + 1);
  for (gint64 i = 0; i < n; i++)
    memcpy (copies + (gsize) i * size, numbers, size);

  return gyre_array_new (GYRE_F32, shape, copies);
}

static void
set_normal (const Run  *run,
            GyreTree   *tree,
            const char *name,
            gboolean    copy,
            gint64      rows,
            gint64      columns,
            GyreKey     key,
            float       scale)
{
  gsize n = (gsize) (rows * MAX (columns, 1));
  g_autofree float *numbers = g_new0 (float, n + 1);
  g_autoptr (GyreArray) array = NULL;

  if (scale != 0)
    gyre_key_normal (key, n, numbers);
  for (gsize i = 0; i < n; i++)
    numbers[i] *= scale;
  array = make_array (run, copy, rows, columns, numbers);
  gyre_tree_set_array (tree, name, array);
}

static GyreKey
seed_key (const Run *run,
          guint      i)
{
  return gyre_key_new ((guint64) json_array_get_int_element (run->seeds, i));
}

static GyreTree *
make_params (const Run *run)
{
  GyreTree *params = gyre_tree_new_dict ();
  GyreKey keys[2];

  gyre_key_split (seed_key (run, 0), 2, keys);
  set_normal (run, params, "w1", TRUE, run->n_in, run->n_hidden, keys[0], INIT_SCALE);
  set_normal (run, params, "b1", TRUE, run->n_hidden, 0, keys[0], 0);
  set_normal (run, params, "w2", TRUE, run->n_hidden, run->n_out, keys[1], INIT_SCALE);
  set_normal (run, params, "b2", TRUE, run->n_out, 0, keys[1], 0);

  return params;
}

/* In pmap form every device has the same loss. */
static gboolean
compare_loss (const Run *run,
              Deviation *worst,
              guint      step,
              GyreArray *loss,
              GError   **error)
{
  gsize n;
  g_autofree double *numbers = reference_numbers (loss, &n, error);
  double expected = (float) json_array_get_double_element (run->losses, step);
  double bound = (step == 0 ? BOUND_FIRST : BOUND_LOSS) * fabs (expected);

  if (numbers == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    deviation_add (worst, "losses", step, numbers[i], expected, bound);

  return TRUE;
}

static gboolean
compare_params (const Run *run,
                Deviation *worst,
                GyreTree  *params,
                GError   **error)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, run->final);
  while (json_object_iter_next (&iter, &name, &node))
    {
      gsize n, n_expected;
      g_autoptr (GyreArray) expected = reference_array (node, GYRE_F32, error);
      g_autofree double *numbers =
        reference_numbers (gyre_tree_get_array (params, name), &n, error);
      g_autofree double *references =
        expected != NULL ? reference_numbers (expected, &n_expected, error) : NULL;

      if (numbers == NULL || references == NULL)
        return FALSE;
      for (gsize i = 0; i < n; i++)
        deviation_add (worst, name, i, numbers[i], references[i % n_expected],
                       BOUND_PARAM);
    }

  return TRUE;
}

static gboolean
run_steps (const Run     *run,
           ReferenceStep *step,
           Deviation     *worst,
           GError       **error)
{
  g_autoptr (GyreTree) params = make_params (run);
  g_autoptr (GyreTree) data = gyre_tree_new_dict ();

  set_normal (run, data, "x", FALSE, run->n_rows, run->n_in, seed_key (run, 1), 1);
  set_normal (run, data, "y", FALSE, run->n_rows, run->n_out, seed_key (run, 2), 1);
  for (guint i = 0; i < json_array_get_length (run->losses); i++)
    {
      g_autoptr (GyreTree) args =
        gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                         GYRE_TREE_ENTRY ("x", gyre_tree_get_tree (data, "x")),
                         GYRE_TREE_ENTRY ("y", gyre_tree_get_tree (data, "y")), NULL);
      g_autoptr (GyreTree) results = reference_step_run (step, args, error);

      if (results == NULL ||
          !compare_loss (run, worst, i, gyre_tree_get_array (results, "loss"), error))
        return FALSE;
      gyre_tree_unref (params);
      params = gyre_tree_ref (gyre_tree_get_tree (results, "params"));
    }

  return compare_params (run, worst, params, error);
}

static void
set_sizes (Run *run)
{
  gint64 n_w1 = json_array_get_length (json_object_get_array_member (run->final, "w1"));

  run->n_hidden = json_array_get_length (json_object_get_array_member (run->final, "b1"));
  run->n_out = json_array_get_length (json_object_get_array_member (run->final, "b2"));
  run->n_in = n_w1 / MAX (run->n_hidden, 1);
}

static void
check_run (Run                    *run,
           const char             *name,
           const ReferenceProgram *program)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ReferenceStep) step = reference_step_new (run->reference, program, &error);
  Deviation worst = { 0 };

  set_sizes (run);
  if (step != NULL && run_steps (run, step, &worst, &error))
    reference_report (run->reference, name, &worst);
  else
    reference_error (run->reference, name, error);
}

static void
check_pmap (Run        *run,
            const char *name,
            const char *text)
{
  g_autofree char *layout = g_strdup_printf ("data=%s", text);
  ReferenceProgram program = { .func = trace_step, .data = run, .layout = layout,
                               .manual = TRUE, .donate = "params" };

  run->axis = "data";
  run->n_devices = reference_layout_n (layout);
  run->n_rows = (gint64) run->n_devices * ROWS_A_DEVICE;
  check_run (run, name, &program);
}

/* w1 and b1 split by columns over tp where there is such an axis, w2 by rows. */
static void
check_mesh (Run        *run,
            const char *name,
            const char *layout)
{
  gboolean is_tensor = strstr (layout, "tp=") != NULL;
  ReferenceProgram program = {
    .func = trace_step, .data = run, .layout = layout, .donate = "params",
    .shardings = is_tensor ? "params/w1=,tp,params/b1=tp,params/w2=tp,x=dp,y=dp"
                           : "params=,x=dp,y=dp"
  };

  run->axis = NULL;
  run->n_devices = reference_layout_n (layout);
  run->n_rows = ROWS;
  check_run (run, name, &program);
}

static void
check_each (Reference  *self,
            JsonObject *root,
            const char *form,
            void      (*check) (Run        *run,
                                const char *name,
                                const char *text))
{
  JsonObjectIter iter;
  const char *text;
  JsonNode *node;

  if (!json_object_has_member (root, form))
    return;

  json_object_iter_init (&iter, json_object_get_object_member (root, form));
  while (json_object_iter_next (&iter, &text, &node))
    {
      g_autofree char *name = g_strdup_printf ("seed_mlp/%s.%s", form, text);
      JsonObject *object = json_node_get_object (node);
      Run run = { .reference = self,
                  .seeds = json_object_get_array_member (root, "seeds"),
                  .losses = json_object_get_array_member (object, "losses"),
                  .final = json_object_get_object_member (object, "final") };

      if (reference_wants (self, name))
        check (&run, name, text);
    }
}

void
reference_check_seed_mlp (Reference *self)
{
  g_autoptr (JsonParser) parser = NULL;
  JsonNode *root = reference_load (self, "seed_mlp.json", &parser);

  if (root == NULL)
    return;

  check_each (self, json_node_get_object (root), "pmap", check_pmap);
  check_each (self, json_node_get_object (root), "mesh", check_mesh);
}
