/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-inventory-private.h"

#include <gyre/gyre-error.h>

void
gyre_inventory_entry_free (GyreInventoryEntry *self)
{
  if (self == NULL)
    return;

  g_free (self->platform_version);
  gyre_device_info_free (self->info);
  g_free (self);
}

gboolean
gyre_inventory_entry_is_basic (const GyreInventoryEntry *self)
{
  return g_str_equal (self->info->platform, "Portable Computing Language") &&
         g_str_has_prefix (self->info->name, "basic");
}

static gboolean
same_device (const GyreInventoryEntry *a,
             const GyreInventoryEntry *b)
{
  return g_str_equal (a->info->platform, b->info->platform) &&
         g_str_equal (a->platform_version, b->platform_version) &&
         g_str_equal (a->info->name, b->info->name) &&
         g_str_equal (a->info->driver_version, b->info->driver_version);
}

static guint
count_alike (GPtrArray                *entries,
             const GyreInventoryEntry *entry,
             gboolean                  of_other_platform)
{
  guint n = 0;

  for (guint i = 0; i < entries->len; i++)
    {
      const GyreInventoryEntry *other = g_ptr_array_index (entries, i);

      if (same_device (other, entry))
        n += of_other_platform ? other->platform != entry->platform : 1;
    }
  return n;
}

static void
add_platform (GPtrArray      *entries,
              cl_platform_id  platform)
{
  cl_device_id ids[64];
  cl_uint n = 0;

  /* A platform without devices is normal. */
  if (clGetDeviceIDs (platform, CL_DEVICE_TYPE_ALL, G_N_ELEMENTS (ids), ids, &n)
      != CL_SUCCESS)
    return;

  for (cl_uint i = 0; i < MIN (n, G_N_ELEMENTS (ids)); i++)
    {
      GyreInventoryEntry *entry;

      if (!gyre_cl_get_device_number (ids[i], CL_DEVICE_AVAILABLE))
        continue;
      entry = g_new0 (GyreInventoryEntry, 1);
      entry->platform = platform;
      entry->id = ids[i];
      entry->platform_version =
        gyre_cl_get_platform_string (platform, CL_PLATFORM_VERSION);
      entry->info = gyre_device_info_new (platform, ids[i]);
      entry->ordinal = count_alike (entries, entry, FALSE);
      entry->duplicate = count_alike (entries, entry, TRUE) > 0;
      g_ptr_array_add (entries, entry);
    }
}

static GPtrArray *
enumerate (GError **error)
{
  g_autoptr (GPtrArray) entries = NULL;
  cl_platform_id platforms[64];
  cl_uint n = 0;

  if (clGetPlatformIDs (G_N_ELEMENTS (platforms), platforms, &n) != CL_SUCCESS || n == 0)
    {
      g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_NO_DEVICE,
                           "no OpenCL platform found; install one, for example: "
                           "apt install pocl-opencl-icd");
      return NULL;
    }

  entries = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_inventory_entry_free);
  for (cl_uint i = 0; i < MIN (n, G_N_ELEMENTS (platforms)); i++)
    add_platform (entries, platforms[i]);
  if (entries->len == 0)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_NO_DEVICE,
                   "no OpenCL device found on %u platform%s; install a driver, for "
                   "example: apt install pocl-opencl-icd", n, n == 1 ? "" : "s");
      return NULL;
    }
  return g_steal_pointer (&entries);
}

GPtrArray *
gyre_inventory_get (GError **error)
{
  static GMutex lock;
  static GPtrArray *entries = NULL;
  GPtrArray *found;

  g_mutex_lock (&lock);
  if (entries == NULL)
    entries = enumerate (error);
  found = entries;
  g_mutex_unlock (&lock);
  return found;
}
