/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-line-private.h"

#include "nn/gyre-property-private.h"
#include "nn/gyre-registry-private.h"

#include <string.h>

gboolean
gyre_line_read (const char  *line,
                const char  *what,
                char       **text,
                char       **name,
                GError     **error)
{
  g_autofree char *stripped = g_strstrip (g_strdup (line));
  g_autoptr (GError) why = NULL;

  if (stripped[0] != '@')
    {
      *text = g_strdup (line);
      *name = g_strdup (what);
      return TRUE;
    }

  if (!g_file_get_contents (stripped + 1, text, NULL, &why))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_FILE, "%s: %s", what, why->message);
      return FALSE;
    }
  *name = g_strdup (stripped + 1);

  return TRUE;
}

static gboolean
set_member (GObject                 *object,
            const GyreLineProperty  *property,
            GError                 **error)
{
  const char *name = gyre_registry_get_name (G_OBJECT_TYPE (object));
  GParamSpec *pspec = gyre_property_find (object, name, property->name, error);

  if (pspec == NULL)
    return FALSE;
  if (!gyre_property_set_text (object, pspec, property->value, error))
    {
      g_prefix_error (error, "%s: ", name);
      return FALSE;
    }

  return TRUE;
}

static gboolean
has_property (const GyreLineItem *item,
              const char         *name)
{
  for (guint i = 0; i < item->properties->len; i++)
    {
      const GyreLineProperty *property = g_ptr_array_index (item->properties, i);

      if (g_str_equal (property->name, name))
        return TRUE;
    }

  return FALSE;
}

static gboolean
check_required (const GyreLineItem  *item,
                GObject             *object,
                GError             **error)
{
  guint n;
  g_autofree GParamSpec **pspecs =
    g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++)
    if (gyre_property_is_required (pspecs[i]) && !has_property (item, pspecs[i]->name))
      {
        g_autofree char *takes = gyre_property_describe (pspecs[i]);

        g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "%s needs %s=…, %s",
                     item->name, pspecs[i]->name, takes);
        return FALSE;
      }

  return TRUE;
}

gboolean
gyre_line_set_properties (const GyreLineItem  *item,
                          GObject             *object,
                          GyreLineSetFunc      set,
                          const char          *text,
                          const char          *what,
                          GError             **error)
{
  for (guint i = 0; i < item->properties->len; i++)
    {
      const GyreLineProperty *property = g_ptr_array_index (item->properties, i);

      if (!set (object, property, error))
        {
          gyre_line_prefix_error (error, text, what, property->position);
          return FALSE;
        }
    }

  if (!check_required (item, object, error))
    {
      gyre_line_prefix_error (error, text, what, item->position);
      return FALSE;
    }

  return TRUE;
}

GObject *
gyre_line_make_object (const GyreLineItem  *item,
                       GType                type,
                       const char          *text,
                       const char          *what,
                       GError             **error)
{
  g_autoptr (GObject) object = g_object_new (type, NULL);

  if (!gyre_line_set_properties (item, object, set_member, text, what, error))
    return NULL;

  return g_steal_pointer (&object);
}

void
gyre_line_print_object (GString    *line,
                        GObject    *object,
                        const char *name)
{
  guint n;
  g_autofree GParamSpec **pspecs =
    g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  g_string_append (line, name);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = gyre_property_get_text (object, pspecs[i]);

      if (value != NULL)
        g_string_append_printf (line, " %s=%s", pspecs[i]->name, value);
    }
}

static gboolean
check_given (GPtrArray   *properties,
             GObject     *object,
             const char  *name,
             GError     **error)
{
  const GyreLineItem item = { .name = (char *) name, .properties = properties };

  return check_required (&item, object, error);
}

/* A name alone has no parentheses. */
static gboolean
parse_call (const char  *text,
            char       **name,
            GPtrArray  **properties,
            GError     **error)
{
  g_autofree char *whole =
      strpbrk (text, "()") == NULL ? g_strconcat (text, "()", NULL) : g_strdup (text);

  if (g_str_has_suffix (whole, "()"))
    {
      *name = g_strndup (whole, strlen (whole) - strlen ("()"));
      *properties = g_ptr_array_new ();
      return TRUE;
    }

  return gyre_line_parse_call (whole, name, properties, error);
}

GObject *
gyre_line_make_call (const char  *text,
                     GType        base,
                     const char  *what,
                     GError     **error)
{
  g_autofree char *name = NULL;
  g_autoptr (GPtrArray) properties = NULL;
  g_autoptr (GObject) object = NULL;
  GType type;

  if (!parse_call (text, &name, &properties, error))
    return NULL;
  type = gyre_registry_find (base, what, name, error);
  if (type == 0)
    return NULL;

  object = g_object_new (type, NULL);
  for (guint i = 0; i < properties->len; i++)
    if (!set_member (object, g_ptr_array_index (properties, i), error))
      return NULL;
  if (!check_given (properties, object, name, error))
    return NULL;

  return g_steal_pointer (&object);
}

char *
gyre_line_print_call (GObject *object)
{
  GString *text = g_string_new (gyre_registry_get_name (G_OBJECT_TYPE (object)));
  guint n, n_given = 0;
  g_autofree GParamSpec **pspecs =
    g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = gyre_property_get_text (object, pspecs[i]);

      if (value != NULL)
        g_string_append_printf (text, "%s%s=%s", n_given++ > 0 ? "," : "(",
                                pspecs[i]->name, value);
    }
  if (n_given > 0)
    g_string_append_c (text, ')');

  return g_string_free (text, FALSE);
}
