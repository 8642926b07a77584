/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/gyre-trace-private.h"

#include "base/gyre-tree-private.h"

static char *
tensor_to_string (gconstpointer leaf)
{
  const GyreTensor *tensor = leaf;
  g_autofree char *shape = gyre_shape_to_string (&tensor->shape);

  return g_strdup_printf ("%s%s", gyre_dtype_name (tensor->dtype), shape);
}

GyreTrace *
gyre_trace_new (void)
{
  static gsize is_known;
  GyreTrace *self = g_new0 (GyreTrace, 1);

  if (g_once_init_enter (&is_known))
    {
      gyre_tree_set_tensor_to_string (tensor_to_string);
      g_once_init_leave (&is_known, 1);
    }

  self->graph = gyre_graph_new ();
  self->arena = gyre_arena_new ();

  return self;
}

void
gyre_trace_free (GyreTrace *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->result_leaves, g_ptr_array_unref);
  g_clear_pointer (&self->result_paths, g_ptr_array_unref);
  g_clear_pointer (&self->arg_paths, g_ptr_array_unref);
  gyre_tree_unref (self->results);
  gyre_tree_unref (self->args);
  gyre_arena_free (self->arena);
  gyre_graph_free (self->graph);
  g_free (self);
}

void
gyre_trace_add_axis (GyreTrace  *self,
                     const char *name,
                     guint       size,
                     gboolean    manual,
                     gboolean    ragged)
{
  GyreGraph *graph;

  g_return_if_fail (self != NULL && name != NULL && size > 0);
  g_return_if_fail (self->args == NULL);

  graph = self->graph;
  g_return_if_fail (graph->n_axes < GYRE_MAX_AXES);

  graph->axes[graph->n_axes++] =
      (GyreAxis) { g_intern_string (name), size, manual, ragged };
}

/* The arguments as the function sees them; the owner is the trace. */
static GyreTree *
make_args (GyreTrace       *self,
           GyreTree        *args,
           const GyreAval  *avals,
           GError         **error)
{
  g_autoptr (GPtrArray) leaves = gyre_tree_flatten (args, &self->arg_paths);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();

  for (guint i = 0; i < leaves->len; i++)
    {
      const char *path = g_ptr_array_index (self->arg_paths, i);
      GyreTensor *input =
          gyre_graph_input (self->graph, path, avals[i].dtype, &avals[i].shape);

      g_ptr_array_add (tensors, gyre_tree_new_tensor (input));
    }

  return gyre_tree_unflatten (args, tensors, error);
}

static gboolean
check_leaf (GyreTree    *leaf,
            const char  *path,
            GHashTable  *known,
            GError     **error)
{
  if (gyre_tree_get_kind (leaf) == GYRE_TREE_ARRAY
      || g_hash_table_contains (known, gyre_tree_as_tensor (leaf)))
    return TRUE;

  g_set_error (
      error, GYRE_ERROR, GYRE_ERROR_TRACE,
      "the result \"%s\" is a tensor of another traced function: return what this "
      "one computes, and pass other values in as arguments",
      path);

  return FALSE;
}

/* The tensors of the results become outputs.  A foreign tensor may be gone, so that
 * nothing is read through the pointer before it is known. */
static gboolean
take_results (GyreTrace  *self,
              GyreTree   *results,
              GError    **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->graph->nodes->len; i++)
    g_hash_table_add (known, g_ptr_array_index (self->graph->nodes, i));

  self->results = gyre_tree_ref (results);
  self->result_leaves = gyre_tree_flatten (results, &self->result_paths);

  for (guint i = 0; i < self->result_leaves->len; i++)
    {
      GyreTree *leaf = g_ptr_array_index (self->result_leaves, i);

      if (!check_leaf (leaf, g_ptr_array_index (self->result_paths, i), known, error))
        return FALSE;
      if (gyre_tree_get_kind (leaf) == GYRE_TREE_TENSOR)
        gyre_graph_add_output (self->graph, gyre_tree_as_tensor (leaf));
    }

  return TRUE;
}

static gboolean
run_func (GyreTrace       *self,
          GyreStepFunc     func,
          gpointer         data,
          GyreTree        *args,
          const GyreAval  *avals,
          GError         **error)
{
  GyreTree *tensors = make_args (self, args, avals, error);
  GyreTree *results;

  if (tensors == NULL)
    return FALSE;
  self->args = gyre_tree_ref (tensors);

  results = func (self->args, data);
  if (self->graph->error != NULL)
    {
      g_propagate_error (error, g_error_copy (self->graph->error));
      return FALSE;
    }
  if (results == NULL)
    {
      g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_TRACE,
                           "the traced function returned NULL: it must return a tree of "
                           "tensors, as of gyre_tree_build ()");
      return FALSE;
    }

  return take_results (self, results, error);
}

/* Takes it. */
static GyreTensor *
keep_error (GError *error)
{
  return gyre_graph_fail (gyre_graph_get_current (), error);
}

gboolean
gyre_trace_run (GyreTrace       *self,
                GyreStepFunc     func,
                gpointer         data,
                GyreTree        *args,
                const GyreAval  *avals,
                GError         **error)
{
  gboolean done;

  g_return_val_if_fail (self != NULL && func != NULL && args != NULL, FALSE);
  g_return_val_if_fail (self->args == NULL, FALSE);
  g_return_val_if_fail (avals != NULL || gyre_tree_n_leaves (args) == 0, FALSE);

  gyre_tree_set_keep_error (keep_error);
  gyre_graph_push (self->graph);
  gyre_owner_push (self->arena);
  done = run_func (self, func, data, args, avals, error);
  gyre_owner_pop ();
  gyre_graph_pop ();

  return done;
}

GyreTree *
gyre_trace_unflatten (GyreTrace  *self,
                      GPtrArray  *outputs,
                      GError    **error)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  guint next = 0;

  g_return_val_if_fail (self != NULL && self->results != NULL, NULL);
  g_return_val_if_fail (outputs != NULL, NULL);

  for (guint i = 0; i < self->result_leaves->len; i++)
    {
      GyreTree *leaf = g_ptr_array_index (self->result_leaves, i);

      if (gyre_tree_get_kind (leaf) == GYRE_TREE_TENSOR)
        {
          g_return_val_if_fail (next < outputs->len, NULL);
          leaf = g_ptr_array_index (outputs, next++);
        }
      g_ptr_array_add (leaves, leaf);
    }
  g_return_val_if_fail (next == outputs->len, NULL);

  return gyre_tree_unflatten (self->results, leaves, error);
}
