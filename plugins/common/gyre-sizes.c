/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-sizes.h"

int
sizes_parse (const char *text,
             gint64     *sizes,
             int         maximum)
{
  g_auto (GStrv) parts = g_strsplit (text != NULL ? text : "", ",", -1);
  int n = (int) g_strv_length (parts);

  if (n > maximum)
    return -1;

  for (int i = 0; i < n; i++)
    if (!g_ascii_string_to_signed (g_strstrip (parts[i]), 10, G_MININT32, G_MAXINT32,
                                   &sizes[i], NULL))
      return -1;

  return n;
}
