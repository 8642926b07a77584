/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Text that doesn't depend on the locale.  Errors are GYRE_ERROR_INVALID. */

/* Nine significant digits, which read back to the same float; "null", as JSON has it,
 * for what is no number and for infinities. */
char    *gyre_float_to_string   (double value);

/* The whole of the text is one finite decimal number, without spaces around it. */
gboolean gyre_text_parse_double (const char *text, double *value, GError **error);
/* The same for an integer from min to max. */
gboolean gyre_text_parse_int    (const char *text, gint64 min, gint64 max,
                                 gint64 *value, GError **error);

/* The one of the names (NULL at their end) that is nearest to a word, for "did you mean";
 * NULL if none is near. */
char    *gyre_text_suggest      (const char *word, const char *const *known);

G_END_DECLS
