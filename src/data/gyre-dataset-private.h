/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-data-format.h>
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
  const char *const *class_names;   /* up to NULL; or NULL: they have numbers only */
  GyreDatasetPart parts[2];      /* by GyreSplit */
} GyreDatasetContents;

/* A format of the library: argument is what follows the colon of "idx:FOLDER". */
typedef struct
{
  const char *name;
  const char *type_name;
  const char *help;
  gboolean  (*probe) (const char *path);         /* NULL: it takes no path */
  gboolean  (*read) (const char *argument, GyreDatasetContents *contents, GError **error);
} GyreDatasetFormat;

/* "idx:FOLDER", "digits", "points(scale=2):FILE", or a path that a format knows. */
gboolean gyre_data_format_read (const char *spec, GyreDatasetContents *contents,
                                GError **error);
/* {image, label, test_image, test_label, scale}: origin is for messages. */
gboolean gyre_dataset_take_arrays (GyreDatasetContents *contents, GyreTree *arrays,
                                   const char *origin, GError **error);

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

gboolean gyre_dataset_probe_idx         (const char *folder);
gboolean gyre_dataset_probe_cifar10     (const char *folder);
gboolean gyre_dataset_probe_safetensors (const char *path);

void     gyre_dataset_contents_clear   (GyreDatasetContents *contents);
/* u8 labels → i32 */
GBytes  *gyre_labels_from_bytes        (const guint8 *labels, gsize n);

/* Tells one dataset from another whatever its path: sizes and CRC-32 of all that is in
 * it. (transfer full) */
char    *gyre_dataset_fingerprint      (GyreDataset *self);

const GyreDatasetPart *gyre_dataset_get_part (GyreDataset *self, GyreSplit split);

G_END_DECLS
