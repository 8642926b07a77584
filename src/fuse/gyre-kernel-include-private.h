/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends the text of a header of cl/ among the resources, and before it what it includes
 * itself; each once: included is a set of names that lives as long as the text is
 * made. */
gboolean gyre_kernel_include (GString     *out,
                              const char  *header,
                              GHashTable  *included,
                              GError     **error);

G_END_DECLS
