/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#if !defined (GYRE_INSIDE) && !defined (GYRE_COMPILATION)
#error "Only <gyre/gyre.h> can be included directly."
#endif

#include <glib-object.h>

#include <gyre/gyre-macros.h>

G_BEGIN_DECLS

/* GObject properties that are members of the instance struct, for class_init of whatever
 * a line can name: layers, optimizers, schedules, initializers, losses, data formats.
 * Declared once, they give parsing, ranges, defaults, docs and saving.  The offset is
 * that of a gint64, double, gboolean, int or char * member. */

GYRE_API void gyre_property_add_int     (GObjectClass *klass,
                                         const char   *name,
                                         const char   *blurb,
                                         gsize         offset,
                                         gint64        minimum,
                                         gint64        maximum,
                                         gint64        value);
GYRE_API void gyre_property_add_double  (GObjectClass *klass,
                                         const char   *name,
                                         const char   *blurb,
                                         gsize         offset,
                                         double        minimum,
                                         double        maximum,
                                         double        value);
GYRE_API void gyre_property_add_boolean (GObjectClass *klass,
                                         const char   *name,
                                         const char   *blurb,
                                         gsize         offset,
                                         gboolean      value);
GYRE_API void gyre_property_add_enum    (GObjectClass *klass,
                                         const char   *name,
                                         const char   *blurb,
                                         gsize         offset,
                                         GType         type,
                                         int           value);
GYRE_API void gyre_property_add_string  (GObjectClass *klass,
                                         const char   *name,
                                         const char   *blurb,
                                         gsize         offset,
                                         const char   *value);
/* A line has to give it. */
GYRE_API void gyre_property_require     (GObjectClass *klass,
                                         const char   *name);

G_END_DECLS
