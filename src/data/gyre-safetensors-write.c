/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "data/gyre-safetensors-private.h"

static const char *const dtype_names[GYRE_N_DTYPES] = {
  [GYRE_F32] = "F32", [GYRE_I32] = "I32", [GYRE_U32] = "U32", [GYRE_U8] = "U8",
  [GYRE_BOOL] = "BOOL",
};

static void
add_metadata (JsonBuilder *builder, GHashTable *metadata)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (metadata),
                                        (GCompareFunc) strcmp);

  json_builder_set_member_name (builder, "__metadata__");
  json_builder_begin_object (builder);
  for (GList *l = keys; l; l = l->next)
    {
      json_builder_set_member_name (builder, l->data);
      json_builder_add_string_value (builder, g_hash_table_lookup (metadata, l->data));
    }
  json_builder_end_object (builder);
}

static gint64
add_array (JsonBuilder *builder, const char *name, GyreArray *array, gint64 begin)
{
  GyreShape shape = gyre_array_get_shape (array);
  GyreDtype dtype = gyre_array_get_dtype (array);
  gint64 end = begin + gyre_shape_n_elements (&shape) * (gint64) gyre_dtype_size (dtype);

  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "dtype");
  json_builder_add_string_value (builder, dtype_names[dtype]);
  json_builder_set_member_name (builder, "shape");
  json_builder_begin_array (builder);
  for (int i = 0; i < shape.rank; i++)
    json_builder_add_int_value (builder, shape.dims[i]);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "data_offsets");
  json_builder_begin_array (builder);
  json_builder_add_int_value (builder, begin);
  json_builder_add_int_value (builder, end);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return end;
}

/* Padded with spaces so that the data are aligned to 8 bytes. */
static GString *
make_header (const char *const *names,
             GyreArray *const  *arrays,
             guint              n,
             GHashTable        *metadata)
{
  g_autoptr (JsonBuilder)   builder   = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode)      root      = NULL;
  g_autofree char          *text      = NULL;
  GString                  *header;
  gint64                    at        = 0;

  json_builder_begin_object (builder);
  if (metadata && g_hash_table_size (metadata) > 0)
    add_metadata (builder, metadata);
  for (guint i = 0; i < n; i++)
    at = add_array (builder, names[i], arrays[i], at);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  text   = json_generator_to_data (generator, NULL);
  header = g_string_new (text);
  while (header->len % 8 != 0)
    g_string_append_c (header, ' ');
  return header;
}

static gboolean
write_all (int fd, gconstpointer data, gsize size)
{
  const guint8 *at = data;

  while (size > 0)
    {
      gssize done = write (fd, at, size);

      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0)
        return FALSE;
      at   += done;
      size -= (gsize) done;
    }
  return TRUE;
}

static gboolean
write_error (const char *path, GError **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: can't be written: %s", path,
               g_strerror (errno));
  return FALSE;
}

static gboolean
write_content (int                fd,
               const char        *path,
               GString           *header,
               GyreArray *const  *arrays,
               guint              n,
               GError           **error)
{
  guint64 size = GUINT64_TO_LE (header->len);

  if (!write_all (fd, &size, 8) || !write_all (fd, header->str, header->len))
    return write_error (path, error);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GBytes) bytes = gyre_array_get (arrays[i], error);
      gsize              length;
      gconstpointer      data;

      if (!bytes)
        return FALSE;
      data = g_bytes_get_data (bytes, &length);
      if (!write_all (fd, data, length))
        return write_error (path, error);
    }
  return fsync (fd) == 0 || write_error (path, error);
}

/* A new name is on the disk when its folder is. */
static gboolean
sync_folder (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int              fd     = g_open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  gboolean         ok;

  /* some file systems can't, and say EINVAL */
  ok = fd >= 0 && (fsync (fd) == 0 || errno == EINVAL);
  if (!ok)
    write_error (folder, error);
  if (fd >= 0)
    close (fd);
  return ok;
}

gboolean
gyre_safetensors_write (const char         *path,
                        const char *const  *names,
                        GyreArray *const   *arrays,
                        guint               n,
                        GHashTable         *metadata,
                        GError            **error)
{
  g_autoptr (GString) header = make_header (names, arrays, n, metadata);
  g_autofree char    *beside = g_strdup_printf ("%s.%d.tmp", path, (int) getpid ());
  int fd = g_open (beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  gboolean            ok;

  if (fd < 0)
    return write_error (beside, error);
  ok = write_content (fd, beside, header, arrays, n, error);
  if (close (fd) != 0 && ok)
    ok = write_error (beside, error);
  if (ok && g_rename (beside, path) != 0)
    ok = write_error (path, error);
  if (ok)
    return sync_folder (path, error);
  g_unlink (beside);
  return FALSE;
}
