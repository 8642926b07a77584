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

/* NULL: a schedule of a plugin */
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
  gyre_registry_add (GYRE_TYPE_SCHEDULE, row->name, type, NULL);
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
  g_autoptr (GyreSchedule) self = NULL;
  const GyreCurveRow *row;

  g_return_val_if_fail (text != NULL, NULL);

  ensure_types ();
  self = (GyreSchedule *) gyre_line_make_call (text, GYRE_TYPE_SCHEDULE, "schedule",
                                               error);
  row = self != NULL ? get_row (self) : NULL;
  if (row != NULL && row->check != NULL && !row->check ((GyreCurve *) self, error))
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
  g_return_val_if_fail (GYRE_IS_SCHEDULE (self), NULL);

  return gyre_line_print_call (G_OBJECT (self));
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
 * gyre_schedule_type_find:
 * @name: a name in lines, such as "cosine-decay"
 * @error: %GYRE_ERROR_UNKNOWN, with the nearest name there is; %GYRE_ERROR_PLUGIN
 *
 * Returns: the type, whose plugin is loaded now if it is of one; 0 on error
 */
GType
gyre_schedule_type_find (const char  *name,
                         GError     **error)
{
  g_return_val_if_fail (name != NULL, 0);

  ensure_types ();
  return gyre_registry_find (GYRE_TYPE_SCHEDULE, "schedule", name, error);
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
