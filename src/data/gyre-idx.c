/* SPDX-License-Identifier: Apache-2.0 */
#include "data/gyre-idx-private.h"

#include <string.h>
#include <zlib.h>

#define IDX_UNSIGNED_BYTE 8

/* No dataset that fits in memory is larger. */
#define MAX_BYTES (G_GINT64_CONSTANT (1) << 36)

static gboolean
is_gzip (const guint8 *data, gsize size)
{
  return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static gboolean
inflate_all (z_stream *stream, GByteArray *out, const char *name, GError **error)
{
  guint8 chunk[65536];
  int    status = Z_OK;

  while (status != Z_STREAM_END)
    {
      stream->next_out  = chunk;
      stream->avail_out = sizeof chunk;
      status = inflate (stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END)
        break;
      g_byte_array_append (out, chunk, (guint) (sizeof chunk - stream->avail_out));
    }
  if (status == Z_STREAM_END)
    return TRUE;
  g_set_error (
      error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: %s after %u bytes: fetch it again", name,
      status == Z_BUF_ERROR ? "the gzip data are truncated" : "the gzip data are damaged",
      out->len);
  return FALSE;
}

GBytes *
gyre_gunzip (GBytes      *bytes,
             const char  *name,
             GError     **error)
{
  gsize                  size;
  const guint8          *data   = g_bytes_get_data (bytes, &size);
  z_stream               stream = { 0 };
  g_autoptr (GByteArray) out    = NULL;
  gboolean               ok;

  if (!is_gzip (data, size))
    return g_bytes_ref (bytes);
  if (size > G_MAXUINT || inflateInit2 (&stream, 15 + 16) != Z_OK)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: too large to unzip", name);
      return NULL;
    }
  out             = g_byte_array_new ();
  stream.next_in  = (Bytef *) data;
  stream.avail_in = (uInt) size;
  ok = inflate_all (&stream, out, name, error);
  inflateEnd (&stream);
  return ok ? g_byte_array_free_to_bytes (g_steal_pointer (&out)) : NULL;
}

GBytes *
gyre_file_read (const char  *path,
                GError     **error)
{
  g_autoptr (GError) inner = NULL;
  g_autoptr (GBytes) bytes = NULL;
  char              *data;
  gsize              size;

  if (!g_file_get_contents (path, &data, &size, &inner))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: %s", path, inner->message);
      return NULL;
    }
  bytes = g_bytes_new_take (data, size);
  return gyre_gunzip (bytes, path, error);
}

static guint32
read_u32 (const guint8 *data)
{
  return (guint32) data[0] << 24 | (guint32) data[1] << 16 | (guint32) data[2] << 8 |
         data[3];
}

static gboolean
check_magic (const guint8 *data, gsize size, const char *name, int rank, GError **error)
{
  if (size < 4)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                 "%s: not an IDX file: it has %" G_GSIZE_FORMAT " bytes", name, size);
  else if (data[0] != 0 || data[1] != 0)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                 "%s: not an IDX file: it starts with 0x%08x, not 0x%08x", name,
                 read_u32 (data), IDX_UNSIGNED_BYTE << 8 | (guint) rank);
  else if (data[2] != IDX_UNSIGNED_BYTE)
    g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                 "%s: elements of IDX type 0x%02x; only unsigned bytes (0x08) are read",
                 name, data[2]);
  else if (data[3] != rank)
    g_set_error (
        error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: %d dimensions, not %d: %s", name,
        data[3], rank,
        data[3] == 1   ? "these are labels where images are due; are the files swapped?"
        : data[3] == 3 ? "these are images where labels are due; are the files swapped?"
                       : "not a file of images and labels");
  else
    return TRUE;
  return FALSE;
}

GBytes *
gyre_idx_parse (GBytes      *bytes,
                const char  *name,
                int          rank,
                GyreShape   *shape,
                GError     **error)
{
  gsize         size;
  const guint8 *data   = g_bytes_get_data (bytes, &size);
  gsize         header = 4 + 4 * (gsize) rank;
  gint64        count;

  if (!check_magic (data, size, name, rank, error))
    return NULL;
  if (size < header)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                   "%s: truncated: it ends in its header, after %" G_GSIZE_FORMAT " of %"
                   G_GSIZE_FORMAT " bytes", name, size, header);
      return NULL;
    }
  *shape      = GYRE_SCALAR;
  shape->rank = rank;
  for (int i = 0; i < rank; i++)
    shape->dims[i] = read_u32 (data + 4 + 4 * i);
  count = gyre_shape_n_elements (shape);
  if (count < 0 || count > MAX_BYTES)
    {
      g_autofree char *text = gyre_shape_to_string (shape);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                   "%s: damaged: its header announces %s bytes, more than fit in memory",
                   name, text);
      return NULL;
    }
  if (size - header == (gsize) count)
    return g_bytes_new_from_bytes (bytes, header, (gsize) count);
  g_set_error (
      error, GYRE_ERROR, GYRE_ERROR_FILE,
      "%s: %s: its header announces %" G_GINT64_FORMAT
      " bytes of data, there are %" G_GINT64_FORMAT,
      name, (gint64) (size - header) < count ? "truncated" : "too long", count,
      (gint64) (size - header));
  return NULL;
}
