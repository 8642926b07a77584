/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-picture-private.h"
#include "train/gyre-report-private.h"

#include <math.h>

#define WIDTH  860.0
#define HEIGHT 480.0
#define LEFT   72.0
#define RIGHT  (WIDTH - 76.0)
#define TOP    74.0
#define BOTTOM (HEIGHT - 62.0)

/* How steps and losses lie on the picture. */
typedef struct
{
  const GyreReport *report;
  cairo_t          *cr;
  gint64            n_steps;    /* at the right end */
  double            top;        /* the loss up there; 0 is at the bottom */
  double            low;        /* the accuracy at the bottom; 1 is at the top */
} Curve;

static double
x_of (const Curve *self, double step)
{
  return LEFT + (RIGHT - LEFT) * (step - (double) self->report->first_step) /
                    (double) MAX (self->n_steps - self->report->first_step, 1);
}

static double
y_of (const Curve *self, double loss)
{
  return BOTTOM - (BOTTOM - TOP) * loss / self->top;
}

static double
y_of_accuracy (const Curve *self, double accuracy)
{
  return BOTTOM - (BOTTOM - TOP) * (accuracy - self->low) / (1.0 - self->low);
}

static int
compare_floats (gconstpointer a, gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* As high as the first loss and nearly all others: one that is far off is cut. */
static double
top_of (const GyreReport *report)
{
  g_autoptr (GArray) finite = g_array_new (FALSE, FALSE, sizeof (float));
  double             first = 0.0, high, tick;

  for (guint i = 0; i < report->losses->len; i++)
    {
      float loss = g_array_index (report->losses, float, i);

      if (isfinite (loss))
        {
          first = finite->len == 0 ? (double) loss : first;
          g_array_append_val (finite, loss);
        }
    }
  if (finite->len == 0)
    return 1.0;
  g_array_sort (finite, compare_floats);
  high = (double) g_array_index (finite, float, (finite->len - 1) * 99 / 100) * 1.2;
  high = MIN (MAX (high, first), (double) g_array_index (finite, float, finite->len - 1));
  high = MAX (high * 1.05, 1e-6);
  tick = gyre_picture_tick (high, 6);
  return ceil (high / tick) * tick;
}

/* A round number below the lowest accuracy. */
static double
low_of (const GyreReport *report)
{
  double low = 1.0;

  for (guint i = 0; i < report->epochs->len; i++)
    low = MIN (low, g_array_index (report->epochs, GyreReportEpoch, i).accuracy);
  return low >= 0.92 ? 0.9 : low >= 0.82 ? 0.8 : low >= 0.55 ? 0.5 : 0.0;
}

/* --- axes --- */

static void
draw_losses_axis (const Curve *self)
{
  double tick = gyre_picture_tick (self->top, 6);

  for (int i = 0; i * tick <= self->top * (1.0 + 1e-9); i++)
    {
      g_autofree char *text = gyre_picture_number (i * tick);
      double           y    = y_of (self, i * tick);

      gyre_picture_line (self->cr, LEFT, y, RIGHT, y, 0.5, GYRE_PICTURE_LIGHT);
      gyre_picture_text (self->cr, LEFT - 8, y, 1.0, 12, 0, GYRE_PICTURE_BLUE, text);
    }
  gyre_picture_text (self->cr, 18, (TOP + BOTTOM) / 2, 0.5, 13, GYRE_PICTURE_UP,
                     GYRE_PICTURE_BLUE, "training loss");
}

static void
draw_steps_axis (const Curve *self)
{
  double first = (double) self->report->first_step;
  double tick  = MAX (gyre_picture_tick ((double) self->n_steps - first, 8), 1.0);

  for (double at = ceil (first / tick) * tick; at <= (double) self->n_steps; at += tick)
    {
      g_autofree char *text = gyre_picture_number (at);
      double           x    = x_of (self, at);

      gyre_picture_line (self->cr, x, BOTTOM, x, BOTTOM + 4, 1, GYRE_PICTURE_BLACK);
      gyre_picture_text (self->cr, x, BOTTOM + 15, 0.5, 12, 0, GYRE_PICTURE_BLACK, text);
    }
  gyre_picture_text (self->cr, (LEFT + RIGHT) / 2, BOTTOM + 36, 0.5, 13, 0,
                     GYRE_PICTURE_BLACK, "step");
}

static void
draw_accuracy_axis (const Curve *self)
{
  double tick = gyre_picture_tick (1.0 - self->low, 5);

  if (self->report->epochs->len == 0)
    return;
  for (int i = 0; self->low + i * tick <= 1.0 + 1e-9; i++)
    {
      g_autofree char *text = gyre_picture_number (self->low + i * tick);
      double           y    = y_of_accuracy (self, self->low + i * tick);

      gyre_picture_line (self->cr, RIGHT, y, RIGHT + 4, y, 1, GYRE_PICTURE_ORANGE);
      gyre_picture_text (self->cr, RIGHT + 8, y, 0.0, 12, 0, GYRE_PICTURE_ORANGE, text);
    }
  gyre_picture_text (self->cr, WIDTH - 16, (TOP + BOTTOM) / 2, 0.5, 13, GYRE_PICTURE_UP,
                     GYRE_PICTURE_ORANGE, "test accuracy");
}

/* A dashed line where an epoch ends; of many, some have their number. */
static void
draw_epochs (const Curve *self)
{
  static const double dashes[] = { 3.0, 3.0 };
  guint               n        = self->report->epochs->len;
  guint               every    = MAX ((guint) gyre_picture_tick (n, 16), 1);

  cairo_save (self->cr);
  cairo_set_dash (self->cr, dashes, 2, 0.0);
  for (guint i = 0; i < n; i++)
    {
      const GyreReportEpoch *epoch =
          &g_array_index (self->report->epochs, GyreReportEpoch, i);
      g_autofree char       *text  = g_strdup_printf ("%u", i + 1);
      double                 x     = x_of (self, (double) epoch->n_steps);

      if ((i + 1) % every != 0 || x < LEFT + 56)
        continue;
      gyre_picture_line (self->cr, x, TOP, x, BOTTOM, 0.8, GYRE_PICTURE_GREY);
      gyre_picture_text (self->cr, x, TOP - 9, 0.5, 11, 0, GYRE_PICTURE_GREY, text);
    }
  if (n > 0)
    gyre_picture_text (self->cr, LEFT, TOP - 9, 0.0, 11, 0, GYRE_PICTURE_GREY,
                       "epoch");
  cairo_restore (self->cr);
}

/* --- lines --- */

/* Each loss; where many fall on one column, the range of them. */
static void
draw_raw (const Curve *self)
{
  const GArray *losses = self->report->losses;
  guint         stride = MAX (losses->len / 1600, 1);
  gboolean      drawn  = FALSE;

  for (guint i = 0; i < losses->len; i += stride)
    {
      float low = INFINITY, high = -INFINITY;
      double x = x_of (self, (double) self->report->first_step + i + 1);

      for (guint j = i; j < MIN (i + stride, losses->len); j++)
        {
          low  = fminf (low, g_array_index (losses, float, j));
          high = fmaxf (high, g_array_index (losses, float, j));
        }
      if (!isfinite (low) || !isfinite (high))
        drawn = FALSE;
      else
        {
          (drawn ? cairo_line_to : cairo_move_to) (self->cr, x,
                                                   y_of (self, (double) low));
          cairo_line_to (self->cr, x, y_of (self, (double) high));
          drawn = TRUE;
        }
    }
  gyre_picture_colour (self->cr, GYRE_PICTURE_BLUE, 0.3);
  cairo_set_line_width (self->cr, 0.8);
  cairo_stroke (self->cr);
}

/* The mean of the last losses, a fiftieth of all. */
static guint
window_of (const GyreReport *report)
{
  return CLAMP (report->losses->len / 50, 1, 1000);
}

static void
draw_smooth (const Curve *self)
{
  const GArray *losses = self->report->losses;
  guint         window = window_of (self->report), n = 0;
  double        sum    = 0.0;

  for (guint i = 0; i < losses->len; i++)
    {
      float in  = g_array_index (losses, float, i);
      float out = i >= window ? g_array_index (losses, float, i - window) : NAN;

      if (isfinite (in))
        sum += (double) in, n++;
      if (isfinite (out))
        sum -= (double) out, n--;
      if (n == 0)
        cairo_new_sub_path (self->cr);
      else
        cairo_line_to (self->cr, x_of (self, (double) self->report->first_step + i + 1),
                       y_of (self, MAX (sum / n, 0.0)));
    }
  gyre_picture_colour (self->cr, GYRE_PICTURE_BLUE, 1.0);
  cairo_set_line_width (self->cr, 2.2);
  cairo_stroke (self->cr);
}

/* Where an epoch's accuracy is. */
static void
place_of (const Curve *self, guint i, double *x, double *y)
{
  const GyreReportEpoch *epoch =
      &g_array_index (self->report->epochs, GyreReportEpoch, i);

  *x = x_of (self, (double) epoch->n_steps);
  *y = y_of_accuracy (self, epoch->accuracy);
}

static void
draw_dot (const Curve *self, guint i, guint n)
{
  char   text[G_ASCII_DTOSTR_BUF_SIZE];
  double x, y;

  place_of (self, i, &x, &y);
  gyre_picture_colour (self->cr, GYRE_PICTURE_ORANGE, 1.0);
  cairo_new_path (self->cr);
  cairo_arc (self->cr, x, y, n > 60 ? 2.0 : 4.0, 0.0, 2.0 * G_PI);
  cairo_fill (self->cr);
  if (n > 12)
    return;
  g_ascii_formatd (text, sizeof text, "%.4f",
                   g_array_index (self->report->epochs, GyreReportEpoch, i).accuracy);
  gyre_picture_text (self->cr, x - 7, y > TOP + 24 ? y - 12 : y + 14, 1.0, 12, 0,
                     GYRE_PICTURE_ORANGE, text);
}

static void
draw_accuracies (const Curve *self)
{
  guint n = self->report->epochs->len;

  for (guint i = 0; i < n; i++)
    {
      double x, y;

      place_of (self, i, &x, &y);
      cairo_line_to (self->cr, x, y);
    }
  gyre_picture_colour (self->cr, GYRE_PICTURE_ORANGE, 1.0);
  cairo_set_line_width (self->cr, 1.6);
  cairo_stroke (self->cr);
  for (guint i = 0; i < n; i++)
    draw_dot (self, i, n);
}

/* --- words --- */

static double
draw_key (const Curve *self, double x, double width, guint32 colour, double opacity,
          const char *text)
{
  gyre_picture_colour (self->cr, colour, opacity);
  cairo_set_line_width (self->cr, width);
  cairo_move_to (self->cr, x, 36);
  cairo_line_to (self->cr, x + 22, 36);
  cairo_stroke (self->cr);
  gyre_picture_text (self->cr, x + 28, 36, 0.0, 12, 0, GYRE_PICTURE_BLACK, text);
  return x + 28 + gyre_picture_text_width (self->cr, 12, 0, text) + 22;
}

static void
draw_words (const Curve *self)
{
  const GyreReport *report = self->report;
  g_autofree char  *mean   = g_strdup_printf ("mean of the last %u steps",
                                              window_of (report));
  g_autoptr (GString) title = g_string_new (gyre_dataset_get_name (report->dataset));
  double x = LEFT;

  g_string_append_printf (title, ": %" G_GINT64_FORMAT " steps", self->n_steps);
  if (report->epochs->len > 0)
    {
      char   text[G_ASCII_DTOSTR_BUF_SIZE];
      double last = g_array_index (report->epochs, GyreReportEpoch,
                                   report->epochs->len - 1).accuracy;

      g_string_append_printf (title, ", test accuracy %s",
                              g_ascii_formatd (text, sizeof text, "%.4f", last));
    }
  gyre_picture_text_within (self->cr, LEFT, 16, 0.0, 15, GYRE_PICTURE_BOLD,
                            RIGHT - LEFT, GYRE_PICTURE_BLACK, title->str);
  /* of few steps none is drawn pale: the mean of one covers it */
  if (window_of (report) > 1)
    {
      x = draw_key (self, x, 1.2, GYRE_PICTURE_BLUE, 0.4, "loss of a step");
      x = draw_key (self, x, 2.2, GYRE_PICTURE_BLUE, 1.0, mean);
    }
  else
    x = draw_key (self, x, 2.2, GYRE_PICTURE_BLUE, 1.0, "loss of a step");
  if (report->epochs->len > 0)
    draw_key (self, x, 1.6, GYRE_PICTURE_ORANGE, 1.0, "test accuracy");
}

GBytes *
gyre_report_draw_curve (const GyreReport *self)
{
  Curve curve = { self, gyre_picture_new (WIDTH, HEIGHT),
                  self->first_step + self->losses->len, top_of (self), low_of (self) };

  draw_losses_axis (&curve);
  draw_steps_axis (&curve);
  draw_accuracy_axis (&curve);
  draw_epochs (&curve);
  cairo_save (curve.cr);
  cairo_rectangle (curve.cr, LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
  cairo_clip (curve.cr);
  draw_raw (&curve);
  draw_smooth (&curve);
  cairo_restore (curve.cr);
  draw_accuracies (&curve);
  gyre_picture_line (curve.cr, LEFT, TOP, LEFT, BOTTOM, 1, GYRE_PICTURE_BLACK);
  gyre_picture_line (curve.cr, LEFT, BOTTOM, RIGHT, BOTTOM, 1, GYRE_PICTURE_BLACK);
  gyre_picture_line (curve.cr, RIGHT, TOP, RIGHT, BOTTOM, 1, GYRE_PICTURE_BLACK);
  draw_words (&curve);
  return gyre_picture_finish (curve.cr);
}
