/* SPDX-License-Identifier: Apache-2.0 */
#include <zlib.h>

#include "data/gyre-dataset-private.h"

struct _GyreDataset
{
  GObject parent_instance;

  GyreDatasetContents contents;
  gint64              n_classes;
  char              **class_names;   /* n_classes of them */
};

G_DEFINE_FINAL_TYPE (GyreDataset, gyre_dataset, G_TYPE_OBJECT)

void
gyre_dataset_contents_clear (GyreDatasetContents *contents)
{
  g_clear_pointer (&contents->name, g_free);
  for (int i = 0; i < 2; i++)
    {
      g_clear_pointer (&contents->parts[i].images, g_bytes_unref);
      g_clear_pointer (&contents->parts[i].labels, g_bytes_unref);
    }
}

static void
gyre_dataset_finalize (GObject *object)
{
  gyre_dataset_contents_clear (&GYRE_DATASET (object)->contents);
  g_strfreev (GYRE_DATASET (object)->class_names);
  G_OBJECT_CLASS (gyre_dataset_parent_class)->finalize (object);
}

static void
gyre_dataset_class_init (GyreDatasetClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gyre_dataset_finalize;
}

static void
gyre_dataset_init (GyreDataset *self)
{
  (void) self;
}

/* Labels are 0 to one less than the number of classes, which is the largest training
 * label plus one. */
static gboolean
check_labels (GyreDataset *self, GError **error)
{
  for (int split = 0; split < 2; split++)
    {
      const GyreDatasetPart *part   = &self->contents.parts[split];
      const gint32          *labels = g_bytes_get_data (part->labels, NULL);

      for (gint64 i = 0; i < part->n; i++)
        {
          if (split == GYRE_SPLIT_TRAIN && labels[i] >= self->n_classes &&
              labels[i] < 100000)
            self->n_classes = labels[i] + 1;
          if (labels[i] >= 0 && labels[i] < self->n_classes)
            continue;
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA,
                       "%s: label %d in row %" G_GINT64_FORMAT
                       " of the %s labels is out of "
                       "range",
                       self->contents.name, labels[i], i,
                       split == GYRE_SPLIT_TRAIN ? "training" : "test");
          return FALSE;
        }
    }
  return TRUE;
}

/* Numbers, where the format knows no names. */
static void
name_classes (GyreDataset *self)
{
  const char *const *names = self->contents.class_names;

  self->class_names = g_new0 (char *, self->n_classes + 1);
  for (gint64 i = 0; i < self->n_classes; i++)
    {
      if (names && !*names)
        names = NULL;
      self->class_names[i] = names ? g_strdup (*names++)
                                   : g_strdup_printf ("%" G_GINT64_FORMAT, i);
    }
}

static gboolean
check_contents (GyreDataset *self, GError **error)
{
  if (self->contents.parts[GYRE_SPLIT_TRAIN].n > 0 &&
      self->contents.parts[GYRE_SPLIT_TEST].n > 0 &&
      gyre_shape_n_elements (&self->contents.image_shape) > 0)
    {
      if (!check_labels (self, error))
        return FALSE;
      name_classes (self);
      return TRUE;
    }
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DATA, "%s: it has no images to %s",
               self->contents.name,
               self->contents.parts[GYRE_SPLIT_TRAIN].n > 0 &&
                       self->contents.parts[GYRE_SPLIT_TEST].n == 0
                   ? "test on" : "train on");
  return FALSE;
}

/**
 * gyre_dataset_open:
 * @spec: (nullable): `fashion-mnist`, `digits`, `idx:FOLDER` (the four usual file names,
 *   plain or `.gz`), `cifar10:FOLDER` (the binary version), `safetensors:FILE` (`image`,
 *   `label`, `test_image`, `test_label`), `NAME:PATH` for a format of a plugin, or a path
 *   alone, whose format is found by looking at it; %NULL: Fashion-MNIST where it is
 *   installed, else the digits
 * @error: return location for an error
 *
 * Reads a dataset into memory.  Everything about its files is checked here: a truncated,
 * swapped or damaged file, counts that differ and labels out of range are errors that
 * name the file or row.
 *
 * Returns: (transfer full): the dataset, or %NULL
 */
GyreDataset *
gyre_dataset_open (const char  *spec,
                   GError     **error)
{
  g_autoptr (GyreDataset) self = g_object_new (GYRE_TYPE_DATASET, NULL);

  if (!spec)
    {
      if (gyre_data_format_read ("fashion-mnist", &self->contents, NULL))
        return check_contents (self, error) ? g_steal_pointer (&self) : NULL;
      gyre_dataset_contents_clear (&self->contents);
      spec = "digits";
    }
  if (!gyre_data_format_read (spec, &self->contents, error) ||
      !check_contents (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

const GyreDatasetPart *
gyre_dataset_get_part (GyreDataset *self,
                       GyreSplit    split)
{
  return &self->contents.parts[split];
}

/**
 * gyre_dataset_get_name:
 * @self: a dataset
 *
 * Returns: (transfer none): its name, in the form that gyre_dataset_open () takes
 */
const char *
gyre_dataset_get_name (GyreDataset *self)
{
  g_return_val_if_fail (GYRE_IS_DATASET (self), NULL);
  return self->contents.name;
}

/**
 * gyre_dataset_get_n:
 * @self: a dataset
 * @split: which split
 *
 * Returns: the number of samples
 */
gint64
gyre_dataset_get_n (GyreDataset *self,
                    GyreSplit    split)
{
  g_return_val_if_fail (GYRE_IS_DATASET (self), 0);
  return self->contents.parts[split].n;
}

/**
 * gyre_dataset_get_image_shape: (skip)
 * @self: a dataset
 *
 * Returns: [height, width, channel]
 */
GyreShape
gyre_dataset_get_image_shape (GyreDataset *self)
{
  g_return_val_if_fail (GYRE_IS_DATASET (self), GYRE_SCALAR);
  return self->contents.image_shape;
}

/**
 * gyre_dataset_get_batch_shape:
 * @self: a dataset
 * @n: samples
 *
 * Returns: [n, height, width, channel]
 */
GyreShape
gyre_dataset_get_batch_shape (GyreDataset *self,
                              gint64       n)
{
  GyreShape image = gyre_dataset_get_image_shape (self);

  return GYRE_SHAPE (n, image.dims[0], image.dims[1], image.dims[2]);
}

/**
 * gyre_dataset_get_image_dtype:
 * @self: a dataset
 *
 * Returns: %GYRE_U8 or %GYRE_F32
 */
GyreDtype
gyre_dataset_get_image_dtype (GyreDataset *self)
{
  g_return_val_if_fail (GYRE_IS_DATASET (self), GYRE_U8);
  return self->contents.image_dtype;
}

/**
 * gyre_dataset_get_n_classes:
 * @self: a dataset
 *
 * Returns: one more than the largest training label
 */
gint64
gyre_dataset_get_n_classes (GyreDataset *self)
{
  g_return_val_if_fail (GYRE_IS_DATASET (self), 0);
  return self->n_classes;
}

/**
 * gyre_dataset_get_class_name:
 * @self: a dataset
 * @label: a class, from 0 to below gyre_dataset_get_n_classes()
 *
 * Returns: (transfer none): what the class is called: Fashion-MNIST and CIFAR-10 have
 *   names, other classes have their number
 */
const char *
gyre_dataset_get_class_name (GyreDataset *self,
                             gint64       label)
{
  g_return_val_if_fail (GYRE_IS_DATASET (self), NULL);
  g_return_val_if_fail (label >= 0 && label < self->n_classes, NULL);
  return self->class_names[label];
}

/**
 * gyre_dataset_get_scale:
 * @self: a dataset
 *
 * Returns: what images are divided by to lie in 0..1: 255, or 16 for the digits; 1 for
 * f32
 */
double
gyre_dataset_get_scale (GyreDataset *self)
{
  g_return_val_if_fail (GYRE_IS_DATASET (self), 1.0);
  return self->contents.scale;
}

static gulong
add_bytes (gulong sum, GBytes *bytes)
{
  gsize         size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  while (size > 0)
    {
      guint part = (guint) MIN (size, G_MAXINT32);

      sum   = crc32 (sum, data, part);
      data += part;
      size -= part;
    }
  return sum;
}

char *
gyre_dataset_fingerprint (GyreDataset *self)
{
  const GyreDatasetPart *parts = self->contents.parts;
  g_autofree char       *image = gyre_shape_to_string (&self->contents.image_shape);
  gulong                 sum   = crc32 (0, NULL, 0);

  for (int i = 0; i < 2; i++)
    sum = add_bytes (add_bytes (sum, parts[i].images), parts[i].labels);
  return g_strdup_printf ("%" G_GINT64_FORMAT " + %" G_GINT64_FORMAT " of %s, %08lx",
                          parts[GYRE_SPLIT_TRAIN].n, parts[GYRE_SPLIT_TEST].n, image,
                          sum);
}
