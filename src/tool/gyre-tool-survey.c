/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/gyre-tool-private.h"

#include <string.h>

#include <gyre/gyre-dataset.h>
#include <gyre/gyre-layer.h>

#include "nn/gyre-survey-private.h"

/* gyre inspect 'MODEL LINE': a line a layer. */

/* "28,28,1" behind the batch */
static gboolean
parse_input (const char  *text,
             gint64       batch_size,
             GyreShape   *shape,
             GError     **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  guint n = g_strv_length (parts);

  *shape = (GyreShape) { .rank = (int) n + 1, .dims = { batch_size } };
  for (guint i = 0; i < n && n < GYRE_MAX_RANK; i++)
    if (!g_ascii_string_to_signed (parts[i], 10, 1, G_MAXINT32, &shape->dims[i + 1],
                                   NULL))
      n = 0;
  if (n > 0 && n < GYRE_MAX_RANK)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "--input %s: it takes the sizes of a sample, such as 28,28,1", text);
  return FALSE;
}

static gboolean
find_input (const char  *data,
            const char  *input,
            gint64       batch_size,
            GyreShape   *shape,
            GError     **error)
{
  g_autoptr (GyreDataset) dataset = NULL;

  if (input != NULL)
    return parse_input (input, batch_size, shape, error);

  dataset = gyre_dataset_open (data, error);
  if (dataset == NULL)
    return FALSE;

  *shape = gyre_dataset_get_batch_shape (dataset, batch_size);
  return TRUE;
}

/* "1.61 M": three digits and a prefix */
static char *
print_amount (double      amount,
              const char *unit)
{
  static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  guint i = 0;

  while (amount >= 999.5 && i + 1 < G_N_ELEMENTS (prefixes))
    {
      amount /= 1000;
      i++;
    }
  g_ascii_formatd (text, sizeof text, amount < 10 && i > 0   ? "%.2f"
                                      : amount < 100 && i > 0 ? "%.1f"
                                                              : "%.0f", amount);

  return g_strdup_printf ("%s %s%s", text, prefixes[i], unit);
}

static void
print_row (int         width,
           const char *path,
           const char *shape,
           gint64      n_params,
           double      flops,
           double      bytes)
{
  g_autofree char *cost = print_amount (flops, "FLOP");
  g_autofree char *memory = print_amount (bytes, "B");

  g_print ("%-*s  %-20s %12" G_GINT64_FORMAT "  %12s  %10s\n", width, path, shape,
           n_params, cost, memory);
}

static double
get_bytes (const GyreLayerSurvey *row)
{
  double result = (double) gyre_shape_n_elements (&row->shape) *
                  (double) gyre_dtype_size (row->dtype);

  return (row->is_inner ? 0 : result) + 4.0 * (row->n_params + row->n_state);
}

static void
print_table (GPtrArray       *rows,
             const GyreShape *input)
{
  GyreLayerSurvey sum = { 0 };
  double bytes = 4.0 * gyre_shape_n_elements (input);
  g_autofree char *from = gyre_shape_to_string (input);
  int width = 5;

  for (guint i = 0; i < rows->len; i++)
    {
      const GyreLayerSurvey *row = g_ptr_array_index (rows, i);

      width = MAX (width, (int) strlen (row->path));
    }

  g_print ("%-*s  %-20s %12s  %12s  %10s\n", width, "layer", "output", "parameters",
           "forward", "memory");
  print_row (width, "x", from, 0, 0, bytes);
  for (guint i = 0; i < rows->len; i++)
    {
      const GyreLayerSurvey *row = g_ptr_array_index (rows, i);
      g_autofree char *shape = gyre_shape_to_string (&row->shape);

      print_row (width, row->path, shape, row->n_params, row->flops, get_bytes (row));
      sum.n_params += row->n_params;
      sum.flops += row->flops;
      bytes += get_bytes (row);
    }
  print_row (width, "all", "", sum.n_params, sum.flops, bytes);
  g_print ("\nforward: of one batch; with the gradients about three times that.\n"
           "memory: a layer's result, parameters and statistics.\n");
}

int
gyre_tool_survey (const char *line,
                  const char *data,
                  const char *input,
                  gint64      batch_size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GyreLayer) model = gyre_model_parse (line, &error);
  g_autoptr (GPtrArray) rows = NULL;
  GyreShape shape;

  if (model == NULL || !find_input (data, input, batch_size, &shape, &error))
    return gyre_tool_fail ("inspect", GYRE_TOOL_USAGE, error);

  rows = gyre_model_survey (model, &shape, GYRE_F32, &error);
  if (rows == NULL)
    return gyre_tool_fail ("inspect", GYRE_TOOL_FAILED, error);

  print_table (rows, &shape);
  return GYRE_TOOL_OK;
}
