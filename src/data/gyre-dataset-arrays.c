/* SPDX-License-Identifier: Apache-2.0 */
#include "data/gyre-dataset-private.h"

/* A dataset as arrays: images u8 or f32 [n, height, width, channel] (or without the
 * channel), labels integers [n]. */

static const char *const names[2][2] = { { "image", "label" },
                                         { "test_image", "test_label" } };

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

static GyreArray *
find_array (GyreTree *arrays, const char *name, const char *origin, GError **error)
{
  GyreTree *leaf = gyre_tree_get_kind (arrays) == GYRE_TREE_DICT
                       ? gyre_tree_lookup (arrays, name) : NULL;

  if (leaf && gyre_tree_get_kind (leaf) == GYRE_TREE_ARRAY)
    return gyre_tree_as_array (leaf);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: there is no \"%s\"", origin,
               name);
  return NULL;
}

static gboolean
take_split (GyreDatasetContents  *contents,
            GyreTree             *arrays,
            GyreSplit             split,
            const char           *origin,
            GError              **error)
{
  GyreArray *images = find_array (arrays, names[split][0], origin, error);
  GyreArray *labels;

  return images && set_images (contents, split, images, origin, error) &&
         (labels = find_array (arrays, names[split][1], origin, error)) != NULL &&
         set_labels (&contents->parts[split], labels, origin, names[split][1], error);
}

static gboolean
take_scale (GyreDatasetContents  *contents,
            GyreTree             *arrays,
            const char           *origin,
            GError              **error)
{
  GyreArray         *array;
  g_autoptr (GBytes) bytes = NULL;

  if (!gyre_tree_lookup (arrays, "scale"))
    return TRUE;
  if (!(array = find_array (arrays, "scale", origin, error)) ||
      !(bytes = gyre_array_get (array, error)))
    return FALSE;
  if (gyre_array_get_dtype (array) == GYRE_F32 &&
      g_bytes_get_size (bytes) == sizeof (float))
    contents->scale = (double) *(const float *) g_bytes_get_data (bytes, NULL);
  if (contents->scale > 0.0 && g_bytes_get_size (bytes) == sizeof (float))
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: \"scale\" must be one f32 above 0", origin);
  return FALSE;
}

gboolean
gyre_dataset_take_arrays (GyreDatasetContents  *contents,
                          GyreTree             *arrays,
                          const char           *origin,
                          GError              **error)
{
  return take_split (contents, arrays, GYRE_SPLIT_TRAIN, origin, error) &&
         take_split (contents, arrays, GYRE_SPLIT_TEST, origin, error) &&
         take_scale (contents, arrays, origin, error);
}
