/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-program-private.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gyre-env-private.h"

/* A file: these words, the SHA-256 of the binary in hexadecimal, the binary.  Drivers
 * may crash on a broken binary, so it is checked before they see it. */
#define MAGIC "gyre-program-1\n"
#define MAGIC_SIZE (sizeof MAGIC - 1)
#define SUM_SIZE 64
#define HEADER_SIZE (MAGIC_SIZE + SUM_SIZE + 1)

char *
gyre_cache_key (const char *first,
                ...)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  va_list texts;

  va_start (texts, first);
  for (const char *text = first; text != NULL; text = va_arg (texts, const char *))
    g_checksum_update (sum, (const guchar *) text, strlen (text) + 1);
  va_end (texts);
  return g_strdup (g_checksum_get_string (sum));
}

/* A driver's own cache is not among what it heeds. */
static gboolean
is_heeded (const char *name)
{
  static const char *const prefixes[] = {
    "CL_CONFIG_", "OPENCL_", "POCL_", "RUSTICL_", "LP_", "OCLGRIND_"
  };

  for (gsize i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (name, prefixes[i]))
      return strstr (name, "CACHE_DIR") == NULL;

  return FALSE;
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
gyre_cache_environment (void)
{
  g_auto (GStrv) names = g_listenv ();
  GString *text = g_string_new (NULL);

  qsort (names, g_strv_length (names), sizeof *names, compare_names);
  for (guint i = 0; names[i] != NULL; i++)
    if (is_heeded (names[i]))
      g_string_append_printf (text, "%s=%s\n", names[i], g_getenv (names[i]));

  return g_string_free (text, FALSE);
}

char *
gyre_cache_path (const char *folder,
                 const char *name)
{
  return g_build_filename (g_get_user_cache_dir (), "gyre", folder, name, NULL);
}

static gboolean
is_off (void)
{
  return gyre_env_is ("GYRE_CACHE", "off");
}

static char *
binary_path (const char *key)
{
  g_autofree char *name = g_strconcat (key, ".bin", NULL);

  return gyre_cache_path ("programs", name);
}

static gboolean
is_whole (const char *contents,
          gsize       size)
{
  g_autofree char *sum = NULL;

  if (size <= HEADER_SIZE || memcmp (contents, MAGIC, MAGIC_SIZE) != 0)
    return FALSE;

  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256,
                                     (const guchar *) contents + HEADER_SIZE,
                                     size - HEADER_SIZE);
  return memcmp (contents + MAGIC_SIZE, sum, SUM_SIZE) == 0;
}

GBytes *
gyre_binary_cache_load (const char *key)
{
  g_autofree char *path = binary_path (key);
  g_autofree char *contents = NULL;
  gsize size;

  if (is_off () || !g_file_get_contents (path, &contents, &size, NULL) ||
      !is_whole (contents, size))
    return NULL;

  return g_bytes_new (contents + HEADER_SIZE, size - HEADER_SIZE);
}

/* A cache that can't be written to is no error: the next run builds again. */
void
gyre_binary_cache_save (const char *key,
                        GBytes     *binary)
{
  g_autofree char *path = binary_path (key);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *sum = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, binary);
  g_autoptr (GString) contents = g_string_new (MAGIC);
  g_autoptr (GError) error = NULL;

  if (is_off ())
    return;

  g_string_append_printf (contents, "%s\n", sum);
  g_string_append_len (contents, g_bytes_get_data (binary, NULL),
                       g_bytes_get_size (binary));
  g_mkdir_with_parents (folder, 0700);
  /* Written beside and renamed. */
  if (!g_file_set_contents (path, contents->str, contents->len, &error))
    g_info ("the binary of a program is not kept: %s", error->message);
}
