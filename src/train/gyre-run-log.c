/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-run-log-private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include <gyre/gyre-error.h>

#include "base/gyre-text-private.h"

struct _GyreRunLog
{
  FILE    *file;    /* NULL: writes nothing */
  char    *path;
  GString *text;    /* all that was written, or NULL */
  char    *header;
  int      failed;  /* the errno of the first write that failed */
};

/* --- writing --- */

GyreRunLog *
gyre_run_log_new (const char  *path,
                  GError     **error)
{
  GyreRunLog *self = g_new0 (GyreRunLog, 1);

  if (!path)
    return self;
  self->path = g_strdup (path);
  self->file = g_fopen (path, "w");
  if (self->file)
    return self;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: the log can't be written: %s",
               path, g_strerror (errno));
  gyre_run_log_free (self);
  return NULL;
}

void
gyre_run_log_free (GyreRunLog *self)
{
  if (!self)
    return;
  if (self->file)
    fclose (self->file);
  if (self->text)
    g_string_free (self->text, TRUE);
  g_free (self->header);
  g_free (self->path);
  g_free (self);
}

gboolean
gyre_run_log_close (GyreRunLog  *self,
                    GError     **error)
{
  if (self->file)
    {
      if (fclose (self->file) != 0 && !self->failed)
        self->failed = errno;
      self->file = NULL;
    }
  return gyre_run_log_check (self, error);
}

gboolean
gyre_run_log_check (GyreRunLog  *self,
                    GError     **error)
{
  if (!self->failed)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: the log can't be written whole: %s", self->path,
               g_strerror (self->failed));
  return FALSE;
}

static void
put_text (GyreRunLog *self, const char *text)
{
  if (self->text)
    g_string_append (self->text, text);
  if (self->file && (fputs (text, self->file) < 0 || fflush (self->file) != 0))
    self->failed = self->failed ? self->failed : errno;
}

/* A line at a time, so that a run can be watched. */
static void
put_line (GyreRunLog *self, GString *line)
{
  g_string_append_c (line, '\n');
  put_text (self, line->str);
}

static void
append_string (GString *line, const char *name, const char *value)
{
  g_autoptr (JsonNode) node = json_node_init_string (json_node_alloc (), value);
  g_autofree char     *text = json_to_string (node, FALSE);

  g_string_append_printf (line, "\"%s\":%s", name, text);
}

static void
append_float (GString *line, const char *name, double value)
{
  g_autofree char *text = gyre_float_to_string (value);

  g_string_append_printf (line, "\"%s\":%s", name, text);
}

static void
append_devices (GString *line, const GyreRunHeader *header)
{
  guint member = 0;

  g_string_append (line, "\"devices\":[");
  for (guint i = 0; i < header->devices->len; i++)
    {
      GyreDevice *device = g_ptr_array_index (header->devices, i);
      gboolean    used   = header->plan->used[i];

      g_string_append (line, i ? ",{" : "{");
      append_string (line, "name", gyre_device_get_name (device));
      g_string_append_c (line, ',');
      append_string (line, "platform", gyre_device_get_platform (device));
      g_string_append_c (line, ',');
      append_string (line, "driver", gyre_device_get_driver_version (device));
      g_string_append_printf (line, ",\"benched\":%s,", used ? "false" : "true");
      append_float (line, "share", used ? header->plan->shares[member] : 0.0);
      g_string_append_c (line, '}');
      member += used;
    }
  g_string_append (line, "],\"shares\":[");
  for (guint i = 0; i < header->plan->n_devices; i++)
    {
      g_autofree char *share = gyre_float_to_string (header->plan->shares[i]);

      g_string_append_printf (line, "%s%s", i ? "," : "", share);
    }
  g_string_append_c (line, ']');
}

static GString *
make_header (const GyreRunHeader *header)
{
  GString *line = g_string_new ("{");
  const struct { const char *name, *value; } texts[] = {
    { "mesh", header->mesh }, { "mode", header->mode }, { "data", header->data },
    { "model", header->model }, { "optimizer", header->optimizer },
    { "loss_function", header->loss },
  };

  append_devices (line, header);
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_string_append_c (line, ',');
      append_string (line, texts[i].name, texts[i].value);
    }
  g_string_append_printf (line, ",\"batch_size\":%" G_GINT64_FORMAT ",\"epochs\":%"
                          G_GINT64_FORMAT ",\"seed\":%" G_GUINT64_FORMAT,
                          header->batch_size, header->epochs, header->seed);
  if (header->accumulate > 1)
    g_string_append_printf (line, ",\"accumulate\":%" G_GINT64_FORMAT,
                            header->accumulate);
  if (header->validation > 0.0)
    {
      g_string_append_c (line, ',');
      append_float (line, "validation", header->validation);
    }
  if (header->augment && !g_str_equal (header->augment, "none"))
    {
      g_string_append_c (line, ',');
      append_string (line, "augment", header->augment);
    }
  g_string_append_c (line, '}');
  return line;
}

void
gyre_run_log_header (GyreRunLog          *self,
                     const GyreRunHeader *header)
{
  g_autoptr (GString) line = make_header (header);

  g_free (self->header);
  self->header = g_strdup (line->str);
  put_line (self, line);
}

void
gyre_run_log_resume (GyreRunLog    *self,
                     const char    *text,
                     GyreRunHeader *header,
                     gint64         kept_epochs)
{
  g_autoptr (GString) line   = NULL;
  gint64              epochs = header->epochs;
  const char         *rest   = text ? strchr (text, '\n') : NULL;

  header->epochs = kept_epochs;
  line           = make_header (header);
  header->epochs = epochs;
  if (!rest)
    gyre_run_log_header (self, header);
  else if (strlen (line->str) == (gsize) (rest - text) &&
           g_str_has_prefix (text, line->str))
    {
      gyre_run_log_header (self, header);
      put_text (self, rest + 1);
    }
  else
    {
      put_text (self, text);
      gyre_run_log_header (self, header);
    }
}

void
gyre_run_log_keep_text (GyreRunLog *self)
{
  if (!self->text)
    self->text = g_string_new (NULL);
}

const char *
gyre_run_log_get_text (const GyreRunLog *self)
{
  return self->text ? self->text->str : "";
}

char *
gyre_run_log_dup_header (const GyreRunLog *self)
{
  return g_strdup (self->header);
}

void
gyre_run_log_step (GyreRunLog *self,
                   gint64      step,
                   gint64      epoch,
                   double      loss)
{
  g_autoptr (GString) line = g_string_new (NULL);

  g_string_printf (line, "{\"step\":%" G_GINT64_FORMAT ",\"epoch\":%" G_GINT64_FORMAT ",",
                   step, epoch);
  append_float (line, "loss", loss);
  g_string_append_c (line, '}');
  put_line (self, line);
}

void
gyre_run_log_epoch (GyreRunLog *self,
                    gint64      epoch,
                    double      mean_loss,
                    double      test_accuracy,
                    const double *validation_accuracy,
                    double      seconds)
{
  g_autoptr (GString) line = g_string_new (NULL);

  g_string_printf (line, "{\"epoch\":%" G_GINT64_FORMAT ",", epoch);
  append_float (line, "mean_loss", mean_loss);
  g_string_append_c (line, ',');
  append_float (line, "test_accuracy", test_accuracy);
  if (validation_accuracy)
    {
      g_string_append_c (line, ',');
      append_float (line, "validation_accuracy", *validation_accuracy);
    }
  g_string_append_c (line, ',');
  append_float (line, "seconds", seconds);
  g_string_append_c (line, '}');
  put_line (self, line);
}

/* --- reading a plan back --- */

void
gyre_run_plan_clear (GyreRunPlan *self)
{
  g_clear_pointer (&self->shares, g_free);
  g_clear_pointer (&self->benched, g_strfreev);
  g_clear_pointer (&self->used, g_free);
}

static gboolean
bad_plan (const char *path, const char *why, GError **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "--plan %s: %s; it must be the --log of a run on the same devices", path,
               why);
  return FALSE;
}

static JsonNode *
parse_line (const char *line, const char *path, GError **error)
{
  JsonNode *node = json_from_string (line, NULL);

  if (node && JSON_NODE_HOLDS_OBJECT (node))
    return node;
  g_clear_pointer (&node, json_node_unref);
  bad_plan (path, "its first line is no JSON object", error);
  return NULL;
}

/* NULL: it isn't there, or is no text. */
static const char *
read_text (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node) : NULL;
}

/* -1: it isn't there, or is no number. */
static double
read_share (JsonObject *object)
{
  JsonNode *node = json_object_get_member (object, "share");
  GType     type = node ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_DOUBLE || type == G_TYPE_INT64 ? json_node_get_double (node)
                                                       : -1.0;
}

static gboolean
same_device (JsonNode *node, GyreDevice *device, gboolean *benched, double *share)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonNode   *flag;

  if (!object ||
      g_strcmp0 (read_text (object, "name"), gyre_device_get_name (device)) != 0 ||
      g_strcmp0 (read_text (object, "platform"), gyre_device_get_platform (device)) != 0)
    return FALSE;
  flag     = json_object_get_member (object, "benched");
  *benched = flag && json_node_get_value_type (flag) == G_TYPE_BOOLEAN &&
             json_node_get_boolean (flag);
  *share   = read_share (object);
  return TRUE;
}

static gboolean
read_devices (GyreRunPlan  *self,
              JsonArray    *array,
              const char   *path,
              GPtrArray    *devices,
              GError      **error)
{
  double sum = 0.0;

  self->used   = g_new0 (gboolean, devices->len);
  self->shares = g_new0 (double, devices->len);
  for (guint i = 0; i < devices->len; i++)
    {
      gboolean benched;
      double   share;

      if (!same_device (json_array_get_element (array, i), g_ptr_array_index (devices, i),
                        &benched, &share))
        return bad_plan (path, "its devices are others", error);
      if (benched)
        continue;
      if (!(share >= 0.0 && share <= 1.0))
        return bad_plan (path, "a share is no number from 0 to 1", error);
      sum                             += share;
      self->used[i]                    = TRUE;
      self->shares[self->n_devices++] = share;
    }
  if (!(sum > 0.0))
    return bad_plan (path, "no device of it takes part", error);
  return TRUE;
}

gboolean
gyre_run_plan_parse (GyreRunPlan  *self,
                     const char   *line,
                     const char   *origin,
                     GPtrArray    *devices,
                     GError      **error)
{
  g_autoptr (JsonNode) node = parse_line (line, origin, error);
  JsonNode            *member;

  if (!node)
    return FALSE;
  self->n_opened = devices->len;
  member = json_object_get_member (json_node_get_object (node), "devices");
  if (!member || !JSON_NODE_HOLDS_ARRAY (member) ||
      json_array_get_length (json_node_get_array (member)) != devices->len)
    return bad_plan (origin, "it has not as many devices", error);
  return read_devices (self, json_node_get_array (member), origin, devices, error);
}

gboolean
gyre_run_plan_read (GyreRunPlan  *self,
                    const char   *path,
                    GPtrArray    *devices,
                    GError      **error)
{
  g_autofree char   *text  = NULL;
  g_autoptr (GError) inner = NULL;
  char              *end;

  if (!g_file_get_contents (path, &text, NULL, &inner))
    return bad_plan (path, inner->message, error);
  if ((end = strchr (text, '\n')))
    *end = '\0';
  return gyre_run_plan_parse (self, text, path, devices, error);
}
