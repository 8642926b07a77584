/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-error.h>

#include "device/gyre-device-object-private.h"
#include "device/gyre-device-spec-private.h"

/* A device to be opened. */
typedef struct
{
  const GyreInventoryEntry *entry;
  cl_device_id              id;      /* its own, or a sub-device's */
  double                    share;
} Wish;

static gboolean
append_wishes (GArray                    *wishes,
               const GyreDeviceTerm      *term,
               const GyreInventoryEntry  *entry,
               GError                   **error)
{
  g_autofree cl_device_id *parts = g_new0 (cl_device_id, term->parts);

  parts[0] = entry->id;
  if (term->parts > 1 && !gyre_sub_devices_get (entry, term->parts, parts, error))
    return FALSE;

  for (guint part = 0; part < term->parts; part++)
    for (guint copy = 0; copy < term->copies; copy++)
      {
        Wish wish = { entry, parts[part], term->share };

        g_array_append_val (wishes, wish);
      }
  return TRUE;
}

static gboolean
append_term (GArray                *wishes,
             const GyreDeviceTerm  *term,
             GPtrArray             *inventory,
             GError               **error)
{
  g_autoptr (GPtrArray) found = gyre_device_term_match (term, inventory, error);

  for (guint i = 0; found != NULL && i < found->len; i++)
    if (!append_wishes (wishes, term, g_ptr_array_index (found, i), error))
      return FALSE;

  return found != NULL;
}

/* All of the platform's that are wished for stand in one context; PoCL's basic device
 * apart, which hangs beside its pthread device. */
static gboolean
stand_together (const Wish *a,
                const Wish *b)
{
  return a->entry->platform == b->entry->platform &&
         gyre_inventory_entry_is_basic (a->entry) ==
           gyre_inventory_entry_is_basic (b->entry);
}

static GyreContext *
context_of (GArray      *wishes,
            const Wish  *wish,
            GError     **error)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (cl_device_id));

  for (guint i = 0; i < wishes->len; i++)
    {
      const Wish *other = &g_array_index (wishes, Wish, i);

      if (stand_together (wish, other))
        g_array_append_val (ids, other->id);
    }
  return gyre_context_get (wish->entry->platform,
                           (cl_device_id *) (gpointer) ids->data, ids->len, error);
}

static GPtrArray *
open_wishes (GArray  *wishes,
             GError **error)
{
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < wishes->len; i++)
    {
      const Wish *wish = &g_array_index (wishes, Wish, i);
      GyreDeviceOptions options = { NULL, wish->id, wish->share, i };
      GyreDevice *device = NULL;

      options.context = context_of (wishes, wish, error);
      if (options.context != NULL)
        device = gyre_device_new (&options, error);
      if (device == NULL)
        return NULL;
      g_ptr_array_add (devices, device);
    }
  return g_steal_pointer (&devices);
}

static const char *
choose_spec (const char *spec)
{
  if (spec == NULL)
    spec = g_getenv ("GYRE_DEVICES");
  return spec == NULL || spec[0] == '\0' ? "all" : spec;
}

/**
 * gyre_devices_open:
 * @spec: (nullable): a device string, or %NULL for that in `GYRE_DEVICES`, or else `all`
 * @error: return location for an error
 *
 * Opens the devices of a device string: terms with commas between, each
 * `NAME[:INDEX][/PARTS][*TIMES][=SHARE]`.  NAME is `all`, a type (`cpu`, `gpu`,
 * `accelerator`), a platform's short name (`pocl`, `intel`, `fpga`, `rusticl`,
 * `oclgrind`, `nvidia`, `amd`…) or part of a platform's or device's name, in any case,
 * the first of these that matches.  `:1` picks one of those that match, from 0; `/2`
 * splits it into two sub-devices; `*4` opens it four times, as four devices with a
 * queue each; `=0.25` fixes the share of each.  For example `gpu:0,pocl/2=0.1`.
 *
 * Devices of one platform stand in one context.  A device that fails its self-test is
 * left out, see gyre_devices_get_rejected ().
 *
 * Errors: %GYRE_ERROR_SYNTAX with the column, %GYRE_ERROR_UNKNOWN with what there is,
 * %GYRE_ERROR_NO_DEVICE where no platform or no usable device is, %GYRE_ERROR_DEVICE.
 *
 * Returns: (transfer full) (element-type GyreDevice): the devices, at least one, or
 *   %NULL
 */
GPtrArray *
gyre_devices_open (const char  *spec,
                   GError     **error)
{
  g_autoptr (GPtrArray) terms = gyre_device_spec_parse (choose_spec (spec), error);
  g_autoptr (GArray) wishes = g_array_new (FALSE, FALSE, sizeof (Wish));
  GPtrArray *inventory;

  if (terms == NULL || (inventory = gyre_inventory_get (error)) == NULL)
    return NULL;
  for (guint i = 0; i < terms->len; i++)
    if (!append_term (wishes, g_ptr_array_index (terms, i), inventory, error))
      return NULL;

  return open_wishes (wishes, error);
}
