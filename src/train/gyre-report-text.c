/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-report-private.h"

#include <math.h>

/* A terminal shows so many columns. */
#define MOST_CLASSES 20
#define MOST_LETTERS 16
/* Of more classes, those that are told of. */
#define N_LOWEST 10

static int
digits_of (gint64 n)
{
  int digits = 1;

  for (; n >= 10; n /= 10)
    digits++;
  return digits;
}

/* At least so many columns wide, and cut where it is too long. */
static void
append_name (GString *text, const char *name, glong width)
{
  glong            n    = MIN (g_utf8_strlen (name, -1), width);
  g_autofree char *part = g_utf8_substring (name, 0, n);

  g_string_append (text, part);
  for (; n < width; n++)
    g_string_append_c (text, ' ');
}

static void
append_recall (GString *text, const GyreReport *self, gint64 label)
{
  double recall = gyre_report_get_recall ((GyreReport *) self, label);
  char   buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%8s\n", isnan (recall) ? "-"
                          : g_ascii_formatd (buffer, sizeof buffer, "%.4f", recall));
}

/* What is never predicted needs no column. */
static gboolean
has_others (const GyreReport *self)
{
  for (gint64 label = 0; label < self->n_classes; label++)
    if (gyre_report_get_count (self, label, self->n_classes) > 0)
      return TRUE;
  return FALSE;
}

/* Nothing where it is the number that stands before it. */
static const char *
name_of (const GyreReport *self, gint64 label)
{
  const char *name = gyre_dataset_get_class_name (self->dataset, label);
  char        number[24];

  g_snprintf (number, sizeof number, "%" G_GINT64_FORMAT, label);
  return g_str_equal (name, number) ? "" : name;
}

static void
append_matrix (GString *text, const GyreReport *self)
{
  gint64 n      = self->n_classes, columns = n + has_others (self);
  glong  name   = 0;
  int    number = digits_of (n - 1), cell = MAX (digits_of (self->n_tested), 4) + 1;

  for (gint64 i = 0; i < n; i++)
    name = MAX (name, g_utf8_strlen (name_of (self, i), -1));
  name = MIN (name, MOST_LETTERS);
  g_string_append_printf (text, "%*s", number + 1 + (int) name, "");
  for (gint64 i = 0; i < n; i++)
    g_string_append_printf (text, "%*" G_GINT64_FORMAT, cell, i);
  g_string_append_printf (text, "%*s  recall\n", columns > n ? cell + 1 : 0,
                          columns > n ? "other" : "");
  for (gint64 label = 0; label < n; label++)
    {
      g_string_append_printf (text, "%*" G_GINT64_FORMAT " ", number, label);
      append_name (text, name_of (self, label), name);
      for (gint64 i = 0; i < columns; i++)
        g_string_append_printf (text, "%*" G_GINT64_FORMAT, i < n ? cell : cell + 1,
                                gyre_report_get_count (self, label, i));
      append_recall (text, self, label);
    }
}

/* A class without samples is not among the lowest. */
static int
compare_recall (gconstpointer a, gconstpointer b, gpointer data)
{
  double x = gyre_report_get_recall (data, *(const gint64 *) a);
  double y = gyre_report_get_recall (data, *(const gint64 *) b);

  x = isnan (x) ? 2.0 : x;
  y = isnan (y) ? 2.0 : y;
  return (x > y) - (x < y);
}

static void
append_lowest (GString *text, const GyreReport *self)
{
  g_autofree gint64 *order = g_new (gint64, self->n_classes);
  gint64             n     = MIN (N_LOWEST, self->n_classes);

  for (gint64 i = 0; i < self->n_classes; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) self->n_classes, sizeof *order, compare_recall,
                     (gpointer) self);
  g_string_append_printf (text, "of %" G_GINT64_FORMAT " classes, those of the lowest "
                          "recall:\n", self->n_classes);
  for (gint64 i = 0; i < n; i++)
    {
      append_name (text, gyre_dataset_get_class_name (self->dataset, order[i]),
                   MOST_LETTERS);
      g_string_append_printf (text, "%7" G_GINT64_FORMAT " of %-7" G_GINT64_FORMAT,
                              self->right_of[order[i]], self->n_of[order[i]]);
      append_recall (text, self, order[i]);
    }
}

char *
gyre_report_matrix_text (const GyreReport *self)
{
  GString *text = g_string_new (NULL);

  if (self->n_classes <= MOST_CLASSES)
    {
      g_string_append (text, "confusion matrix: a row of each label, in columns by what "
                       "was predicted\n");
      append_matrix (text, self);
    }
  else
    append_lowest (text, self);
  return g_string_free (text, FALSE);
}

/**
 * gyre_report_to_text:
 * @self: a report
 *
 * Tells the accuracy and mean loss of what was tested, and which classes were taken for
 * which, with each class's recall: an aligned table, or of more than 20 classes those of
 * the lowest recall.
 *
 * Returns: (transfer full): lines of text
 */
char *
gyre_report_to_text (GyreReport *self)
{
  g_autofree char *matrix = NULL;
  char             accuracy[G_ASCII_DTOSTR_BUF_SIZE], loss[G_ASCII_DTOSTR_BUF_SIZE];

  g_return_val_if_fail (GYRE_IS_REPORT (self), NULL);
  matrix = gyre_report_matrix_text (self);
  g_ascii_formatd (accuracy, sizeof accuracy, "%.4f", gyre_report_get_accuracy (self));
  g_ascii_formatd (loss, sizeof loss, "%.4f",
                   self->loss / (double) MAX (self->n_tested, 1));
  return g_strdup_printf ("test accuracy %s (%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                          ")  mean loss %s\n%s", accuracy, self->n_right, self->n_tested,
                          loss, matrix);
}
