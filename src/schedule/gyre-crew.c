/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-crew-private.h"

typedef struct
{
  guint      member;
  gsize      offset, size;
  GyreStore *store;
} Part;

struct _GyreCrew
{
  guint           ref_count;
  GyreCrewTable  *table;
  char           *key;
  guint           n;
  GyreBuffer    **buffers;
  GyreCollective *collective;
  GArray         *parts;      /* Part */
};

struct _GyreCrewTable
{
  guint       ref_count;
  GHashTable *crews;          /* key → GyreCrew, not held */
};

GyreCrewTable *
gyre_crew_table_new (void)
{
  GyreCrewTable *self = g_new0 (GyreCrewTable, 1);

  self->ref_count = 1;
  self->crews = g_hash_table_new (g_str_hash, g_str_equal);

  return self;
}

GyreCrewTable *
gyre_crew_table_ref (GyreCrewTable *self)
{
  self->ref_count++;

  return self;
}

void
gyre_crew_table_unref (GyreCrewTable *self)
{
  if (self == NULL || --self->ref_count > 0)
    return;

  g_hash_table_unref (self->crews);
  g_free (self);
}

static char *
make_key (const GyreCrewInfo *info)
{
  GString *key = g_string_new (info->name);

  g_string_append_printf (key, " %d %d %" G_GSIZE_FORMAT, (int) info->dtype,
                          (int) info->op, info->length);
  for (guint i = 0; i < info->n; i++)
    g_string_append_printf (key, " %p", (gpointer) info->devices[i]);
  for (guint i = 0; info->bounds != NULL && i <= info->n; i++)
    g_string_append_printf (key, " %" G_GSIZE_FORMAT, info->bounds[i]);
  for (guint i = 0; i < info->n_routes; i++)
    g_string_append_printf (key, " %u-%u:%" G_GSIZE_FORMAT, info->routes[i].from,
                            info->routes[i].to, info->routes[i].bytes);

  return g_string_free (key, FALSE);
}

static gboolean
make_buffers (GyreCrew            *self,
              const GyreCrewInfo  *info,
              GError             **error)
{
  for (guint i = 0; i < info->n; i++)
    {
      self->buffers[i] = gyre_buffer_new (
          info->devices[i], info->length * gyre_dtype_size (info->dtype), error);
      if (self->buffers[i] == NULL)
        return FALSE;
    }

  return TRUE;
}

static GyreCrew *
crew_new (GyreCrewTable       *table,
          const GyreCrewInfo  *info,
          const char          *key,
          GError             **error)
{
  GyreCrew *self = g_new0 (GyreCrew, 1);
  GyreCollectiveInfo collective = { info->n, info->devices, NULL, info->dtype, info->op,
                                    info->length, info->bounds, NULL, info->routes,
                                    info->n_routes };

  self->ref_count = 1;
  self->table = gyre_crew_table_ref (table);
  self->key = g_strdup (key);
  self->n = info->n;
  self->buffers = g_new0 (GyreBuffer *, info->n);
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  collective.buffers = self->buffers;

  if (make_buffers (self, info, error))
    self->collective = gyre_collective_new (&collective, error);
  if (self->collective == NULL)
    {
      gyre_crew_unref (self);
      return NULL;
    }

  g_hash_table_insert (table->crews, self->key, self);
  return self;
}

GyreCrew *
gyre_crew_get (GyreCrewTable       *table,
               const GyreCrewInfo  *info,
               GError             **error)
{
  g_autofree char *key = make_key (info);
  GyreCrew *self = g_hash_table_lookup (table->crews, key);

  if (self == NULL)
    return crew_new (table, info, key, error);

  self->ref_count++;
  return self;
}

void
gyre_crew_unref (GyreCrew *self)
{
  if (self == NULL || --self->ref_count > 0)
    return;

  if (g_hash_table_lookup (self->table->crews, self->key) == self)
    g_hash_table_remove (self->table->crews, self->key);
  gyre_collective_free (self->collective);
  for (guint i = 0; i < self->parts->len; i++)
    gyre_store_unref (g_array_index (self->parts, Part, i).store);
  g_array_unref (self->parts);
  for (guint i = 0; i < self->n; i++)
    if (self->buffers[i] != NULL)
      gyre_buffer_unref (self->buffers[i]);
  g_free (self->buffers);
  gyre_crew_table_unref (self->table);
  g_free (self->key);
  g_free (self);
}

GyreCollective *
gyre_crew_get_collective (GyreCrew *self)
{
  return self->collective;
}

GyreBuffer *
gyre_crew_get_buffer (GyreCrew *self,
                      guint     member)
{
  return self->buffers[member];
}

GyreStore *
gyre_crew_get_part (GyreCrew  *self,
                    guint      member,
                    gsize      offset,
                    gsize      size,
                    GError   **error)
{
  Part part = { member, offset, size, NULL };
  GyreBuffer *buffer;

  for (guint i = 0; i < self->parts->len; i++)
    {
      const Part *known = &g_array_index (self->parts, Part, i);

      if (known->member == member && known->offset == offset && known->size == size)
        return known->store;
    }

  /* an empty chunk is no part of anything */
  buffer = size > 0 ? gyre_buffer_new_sub (self->buffers[member], offset, size, error)
                    : gyre_buffer_new (gyre_buffer_get_device (self->buffers[member]), 0,
                                       error);
  if (buffer == NULL)
    return NULL;

  part.store = gyre_store_new (buffer);
  g_array_append_val (self->parts, part);
  return part.store;
}
