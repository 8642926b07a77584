/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-trainer-private.h"

#include <math.h>

#include <json-glib/json-glib.h>

/* The report of a run that goes on tells of the whole run: what was before stands in the
 * log that the checkpoint keeps. */

/* NaN: it isn't there, or is no number, as null isn't. */
static double
read_number (JsonObject *line, const char *name)
{
  JsonNode *node = json_object_get_member (line, name);
  GType     type = node ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_DOUBLE || type == G_TYPE_INT64 ? json_node_get_double (node)
                                                       : NAN;
}

static void
add_line (GyreReport *report, JsonObject *line)
{
  double step = read_number (line, "step");

  if (json_object_has_member (line, "loss"))
    {
      if (report->losses->len == 0)
        report->first_step = isnan (step) ? 0 : (gint64) step;
      gyre_report_add_step (report, read_number (line, "loss"));
    }
  else if (json_object_has_member (line, "test_accuracy"))
    gyre_report_add_epoch (report, report->first_step + report->losses->len,
                           read_number (line, "test_accuracy"));
}

static void
add_log (GyreReport *report, const char *log)
{
  g_auto (GStrv) lines = g_strsplit (log, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    {
      g_autoptr (JsonNode) node = *lines[i] ? json_from_string (lines[i], NULL) : NULL;

      if (node && JSON_NODE_HOLDS_OBJECT (node))
        add_line (report, json_node_get_object (node));
    }
}

gboolean
gyre_trainer_open_report (GyreTrainer  *self,
                          GError      **error)
{
  const char *log = self->kept ? g_hash_table_lookup (self->kept, "log") : NULL;

  if (!(self->report = gyre_report_new (self->dataset, self->config.report, error)))
    {
      g_prefix_error (error, "--");
      return FALSE;
    }
  /* a log that was too long to be kept leaves the steps before out */
  self->report->first_step = self->n_steps;
  if (log && self->config.report)
    add_log (self->report, log);
  return TRUE;
}
