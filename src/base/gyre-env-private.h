/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Variables of the environment that choose how the library works.  A value that is none
 * of those that a variable may have is as if it weren't set, which gyre_env_check ()
 * says. */

/* Whether the variable has this value, one of those in the table. */
gboolean gyre_env_is         (const char *name, const char *value);
/* The number that a variable has, or otherwise. */
gint64   gyre_env_get_number (const char *name, gint64 otherwise);
/* Warns of values that can't be, once a process, and names those that can. */
void     gyre_env_check      (void);
/* The warning of one such value, or NULL where there is none. (transfer full) */
char    *gyre_env_complain   (const char *name, const char *value);

G_END_DECLS
