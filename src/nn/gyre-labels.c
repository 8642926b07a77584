/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-layer.h>

/**
 * gyre_labels_check:
 * @labels: i32[n, …]
 * @n_classes: how many classes there are
 * @error: %GYRE_ERROR_DATA, with the row and the label; %GYRE_ERROR_SHAPE if they aren't
 *   i32; or what reading the array gave
 *
 * Checks that each label is from 0 to @n_classes - 1; for the place where labels enter.
 *
 * Returns: whether they are
 */
gboolean
gyre_labels_check (GyreArray  *labels,
                   gint64      n_classes,
                   GError    **error)
{
  g_autoptr (GBytes) bytes = NULL;
  const gint32 *data;
  GyreShape shape;
  gint64 n, in_row;

  g_return_val_if_fail (labels != NULL, FALSE);

  if (gyre_array_get_dtype (labels) != GYRE_I32)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "labels are %s where i32 is needed",
                   gyre_dtype_name (gyre_array_get_dtype (labels)));
      return FALSE;
    }
  bytes = gyre_array_get (labels, error);
  if (bytes == NULL)
    return FALSE;

  shape = gyre_array_get_shape (labels);
  data = g_bytes_get_data (bytes, NULL);
  n = gyre_shape_n_elements (&shape);
  in_row = shape.rank > 0 && shape.dims[0] > 0 ? n / shape.dims[0] : 1;
  for (gint64 i = 0; i < n; i++)
    if (data[i] < 0 || data[i] >= n_classes)
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA,
                     "label %d in row %" G_GINT64_FORMAT
                     " is none of the %" G_GINT64_FORMAT
                     " classes, 0 to %" G_GINT64_FORMAT,
                     data[i], i / in_row, n_classes, n_classes - 1);
        return FALSE;
      }

  return TRUE;
}
