/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <gyre/gyre-array.h>
#include <gyre/gyre-key.h>

G_BEGIN_DECLS

#define GYRE_TYPE_DATASET (gyre_dataset_get_type ())

/**
 * GyreDataset:
 *
 * Labelled images in memory, a training and a test split.  image: u8 (or f32)
 * [n, height, width, channel]; label: i32[n], 0 to the number of classes - 1.
 */
GYRE_API
G_DECLARE_FINAL_TYPE (GyreDataset, gyre_dataset, GYRE, DATASET, GObject)

/**
 * GyreSplit:
 * @GYRE_SPLIT_TRAIN: what is learned from
 * @GYRE_SPLIT_TEST: what is only measured on
 */
typedef enum
{
  GYRE_SPLIT_TRAIN,
  GYRE_SPLIT_TEST
} GyreSplit;

GYRE_API
GyreDataset *gyre_dataset_open (const char  *spec,
                                GError     **error);
GYRE_API
const char *gyre_dataset_get_name (GyreDataset *self);
GYRE_API
gint64 gyre_dataset_get_n (GyreDataset *self,
                           GyreSplit    split);
GYRE_API
GyreShape gyre_dataset_get_image_shape (GyreDataset *self);
GYRE_API
GyreShape gyre_dataset_get_batch_shape (GyreDataset *self,
                                        gint64       n);
GYRE_API
GyreDtype gyre_dataset_get_image_dtype (GyreDataset *self);
GYRE_API
gint64 gyre_dataset_get_n_classes (GyreDataset *self);
GYRE_API
const char *gyre_dataset_get_class_name (GyreDataset *self,
                                         gint64       label);
GYRE_API
double gyre_dataset_get_scale (GyreDataset *self);

#define GYRE_TYPE_LOADER (gyre_loader_get_type ())

/**
 * GyreLoader:
 *
 * Batches of a split of a dataset, gathered ahead by a thread of its own.
 */
GYRE_API
G_DECLARE_FINAL_TYPE (GyreLoader, gyre_loader, GYRE, LOADER, GObject)

GYRE_API
GyreLoader *gyre_loader_new (GyreDataset  *dataset,
                             GyreSplit     split,
                             gint64        batch_size,
                             GError      **error);
GYRE_API
void gyre_loader_shuffle (GyreLoader *self,
                          GyreKey     key,
                          guint       epoch);
GYRE_API
void gyre_loader_rewind (GyreLoader *self);
GYRE_API
void gyre_loader_skip (GyreLoader *self,
                       gint64      n_batches);
GYRE_API
void gyre_loader_set_range (GyreLoader *self,
                            gint64      first,
                            gint64      n);
GYRE_API
gboolean gyre_loader_set_augment (GyreLoader  *self,
                                  const char  *augment,
                                  GyreKey      key,
                                  GError     **error);
GYRE_API
GyreTree *gyre_loader_next (GyreLoader *self);
GYRE_API
gint64 gyre_loader_get_n_batches (GyreLoader *self);

G_END_DECLS
