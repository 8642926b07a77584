/* SPDX-License-Identifier: Apache-2.0 */
#include "data/gyre-dataset-private.h"
#include "data/gyre-safetensors-private.h"

/* One safetensors file with image, label, test_image and test_label: images u8 or f32
 * [n, height, width, channel] (or without the channel), labels integers [n]. */

static gboolean
set_images (GyreDatasetContents  *contents,
            GyreSplit             split,
            GyreArray            *array,
            const char           *path,
            GError              **error)
{
  GyreDatasetPart *part  = &contents->parts[split];
  GyreShape        whole = gyre_array_get_shape (array);
  GyreDtype        dtype = gyre_array_get_dtype (array);
  GyreShape        image;

  if ((whole.rank != 3 && whole.rank != 4) || (dtype != GYRE_U8 && dtype != GYRE_F32))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                   "%s: images must be u8 or f32 [n, height, width, channel]", path);
      return FALSE;
    }
  image = GYRE_SHAPE (whole.dims[1], whole.dims[2], whole.rank == 4 ? whole.dims[3] : 1);
  if (split == GYRE_SPLIT_TRAIN)
    {
      contents->image_shape = image;
      contents->image_dtype = dtype;
      contents->scale       = dtype == GYRE_U8 ? 255.0 : 1.0;
    }
  else if (!gyre_shape_equal (&image, &contents->image_shape) ||
           dtype != contents->image_dtype)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
                   "%s: test_image and image differ in the shape or dtype of an image",
                   path);
      return FALSE;
    }
  part->n      = whole.dims[0];
  part->images = gyre_array_get (array, error);
  return part->images != NULL;
}

static gboolean
set_labels (GyreDatasetPart  *part,
            GyreArray        *array,
            const char       *path,
            const char       *name,
            GError          **error)
{
  GyreShape          shape = gyre_array_get_shape (array);
  GyreDtype          dtype = gyre_array_get_dtype (array);
  g_autoptr (GBytes) bytes = NULL;

  if (shape.rank != 1 || shape.dims[0] != part->n ||
      (dtype != GYRE_I32 && dtype != GYRE_U8))
    {
      g_autofree char *found = gyre_shape_to_string (&shape);

      g_set_error (
          error, GYRE_ERROR, GYRE_ERROR_FILE,
          "%s: %s is %s%s; it must be integers, one for each of the %" G_GINT64_FORMAT
          " images",
          path, name, gyre_dtype_name (dtype), found, part->n);
      return FALSE;
    }
  if (!(bytes = gyre_array_get (array, error)))
    return FALSE;
  part->labels =
      dtype == GYRE_I32
          ? g_bytes_ref (bytes)
          : gyre_labels_from_bytes (g_bytes_get_data (bytes, NULL), (gsize) part->n);
  return TRUE;
}

static gboolean
read_split (const GyreSafetensors  *file,
            const char             *path,
            GyreSplit               split,
            GyreDatasetContents    *contents,
            GError                **error)
{
  static const char *const names[2][2] = { { "image", "label" },
                                           { "test_image", "test_label" } };
  g_autoptr (GyreArray)    images = gyre_safetensors_get (file, names[split][0], error);
  g_autoptr (GyreArray)    labels = NULL;

  return images && set_images (contents, split, images, path, error) &&
         (labels = gyre_safetensors_get (file, names[split][1], error)) != NULL &&
         set_labels (&contents->parts[split], labels, path, names[split][1], error);
}

gboolean
gyre_dataset_read_safetensors (const char           *path,
                               GyreDatasetContents  *contents,
                               GError              **error)
{
  g_autoptr (GyreSafetensors) file = gyre_safetensors_open (path, error);

  if (!file)
    return FALSE;
  contents->name = g_strconcat ("safetensors:", path, NULL);
  return read_split (file, path, GYRE_SPLIT_TRAIN, contents, error) &&
         read_split (file, path, GYRE_SPLIT_TEST, contents, error);
}
