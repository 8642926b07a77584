/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib-object.h>

#include <gyre/gyre-error.h>

G_BEGIN_DECLS

/* What model lines and optimizer chains are written in:
 *
 *   line     = item { "!" item }
 *   item     = name { property } [ "(" line ")" ]
 *   property = name "=" value
 *   value    = word | "quoted" | 'quoted' | word "(" … ")"
 *
 * Spaces and line ends are alike; a '#' at the start of a word begins a comment. */

typedef struct
{
  char *name;
  char *value;
  gsize position;        /* where its name stands, in bytes */
  gsize value_position;
} GyreLineProperty;

typedef struct
{
  char      *name;
  gsize      position;
  GPtrArray *properties; /* of GyreLineProperty */
  GPtrArray *children;   /* of GyreLineItem; NULL: no parentheses */
} GyreLineItem;

/* The items of a line; errors (GYRE_ERROR_SYNTAX) begin "what: column N: ". */
GPtrArray *gyre_line_parse (const char *text, const char *what, GError **error);
/* The properties of a call's parentheses, "init-value=1e-3,decay-steps=10000". */
gboolean   gyre_line_parse_call (const char *text, char **name, GPtrArray **properties,
                                 GError **error);
/* An object of a type below base of "NAME(PROPERTY=VALUE,…)", or of a name alone; what is
 * the word for messages: "schedule". */
GObject   *gyre_line_make_call (const char *text, GType base, const char *what,
                                GError **error);
char      *gyre_line_print_call (GObject *object);
/* Says where: "model, column 9: ", or "model, line 2, column 9: " */
void       gyre_line_prefix_error (GError **error, const char *text, const char *what,
                                   gsize position);
/* Text that may be "@FILE": what the file holds. name is what to call it in messages. */
gboolean   gyre_line_read (const char *line, const char *what, char **text, char **name,
                           GError **error);

/* An object of a type with the properties of an item; errors say where. */
GObject   *gyre_line_make_object (const GyreLineItem *item, GType type, const char *text,
                                  const char *what, GError **error);
/* Sets one property of an object; errors say where it stands. */
typedef gboolean (*GyreLineSetFunc) (GObject *object, const GyreLineProperty *property,
                                     GError **error);
gboolean   gyre_line_set_properties (const GyreLineItem *item, GObject *object,
                                     GyreLineSetFunc set, const char *text,
                                     const char *what, GError **error);
/* "dense features=10": name and the properties that aren't at their defaults. */
void       gyre_line_print_object (GString *line, GObject *object, const char *name);

G_END_DECLS
