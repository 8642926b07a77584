/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-admission-private.h"

#include <dlfcn.h>
#include <string.h>

#include <gyre/gyre-error.h>

#define HELPER "gyre-admit"
#define LIMIT 60     /* seconds */
#define AT_ONCE 2    /* helpers */

/* From the folder of libgyre, or of a program that has it inside. */
static const char *const build_folders[] = {
  "device", "../src/device", "../../src/device", "../../libexec/gyre-1.0",
  "../libexec/gyre-1.0"
};

static GMutex lock;   /* of all verdicts */

static char *
find_beside_library (void)
{
  Dl_info info;
  g_autofree char *folder = NULL;

  if (!dladdr ((gpointer) gyre_admission_check, &info) || info.dli_fname == NULL)
    return NULL;

  folder = g_path_get_dirname (info.dli_fname);
  for (gsize i = 0; i < G_N_ELEMENTS (build_folders); i++)
    {
      char *path = g_build_filename (folder, build_folders[i], HELPER, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return path;
      g_free (path);
    }
  return NULL;
}

static char *
find_helper (GError **error)
{
  const char *folder = g_getenv ("GYRE_LIBEXEC");
  char *path;

  if (folder == NULL && (path = find_beside_library ()) != NULL)
    return path;

  path = g_build_filename (folder != NULL ? folder : GYRE_LIBEXEC_DIR, HELPER, NULL);
  if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
    return path;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_NO_DEVICE,
               "the self-test of devices can't be run: there is no program %s; set "
               "GYRE_LIBEXEC to its folder, or GYRE_ADMISSION=off to do without", path);
  g_free (path);
  return NULL;
}

static gboolean
read_mode (GyreAdmissionMode  *mode,
           GError            **error)
{
  static const char *const words[] = { "cached", "fresh", "off" };
  const char *text = g_getenv ("GYRE_ADMISSION");

  *mode = GYRE_ADMISSION_CACHED;
  if (text == NULL || text[0] == '\0')
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (text, words[i]) == 0)
      {
        *mode = i;
        return TRUE;
      }
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "GYRE_ADMISSION=%s is none of cached, fresh, off", text);
  return FALSE;
}

static gboolean
read_limit (guint   *limit,
            GError **error)
{
  const char *text = g_getenv ("GYRE_ADMIT_TIMEOUT");
  guint64 seconds = LIMIT;

  if (text != NULL && text[0] != '\0' &&
      !g_ascii_string_to_unsigned (text, 10, 1, 86400, &seconds, NULL))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "GYRE_ADMIT_TIMEOUT=%s is not a number of seconds, 1 to 86400", text);
      return FALSE;
    }
  *limit = seconds;
  return TRUE;
}

/* Devices that wait for a test; workers take them one after the other. */
typedef struct
{
  GPtrArray                  *entries;
  const GyreAdmissionOptions *options;
  gint                        next;
} Line;

static gpointer
work_off (gpointer data)
{
  Line *line = data;

  for (;;)
    {
      guint i = g_atomic_int_add (&line->next, 1);
      GyreInventoryEntry *entry;
      gboolean keep;

      if (i >= line->entries->len)
        return NULL;
      entry = g_ptr_array_index (line->entries, i);
      gyre_admission_run (entry, line->options, &keep);
      if (keep)
        gyre_verdict_save (entry, line->options->limit);
    }
}

static void
test_all (GPtrArray                  *entries,
          const GyreAdmissionOptions *options)
{
  Line line = { entries, options, 0 };
  GThread *threads[AT_ONCE];
  guint n = MIN (entries->len, AT_ONCE);

  for (guint i = 0; i < n; i++)
    threads[i] = g_thread_new ("gyre-admission", work_off, &line);
  for (guint i = 0; i < n; i++)
    g_thread_join (threads[i]);
}

/* Those without a verdict, in this process or (if that counts) on the disk. */
static GPtrArray *
collect_untested (GPtrArray                  *entries,
                  const GyreAdmissionOptions *options)
{
  GPtrArray *untested = g_ptr_array_new ();

  for (guint i = 0; i < entries->len; i++)
    {
      GyreInventoryEntry *entry = g_ptr_array_index (entries, i);

      if (entry->verdict == GYRE_VERDICT_UNKNOWN &&
          (options->mode == GYRE_ADMISSION_FRESH ||
           !gyre_verdict_load (entry, options->limit)) &&
          !g_ptr_array_find (untested, entry, NULL))
        g_ptr_array_add (untested, entry);
    }
  return untested;
}

gboolean
gyre_admission_check (GPtrArray  *entries,
                      GError    **error)
{
  g_autoptr (GPtrArray) untested = NULL;
  GyreAdmissionOptions options = { 0 };

  if (!read_mode (&options.mode, error) || !read_limit (&options.limit, error))
    return FALSE;
  if (options.mode == GYRE_ADMISSION_OFF)
    return TRUE;

  g_mutex_lock (&lock);
  untested = collect_untested (entries, &options);
  if (untested->len > 0 && (options.helper = find_helper (error)) != NULL)
    test_all (untested, &options);
  g_mutex_unlock (&lock);

  if (untested->len > 0 && options.helper == NULL)
    return FALSE;
  g_free (options.helper);
  return TRUE;
}
