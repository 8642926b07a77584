/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-rule-private.h"

#include "nn/gyre-line-private.h"
#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

#include <string.h>

#define RATE "learning-rate"
#define RATE_SCHEDULE "learning-rate-schedule"

static gboolean
set_schedule (GObject                 *object,
              const GyreLineProperty  *property,
              GError                 **error)
{
  g_autoptr (GyreSchedule) schedule = gyre_schedule_parse (property->value, error);

  if (schedule == NULL)
    return FALSE;

  g_object_set (object, RATE_SCHEDULE, schedule, NULL);
  return TRUE;
}

/* A number, or a schedule as a call where there can be one. */
static gboolean
set_property (GObject                 *object,
              const GyreLineProperty  *property,
              GError                 **error)
{
  const char *name = gyre_registry_get_name (G_OBJECT_TYPE (object));
  GParamSpec *pspec = gyre_property_find (object, name, property->name, error);
  gboolean has_schedule;

  if (pspec == NULL)
    return FALSE;

  has_schedule =
    g_object_class_find_property (G_OBJECT_GET_CLASS (object), RATE_SCHEDULE) != NULL;
  if (g_str_equal (pspec->name, RATE) && has_schedule && strchr (property->value, '('))
    return set_schedule (object, property, error);
  if (gyre_property_set_text (object, pspec, property->value, error))
    return TRUE;

  g_prefix_error (error, "%s: ", name);
  return FALSE;
}

static GyreOptimizer *
make_optimizer (const GyreLineItem  *item,
                const char          *text,
                const char          *what,
                GError             **error)
{
  GType type = gyre_optimizer_type_find (item->name, error);
  g_autoptr (GyreOptimizer) optimizer = NULL;

  if (type == 0)
    {
      gyre_line_prefix_error (error, text, what, item->position);
      return NULL;
    }
  if (item->children != NULL || type == GYRE_TYPE_CHAIN)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                   "optimizers are chained by '!', without parentheses");
      gyre_line_prefix_error (error, text, what, item->position);
      return NULL;
    }

  optimizer = g_object_new (type, NULL);
  if (!gyre_line_set_properties (item, G_OBJECT (optimizer), set_property, text, what,
                                 error))
    return NULL;

  return g_steal_pointer (&optimizer);
}

/**
 * gyre_optimizer_parse:
 * @line: "adam learning-rate=1e-3", "clip-by-global-norm max-norm=1 ! adam", or "@FILE"
 * @error: %GYRE_ERROR_SYNTAX, %GYRE_ERROR_UNKNOWN, %GYRE_ERROR_INVALID or
 *   %GYRE_ERROR_FILE; with the column
 *
 * Makes an optimizer of a text, written as a model line is; a learning rate may be a
 * schedule, learning-rate=cosine-decay(init-value=1e-3,decay-steps=10000).
 *
 * Returns: (transfer full): an optimizer, a chain where there are several; or %NULL
 */
GyreOptimizer *
gyre_optimizer_parse (const char  *line,
                      GError     **error)
{
  g_autofree char *text = NULL;
  g_autofree char *what = NULL;
  g_autoptr (GPtrArray) items = NULL;
  g_autoptr (GyreChain) chain = NULL;

  g_return_val_if_fail (line != NULL, NULL);

  if (!gyre_line_read (line, "optimizer", &text, &what, error))
    return NULL;
  items = gyre_line_parse (text, what, error);
  if (items == NULL)
    return NULL;
  if (items->len == 1)
    return make_optimizer (g_ptr_array_index (items, 0), text, what, error);

  chain = g_object_new (GYRE_TYPE_CHAIN, NULL);
  for (guint i = 0; i < items->len; i++)
    {
      g_autoptr (GyreOptimizer) optimizer =
        make_optimizer (g_ptr_array_index (items, i), text, what, error);

      if (optimizer == NULL)
        return NULL;
      gyre_chain_add (chain, optimizer);
    }

  return GYRE_OPTIMIZER (g_steal_pointer (&chain));
}

static void
print_schedule (GString       *line,
                GyreOptimizer *self)
{
  g_autoptr (GyreSchedule) schedule = NULL;
  g_autofree char *text = NULL;

  if (!g_object_class_find_property (G_OBJECT_GET_CLASS (self), RATE_SCHEDULE))
    return;
  g_object_get (self, RATE_SCHEDULE, &schedule, NULL);
  if (schedule == NULL)
    return;

  text = gyre_schedule_to_string (schedule);
  g_string_append_printf (line, " " RATE "=%s", text);
}

static void
print_optimizer (GString       *line,
                 GyreOptimizer *self)
{
  if (GYRE_IS_CHAIN (self))
    {
      GPtrArray *list = gyre_chain_list (GYRE_CHAIN (self));

      for (guint i = 0; i < list->len; i++)
        print_optimizer (line, g_ptr_array_index (list, i));
      return;
    }

  g_string_append (line, line->len > 0 ? " ! " : "");
  gyre_line_print_object (line, G_OBJECT (self), gyre_optimizer_get_type_name (self));
  print_schedule (line, self);
}

/**
 * gyre_optimizer_to_string:
 * @self: an optimizer
 *
 * Returns: (transfer full): a line of which gyre_optimizer_parse() makes the same
 */
char *
gyre_optimizer_to_string (GyreOptimizer *self)
{
  GString *line;

  g_return_val_if_fail (GYRE_IS_OPTIMIZER (self), NULL);

  line = g_string_new (NULL);
  print_optimizer (line, self);

  return g_string_free (line, FALSE);
}
