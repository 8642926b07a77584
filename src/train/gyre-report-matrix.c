/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-picture-private.h"
#include "train/gyre-report-private.h"

#include <math.h>

#define TOP     110.0   /* the names of columns stand there */
#define MARGIN  20.0
#define NAMED   40      /* of more classes only some have names */

typedef struct
{
  const GyreReport *report;
  cairo_t          *cr;
  gint64            n;      /* rows, and columns but for the last */
  gint64            columns;
  double            cell;
  double            left;
} Matrix;

static double
cell_of (gint64 n)
{
  return CLAMP (floor (560.0 / (double) n), 1.0, 52.0);
}

/* Predictions that the dataset has no class for have a column where there are some. */
static gint64
count_columns (const GyreReport *report)
{
  for (gint64 i = 0; i < report->n_classes; i++)
    if (gyre_report_get_count (report, i, report->n_classes) > 0)
      return report->n_classes + 1;
  return report->n_classes;
}

static const char *
name_of (const Matrix *self, gint64 i)
{
  return i < self->n ? gyre_dataset_get_class_name (self->report->dataset, i) : "other";
}

/* White to blue, by the root, so that few of many can be seen. */
static void
set_shade (cairo_t *cr, double part)
{
  double deep = sqrt (part);

  cairo_set_source_rgb (cr, 1.0 - 0.92 * deep, 1.0 - 0.68 * deep, 1.0 - 0.42 * deep);
}

static void
draw_cell (const Matrix *self, gint64 label, gint64 column)
{
  gint64 count = gyre_report_get_count (self->report, label, column);
  double part  = (double) count / (double) MAX (self->report->n_of[label], 1);
  double x     = self->left + self->cell * (double) column;
  double y     = TOP + self->cell * (double) label;

  set_shade (self->cr, part);
  cairo_rectangle (self->cr, x, y, self->cell, self->cell);
  cairo_fill (self->cr);
  if (self->cell >= 24.0 && count > 0)
    {
      g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, count);
      double           size = MIN (13.0, self->cell * 0.36);

      size = MIN (size,
                  size * (self->cell - 3) /
                      gyre_picture_text_width (self->cr, size, GYRE_PICTURE_BOLD, text));
      gyre_picture_text (self->cr, x + self->cell / 2, y + self->cell / 2, 0.5, size,
                         label == column ? GYRE_PICTURE_BOLD : 0,
                         part > 0.3 ? 0xffffff : GYRE_PICTURE_BLACK, text);
    }
}

static void
draw_grid (const Matrix *self)
{
  double right  = self->left + self->cell * (double) self->columns;
  double bottom = TOP + self->cell * (double) self->n;

  for (gint64 i = 0; self->cell >= 8.0 && i <= self->n; i++)
    {
      double at = self->cell * (double) i;

      gyre_picture_line (self->cr, self->left, TOP + at, right, TOP + at, 0.5,
                         GYRE_PICTURE_LIGHT);
      gyre_picture_line (self->cr, self->left + at, TOP, self->left + at, bottom, 0.5,
                         GYRE_PICTURE_LIGHT);
    }
  gyre_picture_colour (self->cr, GYRE_PICTURE_BLACK, 1.0);
  cairo_set_line_width (self->cr, 1.0);
  cairo_rectangle (self->cr, self->left, TOP, right - self->left, bottom - TOP);
  cairo_stroke (self->cr);
}

static void
draw_names (const Matrix *self)
{
  gint64 every = self->n > NAMED ? (gint64) gyre_picture_tick ((double) self->n, 20) : 1;
  double size  = CLAMP (self->cell * (double) every * 0.6, 6.0, 12.0);
  double right = self->left + self->cell * (double) self->columns + 8;

  for (gint64 i = 0; i < self->columns; i += every)
    {
      double middle = self->cell * ((double) i + 0.5);

      gyre_picture_text (self->cr, self->left + middle, TOP - 6, 0.0, size,
                         GYRE_PICTURE_SLANT, GYRE_PICTURE_BLACK, name_of (self, i));
      if (i < self->n)
        gyre_picture_text_within (self->cr, self->left - 6, TOP + middle, 1.0, size, 0,
                                  120, GYRE_PICTURE_BLACK, name_of (self, i));
      if (i < self->n && every == 1)
        {
          double recall = gyre_report_get_recall ((GyreReport *) self->report, i);
          char   text[G_ASCII_DTOSTR_BUF_SIZE];

          g_ascii_formatd (text, sizeof text, "%.3f", recall);
          gyre_picture_text (self->cr, right, TOP + middle, 0.0, size, 0,
                             GYRE_PICTURE_BLACK, isnan (recall) ? "-" : text);
        }
    }
  if (every == 1)
    gyre_picture_text (self->cr, right, TOP - 10, 0.0, 11, 0, GYRE_PICTURE_GREY,
                       "recall");
}

/* What a shade means, in parts of a row. */
static void
draw_scale (const Matrix *self)
{
  double x = self->left + self->cell * (double) self->columns + 62;
  double height = self->cell * (double) self->n;

  for (int i = 0; i < 200; i++)
    {
      set_shade (self->cr, 1.0 - i / 199.0);
      cairo_rectangle (self->cr, x, TOP + height * i / 200.0, 14, height / 200.0 + 0.5);
      cairo_fill (self->cr);
    }
  for (int i = 0; i <= 4; i++)
    {
      g_autofree char *text = gyre_picture_number (i * 0.25);

      gyre_picture_text (self->cr, x + 19, TOP + height * (1.0 - i * 0.25), 0.0, 11, 0,
                         GYRE_PICTURE_GREY, text);
    }
  gyre_picture_text (self->cr, x + 58, TOP + height / 2, 0.5, 11, GYRE_PICTURE_UP,
                     GYRE_PICTURE_GREY, "part of the label's samples");
}

static void
draw_words (const Matrix *self, double width, double bottom)
{
  char             accuracy[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *title = NULL;

  g_ascii_formatd (accuracy, sizeof accuracy, "%.4f",
                   gyre_report_get_accuracy ((GyreReport *) self->report));
  title = g_strdup_printf ("%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                           " test samples right, %s",
                           gyre_dataset_get_name (self->report->dataset),
                           self->report->n_right, self->report->n_tested, accuracy);
  gyre_picture_text_within (self->cr, MARGIN, 18, 0.0, 15, GYRE_PICTURE_BOLD,
                            width - 2 * MARGIN, GYRE_PICTURE_BLACK, title);
  gyre_picture_text (self->cr, self->left + self->cell * (double) self->columns / 2,
                     bottom + 20, 0.5, 13, 0, GYRE_PICTURE_BLACK, "predicted");
  gyre_picture_text (self->cr, MARGIN, (TOP + bottom) / 2, 0.5, 13, GYRE_PICTURE_UP,
                     GYRE_PICTURE_BLACK, "label");
}

/* Names may take 120; the cells and the title need their room. */
static double
widest_name (const Matrix *self)
{
  double width = 0.0;

  for (gint64 i = 0; i < self->n; i++)
    width = MAX (width, gyre_picture_text_width (self->cr, 12, 0, name_of (self, i)));
  return MIN (width, 120.0);
}

GBytes *
gyre_report_draw_matrix (const GyreReport *self)
{
  Matrix   matrix = { self, NULL, self->n_classes, count_columns (self),
                      cell_of (self->n_classes), 0.0 };
  cairo_t *ruler  = gyre_picture_new (1, 1);
  double   bottom = TOP + matrix.cell * (double) matrix.n, width;

  matrix.cr   = ruler;
  matrix.left = MARGIN + 22 + widest_name (&matrix);
  cairo_destroy (ruler);
  width     = MAX (matrix.left + matrix.cell * (double) matrix.columns + 140, 560);
  matrix.cr = gyre_picture_new (width, MAX (bottom, TOP + 100) + 40);
  for (gint64 label = 0; label < matrix.n; label++)
    for (gint64 i = 0; i < matrix.columns; i++)
      draw_cell (&matrix, label, i);
  draw_grid (&matrix);
  draw_names (&matrix);
  draw_scale (&matrix);
  draw_words (&matrix, width, bottom);
  return gyre_picture_finish (matrix.cr);
}
