/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-schedule-private.h"

#include "nn/gyre-line-private.h"
#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

/**
 * GyreSchedule:
 *
 * A number that depends on how many updates there were, such as a learning rate.
 */
G_DEFINE_ABSTRACT_TYPE (GyreSchedule, gyre_schedule, G_TYPE_OBJECT)

static void
gyre_schedule_class_init (GyreScheduleClass *klass)
{
  gyre_property_class_init (G_OBJECT_CLASS (klass));
}

static void
gyre_schedule_init (GyreSchedule *self)
{
}

static GQuark
row_quark (void)
{
  return g_quark_from_static_string ("gyre-curve-row");
}

static const GyreCurveRow *
get_row (GyreSchedule *self)
{
  return g_type_get_qdata (G_OBJECT_TYPE (self), row_quark ());
}

static GyreTensor *
gyre_curve_value (GyreSchedule *self,
                  GyreTensor   *count)
{
  return get_row (self)->value ((GyreCurve *) self, count);
}

static void
gyre_curve_class_init (gpointer klass,
                       gpointer data)
{
  const GyreCurveRow *row = data;

  GYRE_SCHEDULE_CLASS (klass)->value = gyre_curve_value;
  row->add_properties (klass);
}

static void
register_row (const GyreCurveRow *row)
{
  const GTypeInfo info = {
    .class_size = sizeof (GyreScheduleClass),
    .class_init = gyre_curve_class_init,
    .class_data = row,
    .instance_size = sizeof (GyreCurve)
  };
  GType type = g_type_register_static (GYRE_TYPE_SCHEDULE, row->type_name, &info, 0);

  g_type_set_qdata (type, row_quark (), (gpointer) row);
  gyre_registry_add (GYRE_TYPE_SCHEDULE, row->name, type, NULL, NULL);
}

static void
ensure_types (void)
{
  static gsize done = 0;

  if (!g_once_init_enter (&done))
    return;

  for (guint i = 0; i < gyre_curve_n_rows; i++)
    register_row (&gyre_curve_rows[i]);
  g_once_init_leave (&done, 1);
}

static gboolean
set_properties (GyreSchedule  *self,
                const char    *name,
                GPtrArray     *properties,
                GError       **error)
{
  for (guint i = 0; i < properties->len; i++)
    {
      const GyreLineProperty *property = g_ptr_array_index (properties, i);
      GParamSpec *pspec =
          gyre_property_find (G_OBJECT (self), name, property->name, error);

      if (pspec == NULL)
        return FALSE;
      if (!gyre_property_set_text (G_OBJECT (self), pspec, property->value, error))
        {
          g_prefix_error (error, "%s: ", name);
          return FALSE;
        }
    }

  return get_row (self)->check == NULL ||
         get_row (self)->check ((GyreCurve *) self, error);
}

/**
 * gyre_schedule_parse:
 * @text: "cosine-decay(init-value=1e-3,decay-steps=10000)"
 * @error: %GYRE_ERROR_SYNTAX, %GYRE_ERROR_UNKNOWN or %GYRE_ERROR_INVALID
 *
 * Makes a schedule of a text.
 *
 * Returns: (transfer full): a new schedule, or %NULL
 */
GyreSchedule *
gyre_schedule_parse (const char  *text,
                     GError     **error)
{
  g_autofree char *name = NULL;
  g_autoptr (GPtrArray) properties = NULL;
  g_autoptr (GyreSchedule) self = NULL;
  GType type;

  g_return_val_if_fail (text != NULL, NULL);

  ensure_types ();
  if (!gyre_line_parse_call (text, &name, &properties, error))
    return NULL;
  type = gyre_registry_find (GYRE_TYPE_SCHEDULE, "schedule", name, error);
  if (type == 0)
    return NULL;

  self = g_object_new (type, NULL);
  if (!set_properties (self, name, properties, error))
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * gyre_schedule_to_string:
 * @self: a schedule
 *
 * Returns: (transfer full): a text that gyre_schedule_parse() makes the same schedule of
 */
char *
gyre_schedule_to_string (GyreSchedule *self)
{
  GString *text;
  g_autofree GParamSpec **pspecs = NULL;
  guint n, n_given = 0;

  g_return_val_if_fail (GYRE_IS_SCHEDULE (self), NULL);

  text = g_string_new (gyre_registry_get_name (G_OBJECT_TYPE (self)));
  pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (self), &n);
  g_string_append_c (text, '(');
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = gyre_property_get_text (G_OBJECT (self), pspecs[i]);

      if (value != NULL)
        g_string_append_printf (text, "%s%s=%s", n_given++ > 0 ? "," : "",
                                pspecs[i]->name, value);
    }
  g_string_append_c (text, ')');

  return g_string_free (text, FALSE);
}

/**
 * gyre_schedule_value: (skip)
 * @self: a schedule
 * @count: i32[] or f32[]: how many updates there were
 *
 * Traces the value at a count; for use inside a traced function.
 *
 * Returns: (transfer none): f32[]
 */
GyreTensor *
gyre_schedule_value (GyreSchedule *self,
                     GyreTensor   *count)
{
  g_return_val_if_fail (GYRE_IS_SCHEDULE (self), count);
  g_return_val_if_fail (count != NULL, count);

  if (gyre_tensor_get_dtype (count) != GYRE_F32)
    count = gyre_convert (count, GYRE_F32);

  return GYRE_SCHEDULE_GET_CLASS (self)->value (self, count);
}

/**
 * gyre_schedule_type_list:
 *
 * Returns: (transfer full): the names of all schedules, sorted
 */
char **
gyre_schedule_type_list (void)
{
  ensure_types ();
  return gyre_registry_list (GYRE_TYPE_SCHEDULE);
}
