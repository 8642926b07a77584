/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "data/gyre-augment-private.h"
#include "data/gyre-dataset-private.h"

/* How many batches are gathered ahead. */
#define AHEAD 3

struct _GyreLoader
{
  GObject parent_instance;

  GyreDataset *dataset;
  GyreSplit    split;
  gint64       batch_size;
  gint64       first;        /* the rows of the split that it gives */
  gint64       n;
  gint32      *order;        /* rows in the order of this epoch; NULL: as they stand */
  GyreAugment  augment;
  GyreKey      augment_key;  /* of all epochs */
  guint        epoch;        /* which it is, for that key */

  gint64       start;        /* the batch that the thread gathers first */
  GThread     *thread;       /* gathers one epoch; NULL between epochs */
  GMutex       lock;
  GCond        changed;
  GQueue       ready;        /* GyreTree: batches in order */
  gint64       next;         /* the batch that is handed out next */
  gboolean     stop;
};

G_DEFINE_FINAL_TYPE (GyreLoader, gyre_loader, G_TYPE_OBJECT)

/* --- the thread --- */

/* The row of the split that is at a place of the epoch. */
static gint64
row_at (const GyreLoader *self, gint64 place)
{
  return self->first + (self->order ? self->order[place] : place);
}

static GyreArray *
gather (const GyreLoader *self,
        GBytes           *source,
        gsize             row_size,
        GyreDtype         dtype,
        GyreShape         shape,
        gint64            first)
{
  gint64        n    = shape.dims[0];
  const guint8 *rows = g_bytes_get_data (source, NULL);
  guint8       *data;

  if (!self->order)
    {
      g_autoptr (GBytes) part = g_bytes_new_from_bytes (
          source, (gsize) (self->first + first) * row_size, (gsize) n * row_size);

      return gyre_array_new_bytes (dtype, shape, part, NULL);
    }
  data = g_malloc ((gsize) n * row_size + 1);
  for (gint64 i = 0; i < n; i++)
    memcpy (data + (gsize) i * row_size,
            rows + (gsize) row_at (self, first + i) * row_size, row_size);
  {
    g_autoptr (GBytes) part = g_bytes_new_take (data, (gsize) n * row_size);

    return gyre_array_new_bytes (dtype, shape, part, NULL);
  }
}

/* As gather() for images, each changed by a key of its own: which batch it is in makes no
 * difference. */
static GyreArray *
gather_augmented (const GyreLoader *self,
                  GBytes           *source,
                  gsize             row_size,
                  GyreDtype         dtype,
                  GyreShape         shape,
                  gint64            first)
{
  GyreShape          image = gyre_dataset_get_image_shape (self->dataset);
  gsize              pixel = (gsize) image.dims[2] * gyre_dtype_size (dtype);
  GyreKey            key   = gyre_key_fold_in (self->augment_key, self->epoch);
  gsize              size  = (gsize) shape.dims[0] * row_size;
  const guint8      *rows  = g_bytes_get_data (source, NULL);
  guint8            *data  = g_malloc (size + 1);
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, size);

  for (gint64 i = 0; i < shape.dims[0]; i++)
    {
      gint64 row = row_at (self, first + i);

      gyre_augment_apply (&self->augment, gyre_key_fold_in (key, (guint32) row), &image,
                          pixel, rows + (gsize) row * row_size,
                          data + (gsize) i * row_size);
    }
  return gyre_array_new_bytes (dtype, shape, bytes, NULL);
}

static GyreTree *
gather_batch (const GyreLoader *self, gint64 index)
{
  const GyreDatasetPart *part  = gyre_dataset_get_part (self->dataset, self->split);
  GyreShape              image = gyre_dataset_get_image_shape (self->dataset);
  GyreDtype              dtype = gyre_dataset_get_image_dtype (self->dataset);
  gint64                 first = index * self->batch_size;
  gint64                 n     = MIN (self->batch_size, self->n - first);
  gsize size = (gsize) gyre_shape_n_elements (&image) * gyre_dtype_size (dtype);
  GyreShape shape = GYRE_SHAPE (n, image.dims[0], image.dims[1], image.dims[2]);
  gboolean plain = gyre_augment_is_none (&self->augment);
  g_autoptr (GyreArray)  images = (plain ? gather : gather_augmented) (
      self, part->images, size, dtype, shape, first);
  g_autoptr (GyreArray)  labels = gather (self, part->labels, sizeof (gint32), GYRE_I32,
                                          GYRE_SHAPE (n), first);

  return gyre_tree_build (GYRE_ARRAY_ENTRY ("image", images),
                          GYRE_ARRAY_ENTRY ("label", labels), NULL);
}

/* FALSE: the loader wants the thread to end. */
static gboolean
hand_over (GyreLoader *self, GyreTree *batch)
{
  gboolean go_on;

  g_mutex_lock (&self->lock);
  while (!self->stop && g_queue_get_length (&self->ready) >= AHEAD)
    g_cond_wait (&self->changed, &self->lock);
  go_on = !self->stop;
  g_queue_push_tail (&self->ready, batch);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  return go_on;
}

static gpointer
gather_epoch (gpointer data)
{
  GyreLoader *self = data;
  gint64      n    = gyre_loader_get_n_batches (self);

  for (gint64 i = self->start; i < n; i++)
    if (!hand_over (self, gather_batch (self, i)))
      break;
  return NULL;
}

static void
stop_thread (GyreLoader *self)
{
  if (self->thread)
    {
      g_mutex_lock (&self->lock);
      self->stop = TRUE;
      g_cond_broadcast (&self->changed);
      g_mutex_unlock (&self->lock);
      g_thread_join (g_steal_pointer (&self->thread));
    }
  self->stop = FALSE;
  self->next = 0;
  g_queue_clear_full (&self->ready, (GDestroyNotify) gyre_tree_unref);
}

/* --- the object --- */

static void
gyre_loader_finalize (GObject *object)
{
  GyreLoader *self = GYRE_LOADER (object);

  stop_thread (self);
  g_clear_object (&self->dataset);
  g_free (self->order);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (gyre_loader_parent_class)->finalize (object);
}

static void
gyre_loader_class_init (GyreLoaderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gyre_loader_finalize;
}

static void
gyre_loader_init (GyreLoader *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_queue_init (&self->ready);
}

/**
 * gyre_loader_new:
 * @dataset: what is loaded
 * @split: of which split
 * @batch_size: samples of a batch, 1 or more; the last batch of an epoch may be shorter
 * @error: return location for an error
 *
 * Makes a loader that gives the split's samples as they stand, until it is shuffled.
 *
 * Returns: (transfer full): the loader, or %NULL
 */
GyreLoader *
gyre_loader_new (GyreDataset  *dataset,
                 GyreSplit     split,
                 gint64        batch_size,
                 GError      **error)
{
  GyreLoader *self;

  g_return_val_if_fail (GYRE_IS_DATASET (dataset), NULL);
  if (batch_size < 1)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "batch size %" G_GINT64_FORMAT ": it must be 1 or more", batch_size);
      return NULL;
    }
  self             = g_object_new (GYRE_TYPE_LOADER, NULL);
  self->dataset    = g_object_ref (dataset);
  self->split      = split;
  self->batch_size = batch_size;
  self->n          = gyre_dataset_get_n (dataset, split);
  return self;
}

/**
 * gyre_loader_shuffle:
 * @self: a loader
 * @key: the key of the run
 * @epoch: which epoch is next
 *
 * Starts an epoch in the order `permutation (fold_in (key, epoch), n)`.
 */
void
gyre_loader_shuffle (GyreLoader *self,
                     GyreKey     key,
                     guint       epoch)
{
  g_return_if_fail (GYRE_IS_LOADER (self));
  stop_thread (self);
  if (!self->order)
    self->order = g_new (gint32, self->n + 1);
  self->epoch = epoch;
  gyre_key_permutation (gyre_key_fold_in (key, epoch), (gsize) self->n, self->order);
}

/**
 * gyre_loader_rewind:
 * @self: a loader
 *
 * Starts an epoch in the order of the last one.
 */
void
gyre_loader_rewind (GyreLoader *self)
{
  g_return_if_fail (GYRE_IS_LOADER (self));
  stop_thread (self);
}

/**
 * gyre_loader_skip:
 * @self: a loader at the start of an epoch
 * @n_batches: 0 or more
 *
 * Leaves out so many batches, as if gyre_loader_next() had given them.
 */
void
gyre_loader_skip (GyreLoader *self,
                  gint64      n_batches)
{
  g_return_if_fail (GYRE_IS_LOADER (self) && n_batches >= 0);
  g_return_if_fail (self->thread == NULL);
  self->next += n_batches;
}

/**
 * gyre_loader_set_range:
 * @self: a loader
 * @first: a row of the split
 * @n: how many rows from there on
 *
 * Gives these rows of the split alone, as they stand until it is shuffled.
 */
void
gyre_loader_set_range (GyreLoader *self,
                       gint64      first,
                       gint64      n)
{
  g_return_if_fail (GYRE_IS_LOADER (self));
  g_return_if_fail (first >= 0 && n >= 0 &&
                    first + n <= gyre_dataset_get_n (self->dataset, self->split));
  stop_thread (self);
  g_clear_pointer (&self->order, g_free);
  self->first = first;
  self->n     = n;
}

/**
 * gyre_loader_set_augment:
 * @self: a loader, before an epoch
 * @augment: (nullable): "crop=PIXELS", "flip", both as "crop=4,flip", or "none"
 * @key: the key of the run
 * @error: return location for an error
 *
 * Changes the images from here on as they are loaded. crop moves each by up to so many
 * pixels down or up and to either side, with zeros where it is moved away from, as a crop
 * of the padded image does; flip mirrors half of them left to right. What is done to a
 * row of the split in an epoch depends on @key, the epoch of gyre_loader_shuffle() and
 * the row alone: not on the batch size, on devices, or on where a run was resumed.
 *
 * Errors: %GYRE_ERROR_INVALID where @augment isn't understood, or would move an image
 * wholly out of itself.
 *
 * Returns: %TRUE on success
 */
gboolean
gyre_loader_set_augment (GyreLoader  *self,
                         const char  *augment,
                         GyreKey      key,
                         GError     **error)
{
  GyreAugment parsed;
  GyreShape   image;

  g_return_val_if_fail (GYRE_IS_LOADER (self), FALSE);
  image = gyre_dataset_get_image_shape (self->dataset);
  if (!gyre_augment_parse (augment, &parsed, error))
    return FALSE;
  if (parsed.crop >= MIN (image.dims[0], image.dims[1]))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "augmentation '%s': images are %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                   ", and would be moved out of themselves; crop is less than either",
                   augment, image.dims[0], image.dims[1]);
      return FALSE;
    }
  stop_thread (self);
  self->augment_key = key;
  self->augment     = parsed;
  return TRUE;
}

/**
 * gyre_loader_next:
 * @self: a loader
 *
 * The next batch: {"image": u8[b, height, width, channel], "label": i32[b]}, arrays of
 * the host.  Waits where it isn't gathered yet.
 *
 * Returns: (transfer full) (nullable): the batch; %NULL at the end of the epoch
 */
GyreTree *
gyre_loader_next (GyreLoader *self)
{
  GyreTree *batch;

  g_return_val_if_fail (GYRE_IS_LOADER (self), NULL);
  if (self->next >= gyre_loader_get_n_batches (self))
    return NULL;
  if (!self->thread)
    {
      self->start  = self->next;
      self->thread = g_thread_new ("gyre-loader", gather_epoch, self);
    }
  g_mutex_lock (&self->lock);
  while (!(batch = g_queue_pop_head (&self->ready)))
    g_cond_wait (&self->changed, &self->lock);
  self->next++;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  return batch;
}

/**
 * gyre_loader_get_n_batches:
 * @self: a loader
 *
 * Returns: the batches of an epoch, the short one at its end included
 */
gint64
gyre_loader_get_n_batches (GyreLoader *self)
{
  g_return_val_if_fail (GYRE_IS_LOADER (self), 0);
  return (self->n + self->batch_size - 1) / self->batch_size;
}
