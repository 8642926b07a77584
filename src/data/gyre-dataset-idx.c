/* SPDX-License-Identifier: Apache-2.0 */
#include <gio/gio.h>

#include "data/gyre-dataset-private.h"
#include "data/gyre-idx-private.h"

/* Folders of the four usual files, images and labels of both splits, plain or .gz. */

static const char *const file_names[2][2] = {
  { "train-images-idx3-ubyte", "train-labels-idx1-ubyte" },
  { "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte" },
};

/* By label (H. Xiao et al., "Fashion-MNIST: a Novel Image Dataset for Benchmarking
 * Machine Learning Algorithms", 2017). */
static const char *const fashion_names[] = {
  "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
  "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot", NULL,
};

/* Reads a file by its usual name; location (transfer full) is its name for messages. */
typedef GBytes *(*ReadFunc) (const char *folder, const char *name, char **location,
                             GError **error);

static GBytes *
read_from_folder (const char *folder, const char *name, char **location, GError **error)
{
  static const char *const endings[] = { "", ".gz" };

  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *file = g_strconcat (name, endings[i], NULL);
      g_autofree char *path = g_build_filename (folder, file, NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        {
          *location = g_steal_pointer (&path);
          return gyre_file_read (*location, error);
        }
    }
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: %s; it must hold %s, plain or .gz, "
               "and the other three files of that kind",
               folder,
               g_file_test (folder, G_FILE_TEST_IS_DIR) ? "a file is missing"
                                                        : "no such folder",
               name);
  return NULL;
}

static GBytes *
read_from_resource (const char *folder, const char *name, char **location, GError **error)
{
  g_autofree char   *path  = g_strconcat (folder, "/", name, ".gz", NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, 0, error);

  if (!bytes)
    return NULL;
  *location = g_steal_pointer (&path);
  return gyre_gunzip (bytes, *location, error);
}

GBytes *
gyre_labels_from_bytes (const guint8 *labels,
                        gsize         n)
{
  gint32 *wide = g_new (gint32, MAX (n, 1));

  for (gsize i = 0; i < n; i++)
    wide[i] = labels[i];
  return g_bytes_new_take (wide, n * sizeof (gint32));
}

static gboolean
set_image_shape (GyreDatasetContents  *contents,
                 GyreSplit             split,
                 const GyreShape      *images,
                 const char           *name,
                 GError              **error)
{
  GyreShape        shape = GYRE_SHAPE (images->dims[1], images->dims[2], 1);
  g_autofree char *ours  = NULL;
  g_autofree char *other = NULL;

  if (split == GYRE_SPLIT_TRAIN)
    contents->image_shape = shape;
  if (gyre_shape_equal (&shape, &contents->image_shape))
    return TRUE;
  ours  = gyre_shape_to_string (&shape);
  other = gyre_shape_to_string (&contents->image_shape);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: images of %s, while the training images are of %s", name, ours,
               other);
  return FALSE;
}

static gboolean
read_split (ReadFunc              read,
            const char           *folder,
            GyreSplit             split,
            GyreDatasetContents  *contents,
            GError              **error)
{
  GyreDatasetPart   *part = &contents->parts[split];
  g_autofree char   *image_name = NULL;
  g_autofree char   *label_name = NULL;
  g_autoptr (GBytes) image_file = NULL;
  g_autoptr (GBytes) label_file = NULL;
  g_autoptr (GBytes) labels     = NULL;
  GyreShape          images, counts;

  if (!(image_file = read (folder, file_names[split][0], &image_name, error)) ||
      !(part->images = gyre_idx_parse (image_file, image_name, 3, &images, error)) ||
      !set_image_shape (contents, split, &images, image_name, error) ||
      !(label_file = read (folder, file_names[split][1], &label_name, error)) ||
      !(labels = gyre_idx_parse (label_file, label_name, 1, &counts, error)))
    return FALSE;
  if (images.dims[0] != counts.dims[0])
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                   "%s has %" G_GINT64_FORMAT " images but %s has %" G_GINT64_FORMAT
                   " labels", image_name, images.dims[0], label_name, counts.dims[0]);
      return FALSE;
    }
  part->n      = images.dims[0];
  part->labels =
      gyre_labels_from_bytes (g_bytes_get_data (labels, NULL), (gsize) part->n);
  return TRUE;
}

static gboolean
read_splits (ReadFunc              read,
             const char           *folder,
             double                scale,
             GyreDatasetContents  *contents,
             GError              **error)
{
  contents->image_dtype = GYRE_U8;
  contents->scale       = scale;
  return read_split (read, folder, GYRE_SPLIT_TRAIN, contents, error) &&
         read_split (read, folder, GYRE_SPLIT_TEST, contents, error);
}

gboolean
gyre_dataset_read_idx (const char           *folder,
                       GyreDatasetContents  *contents,
                       GError              **error)
{
  contents->name = g_strconcat ("idx:", folder, NULL);
  return read_splits (read_from_folder, folder, 255.0, contents, error);
}

gboolean
gyre_dataset_read_digits (const char           *argument,
                          GyreDatasetContents  *contents,
                          GError              **error)
{
  (void) argument;
  contents->name = g_strdup ("digits");
  return read_splits (read_from_resource, "/org/gyre/data/digits", 16.0, contents, error);
}

gboolean
gyre_dataset_read_fashion (const char           *argument,
                           GyreDatasetContents  *contents,
                           GError              **error)
{
  const char *folder = g_getenv ("GYRE_FASHION_MNIST");

  (void) argument;
  contents->name        = g_strdup ("fashion-mnist");
  contents->class_names = fashion_names;
  if (!folder)
    folder = "/usr/share/datasets/fashion-mnist";
  if (read_splits (read_from_folder, folder, 255.0, contents, error))
    return TRUE;
  g_prefix_error (error, "fashion-mnist (package dataset-fashion-mnist, or "
                  "$GYRE_FASHION_MNIST): ");
  return FALSE;
}

gboolean
gyre_dataset_probe_idx (const char *folder)
{
  static const char *const endings[] = { "", ".gz" };

  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *file = g_strconcat (file_names[0][0], endings[i], NULL);
      g_autofree char *path = g_build_filename (folder, file, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return TRUE;
    }
  return FALSE;
}
