/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-report-private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <gyre/gyre-error.h>

static gboolean
refuse_folder (const char *folder, const char *why, GError **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE,
               "report %s: the folder can't be written: %s", folder, why);
  return FALSE;
}

gboolean
gyre_report_check_folder (const char  *folder,
                          GError     **error)
{
  if (g_file_test (folder, G_FILE_TEST_EXISTS) &&
      !g_file_test (folder, G_FILE_TEST_IS_DIR))
    return refuse_folder (folder, "a file of that name is there", error);
  if (g_mkdir_with_parents (folder, 0777) == 0 && access (folder, W_OK | X_OK) == 0)
    return TRUE;
  return refuse_folder (folder, g_strerror (errno), error);
}

/* Written beside and renamed: a full disk leaves the picture of before. */
static gboolean
put_file (const GyreReport *self, const char *name, const char *data, gsize size,
          GError **error)
{
  g_autofree char   *path  = g_build_filename (self->folder, name, NULL);
  g_autoptr (GError) inner = NULL;

  if (g_file_set_contents (path, data, (gssize) size, &inner))
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "report %s: %s can't be written: %s",
               self->folder, name, inner->message);
  return FALSE;
}

static gboolean
put_picture (const GyreReport *self, const char *name,
             GBytes *(*draw) (const GyreReport *self), GError **error)
{
  g_autoptr (GBytes) bytes = draw (self);
  gsize              size;
  const char        *data;

  if (bytes)
    {
      data = g_bytes_get_data (bytes, &size);
      return put_file (self, name, data, size, error);
    }
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY,
               "report %s: %s can't be drawn: out of memory", self->folder, name);
  return FALSE;
}

/**
 * gyre_report_write:
 * @self: a report
 * @error: return location for an error
 *
 * Writes into the folder that gyre_report_new() was given, if it was: `loss.png`, the
 * loss by step and the test accuracy by epoch; `confusion.png`, the confusion matrix;
 * `worst.png`, the test images of the highest loss, with what they are and what they were
 * taken for; and `report.jsonl`, the numbers of all three as JSON Lines.  What there was
 * nothing of yet is left out; the matrix as well where there are more than 1,000 classes.
 *
 * Returns: %TRUE; %FALSE with %GYRE_ERROR_FILE where a file can't be written
 */
gboolean
gyre_report_write (GyreReport  *self,
                   GError     **error)
{
  g_autofree char *numbers = NULL;

  g_return_val_if_fail (GYRE_IS_REPORT (self), FALSE);
  if (!self->folder)
    return TRUE;
  numbers = gyre_report_to_json (self);
  return gyre_report_check_folder (self->folder, error) &&
         put_file (self, "report.jsonl", numbers, strlen (numbers), error) &&
         (self->losses->len == 0 ||
          put_picture (self, "loss.png", gyre_report_draw_curve, error)) &&
         (self->n_tested == 0 || !self->counts ||
          put_picture (self, "confusion.png", gyre_report_draw_matrix, error)) &&
         (self->n_worst == 0 ||
          put_picture (self, "worst.png", gyre_report_draw_worst, error));
}
