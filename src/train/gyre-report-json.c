/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-report-private.h"

#include <json-glib/json-glib.h>

#include "base/gyre-text-private.h"

static void
append_float (GString *text, const char *name, double value)
{
  g_autofree char *number = gyre_float_to_string (value);

  g_string_append_printf (text, ",\"%s\":%s", name, number);
}

static void
append_steps (GString *text, const GyreReport *self)
{
  for (guint i = 0; i < self->losses->len; i++)
    {
      g_string_append_printf (text, "{\"step\":%" G_GINT64_FORMAT, self->first_step + i);
      append_float (text, "loss", (double) g_array_index (self->losses, float, i));
      g_string_append (text, "}\n");
    }
  for (guint i = 0; i < self->epochs->len; i++)
    {
      const GyreReportEpoch *epoch = &g_array_index (self->epochs, GyreReportEpoch, i);

      g_string_append_printf (text, "{\"epoch\":%u,\"steps\":%" G_GINT64_FORMAT, i,
                              epoch->n_steps);
      append_float (text, "test_accuracy", epoch->accuracy);
      g_string_append (text, "}\n");
    }
}

/* "predicted" has a number for each class, and one for all others. */
static void
append_class (GString *text, const GyreReport *self, gint64 label)
{
  g_autoptr (JsonNode) node = json_node_init_string (
      json_node_alloc (), gyre_dataset_get_class_name (self->dataset, label));
  g_autofree char     *name = json_to_string (node, FALSE);

  g_string_append_printf (text, "{\"class\":%" G_GINT64_FORMAT ",\"name\":%s,\"n\":%"
                          G_GINT64_FORMAT ",\"right\":%" G_GINT64_FORMAT, label, name,
                          self->n_of[label], self->right_of[label]);
  append_float (text, "recall", gyre_report_get_recall ((GyreReport *) self, label));
  if (self->counts)
    for (gint64 i = 0; i <= self->n_classes; i++)
      g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i ? "," : ",\"predicted\":[",
                              gyre_report_get_count (self, label, i));
  g_string_append (text, self->counts ? "]}\n" : "}\n");
}

static void
append_worst (GString *text, const GyrePrediction *one)
{
  g_string_append_printf (text, "{\"index\":%" G_GINT64_FORMAT
                          ",\"label\":%d,\"predicted\":%d", one->index, one->label,
                          one->predicted);
  append_float (text, "probability", one->probability);
  append_float (text, "loss", one->loss);
  g_string_append (text, "}\n");
}

char *
gyre_report_to_json (const GyreReport *self)
{
  GString *text = g_string_new (NULL);

  append_steps (text, self);
  for (gint64 i = 0; self->n_tested > 0 && i < self->n_classes; i++)
    append_class (text, self, i);
  for (guint i = 0; i < self->n_worst; i++)
    append_worst (text, &self->worst[i]);
  return g_string_free (text, FALSE);
}
