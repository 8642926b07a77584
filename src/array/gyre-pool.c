/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-pool-private.h"

/* Buffers of one device and size that are kept at most: a run, the two before it, and one
 * that the caller holds. */
#define MAX_KEPT 4

/* Larger sizes are rounded up, by an eighth at most: shares that come and go use the same
 * buffers again. */
#define EXACT 4096

struct _GyrePool
{
  gatomicrefcount ref_count;
  GMutex          lock;
  GHashTable     *shelves;   /* Shelf → itself */
};

typedef struct
{
  GyreDevice *device;
  gsize       size;
  GPtrArray  *buffers;
} Shelf;

static guint
shelf_hash (gconstpointer key)
{
  const Shelf *shelf = key;

  return g_direct_hash (shelf->device) ^ (guint) (shelf->size * 2654435761u);
}

static gboolean
shelf_equal (gconstpointer a,
             gconstpointer b)
{
  const Shelf *x = a, *y = b;

  return x->device == y->device && x->size == y->size;
}

static void
shelf_free (gpointer data)
{
  Shelf *shelf = data;

  g_ptr_array_unref (shelf->buffers);
  g_free (shelf);
}

GyrePool *
gyre_pool_new (void)
{
  GyrePool *self = g_new0 (GyrePool, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  self->shelves = g_hash_table_new_full (shelf_hash, shelf_equal, NULL, shelf_free);

  return self;
}

GyrePool *
gyre_pool_ref (GyrePool *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
gyre_pool_unref (GyrePool *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_hash_table_unref (self->shelves);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static gsize
round_size (gsize size)
{
  gsize step = EXACT / 8;

  while (step * 16 < size)
    step *= 2;

  return size <= EXACT ? size : (size + step - 1) / step * step;
}

/* With the lock held. */
static Shelf *
get_shelf (GyrePool   *self,
           GyreDevice *device,
           gsize       size)
{
  Shelf key = { device, size, NULL };
  Shelf *shelf = g_hash_table_lookup (self->shelves, &key);

  if (shelf == NULL)
    {
      shelf = g_memdup2 (&key, sizeof key);
      shelf->buffers =
          g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_buffer_unref);
      g_hash_table_add (self->shelves, shelf);
    }

  return shelf;
}

GyreStore *
gyre_store_new (GyreBuffer *buffer)
{
  GyreStore *self = g_new0 (GyreStore, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->buffer = buffer;

  return self;
}

/* First in, first out: a loop takes the same buffers by turns, whatever the timing. */
GyreStore *
gyre_pool_take (GyrePool    *self,
                GyreDevice  *device,
                gsize        size,
                GError     **error)
{
  GyreBuffer *buffer = NULL;
  GyreStore *store;
  Shelf *shelf;

  size = MIN (round_size (size), MAX (size, gyre_device_get_max_allocation (device)));
  g_mutex_lock (&self->lock);
  shelf = get_shelf (self, device, size);
  if (shelf->buffers->len > 0)
    buffer = g_ptr_array_steal_index (shelf->buffers, 0);
  g_mutex_unlock (&self->lock);

  if (buffer == NULL)
    buffer = gyre_buffer_new (device, size, error);
  if (buffer == NULL)
    return NULL;

  store = gyre_store_new (buffer);
  store->pool = gyre_pool_ref (self);
  return store;
}

/* Keeps the buffer, or returns it where there are enough. */
static GyreBuffer *
give (GyrePool   *self,
      GyreBuffer *buffer)
{
  GyreDevice *device = gyre_buffer_get_device (buffer);
  Shelf *shelf;

  g_mutex_lock (&self->lock);
  shelf = get_shelf (self, device, gyre_buffer_get_size (buffer));
  if (shelf->buffers->len < MAX_KEPT)
    g_ptr_array_add (shelf->buffers, g_steal_pointer (&buffer));
  g_mutex_unlock (&self->lock);

  return buffer;
}

gboolean
gyre_pool_reserve (GyrePool    *self,
                   GyreDevice  *device,
                   gsize        size,
                   GError     **error)
{
  GyreStore *stores[MAX_KEPT] = { NULL };
  gboolean good = TRUE;

  for (guint i = 0; good && i < MAX_KEPT; i++)
    good = (stores[i] = gyre_pool_take (self, device, size, error)) != NULL;
  for (guint i = 0; i < MAX_KEPT; i++)
    gyre_store_unref (stores[i]);

  return good;
}

GyreStore *
gyre_store_ref (GyreStore *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
gyre_store_unref (GyreStore *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  if (self->pool != NULL)
    self->buffer = give (self->pool, self->buffer);
  if (self->buffer != NULL)
    gyre_buffer_unref (self->buffer);
  gyre_pool_unref (self->pool);
  g_free (self);
}

gboolean
gyre_store_is_single (GyreStore *self)
{
  return g_atomic_int_get (&self->n_arrays) <= 1;
}
