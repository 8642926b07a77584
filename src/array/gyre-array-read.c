/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-array-private.h"

#include <math.h>

#include <gyre/gyre-error.h>

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

/* A read of an array to the host: made by the caller, run on the executor thread. */
typedef struct
{
  GyreDevice *device;
  GyreStore  *store;
  guint8     *data;         /* where the block's bytes go */
  guint8     *own;          /* data where they must be scattered, else NULL */
  gsize       size;
  guint       block;
} Part;

typedef struct
{
  GyreArray  *array;
  GyreTicket *ticket;
  guint8     *whole;
  guint       n_parts;
  Part       *parts;
} Read;

typedef struct
{
  Read *read;
  Part *part;
} PartDone;

static gboolean
same_block (const GyreBlock *a,
            const GyreBlock *b)
{
  if (a->summand != b->summand)
    return FALSE;
  if (a->flat)
    return a->first == b->first && a->count == b->count;

  return memcmp (a->offsets, b->offsets, sizeof a->offsets) == 0
         && gyre_shape_equal (&a->local, &b->local);
}

/* Replicas are read once; empty blocks not at all. */
static gboolean
is_needed (GyreArray *array,
           guint      d)
{
  const GyreBlock *blocks = array->layout->blocks;

  if (gyre_block_n (&blocks[d]) == 0)
    return FALSE;

  for (guint e = 0; e < d; e++)
    if (same_block (&blocks[e], &blocks[d]))
      return FALSE;

  return TRUE;
}

static void
add_part (Read  *read,
          guint  d)
{
  GyreArray *array = read->array;
  Part *part = &read->parts[read->n_parts++];
  gint64 first;

  part->device = gyre_mesh_get_device (gyre_sharding_get_mesh (array->sharding), d);
  part->store = gyre_store_ref (array->stores[d]);
  part->size = gyre_array_block_size (array, d);
  part->block = d;
  if (array->layout->blocks[d].summand == 0 &&
      gyre_block_is_run (&array->layout->blocks[d], &array->shape, &first))
    part->data = read->whole + (gsize) first * gyre_dtype_size (array->dtype);
  else
    part->data = part->own = g_malloc (part->size);
}

static Read *
read_new (GyreArray *array,
          guint8    *whole)
{
  Read *read = g_new0 (Read, 1);

  read->array = gyre_array_ref (array);
  read->whole = whole;
  read->parts = g_new0 (Part, array->layout->n_blocks);

  gyre_array_lock ();
  for (guint d = 0; d < array->layout->n_blocks; d++)
    if (is_needed (array, d))
      add_part (read, d);
  gyre_array_unlock ();
  read->ticket = gyre_ticket_new (read->n_parts + 1);

  return read;
}

static void
read_free (Read *read)
{
  for (guint i = 0; i < read->n_parts; i++)
    {
      gyre_store_unref (read->parts[i].store);
      g_free (read->parts[i].own);
    }
  gyre_ticket_unref (read->ticket);
  gyre_array_unref (read->array);
  g_free (read->parts);
  g_free (read);
}

static void
part_done (cl_int   status,
           gpointer data)
{
  PartDone *done = data;
  GError *error = NULL;

  gyre_cl_check (status, &error, "reading an array from %s",
                 gyre_device_get_name (done->part->device));
  gyre_ticket_done (done->read->ticket, error);
  g_free (done);
}

static void
read_part (Read *read,
           Part *part)
{
  GError *error = NULL;
  cl_event event = NULL;
  PartDone done = { read, part };

  if (gyre_device_read (part->device, part->store->buffer, 0, part->size, part->data,
                        NULL, 0, &event, &error))
    gyre_executor_add_pending (&event, 1, part_done, g_memdup2 (&done, sizeof done));
  else
    gyre_ticket_done (read->ticket, error);
}

/* The job itself is the last part: the caller frees the read once all are done. */
static void
read_job (gpointer data)
{
  Read *read = data;

  for (guint i = 0; i < read->n_parts; i++)
    read_part (read, &read->parts[i]);
  gyre_ticket_done (read->ticket, NULL);
}

/* The error of the step that made it goes before that of the read. */
static gboolean
read_wait (Read    *read,
           GError **error)
{
  GyreArray *array = read->array;
  g_autoptr (GError) late = NULL;
  gboolean good = gyre_ticket_wait (read->ticket, &late);

  if (array->ticket != NULL && !gyre_ticket_wait (array->ticket, error))
    return FALSE;
  if (!good)
    g_propagate_error (error, g_steal_pointer (&late));

  return good;
}

/* A summand after the first is added. */
static void
take_part (GyreArray  *self,
           const Part *part,
           guint8     *whole)
{
  const GyreBlock *block = &self->layout->blocks[part->block];

  if (part->own == NULL)
    return;
  if (block->summand > 0)
    gyre_block_add (block, &self->shape, self->dtype, part->own, whole);
  else
    gyre_block_scatter (block, &self->shape, gyre_dtype_size (self->dtype), part->own,
                        whole);
}

static GBytes *
read_array (GyreArray  *self,
            GError    **error)
{
  gsize size =
      (gsize) gyre_shape_n_elements (&self->shape) * gyre_dtype_size (self->dtype);
  g_autofree guint8 *whole = g_malloc0 (MAX (size, 1));
  Read *read = read_new (self, whole);
  gboolean good;

  gyre_executor_post (read_job, read);
  good = read_wait (read, error);
  for (guint i = 0; good && i < read->n_parts; i++)
    take_part (self, &read->parts[i], whole);
  read_free (read);

  return good ? g_bytes_new_take (g_steal_pointer (&whole), size) : NULL;
}

/**
 * gyre_array_get:
 * @self: an array
 * @error: return location for an error
 *
 * The whole array on the host, row-major.  Waits for the step that makes it.
 *
 * Errors: %GYRE_ERROR_DONATED for an array that was donated, %GYRE_ERROR_DEVICE for a
 * device that failed, and the error of the step that was to make it.
 *
 * Returns: (transfer full): its bytes, or %NULL
 */
GBytes *
gyre_array_get (GyreArray  *self,
                GError    **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!gyre_array_check (self, "gyre_array_get", error))
    return NULL;
  if (self->bytes != NULL)
    return g_bytes_ref (self->bytes);

  return read_array (self, error);
}

static double
element_to_double (GyreDtype     dtype,
                   gconstpointer data)
{
  switch (dtype)
    {
    case GYRE_F32: return *(const float *) data;
    case GYRE_I32: return *(const gint32 *) data;
    case GYRE_U32: return *(const guint32 *) data;
    default:       return *(const guint8 *) data;
    }
}

/* A stacked array counts as a scalar by what each device holds: the first one's. */
static gboolean
is_scalar (GyreArray *self)
{
  gint64 n = gyre_shape_n_elements (&self->shape);

  if (self->layout != NULL && self->layout->stacked)
    return n > 0 && n == (gint64) self->layout->n_blocks;

  return n == 1;
}

/**
 * gyre_array_get_scalar:
 * @self: an array with one element, or, of a stacked one, with one a device
 * @value: (out): the element; of a stacked array the first device's
 * @error: return location for an error
 *
 * A scalar that a step gives travels to the host with it: this waits for that step and no
 * more.
 *
 * Errors: %GYRE_ERROR_SHAPE where it has more elements or none, and those of
 * gyre_array_get ().
 *
 * Returns: whether @value was set
 */
gboolean
gyre_array_get_scalar (GyreArray  *self,
                       double     *value,
                       GError    **error)
{
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (self != NULL && value != NULL, FALSE);

  if (!is_scalar (self))
    {
      g_autofree char *text = gyre_array_to_string (self);

      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                   "gyre_array_get_scalar: %s is not one element", text);
      return FALSE;
    }

  if (self->has_small)
    {
      if (!gyre_ticket_wait (self->ticket, error))
        return FALSE;
      *value = element_to_double (self->dtype, self->small);
      return TRUE;
    }

  bytes = gyre_array_get (self, error);
  if (bytes == NULL)
    return FALSE;

  *value = element_to_double (self->dtype, g_bytes_get_data (bytes, NULL));
  return TRUE;
}

/**
 * gyre_tree_get_scalar:
 * @self: a tree of arrays, such as a step's result
 * @path: the path of a leaf with one element
 *
 * Waits for the step that makes it.
 *
 * Returns: the element; NaN, with a critical warning, where it can't be read
 */
double
gyre_tree_get_scalar (GyreTree   *self,
                      const char *path)
{
  g_autoptr (GError) error = NULL;
  GyreArray *array = gyre_tree_get_array (self, path);
  double value = NAN;

  if (array != NULL && !gyre_array_get_scalar (array, &value, &error))
    g_critical ("%s: %s", path, error->message);

  return value;
}

/**
 * gyre_tree_get_mean:
 * @self: a tree of arrays, such as a step's result
 * @path: the path of a leaf of numbers, such as a loss a device
 *
 * Waits for the step that makes it, and adds in double.
 *
 * Returns: the mean of all elements; NaN, with a critical warning, where they can't be
 *   read, and NaN of none
 */
double
gyre_tree_get_mean (GyreTree   *self,
                    const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GyreArray *array = gyre_tree_get_array (self, path);
  const guint8 *data;
  gsize width, size;
  double sum = 0;

  if (array == NULL)
    return NAN;
  if ((bytes = gyre_array_get (array, &error)) == NULL)
    {
      g_critical ("%s: %s", path, error->message);
      return NAN;
    }

  data = g_bytes_get_data (bytes, &size);
  width = gyre_dtype_size (array->dtype);
  for (gsize i = 0; i < size; i += width)
    sum += element_to_double (array->dtype, data + i);

  return sum / (double) (size / width);
}
