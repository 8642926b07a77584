/* SPDX-License-Identifier: Apache-2.0 */
#include "nn/gyre-line-private.h"

#include <string.h>

#define MAX_DEPTH 64

typedef struct
{
  const char *text;
  const char *what;
  gsize       position;
  guint       depth;
} Reader;

static GPtrArray *read_items (Reader *reader, GError **error);

static void
property_free (gpointer data)
{
  GyreLineProperty *property = data;

  g_free (property->name);
  g_free (property->value);
  g_free (property);
}

static void
item_free (gpointer data)
{
  GyreLineItem *item = data;

  g_free (item->name);
  g_clear_pointer (&item->properties, g_ptr_array_unref);
  g_clear_pointer (&item->children, g_ptr_array_unref);
  g_free (item);
}

void
gyre_line_prefix_error (GError     **error,
                        const char  *text,
                        const char  *what,
                        gsize        position)
{
  const char *start = text + position;
  guint line = 1;
  glong column;

  for (gsize i = 0; i < position; i++)
    line += text[i] == '\n' ? 1 : 0;
  while (start > text && start[-1] != '\n')
    start--;
  column = g_utf8_strlen (start, text + position - start) + 1;

  if (strchr (text, '\n') != NULL)
    g_prefix_error (error, "%s, line %u, column %ld: ", what, line, column);
  else
    g_prefix_error (error, "%s, column %ld: ", what, column);
}

static gboolean
fail (Reader      *reader,
      gsize        position,
      GError     **error,
      const char  *message)
{
  g_set_error_literal (error, GYRE_ERROR, GYRE_ERROR_SYNTAX, message);
  gyre_line_prefix_error (error, reader->text, reader->what, position);

  return FALSE;
}

static char
peek (Reader *reader)
{
  return reader->text[reader->position];
}

static void
skip_space (Reader *reader)
{
  while (g_ascii_isspace (peek (reader)) || peek (reader) == '#')
    {
      if (peek (reader) == '#')
        reader->position += strcspn (reader->text + reader->position, "\n");
      else
        reader->position++;
    }
}

static char *
read_name (Reader *reader)
{
  gsize start = reader->position;

  while (g_ascii_isalnum (peek (reader)) || peek (reader) == '-' || peek (reader) == '_')
    reader->position++;

  return g_strndup (reader->text + start, reader->position - start);
}

static gboolean
read_quoted (Reader   *reader,
             GString  *value,
             GError  **error)
{
  gsize start = reader->position;
  char quote = peek (reader);

  for (reader->position++; peek (reader) != quote; reader->position++)
    {
      if (peek (reader) == '\\' && reader->text[reader->position + 1] != '\0')
        reader->position++;
      if (peek (reader) == '\0')
        return fail (reader, start, error, "this quotation mark has no partner");
      g_string_append_c (value, peek (reader));
    }
  reader->position++;

  return TRUE;
}

/* The parentheses of a call, with all that is between them. */
static gboolean
read_call (Reader   *reader,
           GString  *value,
           GError  **error)
{
  gsize start = reader->position;
  guint depth = 0;

  do
    {
      char c = peek (reader);

      if (c == '\0')
        return fail (reader, start, error, "this parenthesis is never closed");
      depth += c == '(' ? 1 : 0;
      depth -= c == ')' ? 1 : 0;
      if (!g_ascii_isspace (c))
        g_string_append_c (value, c);
      reader->position++;
    }
  while (depth > 0);

  return TRUE;
}

static char *
read_value (Reader  *reader,
            GError **error)
{
  g_autoptr (GString) value = g_string_new (NULL);
  gsize start = reader->position;

  while (peek (reader) != '\0' && !g_ascii_isspace (peek (reader)) &&
         strchr ("!)", peek (reader)) == NULL)
    {
      char c = peek (reader);

      if (c == '(' && value->len > 0)
        {
          if (!read_call (reader, value, error))
            return NULL;
          continue;
        }
      if (c == '"' || c == '\'')
        {
          if (!read_quoted (reader, value, error))
            return NULL;
          continue;
        }
      if (c == '(')
        break;
      g_string_append_c (value, c);
      reader->position++;
    }

  if (reader->position == start)
    {
      fail (reader, start, error, "a value is missing after '='");
      return NULL;
    }

  return g_strdup (value->str);
}

static gboolean
is_given (GPtrArray  *properties,
          const char *name)
{
  for (guint i = 0; i < properties->len; i++)
    if (g_str_equal (((GyreLineProperty *) g_ptr_array_index (properties, i))->name,
                     name))
      return TRUE;

  return FALSE;
}

static gboolean
read_property (Reader        *reader,
               GyreLineItem  *item,
               GError       **error)
{
  GyreLineProperty *property = g_new0 (GyreLineProperty, 1);

  property->position = reader->position;
  property->name = g_strdelimit (read_name (reader), "_", '-');
  if (property->name[0] == '\0' || peek (reader) != '=')
    {
      property_free (property);
      return fail (reader, reader->position, error,
                   "expected NAME=VALUE, '!' before the next one, or the end");
    }
  if (is_given (item->properties, property->name))
    {
      fail (reader, property->position, error, "this property is given twice");
      property_free (property);
      return FALSE;
    }
  g_ptr_array_add (item->properties, property);

  reader->position++;
  property->value_position = reader->position;
  property->value = read_value (reader, error);

  return property->value != NULL;
}

static gboolean
read_children (Reader        *reader,
               GyreLineItem  *item,
               GError       **error)
{
  gsize start = reader->position;

  if (item->children != NULL)
    return fail (reader, start, error, "one pair of parentheses is enough");
  if (++reader->depth > MAX_DEPTH)
    return fail (reader, start, error, "parentheses are nested too deeply");

  reader->position++;
  item->children = read_items (reader, error);
  if (item->children == NULL)
    return FALSE;
  if (peek (reader) != ')')
    return fail (reader, start, error, "this parenthesis is never closed");
  reader->position++;
  reader->depth--;

  return TRUE;
}

static gboolean
read_item (Reader        *reader,
           GyreLineItem  *item,
           GError       **error)
{
  item->position = reader->position;
  item->name = g_strdelimit (read_name (reader), "_", '-');
  if (item->name[0] == '\0')
    return fail (reader, item->position, error,
                 peek (reader) == '\0' ? "a name is missing at the end"
                                       : "expected a name");

  for (skip_space (reader); peek (reader) != '\0' && strchr ("!)", peek (reader)) == NULL;
       skip_space (reader))
    {
      gboolean is_parenthesis = peek (reader) == '(';

      if (is_parenthesis ? !read_children (reader, item, error)
                         : !read_property (reader, item, error))
        return FALSE;
    }

  return TRUE;
}

static GPtrArray *
read_items (Reader  *reader,
            GError **error)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (item_free);

  for (;;)
    {
      GyreLineItem *item = g_new0 (GyreLineItem, 1);

      item->properties = g_ptr_array_new_with_free_func (property_free);
      g_ptr_array_add (items, item);
      skip_space (reader);
      if (!read_item (reader, item, error))
        return NULL;
      if (peek (reader) != '!')
        return g_steal_pointer (&items);
      reader->position++;
    }
}

GPtrArray *
gyre_line_parse (const char  *text,
                 const char  *what,
                 GError     **error)
{
  Reader reader = { text, what, 0, 0 };
  g_autoptr (GPtrArray) items = NULL;

  if (!g_utf8_validate (text, -1, NULL))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX, "%s: it is not UTF-8", what);
      return NULL;
    }

  items = read_items (&reader, error);
  if (items != NULL && peek (&reader) != '\0')
    {
      fail (&reader, reader.position, error, "this parenthesis was never opened");
      return NULL;
    }

  return g_steal_pointer (&items);
}

gboolean
gyre_line_parse_call (const char  *text,
                      char       **name,
                      GPtrArray  **properties,
                      GError     **error)
{
  gsize length = strcspn (text, "(");
  gsize end = strlen (text);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (property_free);
  g_autofree char *inside = NULL;
  g_auto (GStrv) parts = NULL;

  if (text[length] != '(' || text[end - 1] != ')')
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                   "\"%s\" is not of the form NAME(PROPERTY=VALUE,…)", text);
      return FALSE;
    }

  inside = g_strndup (text + length + 1, end - length - 2);
  parts = g_strsplit (inside, ",", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      GyreLineProperty *property = g_new0 (GyreLineProperty, 1);
      char *equals = strchr (parts[i], '=');

      g_ptr_array_add (found, property);
      property->name =
          g_strndup (parts[i], equals != NULL ? (gsize) (equals - parts[i]) : 0);
      property->value = g_strdup (equals != NULL ? equals + 1 : "");
      g_strdelimit (property->name, "_", '-');
      if (equals == NULL)
        {
          g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
                       "\"%s\" in \"%s\" is not of the form PROPERTY=VALUE", parts[i],
                       text);
          return FALSE;
        }
    }

  *name = g_strndup (text, length);
  *properties = g_steal_pointer (&found);
  return TRUE;
}
