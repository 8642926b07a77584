/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-array-private.h"

#include <gyre/gyre-error.h>

#include "base/gyre-tree-private.h"
#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

/* An upload: the bytes of each block stay until all are on their devices. */
typedef struct
{
  GyreArray *array;
  GBytes   **blocks;
} Upload;

typedef struct
{
  Upload *upload;
  guint   device;
} BlockDone;

static void
upload_free (Upload *upload)
{
  for (guint d = 0; d < upload->array->layout->n_blocks; d++)
    g_bytes_unref (upload->blocks[d]);
  g_free (upload->blocks);
  gyre_array_unref (upload->array);
  g_free (upload);
}

static void
finish_block (Upload *upload,
              GError *error)
{
  GyreTicket *ticket = upload->array->ticket;

  gyre_ticket_done (ticket, error);
  if (gyre_ticket_is_done (ticket))
    upload_free (upload);
}

static void
block_done (cl_int   status,
            gpointer data)
{
  BlockDone *done = data;
  GyreMesh *mesh = gyre_sharding_get_mesh (done->upload->array->sharding);
  GError *error = NULL;

  gyre_cl_check (status, &error, "writing an array to %s",
                 gyre_device_get_name (gyre_mesh_get_device (mesh, done->device)));
  finish_block (done->upload, error);
  g_free (done);
}

static void
write_block (Upload *upload,
             guint   d)
{
  GyreArray *array = upload->array;
  GyreMesh *mesh = gyre_sharding_get_mesh (array->sharding);
  BlockDone done = { upload, d };
  cl_event event = NULL;
  GError *error = NULL;
  gsize size;
  gconstpointer data = g_bytes_get_data (upload->blocks[d], &size);

  if (gyre_device_write (gyre_mesh_get_device (mesh, d), array->stores[d]->buffer, 0,
                         size, data, NULL, 0, &event, &error))
    gyre_executor_add_pending (&event, 1, block_done, g_memdup2 (&done, sizeof done));
  else
    finish_block (upload, error);
}

/* The last block to be done frees the upload: n is read before. */
static void
upload_job (gpointer data)
{
  Upload *upload = data;
  guint n = upload->array->layout->n_blocks;

  for (guint d = 0; d < n; d++)
    write_block (upload, d);
}

static gboolean
take_stores (GyreArray  *array,
             GError    **error)
{
  GyreMesh *mesh = gyre_sharding_get_mesh (array->sharding);

  for (guint d = 0; d < array->layout->n_blocks; d++)
    {
      g_autoptr (GyreStore) store =
          gyre_pool_take (gyre_mesh_get_pool (mesh), gyre_mesh_get_device (mesh, d),
                          gyre_array_block_size (array, d), error);

      if (store == NULL)
        return FALSE;
      gyre_array_set_store (array, d, store);
    }

  return TRUE;
}

static GyreArray *
put_bytes (GyreArray     *self,
           GBytes        *bytes,
           GyreSharding  *sharding,
           GyreLayout    *layout,
           GError       **error)
{
  g_autoptr (GyreArray) array =
      gyre_array_new_sharded (self->dtype, self->shape, sharding, layout);
  Upload *upload;

  if (!take_stores (array, error))
    return NULL;

  array->ticket = gyre_ticket_new (layout->n_blocks);
  upload = g_new0 (Upload, 1);
  upload->array = gyre_array_ref (array);
  upload->blocks = g_new (GBytes *, layout->n_blocks);
  for (guint d = 0; d < layout->n_blocks; d++)
    upload->blocks[d] = gyre_block_slice (&layout->blocks[d], &self->shape,
                                          gyre_dtype_size (self->dtype), bytes);
  gyre_executor_post (upload_job, upload);

  return g_steal_pointer (&array);
}

GyreArray *
gyre_array_put (GyreArray     *self,
                GyreSharding  *sharding,
                GyreLayout    *layout,
                GError       **error)
{
  g_autoptr (GyreLayout) target = layout;
  g_autoptr (GBytes) bytes = NULL;

  if (!gyre_array_check (self, "gyre_device_put", error))
    return NULL;
  if (gyre_array_is_on (self, gyre_sharding_get_mesh (sharding))
      && gyre_layout_equal (self->layout, layout))
    return gyre_array_ref (self);

  bytes = gyre_array_get (self, error);
  if (bytes == NULL)
    return NULL;

  return put_bytes (self, bytes, sharding, g_steal_pointer (&target), error);
}

/**
 * gyre_device_put:
 * @array: an array, of the host or of any mesh
 * @sharding: where it shall lie
 * @error: return location for an error
 *
 * Moves an array to the devices of a mesh.  The upload is under way when this returns; an
 * array that lies so already is returned itself.
 *
 * Sizes need not divide evenly.
 *
 * Errors: %GYRE_ERROR_SHARDING where the sharding doesn't fit the shape: a dimension that
 * isn't there, or one of fewer rows than there are members to split it over,
 * %GYRE_ERROR_DONATED, and errors of devices.
 *
 * Returns: (transfer full): the array there, or %NULL
 */
GyreArray *
gyre_device_put (GyreArray     *array,
                 GyreSharding  *sharding,
                 GError       **error)
{
  GyreMeshSpec mesh;
  GyreSpec spec;

  g_return_val_if_fail (array != NULL && sharding != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!gyre_sharding_check_dtype (sharding, array->dtype, error) ||
      !gyre_sharding_resolve (sharding, &array->shape, &spec, error) ||
      !gyre_sharding_check_parts (sharding, &array->shape, error))
    return NULL;

  gyre_mesh_get_spec (gyre_sharding_get_mesh (sharding), &mesh);
  return gyre_array_put (array, sharding,
                         gyre_layout_new (&mesh, &array->shape, &spec,
                                          gyre_sharding_is_stacked (sharding), NULL),
                         error);
}

static GyreTree *
put_leaf (const char       *path,
          GyreTree *const  *leaves,
          guint             n_trees,
          gpointer          data,
          GError          **error)
{
  g_autoptr (GyreArray) array =
      gyre_device_put (gyre_tree_as_array (leaves[0]), data, error);

  if (array == NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }

  return gyre_tree_new_array (array);
}

/**
 * gyre_device_put_tree:
 * @tree: a tree of arrays
 * @sharding: where they shall lie
 * @error: return location for an error
 *
 * gyre_device_put () of every leaf.
 *
 * Returns: (transfer full): a tree of the same structure, or %NULL
 */
GyreTree *
gyre_device_put_tree (GyreTree      *tree,
                      GyreSharding  *sharding,
                      GError       **error)
{
  g_return_val_if_fail (tree != NULL && sharding != NULL, NULL);

  return gyre_tree_map (&tree, 1, put_leaf, sharding, error);
}
