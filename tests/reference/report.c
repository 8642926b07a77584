/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <math.h>
#include <stdio.h>

static double
ratio (double error,
       double bound)
{
  if (isnan (error))
    return HUGE_VAL;

  return error == 0 ? 0 : error / bound;
}

void
deviation_add (Deviation  *self,
               const char *what,
               gsize       at,
               double      actual,
               double      expected,
               double      bound)
{
  gboolean same = actual == expected || (isnan (actual) && isnan (expected));
  double error = same ? 0 : fabs (actual - expected);

  if (self->n++ > 0 && ratio (error, bound) <= ratio (self->error, self->bound))
    return;

  self->error = error;
  self->bound = bound;
  self->actual = actual;
  self->expected = expected;
  self->at = at;
  g_strlcpy (self->what, what, sizeof self->what);
}

gboolean
reference_wants (Reference  *self,
                 const char *name)
{
  return self->only == NULL || g_pattern_match_simple (self->only, name);
}

void
reference_report (Reference       *self,
                  const char      *name,
                  const Deviation *worst)
{
  if (worst->n == 0)
    {
      reference_fail (self, name, "no number was compared");
      return;
    }
  if (ratio (worst->error, worst->bound) <= self->factor)
    {
      printf ("ok   %-44s error %.3g  bound %.3g\n", name, worst->error, worst->bound);
      self->n_ok++;
    }
  else
    {
      printf ("FAIL %-44s error %.3g  bound %.3g  (%s[%" G_GSIZE_FORMAT
              "] is %.9g, not %.9g)\n",
              name, worst->error, worst->bound, worst->what, worst->at, worst->actual,
              worst->expected);
      self->n_failed++;
    }
  fflush (stdout);
}

static void
print_line (const char *verdict,
            const char *name,
            const char *format,
            va_list     args)
{
  g_autofree char *text = g_strdup_vprintf (format, args);

  printf ("%s %s: %s\n", verdict, name, g_strdelimit (text, "\n", ' '));
  fflush (stdout);
}

void
reference_fail (Reference  *self,
                const char *name,
                const char *format,
                ...)
{
  va_list args;

  va_start (args, format);
  print_line ("FAIL", name, format, args);
  va_end (args);
  self->n_failed++;
}

void
reference_skip (Reference  *self,
                const char *name,
                const char *format,
                ...)
{
  va_list args;

  va_start (args, format);
  print_line ("skip", name, format, args);
  va_end (args);
  self->n_skipped++;
}

void
reference_error (Reference    *self,
                 const char   *name,
                 const GError *error)
{
  reference_fail (self, name, "%s", error->message);
}
