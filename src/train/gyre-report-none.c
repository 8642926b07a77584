/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-report-private.h"

#include <gyre/gyre-error.h>

/* In place of gyre-report-write.c, where there is no cairo. */

gboolean
gyre_report_check_folder (const char  *folder,
                          GError     **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "report %s: this Gyre makes no pictures, as it was built without cairo; "
               "install cairo's development files (libcairo2-dev), configure with "
               "-Dreport=enabled and build again", folder);
  return FALSE;
}

gboolean
gyre_report_write (GyreReport  *self,
                   GError     **error)
{
  g_return_val_if_fail (GYRE_IS_REPORT (self), FALSE);
  return TRUE;   /* no folder could be given */
}
