/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-context-private.h"

#include <gyre/gyre-error.h>

#include "device/gyre-executor-private.h"

static GMutex contexts_lock;
static GPtrArray *contexts = NULL;

static gboolean
has_id (GArray       *ids,
        cl_device_id  id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index (ids, cl_device_id, i) == id)
      return TRUE;

  return FALSE;
}

static gboolean
has_all (GyreContext        *self,
         cl_platform_id      platform,
         const cl_device_id *ids,
         guint               n_ids)
{
  if (self->platform != platform)
    return FALSE;
  for (guint i = 0; i < n_ids; i++)
    if (!has_id (self->ids, ids[i]))
      return FALSE;

  return TRUE;
}

static GyreContext *
create_context (cl_platform_id       platform,
                const cl_device_id  *ids,
                guint                n_ids,
                GError             **error)
{
  cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (intptr_t) platform, 0 };
  g_autoptr (GArray) set = g_array_new (FALSE, FALSE, sizeof (cl_device_id));
  g_autofree char *name = gyre_cl_get_platform_string (platform, CL_PLATFORM_NAME);
  GyreContext *self;
  cl_context object;
  cl_int status;

  for (guint i = 0; i < n_ids; i++)
    if (!has_id (set, ids[i]))
      g_array_append_val (set, ids[i]);

  object = clCreateContext (properties, set->len, (cl_device_id *) (gpointer) set->data,
                            NULL, NULL, &status);
  if (!gyre_cl_check (status, error, "clCreateContext for %u device%s of %s", set->len,
                      set->len == 1 ? "" : "s", name))
    return NULL;

  self = g_new0 (GyreContext, 1);
  self->object = object;
  self->platform = platform;
  self->ids = g_steal_pointer (&set);
  g_mutex_init (&self->lock);
  return self;
}

GyreContext *
gyre_context_get (cl_platform_id       platform,
                  const cl_device_id  *ids,
                  guint                n_ids,
                  GError             **error)
{
  GyreContext *found = NULL;

  g_mutex_lock (&contexts_lock);
  if (contexts == NULL)
    contexts = g_ptr_array_new ();
  for (guint i = 0; i < contexts->len && found == NULL; i++)
    if (has_all (g_ptr_array_index (contexts, i), platform, ids, n_ids))
      found = g_ptr_array_index (contexts, i);
  if (found == NULL && (found = create_context (platform, ids, n_ids, error)) != NULL)
    {
      g_ptr_array_add (contexts, found);
      gyre_executor_watch_exit ();
    }
  g_mutex_unlock (&contexts_lock);
  return found;
}

/* Sub-devices. */

typedef struct
{
  cl_device_id  parent;
  guint         n;
  cl_device_id *parts;
} Split;

static GMutex splits_lock;
static GPtrArray *splits = NULL;

static gboolean
can_partition (cl_device_id                 id,
               cl_device_partition_property how)
{
  cl_device_partition_property ways[16] = { 0 };
  gsize size = 0;

  if (clGetDeviceInfo (id, CL_DEVICE_PARTITION_PROPERTIES, sizeof ways, ways, &size)
      != CL_SUCCESS)
    return FALSE;
  for (gsize i = 0; i < MIN (size, sizeof ways) / sizeof ways[0]; i++)
    if (ways[i] == how)
      return TRUE;

  return FALSE;
}

/* The properties of a partition into n parts, or NULL if the device can't. */
static cl_device_partition_property *
describe_partition (const GyreInventoryEntry *entry,
                    guint                     n)
{
  guint units = entry->info->compute_units;
  cl_device_partition_property *ways = g_new0 (cl_device_partition_property, n + 3);

  if (can_partition (entry->id, CL_DEVICE_PARTITION_BY_COUNTS))
    {
      ways[0] = CL_DEVICE_PARTITION_BY_COUNTS;
      for (guint i = 0; i < n; i++)
        ways[1 + i] = units / n + (i < units % n);
      ways[1 + n] = CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
      return ways;
    }
  if (units % n == 0 && can_partition (entry->id, CL_DEVICE_PARTITION_EQUALLY))
    {
      ways[0] = CL_DEVICE_PARTITION_EQUALLY;
      ways[1] = units / n;
      return ways;
    }
  g_free (ways);
  return NULL;
}

static Split *
find_split (cl_device_id parent,
            guint        n)
{
  for (guint i = 0; splits != NULL && i < splits->len; i++)
    {
      Split *split = g_ptr_array_index (splits, i);

      if (split->parent == parent && split->n == n)
        return split;
    }
  return NULL;
}

static Split *
create_split (const GyreInventoryEntry  *entry,
              guint                      n,
              GError                   **error)
{
  g_autofree cl_device_partition_property *ways = NULL;
  g_autofree cl_device_id *parts = g_new0 (cl_device_id, n);
  const char *name = entry->info->name;
  cl_uint made = 0;
  Split *split;

  if (n > entry->info->compute_units)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "%u sub-devices of %s, which has %u compute unit%s; use /%u or less",
                   n, name, entry->info->compute_units,
                   entry->info->compute_units == 1 ? "" : "s",
                   entry->info->compute_units);
      return NULL;
    }
  /* The property is asked for first: on some drivers the call has no entry. */
  ways = describe_partition (entry, n);
  if (ways == NULL)
    {
      gyre_cl_check (CL_DEVICE_PARTITION_FAILED, error,
                     "%u sub-devices of %s, which can't be split so; use *%u instead to "
                     "open it %u times", n, name, n, n);
      return NULL;
    }
  if (!gyre_cl_check (clCreateSubDevices (entry->id, ways, n, parts, &made), error,
                      "clCreateSubDevices: %u sub-devices of %s", n, name))
    return NULL;

  split = g_new0 (Split, 1);
  split->parent = entry->id;
  split->n = n;
  split->parts = g_steal_pointer (&parts);
  return split;
}

gboolean
gyre_sub_devices_get (const GyreInventoryEntry  *entry,
                      guint                      n,
                      cl_device_id              *parts,
                      GError                   **error)
{
  Split *split;

  g_mutex_lock (&splits_lock);
  split = find_split (entry->id, n);
  if (split == NULL)
    {
      split = create_split (entry, n, error);
      if (splits == NULL)
        splits = g_ptr_array_new ();
      if (split != NULL)
        g_ptr_array_add (splits, split);
    }
  g_mutex_unlock (&splits_lock);

  for (guint i = 0; split != NULL && i < n; i++)
    parts[i] = split->parts[i];
  return split != NULL;
}
