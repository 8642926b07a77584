/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-shape.h>

/**
 * gyre_shape_n_elements:
 * @shape: a shape
 *
 * The product of the extents: 1 for a scalar, 0 if any extent is 0.
 *
 * Returns: the number of elements, or -1 if an extent is negative or the product
 *   is larger than %G_MAXINT64
 */
gint64
gyre_shape_n_elements (const GyreShape *shape)
{
  gint64 n = 1;
  gboolean overflow = FALSE;

  g_return_val_if_fail (shape != NULL, -1);
  g_return_val_if_fail (shape->rank >= 0 && shape->rank <= GYRE_MAX_RANK, -1);

  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return -1;

  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] == 0)
      return 0;

  for (int i = 0; i < shape->rank && !overflow; i++)
    {
      overflow = n > G_MAXINT64 / shape->dims[i];
      n = overflow ? -1 : n * shape->dims[i];
    }

  return n;
}

/**
 * gyre_shape_equal:
 * @a: a shape
 * @b: a shape
 *
 * What stands past the rank doesn't matter.
 *
 * Returns: whether rank and extents are the same
 */
gboolean
gyre_shape_equal (const GyreShape *a,
                  const GyreShape *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->rank != b->rank)
    return FALSE;

  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i])
      return FALSE;

  return TRUE;
}

/**
 * gyre_shape_to_string:
 * @shape: a shape
 *
 * Writes a shape as "[3, 4]"; that of a scalar is "[]".
 *
 * Returns: (transfer full): the text
 */
char *
gyre_shape_to_string (const GyreShape *shape)
{
  GString *string;

  g_return_val_if_fail (shape != NULL, NULL);

  string = g_string_new ("[");
  for (int i = 0; i < shape->rank; i++)
    g_string_append_printf (string, i > 0 ? ", %" G_GINT64_FORMAT : "%" G_GINT64_FORMAT,
                            shape->dims[i]);
  g_string_append_c (string, ']');

  return g_string_free (string, FALSE);
}
