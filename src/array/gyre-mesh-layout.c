/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-mesh-private.h"

#include <gyre/gyre-error.h>

#include "base/gyre-text-private.h"

/* One "name=size"; a size of 0 stands for "*". */
static gboolean
parse_axis (const char  *layout,
            const char  *text,
            GyreAxis    *axis,
            GError     **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  gint64 size = 0;

  if (g_strv_length (parts) != 2 || *g_strstrip (parts[0]) == '\0')
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                   "mesh layout '%s': '%s' is not NAME=SIZE, such as data=2 or data=*",
                   layout, text);
      return FALSE;
    }

  g_strstrip (parts[1]);
  if (!g_str_equal (parts[1], "*")
      && !gyre_text_parse_int (parts[1], 1, 4096, &size, NULL))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                   "mesh layout '%s': the size of axis %s is '%s', not a number of 1 or "
                   "more, or *", layout, parts[0], parts[1]);
      return FALSE;
    }

  axis->name = g_intern_string (parts[0]);
  axis->size = (guint) size;
  return TRUE;
}

static gboolean
check_names (const char      *layout,
             guint            n_axes,
             const GyreAxis  *axes,
             GError         **error)
{
  for (guint i = 0; i < n_axes; i++)
    for (guint j = 0; j < i; j++)
      if (axes[i].name == axes[j].name)
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                       "mesh layout '%s': axis %s stands twice", layout, axes[i].name);
          return FALSE;
        }

  return TRUE;
}

/* Gives the one "*" what the others leave. */
static gboolean
fill_sizes (const char  *layout,
            guint        n_devices,
            guint        n_axes,
            GyreAxis    *axes,
            GError     **error)
{
  guint n = 1;
  int star = -1;

  for (guint i = 0; i < n_axes; i++)
    if (axes[i].size == 0 && star < 0)
      star = (int) i;
    else if (axes[i].size > 0)
      n *= axes[i].size;

  if (star >= 0 && n_devices % n == 0)
    axes[star].size = n_devices / n;
  for (guint i = 0; i < n_axes; i++)
    if (axes[i].size == 0)
      {
        g_set_error (
            error, GYRE_ERROR, GYRE_ERROR_SHARDING,
            "mesh layout '%s' can't be laid out on %u device%s: at most one size "
            "is *, and the others divide the number of devices",
            layout, n_devices, n_devices == 1 ? "" : "s");
        return FALSE;
      }

  if (star < 0 && n != n_devices)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                   "mesh layout '%s' asks for %u devices, and there are %u",
                   layout, n, n_devices);
      return FALSE;
    }

  return TRUE;
}

gboolean
gyre_mesh_parse_layout (const char  *layout,
                        guint        n_devices,
                        guint       *n_axes,
                        GyreAxis    *axes,
                        GError     **error)
{
  g_auto (GStrv) parts = g_strsplit (layout, ",", -1);
  guint n = g_strv_length (parts);

  if (n == 0 || n > GYRE_MAX_AXES)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                   "mesh layout '%s' has %u axes, not 1 to %d", layout, n, GYRE_MAX_AXES);
      return FALSE;
    }

  for (guint i = 0; i < n; i++)
    if (!parse_axis (layout, parts[i], &axes[i], error))
      return FALSE;

  *n_axes = n;
  return check_names (layout, n, axes, error)
         && fill_sizes (layout, n_devices, n, axes, error);
}
