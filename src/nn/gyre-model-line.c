/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-layer.h>

#include "nn/gyre-line-private.h"
#include "nn/gyre-sequential-private.h"

/* What is being read, for messages. */
typedef struct
{
  const char *text;
  const char *name;
} Source;

static gboolean add_items (GPtrArray *items, GyreLayer *parent, const Source *source,
                           GError **error);

static gboolean
add_children (const GyreLineItem  *item,
              GyreLayer           *layer,
              const Source        *source,
              GError             **error)
{
  if (item->children == NULL)
    return TRUE;

  if (GYRE_LAYER_GET_CLASS (layer)->add_child == NULL)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                   "%s holds no layers: no parentheses", item->name);
      gyre_line_prefix_error (error, source->text, source->name, item->position);
      return FALSE;
    }

  return add_items (item->children, layer, source, error);
}

static GyreLayer *
make_layer (const GyreLineItem  *item,
            const Source        *source,
            GError             **error)
{
  GType type = gyre_layer_type_find (item->name, error);
  g_autoptr (GyreLayer) layer = NULL;

  if (type == 0)
    {
      gyre_line_prefix_error (error, source->text, source->name, item->position);
      return NULL;
    }

  layer =
      (GyreLayer *) gyre_line_make_object (item, type, source->text, source->name, error);
  if (layer == NULL || !add_children (item, layer, source, error))
    return NULL;

  return g_steal_pointer (&layer);
}

static gboolean
add_items (GPtrArray     *items,
           GyreLayer     *parent,
           const Source  *source,
           GError       **error)
{
  for (guint i = 0; i < items->len; i++)
    {
      g_autoptr (GyreLayer) layer =
          make_layer (g_ptr_array_index (items, i), source, error);

      if (layer == NULL)
        return FALSE;
      GYRE_LAYER_GET_CLASS (parent)->add_child (parent, layer);
    }

  return TRUE;
}

/**
 * gyre_model_parse:
 * @line: a model line, "flatten ! dense features=512 ! relu", or "@FILE" that holds one
 * @error: %GYRE_ERROR_SYNTAX, %GYRE_ERROR_UNKNOWN (a layer or property, with the nearest
 *   name or a list), %GYRE_ERROR_INVALID (a value, with what the property takes) or
 *   %GYRE_ERROR_FILE; with the column
 *
 * Makes a model of a text: layers with their properties, '!' between them, the layers
 * inside a container in parentheses, and comments from '#' to the end of the line.
 * Numbers don't depend on the locale.
 *
 * Returns: (transfer full): the layers one after the other, or %NULL
 */
GyreLayer *
gyre_model_parse (const char  *line,
                  GError     **error)
{
  g_autofree char *text = NULL;
  g_autofree char *name = NULL;
  g_autoptr (GPtrArray) items = NULL;
  g_autoptr (GyreLayer) model = NULL;
  Source source;

  g_return_val_if_fail (line != NULL, NULL);

  if (!gyre_line_read (line, "model", &text, &name, error))
    return NULL;
  items = gyre_line_parse (text, name, error);
  if (items == NULL)
    return NULL;

  source = (Source) { text, name };
  model = g_object_new (GYRE_TYPE_SEQUENTIAL, NULL);
  if (!add_items (items, model, &source, error))
    return NULL;

  return g_steal_pointer (&model);
}

static void print_children (GString *line, GyreLayer *layer);

static void
print_layer (GString   *line,
             GyreLayer *layer)
{
  gyre_line_print_object (line, G_OBJECT (layer), gyre_layer_get_type_name (layer));
  if (GYRE_LAYER_GET_CLASS (layer)->children == NULL)
    return;

  g_string_append (line, " ( ");
  print_children (line, layer);
  g_string_append (line, " )");
}

static void
print_children (GString   *line,
                GyreLayer *layer)
{
  GPtrArray *children = GYRE_LAYER_GET_CLASS (layer)->children (layer);

  for (guint i = 0; i < children->len; i++)
    {
      g_string_append (line, i > 0 ? " ! " : "");
      print_layer (line, g_ptr_array_index (children, i));
    }
}

/**
 * gyre_model_to_string:
 * @model: a model
 *
 * Returns: (transfer full): a line that gyre_model_parse() makes the same model of;
 *   properties that have their defaults are left out
 */
char *
gyre_model_to_string (GyreLayer *model)
{
  GString *line;

  g_return_val_if_fail (GYRE_IS_LAYER (model), NULL);

  line = g_string_new (NULL);
  if (GYRE_IS_SEQUENTIAL (model))
    print_children (line, model);
  else
    print_layer (line, model);

  return g_string_free (line, FALSE);
}
