/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-text-private.h"

#include <gyre/gyre-error.h>

#include <errno.h>
#include <math.h>
#include <string.h>

char *
gyre_float_to_string (double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    return g_strdup ("null");

  return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.9g", value));
}

/* strtod reads more than decimals: spaces, hexadecimals, "inf" and "nan". */
gboolean
gyre_text_parse_double (const char  *text,
                        double      *value,
                        GError     **error)
{
  char *end = NULL;
  double parsed;

  g_return_val_if_fail (text != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);

  parsed = g_ascii_strtod (text, &end);
  if (text[0] == '\0' || text[strspn (text, "+-.0123456789eE")] != '\0' || *end != '\0')
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "\"%s\" is not a number such as 0.01 or 1e-3", text);
      return FALSE;
    }
  if (!isfinite (parsed))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "%s is larger than any number that can be held", text);
      return FALSE;
    }

  *value = parsed;
  return TRUE;
}

gboolean
gyre_text_parse_int (const char  *text,
                     gint64       min,
                     gint64       max,
                     gint64      *value,
                     GError     **error)
{
  char *end = NULL;
  gint64 parsed;

  g_return_val_if_fail (text != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);

  errno = 0;
  parsed = g_ascii_strtoll (text, &end, 10);
  if (end == text || g_ascii_isspace (text[0]) || *end != '\0')
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "\"%s\" is not an integer", text);
      return FALSE;
    }
  if (errno == ERANGE || parsed < min || parsed > max)
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
                   "%s is out of range: %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, text,
                   min, max);
      return FALSE;
    }

  *value = parsed;
  return TRUE;
}

/* Insertions, deletions and replacements (Levenshtein), one row at a time. */
static gsize
edit_distance (const char *a,
               const char *b)
{
  gsize n = strlen (b);
  g_autofree gsize *row = g_new (gsize, n + 1);

  for (gsize j = 0; j <= n; j++)
    row[j] = j;

  for (gsize i = 0; a[i] != '\0'; i++)
    {
      gsize diagonal = row[0];

      row[0] = i + 1;
      for (gsize j = 0; j < n; j++)
        {
          gsize replaced = diagonal + (a[i] == b[j] ? 0 : 1);

          diagonal = row[j + 1];
          row[j + 1] = MIN (replaced, MIN (row[j], row[j + 1]) + 1);
        }
    }

  return row[n];
}

/* Near is at most a third of the word, and at least two letters, as swapped ones are. */
char *
gyre_text_suggest (const char        *word,
                   const char *const *known)
{
  gsize nearest = MAX (2, strlen (word) / 3) + 1;
  const char *suggestion = NULL;

  for (; *known != NULL; known++)
    {
      gsize distance = edit_distance (word, *known);

      if (distance < nearest && distance < strlen (word))
        {
          nearest = distance;
          suggestion = *known;
        }
    }

  return g_strdup (suggestion);
}
