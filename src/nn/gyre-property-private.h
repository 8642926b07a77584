/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-property.h>

G_BEGIN_DECLS

/* A property's id is the member's offset, so one pair of functions serves every class. */

void gyre_property_class_init  (GObjectClass *klass);   /* of the base class: finalize */

void gyre_property_finalize    (GObject *object);

/* A char * member: 1 to n_max integers, "3,3", or one of the words (NULL-terminated,
 * static; may be NULL), in any case. */
void gyre_property_add_ints    (GObjectClass *klass, const char *name, const char *blurb,
                                gsize offset, guint n_max, gint64 minimum,
                                gint64 maximum, const char *const *words,
                                const char *value);
gboolean gyre_property_is_ints       (GParamSpec *pspec);
char    *gyre_property_describe_ints (GParamSpec *pspec);
gboolean gyre_property_check_ints    (GParamSpec *pspec, const char *text,
                                      GError **error);
/* Not to be given in a line. */
void gyre_property_add_object  (GObjectClass *klass, const char *name, const char *blurb,
                                gsize offset, GType type);
gboolean gyre_property_is_required (GParamSpec *pspec);
/* A char * member that is an initializer, "normal(stddev=0.1)"; NULL: as the layer likes.
 */
void     gyre_property_add_init    (GObjectClass *klass, const char *name,
                                    const char *blurb, gsize offset, const char *value);
gboolean gyre_property_is_init     (GParamSpec *pspec);

/* The property of that name; an error that lists those that there are.  what is the name
 * of the layer or optimizer. */
GParamSpec *gyre_property_find     (GObject *object, const char *what, const char *name,
                                    GError **error);
/* Errors say the value, and what the property takes. */
gboolean    gyre_property_set_text (GObject *object, GParamSpec *pspec, const char *text,
                                    GError **error);
/* NULL if it has its default; required properties are always given. */
char       *gyre_property_get_text (GObject *object, GParamSpec *pspec);
/* As a line would have it; "" for none; NULL: not for lines */
char       *gyre_property_print_default (GParamSpec *pspec);
/* "an integer from 1 to 10" */
char       *gyre_property_describe (GParamSpec *pspec);

G_END_DECLS
