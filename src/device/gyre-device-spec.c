/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-device-spec-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

/* Far above any machine, and small enough to catch a slip of the finger. */
#define MAX_COUNT 1024

typedef struct
{
  const char *spec;
  const char *at;
} Reader;

void
gyre_device_term_free (GyreDeviceTerm *self)
{
  if (self == NULL)
    return;

  g_free (self->name);
  g_free (self);
}

static gboolean
fail (const Reader  *reader,
      const char    *what,
      GError       **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_SYNTAX,
               "device string '%s', column %d: %s", reader->spec,
               (int) (reader->at - reader->spec) + 1, what);
  return FALSE;
}

static void
skip_spaces (Reader *reader)
{
  while (g_ascii_isspace (*reader->at))
    reader->at++;
}

static gboolean
read_name (Reader          *reader,
           GyreDeviceTerm  *term,
           GError         **error)
{
  gsize length;

  skip_spaces (reader);
  length = strcspn (reader->at, ",:/*=");
  term->column = reader->at - reader->spec + 1;
  term->name = g_strchomp (g_strndup (reader->at, length));
  if (term->name[0] == '\0')
    return fail (reader, "expected all, cpu, gpu, accelerator, a platform, or a part of "
                         "a device's name", error);

  reader->at += length;
  return TRUE;
}

static gboolean
read_count (Reader      *reader,
            guint        least,
            const char  *what,
            guint       *count,
            GError     **error)
{
  char *end;
  guint64 value;

  reader->at++;
  value = g_ascii_strtoull (reader->at, &end, 10);
  if (!g_ascii_isdigit (*reader->at) || value < least || value > MAX_COUNT)
    return fail (reader, what, error);

  *count = value;
  reader->at = end;
  skip_spaces (reader);
  return TRUE;
}

static gboolean
read_share (Reader   *reader,
            double   *share,
            GError  **error)
{
  char *end;
  double value;

  reader->at++;
  value = g_ascii_strtod (reader->at, &end);
  if (end == reader->at || !(value >= 0 && value <= 1))
    return fail (reader, "expected a share from 0 to 1 after '='", error);

  *share = value;
  reader->at = end;
  skip_spaces (reader);
  return TRUE;
}

static gboolean
read_suffixes (Reader          *reader,
               GyreDeviceTerm  *term,
               GError         **error)
{
  guint index = 0;

  if (*reader->at == ':')
    {
      if (!read_count (reader, 0, "expected an index from 0 after ':'", &index, error))
        return FALSE;
      term->index = index;
    }
  if (*reader->at == '/' &&
      !read_count (reader, 1, "expected a number of sub-devices, 1 to 1024, after '/'",
                   &term->parts, error))
    return FALSE;
  if (*reader->at == '*' &&
      !read_count (reader, 1, "expected how often to open it, 1 to 1024, after '*'",
                   &term->copies, error))
    return FALSE;
  if (*reader->at == '=' && !read_share (reader, &term->share, error))
    return FALSE;
  if (*reader->at == ',' || *reader->at == '\0')
    return TRUE;
  return fail (reader, "expected ',' or the end; the order of suffixes is :index "
                       "/sub-devices *times =share", error);
}

static GyreDeviceTerm *
read_term (Reader  *reader,
           GError **error)
{
  GyreDeviceTerm *term = g_new0 (GyreDeviceTerm, 1);

  term->index = -1;
  term->parts = 1;
  term->copies = 1;
  term->share = -1;
  if (read_name (reader, term, error) && read_suffixes (reader, term, error))
    return term;

  gyre_device_term_free (term);
  return NULL;
}

GPtrArray *
gyre_device_spec_parse (const char  *spec,
                        GError     **error)
{
  g_autoptr (GPtrArray) terms =
    g_ptr_array_new_with_free_func ((GDestroyNotify) gyre_device_term_free);
  Reader reader = { spec, spec };

  for (;; reader.at++)
    {
      GyreDeviceTerm *term = read_term (&reader, error);

      if (term == NULL)
        return NULL;
      g_ptr_array_add (terms, term);
      if (*reader.at == '\0')
        return g_steal_pointer (&terms);
    }
}
