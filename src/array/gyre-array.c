/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-array-private.h"

#include <gyre/gyre-error.h>

#include "base/gyre-tree-private.h"

G_DEFINE_BOXED_TYPE (GyreArray, gyre_array, gyre_array_ref, gyre_array_unref)

static GMutex stores_lock;

void
gyre_array_lock (void)
{
  g_mutex_lock (&stores_lock);
}

void
gyre_array_unlock (void)
{
  g_mutex_unlock (&stores_lock);
}

static char *
leaf_to_string (gconstpointer leaf)
{
  return gyre_array_to_string ((GyreArray *) leaf);
}

/* Trees are below this folder: they learn here what an array is. */
static void
teach_trees (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      gyre_tree_set_array_funcs ((GBoxedCopyFunc) gyre_array_ref,
                                 (GBoxedFreeFunc) gyre_array_unref, leaf_to_string);
      g_once_init_leave (&once, 1);
    }
}

static GyreArray *
new_array (GyreDtype dtype,
           GyreShape shape)
{
  GyreArray *self = g_new0 (GyreArray, 1);

  teach_trees ();
  g_atomic_ref_count_init (&self->ref_count);
  self->dtype = dtype;
  self->shape = shape;
  gyre_owner_adopt (self, (GDestroyNotify) gyre_array_unref);

  return self;
}

static gsize
whole_size (GyreDtype        dtype,
            const GyreShape *shape)
{
  return (gsize) gyre_shape_n_elements (shape) * gyre_dtype_size (dtype);
}

/**
 * gyre_array_new:
 * @dtype: the type of the elements
 * @shape: any shape, of no elements too
 * @data: the elements, row-major; may be %NULL where there are none
 *
 * An array on the host, with a copy of the numbers.
 *
 * Returns: (transfer full): the array
 */
GyreArray *
gyre_array_new (GyreDtype     dtype,
                GyreShape     shape,
                gconstpointer data)
{
  GyreArray *self;
  gsize size = whole_size (dtype, &shape);

  g_return_val_if_fail (data != NULL || size == 0, NULL);

  self = new_array (dtype, shape);
  self->bytes = g_bytes_new (data, size);

  return self;
}

/**
 * gyre_array_new_bytes:
 * @dtype: the type of the elements
 * @shape: any shape
 * @bytes: the elements, row-major; not copied
 * @error: return location for an error
 *
 * Errors: %GYRE_ERROR_SHAPE where @bytes isn't of the size that the shape asks for.
 *
 * Returns: (transfer full): an array on the host, or %NULL
 */
GyreArray *
gyre_array_new_bytes (GyreDtype   dtype,
                      GyreShape   shape,
                      GBytes     *bytes,
                      GError    **error)
{
  GyreArray *self;

  g_return_val_if_fail (bytes != NULL, NULL);

  if (g_bytes_get_size (bytes) != whole_size (dtype, &shape))
    {
      g_autofree char *text = gyre_shape_to_string (&shape);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "gyre_array_new_bytes: %s%s takes %" G_GSIZE_FORMAT " bytes, not %"
                   G_GSIZE_FORMAT, gyre_dtype_name (dtype), text,
                   whole_size (dtype, &shape), g_bytes_get_size (bytes));
      return NULL;
    }

  self = new_array (dtype, shape);
  self->bytes = g_bytes_ref (bytes);

  return self;
}

GyreArray *
gyre_array_new_sharded (GyreDtype     dtype,
                        GyreShape     shape,
                        GyreSharding *sharding,
                        GyreLayout   *layout)
{
  GyreArray *self = new_array (dtype, shape);

  self->sharding = gyre_sharding_ref (sharding);
  self->layout = layout;
  self->stores = g_new0 (GyreStore *, layout->n_blocks);

  return self;
}

void
gyre_array_set_store (GyreArray *self,
                      guint      device,
                      GyreStore *store)
{
  GyreStore *old = self->stores[device];

  if (store != NULL)
    {
      gyre_store_ref (store);
      g_atomic_int_inc (&store->n_arrays);
      store->array = self;
    }
  self->stores[device] = store;

  if (old != NULL)
    {
      g_atomic_int_dec_and_test (&old->n_arrays);
      gyre_store_unref (old);
    }
}

/**
 * gyre_array_ref:
 * @self: an array
 *
 * Returns: (transfer full): @self
 */
GyreArray *
gyre_array_ref (GyreArray *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * gyre_array_unref:
 * @self: (nullable) (transfer full): an array
 *
 * Gives up a reference.
 */
void
gyre_array_unref (GyreArray *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  for (guint d = 0; self->layout != NULL && d < self->layout->n_blocks; d++)
    gyre_array_set_store (self, d, NULL);
  g_free (self->stores);
  gyre_layout_unref (self->layout);
  gyre_ticket_unref (self->ticket);
  gyre_sharding_unref (self->sharding);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_free (self);
}

/**
 * gyre_array_get_dtype:
 * @self: an array
 *
 * Returns: the type of its elements
 */
GyreDtype
gyre_array_get_dtype (GyreArray *self)
{
  g_return_val_if_fail (self != NULL, GYRE_F32);

  return self->dtype;
}

/**
 * gyre_array_get_shape: (skip)
 * @self: an array
 *
 * Returns: the shape of the whole array; of a stacked one with the device dimension
 */
GyreShape
gyre_array_get_shape (GyreArray *self)
{
  g_return_val_if_fail (self != NULL, GYRE_SCALAR);

  return self->shape;
}

/**
 * gyre_array_get_sharding:
 * @self: an array
 *
 * Returns: (transfer none) (nullable): how it lies on devices; %NULL: on the host
 */
GyreSharding *
gyre_array_get_sharding (GyreArray *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->sharding;
}

/**
 * gyre_array_is_ready:
 * @self: an array
 *
 * Returns: whether reading it would not wait for the step that makes it
 */
gboolean
gyre_array_is_ready (GyreArray *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->ticket == NULL || gyre_ticket_is_done (self->ticket);
}

gboolean
gyre_array_is_on (GyreArray *self,
                  GyreMesh  *mesh)
{
  return self->sharding != NULL && gyre_sharding_get_mesh (self->sharding) == mesh;
}

gsize
gyre_array_block_size (GyreArray *self,
                       guint      device)
{
  return (gsize) gyre_block_n (&self->layout->blocks[device]) *
         gyre_dtype_size (self->dtype);
}

void
gyre_array_set_donated (GyreArray *self)
{
  g_atomic_int_set (&self->donated, TRUE);

  gyre_array_lock ();
  for (guint d = 0; self->layout != NULL && d < self->layout->n_blocks; d++)
    gyre_array_set_store (self, d, NULL);
  gyre_array_unlock ();
}

gboolean
gyre_array_check (GyreArray   *self,
                  const char  *who,
                  GError     **error)
{
  g_autofree char *text = NULL;

  if (!g_atomic_int_get (&self->donated))
    return TRUE;

  text = gyre_array_to_string (self);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DONATED,
               "%s: the array %s was donated to a step, which reused its memory; use the "
               "step's result in its place", who, text);
  return FALSE;
}

/**
 * gyre_array_to_string:
 * @self: an array
 *
 * Returns: (transfer full): dtype and shape, such as "f32[256, 10]"; not the numbers
 */
char *
gyre_array_to_string (GyreArray *self)
{
  g_autofree char *shape = gyre_shape_to_string (&self->shape);

  return g_strconcat (gyre_dtype_name (self->dtype), shape, NULL);
}
