/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-survey-private.h"

#include <string.h>

#include "base/gyre-tree-private.h"
#include "ir/gyre-prim-private.h"
#include "nn/gyre-scope-private.h"

static void
survey_free (gpointer data)
{
  GyreLayerSurvey *self = data;

  g_free (self->path);
  g_free (self);
}

static GyreLayerSurvey *
find_row (GPtrArray  *rows,
          const char *path,
          gsize       length)
{
  for (guint i = 0; i < rows->len; i++)
    {
      GyreLayerSurvey *row = g_ptr_array_index (rows, i);

      if (strlen (row->path) == length && strncmp (row->path, path, length) == 0)
        return row;
    }

  return NULL;
}

static GPtrArray *
make_rows (GPtrArray *applied)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (survey_free);

  for (guint i = 0; i < applied->len; i++)
    {
      const GyreApplied *layer = g_ptr_array_index (applied, i);
      GyreLayerSurvey *row = g_new0 (GyreLayerSurvey, 1);

      row->path = g_strdup (layer->path);
      row->dtype = layer->y->dtype;
      row->shape = layer->y->shape;
      for (guint k = i + 1; k < applied->len; k++)
        row->is_inner |= ((const GyreApplied *) applied->pdata[k])->y == layer->y;
      g_ptr_array_add (rows, row);
    }

  return rows;
}

static void
count_declarations (GPtrArray *rows,
                    GPtrArray *declarations)
{
  for (guint i = 0; i < declarations->len; i++)
    {
      const GyreDeclaration *declaration = g_ptr_array_index (declarations, i);
      const char *slash = strrchr (declaration->path, '/');
      GyreLayerSurvey *row =
        slash != NULL ? find_row (rows, declaration->path, slash - declaration->path)
                      : NULL;
      gint64 n = gyre_shape_n_elements (&declaration->shape);

      if (row != NULL && declaration->kind == GYRE_SCOPE_PARAM)
        row->n_params += n;
      else if (row != NULL)
        row->n_state += n;
    }
}

static void
count_flops (GPtrArray       *rows,
             const GyreGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (graph->nodes, i);
      GyreLayerSurvey *row = find_row (rows, node->path, strlen (node->path));

      if (row != NULL && node->prim->cost != NULL)
        row->flops += node->prim->cost (node);
    }
}

GPtrArray *
gyre_model_survey (GyreLayer        *model,
                   const GyreShape  *input,
                   GyreDtype         dtype,
                   GError          **error)
{
  g_autoptr (GyreGraph) graph = gyre_graph_new ();
  g_autoptr (GPtrArray) declarations = g_ptr_array_new ();
  g_autoptr (GPtrArray) applied = g_ptr_array_new ();
  GyreModelScope scope = { .graph = graph, .declarations = declarations,
                           .applied = applied };
  GPtrArray *rows;

  gyre_owner_push (graph->arena);
  gyre_graph_push (graph);
  gyre_model_scope_apply (&scope, model, gyre_graph_input (graph, "x", dtype, input));
  gyre_graph_pop ();
  gyre_owner_pop ();
  if (graph->error != NULL)
    {
      g_propagate_error (error, g_error_copy (graph->error));
      return NULL;
    }

  rows = make_rows (applied);
  count_declarations (rows, declarations);
  count_flops (rows, graph);

  return rows;
}
