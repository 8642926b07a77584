/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>

/* 1e-6 relative or 1e-7 absolute */
static double
find_bound (double expected)
{
  return MAX (1e-6 * fabs (expected), 1e-7);
}

static gboolean
compare (Deviation  *worst,
         const char *what,
         GyreArray  *array,
         GyreArray  *expected,
         GError    **error)
{
  gsize n, n_expected;
  g_autofree double *numbers = reference_numbers (array, &n, error);
  g_autofree double *references = reference_numbers (expected, &n_expected, error);

  if (numbers == NULL || references == NULL)
    return FALSE;
  if (n != n_expected)
    deviation_add (worst, "number of values", 0, (double) n, (double) n_expected, 0);
  for (gsize i = 0; i < MIN (n, n_expected); i++)
    deviation_add (worst, what, i, numbers[i], references[i],
                   find_bound (references[i]));

  return TRUE;
}

/* Optimizers */

/* {params, opt_state, grads} → {params, opt_state} */
static GyreTree *
trace_update (GyreTree *args,
              gpointer  optimizer)
{
  GyreTree *params = gyre_tree_get_tree (args, "params"), *state = NULL;
  GyreTree *updates =
    gyre_optimizer_update (optimizer, gyre_tree_get_tree (args, "grads"),
                           gyre_tree_get_tree (args, "opt_state"), params, &state);

  params = gyre_apply_updates (params, updates);

  return gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                          GYRE_TREE_ENTRY ("opt_state", state), NULL);
}

static gboolean
compare_trees (Deviation  *worst,
               guint       update,
               GyreTree   *tree,
               GyreTree   *expected,
               GError    **error)
{
  GPtrArray *paths;
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (expected, &paths);
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < leaves->len; i++)
    {
      g_autofree char *what = g_strdup_printf ("update %u: %s", update,
                                               (char *) g_ptr_array_index (paths, i));

      ok = compare (worst, what, gyre_tree_get_array (tree, g_ptr_array_index (paths, i)),
                    gyre_tree_as_array (g_ptr_array_index (leaves, i)), error);
    }
  g_ptr_array_unref (paths);

  return ok;
}

/* One update with the gradients grads; args are what the step takes next. */
static GyreTree *
update (ReferenceStep *step,
        GyreTree      *params,
        GyreTree      *state,
        JsonObject    *grads,
        GError       **error)
{
  g_autoptr (GyreTree) tree = reference_tree (grads, error);
  g_autoptr (GyreTree) args = NULL;

  if (tree == NULL)
    return NULL;

  args = gyre_tree_build (GYRE_TREE_ENTRY ("params", params),
                          GYRE_TREE_ENTRY ("opt_state", state),
                          GYRE_TREE_ENTRY ("grads", tree), NULL);

  return reference_step_run (step, args, error);
}

static gboolean
run_updates (ReferenceStep  *step,
             GyreOptimizer  *optimizer,
             JsonObject     *root,
             JsonArray      *expected,
             Deviation      *worst,
             GError        **error)
{
  JsonArray *grads = json_object_get_array_member (root, "grads");
  g_autoptr (GyreTree) params =
    reference_tree (json_object_get_object_member (root, "params"), error);
  g_autoptr (GyreTree) state = NULL;

  if (params == NULL)
    return FALSE;

  state = gyre_optimizer_init (optimizer, params);
  for (guint i = 0; i < json_array_get_length (expected); i++)
    {
      g_autoptr (GyreTree) results =
        update (step, params, state, json_array_get_object_element (grads, i), error);
      g_autoptr (GyreTree) after =
        reference_tree (json_array_get_object_element (expected, i), error);

      if (results == NULL || after == NULL ||
          !compare_trees (worst, i, gyre_tree_get_tree (results, "params"), after, error))
        return FALSE;
      gyre_tree_unref (params);
      gyre_tree_unref (state);
      params = gyre_tree_ref (gyre_tree_get_tree (results, "params"));
      state = gyre_tree_ref (gyre_tree_get_tree (results, "opt_state"));
    }

  return TRUE;
}

static void
check_optimizer (Reference  *self,
                 const char *name,
                 const char *run,
                 JsonObject *root,
                 JsonArray  *expected)
{
  g_autofree char *line = reference_optimizer_line (run);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreOptimizer) optimizer = gyre_optimizer_parse (line, &error);
  ReferenceProgram program = { .func = trace_update, .data = optimizer,
                               .donate = "params,opt_state" };
  g_autoptr (ReferenceStep) step = NULL;
  Deviation worst = { 0 };

  if (optimizer != NULL)
    step = reference_step_new (self, &program, &error);
  if (step != NULL && run_updates (step, optimizer, root, expected, &worst, &error))
    reference_report (self, name, &worst);
  else
    reference_error (self, name, error);
}

/* Schedules */

static GyreTree *
trace_schedule (GyreTree *args,
                gpointer  schedule)
{
  GyreTensor *count = gyre_tree_get_tensor (args, "count");
  GyreTensor *value = gyre_schedule_value (schedule, count);

  return gyre_tree_build (GYRE_TENSOR_ENTRY ("value", value), NULL);
}

static gboolean
run_schedule (ReferenceStep  *step,
              JsonArray      *counts,
              JsonArray      *expected,
              Deviation      *worst,
              GError        **error)
{
  for (guint i = 0; i < json_array_get_length (counts); i++)
    {
      gint32 count = (gint32) json_array_get_int_element (counts, i);
      double reference = (float) json_array_get_double_element (expected, i);
      g_autoptr (GyreArray) array = gyre_array_new (GYRE_I32, GYRE_SCALAR, &count);
      g_autoptr (GyreTree) args =
        gyre_tree_build (GYRE_ARRAY_ENTRY ("count", array), NULL);
      g_autoptr (GyreTree) results = reference_step_run (step, args, error);
      double value;

      if (results == NULL ||
          !gyre_array_get_scalar (gyre_tree_get_array (results, "value"), &value, error))
        return FALSE;
      deviation_add (worst, "values", i, value, reference, find_bound (reference));
    }

  return TRUE;
}

static void
check_schedule (Reference  *self,
                const char *name,
                const char *text,
                JsonObject *root,
                JsonArray  *expected)
{
  g_autofree char *line = reference_schedule_line (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreSchedule) schedule = gyre_schedule_parse (line, &error);
  ReferenceProgram program = { .func = trace_schedule, .data = schedule };
  g_autoptr (ReferenceStep) step = NULL;
  Deviation worst = { 0 };

  if (schedule != NULL)
    step = reference_step_new (self, &program, &error);
  if (step != NULL &&
      run_schedule (step, json_object_get_array_member (root, "schedule_steps"), expected,
                    &worst, &error))
    reference_report (self, name, &worst);
  else
    reference_error (self, name, error);
}

static void
check_each (Reference  *self,
            JsonObject *root,
            const char *member,
            const char *prefix,
            void      (*check) (Reference  *self,
                                const char *name,
                                const char *text,
                                JsonObject *root,
                                JsonArray  *expected))
{
  JsonObjectIter iter;
  const char *text;
  JsonNode *node;

  if (!json_object_has_member (root, member))
    return;

  json_object_iter_init (&iter, json_object_get_object_member (root, member));
  while (json_object_iter_next (&iter, &text, &node))
    {
      g_autofree char *name = g_strconcat (prefix, text, NULL);

      if (reference_wants (self, name))
        check (self, name, text, root, json_node_get_array (node));
    }
}

void
reference_check_optimizers (Reference *self)
{
  g_autoptr (JsonParser) parser = NULL;
  JsonNode *root = reference_load (self, "optimizers.json", &parser);

  if (root == NULL)
    return;

  check_each (self, json_node_get_object (root), "runs", "optimizers/", check_optimizer);
  check_each (self, json_node_get_object (root), "schedules", "schedules/",
              check_schedule);
}
