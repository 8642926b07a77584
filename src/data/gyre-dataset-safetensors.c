/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "data/gyre-dataset-private.h"
#include "data/gyre-safetensors-private.h"

/* One safetensors file with image, label, test_image and test_label. */

static gboolean
add_array (GyreTree               *arrays,
           const GyreSafetensors  *file,
           const char             *name,
           GError                **error)
{
  g_autoptr (GyreArray) array = gyre_safetensors_get (file, name, error);

  if (array)
    gyre_tree_set_array (arrays, name, array);
  return array != NULL;
}

gboolean
gyre_dataset_read_safetensors (const char           *path,
                               GyreDatasetContents  *contents,
                               GError              **error)
{
  g_autoptr (GyreSafetensors) file   = gyre_safetensors_open (path, error);
  g_autoptr (GyreTree)        arrays = NULL;

  if (!file)
    return FALSE;
  contents->name = g_strconcat ("safetensors:", path, NULL);
  arrays         = gyre_tree_new_dict ();
  return add_array (arrays, file, "image", error) &&
         add_array (arrays, file, "label", error) &&
         add_array (arrays, file, "test_image", error) &&
         add_array (arrays, file, "test_label", error) &&
         gyre_dataset_take_arrays (contents, arrays, path, error);
}

/* A header that begins with a brace, after its length. */
gboolean
gyre_dataset_probe_safetensors (const char *path)
{
  guint8 head[9];
  FILE  *file = fopen (path, "rb");
  gsize  n    = file ? fread (head, 1, sizeof head, file) : 0;

  if (file)
    fclose (file);
  return n == sizeof head && head[8] == '{' && head[5] == 0 && head[6] == 0 &&
         head[7] == 0;
}
