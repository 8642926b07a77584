/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-admission-private.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "device/gyre-program-private.h"

/* A file: a line "admitted", or "refused", with the seconds that were given it; then
 * the reason. */
#define ADMITTED "admitted"
#define REFUSED "refused"

static char *
verdict_path (const GyreInventoryEntry *entry)
{
  const GyreDeviceInfo *info = entry->info;
  g_autofree char *environment = gyre_cache_environment ();
  g_autofree char *numbers = g_strdup_printf ("%d %u", GYRE_ADMIT_VERSION,
                                              entry->ordinal);
  g_autofree char *key = gyre_cache_key (numbers, info->platform,
                                         entry->platform_version, info->name,
                                         info->driver_version, environment, NULL);

  return gyre_cache_path ("admission", key);
}

/* A device that was killed because its time was up may pass when it is given more. */
static gboolean
was_given_less (const char *line,
                guint       limit)
{
  guint given = 0;

  return sscanf (line, REFUSED " after %u s", &given) == 1 && given < limit;
}

gboolean
gyre_verdict_load (GyreInventoryEntry *entry,
                   guint               limit)
{
  g_autofree char *path = verdict_path (entry);
  g_autofree char *contents = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &contents, NULL, NULL))
    return FALSE;

  lines = g_strsplit (contents, "\n", 3);
  if (g_strcmp0 (lines[0], ADMITTED) == 0)
    {
      entry->verdict = GYRE_VERDICT_ADMITTED;
      return TRUE;
    }
  if (lines[0] == NULL || !g_str_has_prefix (lines[0], REFUSED) || lines[1] == NULL ||
      lines[1][0] == '\0' || was_given_less (lines[0], limit))
    return FALSE;

  entry->verdict = GYRE_VERDICT_REFUSED;
  entry->info->reason = g_strdup_printf ("%s; GYRE_ADMISSION=fresh tests it again",
                                         lines[1]);
  return TRUE;
}

/* A cache that can't be written to is no error: the next run tests again. */
void
gyre_verdict_save (GyreInventoryEntry *entry,
                   guint               limit)
{
  g_autofree char *path = verdict_path (entry);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;

  if (entry->verdict == GYRE_VERDICT_ADMITTED)
    contents = g_strdup (ADMITTED "\n");
  else
    contents = g_strdup_printf (REFUSED " after %u s\n%s\n", limit, entry->info->reason);
  g_mkdir_with_parents (folder, 0700);
  if (!g_file_set_contents (path, contents, -1, &error))
    g_info ("the verdict on a device is not kept: %s", error->message);
}
