/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-error.h>

#include "base/gyre-env-private.h"
#include "device/gyre-admission-private.h"
#include "device/gyre-device-object-private.h"
#include "device/gyre-device-spec-private.h"

/* A device to be opened. */
typedef struct
{
  GyreInventoryEntry       *entry;
  cl_device_id              id;      /* its own, or a sub-device's */
  double                    share;
} Wish;

static gboolean
append_parts (GArray                *wishes,
              const GyreDeviceTerm  *term,
              GyreInventoryEntry    *entry,
              GError               **error)
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

/* Devices that are left out are noted, a line each. */
static GMutex rejected_lock;
static GPtrArray *rejected = NULL;

static void
forget_rejected (void)
{
  g_mutex_lock (&rejected_lock);
  g_clear_pointer (&rejected, g_ptr_array_unref);
  rejected = g_ptr_array_new_with_free_func (g_free);
  g_mutex_unlock (&rejected_lock);
}

static void
note_rejected (const GyreInventoryEntry *entry)
{
  char *line = g_strdup_printf ("device %s (%s): left out: %s", entry->info->name,
                                entry->info->platform, entry->info->reason);

  g_mutex_lock (&rejected_lock);
  if (g_ptr_array_find_with_equal_func (rejected, line, g_str_equal, NULL))
    g_free (line);
  else
    {
      g_message ("%s", line);
      g_ptr_array_add (rejected, line);
    }
  g_mutex_unlock (&rejected_lock);
}

static gboolean
append_admitted (GArray                *wishes,
                 const GyreDeviceTerm  *term,
                 GPtrArray             *found,
                 GError               **error)
{
  for (guint i = 0; i < found->len; i++)
    {
      GyreInventoryEntry *entry = g_ptr_array_index (found, i);

      if (entry->verdict == GYRE_VERDICT_REFUSED)
        note_rejected (entry);
      else if (!append_parts (wishes, term, entry, error))
        return FALSE;
    }
  return TRUE;
}

/* All terms are looked up before any device is tested. */
static GPtrArray *
match_terms (GPtrArray  *terms,
             GPtrArray  *inventory,
             GError    **error)
{
  g_autoptr (GPtrArray) matches =
    g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);

  for (guint i = 0; i < terms->len; i++)
    {
      GPtrArray *found = gyre_device_term_match (g_ptr_array_index (terms, i), inventory,
                                                 error);

      if (found == NULL)
        return NULL;
      g_ptr_array_add (matches, found);
    }
  return g_steal_pointer (&matches);
}

static gboolean
admit (GPtrArray  *matches,
       GError    **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new ();

  for (guint i = 0; i < matches->len; i++)
    g_ptr_array_extend (entries, g_ptr_array_index (matches, i), NULL, NULL);
  return gyre_admission_check (entries, error);
}

static GArray *
make_wishes (GPtrArray  *terms,
             GError    **error)
{
  g_autoptr (GArray) wishes = g_array_new (FALSE, FALSE, sizeof (Wish));
  g_autoptr (GPtrArray) matches = NULL;
  GPtrArray *inventory = gyre_inventory_get (error);

  if (inventory == NULL ||
      (matches = match_terms (terms, inventory, error)) == NULL ||
      !admit (matches, error))
    return NULL;
  for (guint i = 0; i < terms->len; i++)
    if (!append_admitted (wishes, g_ptr_array_index (terms, i),
                          g_ptr_array_index (matches, i), error))
      return NULL;

  return g_steal_pointer (&wishes);
}

static gboolean
check_any_left (GArray  *wishes,
                GError **error)
{
  g_auto (GStrv) lines = NULL;
  g_autofree char *text = NULL;

  if (wishes->len > 0)
    return TRUE;

  lines = gyre_devices_get_rejected ();
  text = g_strjoinv ("; ", lines);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_NO_DEVICE, "no usable device: %s", text);
  return FALSE;
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
  if (spec != NULL)
    return spec;
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
 * %GYRE_ERROR_INVALID where a device has fewer compute units than it is split into,
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
  g_autoptr (GArray) wishes = NULL;

  gyre_env_check ();
  if (terms == NULL)
    return NULL;

  forget_rejected ();
  wishes = make_wishes (terms, error);
  if (wishes == NULL || !check_any_left (wishes, error))
    return NULL;
  return open_wishes (wishes, error);
}

/**
 * gyre_devices_get_rejected:
 *
 * Why devices were left out by the last gyre_devices_open (), a line each: "device NAME
 * (PLATFORM): left out: crashed in its self-test (signal 11)".  A program should show
 * them.
 *
 * Returns: (transfer full) (array zero-terminated=1): the lines, none where all devices
 *   were admitted
 */
char **
gyre_devices_get_rejected (void)
{
  GStrvBuilder *lines = g_strv_builder_new ();
  char **all;

  g_mutex_lock (&rejected_lock);
  for (guint i = 0; rejected != NULL && i < rejected->len; i++)
    g_strv_builder_add (lines, g_ptr_array_index (rejected, i));
  g_mutex_unlock (&rejected_lock);
  all = g_strv_builder_end (lines);
  g_strv_builder_unref (lines);
  return all;
}

/**
 * gyre_devices_list:
 * @error: return location for an error
 *
 * Looks at every device of every platform, and tests those that were not tested before.
 *
 * Errors: %GYRE_ERROR_NO_DEVICE where there is none.
 *
 * Returns: (transfer full) (element-type GyreDeviceInfo): what is known of each, at
 *   least one, or %NULL
 */
GPtrArray *
gyre_devices_list (GError **error)
{
  GPtrArray *inventory = gyre_inventory_get (error);
  GPtrArray *infos;

  gyre_env_check ();
  if (inventory == NULL || !gyre_admission_check (inventory, error))
    return NULL;

  infos = g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_device_info_free);
  for (guint i = 0; i < inventory->len; i++)
    {
      const GyreInventoryEntry *entry = g_ptr_array_index (inventory, i);
      GyreDeviceInfo *info = gyre_device_info_copy (entry->info);

      info->admitted = entry->verdict != GYRE_VERDICT_REFUSED;
      g_ptr_array_add (infos, info);
    }
  return infos;
}
