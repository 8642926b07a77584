/* SPDX-License-Identifier: Apache-2.0 */
#include "data/gyre-safetensors-private.h"

#include <json-glib/json-glib.h>
#include <string.h>

#define MAX_HEADER 100000000   /* the format's own limit */

typedef struct
{
  char     *name;
  char     *dtype;
  gsize     element;   /* bytes of one */
  GyreShape shape;
  guint64   begin, end;
} Entry;

struct _GyreSafetensors
{
  char       *path;
  GBytes     *bytes;
  gsize       data;         /* where the data begin */
  GPtrArray  *names;        /* NULL-terminated; owned by entries */
  GHashTable *entries;      /* name → Entry */
  GHashTable *metadata;
};

static const struct
{
  const char *name;
  gsize       size;
} dtypes[] = {
  { "BOOL", 1 }, { "U8", 1 }, { "I8", 1 }, { "F8_E5M2", 1 }, { "F8_E4M3", 1 },
  { "I16", 2 }, { "U16", 2 }, { "F16", 2 }, { "BF16", 2 },
  { "I32", 4 }, { "U32", 4 }, { "F32", 4 }, { "F64", 8 }, { "I64", 8 }, { "U64", 8 },
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->name);
  g_free (entry->dtype);
  g_free (entry);
}

void
gyre_safetensors_free (GyreSafetensors *self)
{
  if (!self)
    return;
  g_free (self->path);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_clear_pointer (&self->entries, g_hash_table_unref);
  g_clear_pointer (&self->metadata, g_hash_table_unref);
  g_free (self);
}

static gboolean G_GNUC_PRINTF (3, 4)
fail (const GyreSafetensors *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list          args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: not a sound safetensors file: %s",
               self->path, what);
  return FALSE;
}

static gboolean
get_count (JsonArray *array, guint i, gint64 *value)
{
  JsonNode *node = json_array_get_element (array, i);

  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64)
    return FALSE;
  *value = json_node_get_int (node);
  return *value >= 0;
}

static JsonArray *
get_array (JsonObject *object, const char *member)
{
  JsonNode *node = json_object_get_member (object, member);

  return node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

static gboolean
read_dtype (GyreSafetensors *self, Entry *entry, JsonObject *object, GError **error)
{
  JsonNode   *node  = json_object_get_member (object, "dtype");
  const char *dtype =
      node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;

  for (gsize i = 0; dtype && i < G_N_ELEMENTS (dtypes); i++)
    if (g_str_equal (dtypes[i].name, dtype))
      {
        entry->dtype   = g_strdup (dtype);
        entry->element = dtypes[i].size;
        return TRUE;
      }
  return fail (self, error, "%s has %s%s", entry->name,
               dtype ? "the unknown dtype " : "no dtype", dtype ? dtype : "");
}

static gboolean
read_shape (GyreSafetensors *self, Entry *entry, JsonObject *object, GError **error)
{
  JsonArray *shape = get_array (object, "shape");
  guint      rank  = shape ? json_array_get_length (shape) : 0;

  if (!shape || rank > GYRE_MAX_RANK)
    return fail (self, error, "%s has %s", entry->name,
                 shape ? "more than 8 dimensions" : "no shape");
  entry->shape.rank = (int) rank;
  for (guint i = 0; i < rank; i++)
    if (!get_count (shape, i, &entry->shape.dims[i]))
      return fail (self, error, "dimension %u of %s is not a count", i, entry->name);
  if (gyre_shape_n_elements (&entry->shape) < 0)
    return fail (self, error, "the shape of %s is too large", entry->name);
  return TRUE;
}

static gboolean
read_offsets (GyreSafetensors *self, Entry *entry, JsonObject *object, GError **error)
{
  JsonArray *offsets = get_array (object, "data_offsets");
  gint64     count   = gyre_shape_n_elements (&entry->shape);
  gint64     begin, end;

  if (!offsets || json_array_get_length (offsets) != 2 ||
      !get_count (offsets, 0, &begin) || !get_count (offsets, 1, &end) || end < begin)
    return fail (self, error, "%s has no data_offsets of two counts", entry->name);
  if ((guint64) count > G_MAXINT64 / entry->element ||
      (guint64) (end - begin) != (guint64) count * entry->element)
    return fail (self, error,
                 "%s has %" G_GINT64_FORMAT " bytes, which its shape and dtype "
                 "don't give",
                 entry->name, end - begin);
  entry->begin = (guint64) begin;
  entry->end   = (guint64) end;
  return TRUE;
}

static gboolean
add_entry (GyreSafetensors *self, const char *name, JsonObject *object, GError **error)
{
  Entry *entry = g_new0 (Entry, 1);

  entry->name = g_strdup (name);
  g_hash_table_replace (self->entries, entry->name, entry);
  g_ptr_array_add (self->names, entry->name);
  return read_dtype (self, entry, object, error) &&
         read_shape (self, entry, object, error) &&
         read_offsets (self, entry, object, error);
}

static gboolean
read_metadata (GyreSafetensors *self, JsonNode *node, GError **error)
{
  JsonObjectIter iter;
  const char    *key;
  JsonNode      *value;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return fail (self, error, "__metadata__ is not an object");
  json_object_iter_init (&iter, json_node_get_object (node));
  while (json_object_iter_next (&iter, &key, &value))
    {
      if (!JSON_NODE_HOLDS_VALUE (value) || !json_node_get_string (value))
        return fail (self, error, "__metadata__ has a value that is no string: %s", key);
      g_hash_table_insert (self->metadata, g_strdup (key), json_node_dup_string (value));
    }
  return TRUE;
}

static int
compare_begin (gconstpointer a, gconstpointer b, gpointer table)
{
  const Entry *x = g_hash_table_lookup (table, *(const char *const *) a);
  const Entry *y = g_hash_table_lookup (table, *(const char *const *) b);

  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return x->end < y->end ? -1 : x->end > y->end;
}

/* From 0 without holes to the end of the file. */
static gboolean
check_offsets (GyreSafetensors *self, GError **error)
{
  guint64 size = g_bytes_get_size (self->bytes) - self->data;
  guint64 at   = 0;

  g_ptr_array_sort_with_data (self->names, compare_begin, self->entries);
  for (guint i = 0; i < self->names->len; i++)
    {
      const Entry *entry = g_hash_table_lookup (self->entries, self->names->pdata[i]);

      if (entry->begin != at)
        return fail (self, error,
                     "the data of %s begin at %" G_GUINT64_FORMAT
                     ", not at %" G_GUINT64_FORMAT " where those before end",
                     entry->name, entry->begin, at);
      at = entry->end;
    }
  if (at != size)
    return fail (self, error, "the header announces %" G_GUINT64_FORMAT " bytes of data, "
                 "there are %" G_GUINT64_FORMAT "%s", at, size,
                 size < at ? ": truncated" : "");
  return TRUE;
}

/* json-glib drops all but the last of equal keys: count the keys of the text. */
typedef struct
{
  guint n_members;
} Counter;

static void
count_member (JsonParser *parser, JsonObject *object, const char *name, gpointer data)
{
  Counter *counter = data;

  (void) parser;
  (void) object;
  (void) name;
  counter->n_members++;
}

static guint
count_kept (JsonNode *node)
{
  guint n = 0;

  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      JsonObjectIter iter;
      const char    *key;
      JsonNode      *value;

      json_object_iter_init (&iter, json_node_get_object (node));
      while (json_object_iter_next (&iter, &key, &value))
        n += 1 + count_kept (value);
    }
  return n;
}

static gboolean
read_members (GyreSafetensors *self, JsonObject *header, GError **error)
{
  JsonObjectIter iter;
  const char    *name;
  JsonNode      *value;

  json_object_iter_init (&iter, header);
  while (json_object_iter_next (&iter, &name, &value))
    {
      if (g_str_equal (name, "__metadata__"))
        {
          if (!read_metadata (self, value, error))
            return FALSE;
        }
      else if (!JSON_NODE_HOLDS_OBJECT (value))
        return fail (self, error, "%s is not described by an object", name);
      else if (!add_entry (self, name, json_node_get_object (value), error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_header (GyreSafetensors *self, const char *text, gsize size, GError **error)
{
  g_autoptr (JsonParser) parser  = json_parser_new ();
  g_autoptr (GError)     inner   = NULL;
  Counter                counter = { 0 };
  JsonNode              *root;

  if (size == 0 || text[0] != '{' || !g_utf8_validate_len (text, size, NULL))
    return fail (self, error, "its header is not a JSON object");
  g_signal_connect (parser, "object-member", G_CALLBACK (count_member), &counter);
  if (!json_parser_load_from_data (parser, text, (gssize) size, &inner))
    return fail (self, error, "its header can't be read: %s", inner->message);
  root = json_parser_get_root (parser);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return fail (self, error, "its header is not a JSON object");
  if (count_kept (root) != counter.n_members)
    return fail (self, error, "its header has the same key twice");
  return read_members (self, json_node_get_object (root), error) &&
         check_offsets (self, error);
}

static gboolean
read_file (GyreSafetensors *self, GError **error)
{
  gsize         size;
  const guint8 *data = g_bytes_get_data (self->bytes, &size);
  guint64       header;

  if (size < 8)
    return fail (self, error, "it has %" G_GSIZE_FORMAT " bytes", size);
  memcpy (&header, data, 8);
  header = GUINT64_FROM_LE (header);
  if (header > MAX_HEADER || header > size - 8)
    return fail (self, error, "its header would have %" G_GUINT64_FORMAT " bytes",
                 header);
  self->data = 8 + (gsize) header;
  return read_header (self, (const char *) data + 8, (gsize) header, error);
}

GyreSafetensors *
gyre_safetensors_open (const char  *path,
                       GError     **error)
{
  g_autoptr (GyreSafetensors) self  = g_new0 (GyreSafetensors, 1);
  g_autoptr (GMappedFile)     file  = NULL;
  g_autoptr (GError)          inner = NULL;

  self->path     = g_strdup (path);
  self->names    = g_ptr_array_new ();
  self->entries  = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, entry_free);
  self->metadata = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR) &&
      g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: not a file of bytes: a %s",
                   path, g_file_test (path, G_FILE_TEST_IS_DIR) ? "folder" : "device");
      return NULL;
    }
  if (!(file = g_mapped_file_new (path, FALSE, &inner)))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: %s", path, inner->message);
      return NULL;
    }
  self->bytes = g_mapped_file_get_bytes (file);
  if (!read_file (self, error))
    return NULL;
  g_ptr_array_add (self->names, NULL);
  return g_steal_pointer (&self);
}

const char *const *
gyre_safetensors_get_names (const GyreSafetensors *self)
{
  return (const char *const *) self->names->pdata;
}

gboolean
gyre_safetensors_has (const GyreSafetensors *self,
                      const char            *name)
{
  return g_hash_table_contains (self->entries, name);
}

const char *
gyre_safetensors_get_meta (const GyreSafetensors *self,
                           const char            *key)
{
  return g_hash_table_lookup (self->metadata, key);
}

GHashTable *
gyre_safetensors_get_all_meta (const GyreSafetensors *self)
{
  return self->metadata;
}

static GyreArray *
narrow_f64 (const Entry *entry, const guint8 *data)
{
  gsize             n   = (gsize) gyre_shape_n_elements (&entry->shape);
  g_autofree float *out = g_new (float, n + 1);

  for (gsize i = 0; i < n; i++)
    {
      double value;

      memcpy (&value, data + 8 * i, 8);
      out[i] = (float) value;
    }
  return gyre_array_new (GYRE_F32, entry->shape, out);
}

static GyreArray *
narrow_i64 (const GyreSafetensors  *self,
            const Entry            *entry,
            const guint8           *data,
            GError                **error)
{
  gsize              n   = (gsize) gyre_shape_n_elements (&entry->shape);
  g_autofree gint32 *out = g_new (gint32, n + 1);

  for (gsize i = 0; i < n; i++)
    {
      gint64 value;

      memcpy (&value, data + 8 * i, 8);
      if (value < G_MININT32 || value > G_MAXINT32)
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA,
                       "%s: element %" G_GSIZE_FORMAT " of %s is %" G_GINT64_FORMAT
                       ", which i32 can't hold", self->path, i, entry->name, value);
          return NULL;
        }
      out[i] = (gint32) value;
    }
  return gyre_array_new (GYRE_I32, entry->shape, out);
}

GyreArray *
gyre_safetensors_get (const GyreSafetensors  *self,
                      const char             *name,
                      GError                **error)
{
  static const struct { const char *name; GyreDtype dtype; } same[] = {
    { "F32", GYRE_F32 }, { "I32", GYRE_I32 }, { "U32", GYRE_U32 }, { "U8", GYRE_U8 },
    { "BOOL", GYRE_BOOL },
  };
  const Entry  *entry = g_hash_table_lookup (self->entries, name);
  const guint8 *data = (const guint8 *) g_bytes_get_data (self->bytes, NULL) + self->data;

  if (!entry)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_UNKNOWN, "%s has no array %s",
                   self->path, name);
      return NULL;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (same); i++)
    if (g_str_equal (same[i].name, entry->dtype))
      return gyre_array_new (same[i].dtype, entry->shape, data + entry->begin);
  if (g_str_equal (entry->dtype, "F64"))
    return narrow_f64 (entry, data + entry->begin);
  if (g_str_equal (entry->dtype, "I64"))
    return narrow_i64 (self, entry, data + entry->begin, error);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: %s is of dtype %s; F32, F64, I32, I64, U32, U8 and BOOL are read",
               self->path, name, entry->dtype);
  return NULL;
}
