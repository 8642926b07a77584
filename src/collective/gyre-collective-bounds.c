/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include <gyre/gyre-error.h>

static gsize
strictest_align (GyreDevice *const *devices,
                 guint              n,
                 gsize              element_size)
{
  gsize align = element_size;

  /* Powers of two: the largest is a multiple of all. */
  for (guint i = 0; i < n; i++)
    align = MAX (align, gyre_device_get_align (devices[i]));
  return align / element_size;
}

void
gyre_collective_choose_bounds (GyreDevice *const *devices,
                               guint              n,
                               gsize              length,
                               gsize              element_size,
                               gsize             *bounds)
{
  gsize align = strictest_align (devices, n, element_size);
  gsize n_units = length / align + (length % align != 0);

  bounds[0] = 0;
  for (guint i = 0; i < n; i++)
    {
      gsize units = n_units / n + (i < n_units % n);

      bounds[i + 1] = MIN (bounds[i] + units * align, length);
    }
}

gboolean
gyre_collective_check_bounds (const GyreCollectiveInfo  *info,
                              GError                   **error)
{
  const gsize *bounds = info->bounds;
  gboolean good = bounds[0] == 0 && bounds[info->n] == info->length;

  for (guint i = 0; i < info->n; i++)
    good = good && bounds[i] <= bounds[i + 1];
  if (!good)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHARDING,
                 "the %u chunks of a collective of %" G_GSIZE_FORMAT " elements must "
                 "rise from 0 to its length; they go from %" G_GSIZE_FORMAT " to %"
                 G_GSIZE_FORMAT, info->n, info->length, bounds[0], bounds[info->n]);
  return good;
}
