/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre-checkpoint.h>

#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>
#include <gyre/gyre-dtype.h>
#include <gyre/gyre-error.h>
#include <gyre/gyre-shape.h>

#include "data/gyre-safetensors-private.h"

#define FILE_NAME "checkpoint.safetensors"
#define PARAMS    "params/"

/* --- saving --- */

/* A leaf's name in the file. */
static const char *
name_of (const char *path)
{
  return g_str_has_prefix (path, PARAMS) ? path + strlen (PARAMS) : path;
}

static gboolean
check_names (GPtrArray *names, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < names->len; i++)
    if (!g_hash_table_add (seen, g_ptr_array_index (names, i)))
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
                     "gyre_checkpoint_save: two leaves would be called '%s', one of them "
                     "below 'params': name the other differently",
                     (const char *) g_ptr_array_index (names, i));
        return FALSE;
      }
  return TRUE;
}

/* What a run that was killed while it saved has left. */
static void
remove_leftovers (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char      *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (g_str_has_prefix (name, FILE_NAME ".") && g_str_has_suffix (name, ".tmp"))
      {
        g_autofree char *path = g_build_filename (folder, name, NULL);

        g_unlink (path);
      }
}

static gboolean
make_folder (const char *folder, GError **error)
{
  if (g_mkdir_with_parents (folder, 0777) == 0)
    {
      remove_leftovers (folder);
      return TRUE;
    }
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: the folder can't be made: %s",
               folder, g_strerror (errno));
  return FALSE;
}

/**
 * gyre_checkpoint_save:
 * @tree: arrays of the host or of devices; nodes, such as a #GyreTrainState, are looked
 *   into
 * @folder: where to; made if it isn't there
 * @metadata: (nullable) (element-type utf8 utf8): texts to keep beside the arrays
 * @error: return location for an error
 *
 * Writes `checkpoint.safetensors` in @folder: each leaf whole, whatever its sharding,
 * under its path; of parameters, those below an entry "params", the path starts after
 * it.  Waits for what is under way.  The file is written beside, forced to the disk and
 * renamed: whoever is stopped at any moment leaves the old checkpoint or the new one.
 *
 * Returns: %FALSE with %GYRE_ERROR_FILE where it can't be written, with
 *   %GYRE_ERROR_TREE where two names would be the same
 */
gboolean
gyre_checkpoint_save (GyreTree    *tree,
                      const char  *folder,
                      GHashTable  *metadata,
                      GError     **error)
{
  g_autoptr (GPtrArray) paths  = NULL;
  g_autoptr (GPtrArray) leaves = NULL;
  g_autoptr (GPtrArray) names  = g_ptr_array_new ();
  g_autoptr (GPtrArray) arrays = g_ptr_array_new ();
  g_autofree char      *path   = NULL;

  g_return_val_if_fail (tree != NULL && folder != NULL, FALSE);
  leaves = gyre_tree_flatten (tree, &paths);
  for (guint i = 0; i < leaves->len; i++)
    {
      GyreTree *leaf = g_ptr_array_index (leaves, i);

      g_return_val_if_fail (gyre_tree_get_kind (leaf) == GYRE_TREE_ARRAY, FALSE);
      g_ptr_array_add (names, (gpointer) name_of (g_ptr_array_index (paths, i)));
      g_ptr_array_add (arrays, gyre_tree_as_array (leaf));
    }
  if (!check_names (names, error) || !make_folder (folder, error))
    return FALSE;
  path = g_build_filename (folder, FILE_NAME, NULL);
  return gyre_safetensors_write (path, (const char *const *) names->pdata,
                                 (GyreArray *const *) arrays->pdata, names->len,
                                 metadata, error);
}

/* --- loading --- */

typedef struct
{
  GyreSafetensors *file;
  const char      *folder;
  GHashTable      *taken;    /* names */
} Loading;

static GyreSafetensors *
open_folder (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, FILE_NAME, NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return gyre_safetensors_open (path, error);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "%s: no checkpoint is there: it has no file " FILE_NAME, folder);
  return NULL;
}

static char *
describe (GyreArray *array)
{
  GyreShape        shape = gyre_array_get_shape (array);
  g_autofree char *text  = gyre_shape_to_string (&shape);

  return g_strconcat (gyre_dtype_name (gyre_array_get_dtype (array)), text, NULL);
}

static gboolean
is_alike (GyreArray *a, GyreArray *b)
{
  GyreShape of_a = gyre_array_get_shape (a);
  GyreShape of_b = gyre_array_get_shape (b);

  return gyre_array_get_dtype (a) == gyre_array_get_dtype (b) &&
         gyre_shape_equal (&of_a, &of_b);
}

static GyreTree *
load_leaf (const char       *path,
           GyreTree *const  *leaves,
           guint             n_trees,
           gpointer          data,
           GError          **error)
{
  Loading              *self  = data;
  const char           *name  = name_of (path);
  GyreArray            *like  = gyre_tree_as_array (leaves[0]);
  g_autoptr (GyreArray) array = NULL;
  g_autofree char      *is    = NULL;
  g_autofree char      *want  = NULL;

  (void) n_trees;
  if (!gyre_safetensors_has (self->file, name))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
                   "%s: the checkpoint has no '%s': it is of another model or optimizer",
                   self->folder, name);
      return NULL;
    }
  if (!(array = gyre_safetensors_get (self->file, name, error)))
    return NULL;
  if (is_alike (array, like))
    {
      g_hash_table_add (self->taken, g_strdup (name));
      return gyre_tree_new_array (array);
    }
  is   = describe (array);
  want = describe (like);
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
               "%s: the checkpoint's '%s' is %s and not %s: it is of another model or "
               "optimizer", self->folder, name, is, want);
  return NULL;
}

static gboolean
check_all_taken (const Loading *self, guint n, GError **error)
{
  const char *const *names = gyre_safetensors_get_names (self->file);

  if (g_strv_length ((char **) names) == n)
    return TRUE;
  for (; *names; names++)
    if (!g_hash_table_contains (self->taken, *names))
      break;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_TREE,
               "%s: the checkpoint has '%s', which nothing here takes: it is of another "
               "model or optimizer", self->folder, *names ? *names : "");
  return FALSE;
}

/**
 * gyre_checkpoint_load:
 * @like: a tree of the structure, shapes and dtypes that were saved, such as a new
 *   train state's
 * @folder: where gyre_checkpoint_save() wrote
 * @error: return location for an error
 *
 * Reads a checkpoint back into the structure of @like; nodes become new nodes like those
 * in @like.  What was saved from any number or kind of devices is loaded whole.
 *
 * Returns: (transfer full): arrays of the host, or %NULL: with %GYRE_ERROR_FILE where
 *   there is no checkpoint or a file that is damaged, with %GYRE_ERROR_TREE where it
 *   doesn't fit @like, naming what differs first
 */
GyreTree *
gyre_checkpoint_load (GyreTree    *like,
                      const char  *folder,
                      GError     **error)
{
  g_autoptr (GyreSafetensors) file  = NULL;
  g_autoptr (GHashTable)      taken = NULL;
  g_autoptr (GyreTree)        tree  = NULL;
  Loading                     self;
  guint                       n;

  g_return_val_if_fail (like != NULL && folder != NULL, NULL);
  if (!(file = open_folder (folder, error)))
    return NULL;
  n     = gyre_tree_n_leaves (like);
  taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self  = (Loading) { file, folder, taken };
  if (!(tree = gyre_tree_map (&like, 1, load_leaf, &self, error)) ||
      !check_all_taken (&self, n, error))
    return NULL;
  return g_steal_pointer (&tree);
}

/**
 * gyre_checkpoint_load_metadata:
 * @folder: where gyre_checkpoint_save() wrote
 * @error: return location for an error
 *
 * Returns: (transfer container) (element-type utf8 utf8): the texts that were saved, or
 *   %NULL with %GYRE_ERROR_FILE
 */
GHashTable *
gyre_checkpoint_load_metadata (const char  *folder,
                               GError     **error)
{
  g_autoptr (GyreSafetensors) file = NULL;

  g_return_val_if_fail (folder != NULL, NULL);
  if (!(file = open_folder (folder, error)))
    return NULL;
  return g_hash_table_ref (gyre_safetensors_get_all_meta (file));
}
