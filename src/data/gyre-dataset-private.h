/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-dataset.h>

G_BEGIN_DECLS

/* One split as it is in memory. */
typedef struct
{
  GBytes *images;   /* dtype[n, height, width, channel] */
  GBytes *labels;   /* i32[n] */
  gint64  n;
} GyreDatasetPart;

/* What a format's reader finds. */
typedef struct
{
  char           *name;          /* for the screen and the log */
  GyreShape       image_shape;   /* [height, width, channel] */
  GyreDtype       image_dtype;
  double          scale;         /* the largest pixel value: images are divided by it */
  GyreDatasetPart parts[2];      /* by GyreSplit */
} GyreDatasetContents;

/* Readers: argument is what follows the colon of "idx:FOLDER". */
typedef struct
{
  const char *scheme;
  gboolean    takes_argument;
  const char *help;
  gboolean  (*read) (const char *argument, GyreDatasetContents *contents, GError **error);
} GyreDatasetFormat;

gboolean gyre_dataset_read_idx         (const char *folder, GyreDatasetContents *contents,
                                        GError **error);
gboolean gyre_dataset_read_digits      (const char *argument,
                                        GyreDatasetContents *contents, GError **error);
gboolean gyre_dataset_read_fashion     (const char *argument,
                                        GyreDatasetContents *contents, GError **error);
gboolean gyre_dataset_read_cifar10     (const char *folder, GyreDatasetContents *contents,
                                        GError **error);
gboolean gyre_dataset_read_safetensors (const char *path, GyreDatasetContents *contents,
                                        GError **error);

void     gyre_dataset_contents_clear   (GyreDatasetContents *contents);
/* u8 labels → i32 */
GBytes  *gyre_labels_from_bytes        (const guint8 *labels, gsize n);

/* Tells one dataset from another whatever its path: sizes and CRC-32 of all that is in
 * it. (transfer full) */
char    *gyre_dataset_fingerprint      (GyreDataset *self);

const GyreDatasetPart *gyre_dataset_get_part (GyreDataset *self, GyreSplit split);

G_END_DECLS
