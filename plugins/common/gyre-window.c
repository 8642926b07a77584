/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-window.h"

const char *const gyre_window_paddings[] = { "SAME", "VALID", NULL };

void
gyre_window_add_padding (GyreLayerClass *klass,
                         gsize           offset,
                         const char     *value)
{
  gyre_layer_class_add_ints (
      klass, "padding",
      "What is put around the image: one number for all sides, two for the height and "
      "the width, or low and high of each",
      offset, 4, G_MININT32, G_MAXINT32, gyre_window_paddings, value);
}

gboolean
gyre_window_get_pair (GyreScope    *scope,
                      const char   *name,
                      const char   *text,
                      const gint64 *fallback,
                      gint64       *pair)
{
  guint n = gyre_layer_parse_ints (text, pair, 2);

  if (text == NULL && fallback != NULL)
    {
      pair[0] = fallback[0];
      pair[1] = fallback[1];
      return TRUE;
    }
  if (n == 1)
    pair[1] = pair[0];
  if (n > 0 && pair[0] > 0 && pair[1] > 0)
    return TRUE;

  gyre_scope_fail (scope, GYRE_ERROR_INVALID,
                   "%s=%s: it takes one or two integers from 1, such as 3,3", name,
                   text != NULL ? text : "");
  return FALSE;
}

gboolean
gyre_window_takes (GyreScope  *scope,
                   GyreTensor *x,
                   int         rank)
{
  GyreShape shape = gyre_tensor_get_shape (x);
  g_autofree char *text = gyre_shape_to_string (&shape);

  if (shape.rank == rank && gyre_tensor_get_dtype (x) == GYRE_F32)
    return TRUE;

  gyre_scope_fail (scope, GYRE_ERROR_SHAPE, "it takes f32[%s], not %s%s",
                   rank == 4 ? "samples, height, width, channels"
                             : "samples, width, channels",
                   gyre_dtype_name (gyre_tensor_get_dtype (x)), text);
  return FALSE;
}

/* One, two or four numbers to four */
static gboolean
spread_numbers (guint   n,
                gint64 *padding)
{
  if (n == 1)
    padding[1] = padding[2] = padding[3] = padding[0];
  else if (n == 2)
    {
      padding[2] = padding[3] = padding[1];
      padding[1] = padding[0];
    }

  return n == 1 || n == 2 || n == 4;
}

gboolean
gyre_window_get_padding (GyreScope    *scope,
                         const char   *text,
                         GyreTensor   *x,
                         const gint64 *window,
                         const gint64 *strides,
                         const gint64 *dilation,
                         gint64       *padding)
{
  gboolean same = g_ascii_strcasecmp (text, "SAME") == 0;

  if (same || g_ascii_strcasecmp (text, "VALID") == 0)
    {
      for (int i = 0; i < 2; i++)
        {
          padding[2 * i] = padding[2 * i + 1] = 0;
          if (same)
            gyre_padding_same (gyre_tensor_dim (x, 1 + i), window[i], strides[i],
                               dilation != NULL ? dilation[i] : 1, padding + 2 * i);
        }
      return TRUE;
    }

  if (spread_numbers (gyre_layer_parse_ints (text, padding, 4), padding))
    return TRUE;

  gyre_scope_fail (scope, GYRE_ERROR_INVALID,
                   "padding=%s: it takes SAME, VALID, or 1, 2 or 4 integers", text);
  return FALSE;
}
