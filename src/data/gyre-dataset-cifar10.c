/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "data/gyre-dataset-private.h"
#include "data/gyre-idx-private.h"

/* The binary version of CIFAR-10 (A. Krizhevsky, "Learning Multiple Layers of Features
 * from Tiny Images", 2009): records of one label and 3 planes of 32 x 32 bytes. */

#define SIDE   32
#define PLANE  (SIDE * SIDE)
#define RECORD (1 + 3 * PLANE)

static const char *const train_files[] = {
  "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
  "data_batch_5.bin", NULL,
};
static const char *const class_names[] = {
  "airplane", "automobile", "bird", "cat", "deer",
  "dog", "frog", "horse", "ship", "truck", NULL,
};
static const char *const test_files[] = { "test_batch.bin", NULL };

/* Planes → channels last. */
static void
append_record (const guint8 *record, GByteArray *images, GByteArray *labels)
{
  guint8 pixels[3 * PLANE];

  for (int i = 0; i < PLANE; i++)
    for (int channel = 0; channel < 3; channel++)
      pixels[3 * i + channel] = record[1 + channel * PLANE + i];
  g_byte_array_append (images, pixels, sizeof pixels);
  g_byte_array_append (labels, record, 1);
}

static gboolean
append_file (const char *path, GByteArray *images, GByteArray *labels, GError **error)
{
  g_autoptr (GBytes) bytes = gyre_file_read (path, error);
  gsize              size;
  const guint8      *data;

  if (!bytes)
    return FALSE;
  data = g_bytes_get_data (bytes, &size);
  if (size == 0 || size % RECORD != 0)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                   "%s: %" G_GSIZE_FORMAT " bytes, not a multiple of the %d of a record: "
                   "truncated, or not CIFAR-10's binary version", path, size, RECORD);
      return FALSE;
    }
  for (gsize at = 0; at < size; at += RECORD)
    {
      if (data[at] > 9)
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA,
                       "%s: record %" G_GSIZE_FORMAT " has label %u, above 9", path,
                       at / RECORD, data[at]);
          return FALSE;
        }
      append_record (data + at, images, labels);
    }
  return TRUE;
}

static gboolean
read_split (const char *folder, const char *const *files, GyreDatasetPart *part,
            GError **error)
{
  g_autoptr (GByteArray) images = g_byte_array_new ();
  g_autoptr (GByteArray) labels = g_byte_array_new ();

  for (; *files; files++)
    {
      g_autofree char *path = g_build_filename (folder, *files, NULL);

      if (!append_file (path, images, labels, error))
        return FALSE;
    }
  part->n      = labels->len;
  part->labels = gyre_labels_from_bytes (labels->data, labels->len);
  part->images = g_byte_array_free_to_bytes (g_steal_pointer (&images));
  return TRUE;
}

gboolean
gyre_dataset_read_cifar10 (const char           *folder,
                           GyreDatasetContents  *contents,
                           GError              **error)
{
  contents->name        = g_strconcat ("cifar10:", folder, NULL);
  contents->image_shape = GYRE_SHAPE (SIDE, SIDE, 3);
  contents->image_dtype = GYRE_U8;
  contents->scale       = 255.0;
  contents->class_names = class_names;
  return read_split (folder, train_files, &contents->parts[GYRE_SPLIT_TRAIN], error) &&
         read_split (folder, test_files, &contents->parts[GYRE_SPLIT_TEST], error);
}

gboolean
gyre_dataset_probe_cifar10 (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, test_files[0], NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR);
}
