/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-plugin.h>

G_BEGIN_DECLS

/* "3,4": up to maximum whole numbers with commas between.  How many there are; -1 where
 * the text is none of that. */
int sizes_parse (const char *text, gint64 *sizes, int maximum);

G_END_DECLS
