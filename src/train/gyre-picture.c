/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-picture-private.h"

#include <math.h>

#define PIXELS 2.0

cairo_t *
gyre_picture_new (double width,
                  double height)
{
  cairo_surface_t *surface = cairo_image_surface_create (
      CAIRO_FORMAT_RGB24, (int) ceil (width * PIXELS), (int) ceil (height * PIXELS));
  cairo_t         *cr      = cairo_create (surface);

  cairo_surface_destroy (surface);   /* cr holds it */
  cairo_scale (cr, PIXELS, PIXELS);
  gyre_picture_colour (cr, 0xffffff, 1.0);
  cairo_paint (cr);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  return cr;
}

static cairo_status_t
append (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

GBytes *
gyre_picture_finish (cairo_t *cr)
{
  g_autoptr (GByteArray) bytes  = g_byte_array_new ();
  cairo_surface_t       *target = cairo_get_target (cr);
  gboolean               ok     = cairo_status (cr) == CAIRO_STATUS_SUCCESS;

  cairo_surface_flush (target);
  ok = ok && cairo_surface_write_to_png_stream (target, append, bytes) ==
                 CAIRO_STATUS_SUCCESS;
  cairo_destroy (cr);
  return ok ? g_byte_array_free_to_bytes (g_steal_pointer (&bytes)) : NULL;
}

void
gyre_picture_colour (cairo_t *cr,
                     guint32  colour,
                     double   opacity)
{
  cairo_set_source_rgba (cr, ((colour >> 16) & 255) / 255.0,
                         ((colour >> 8) & 255) / 255.0, (colour & 255) / 255.0, opacity);
}

void
gyre_picture_line (cairo_t *cr,
                   double   x0,
                   double   y0,
                   double   x1,
                   double   y1,
                   double   width,
                   guint32  colour)
{
  gyre_picture_colour (cr, colour, 1.0);
  cairo_set_line_width (cr, width);
  cairo_move_to (cr, x0, y0);
  cairo_line_to (cr, x1, y1);
  cairo_stroke (cr);
}

static void
set_font (cairo_t *cr, double size, GyrePictureFlags flags)
{
  cairo_select_font_face (cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                          flags & GYRE_PICTURE_BOLD ? CAIRO_FONT_WEIGHT_BOLD
                                                    : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cr, size);
}

double
gyre_picture_text_width (cairo_t          *cr,
                         double            size,
                         GyrePictureFlags  flags,
                         const char       *text)
{
  cairo_text_extents_t extents;

  set_font (cr, size, flags);
  cairo_text_extents (cr, text, &extents);
  return extents.x_advance;
}

void
gyre_picture_text (cairo_t          *cr,
                   double            x,
                   double            y,
                   double            align,
                   double            size,
                   GyrePictureFlags  flags,
                   guint32           colour,
                   const char       *text)
{
  cairo_text_extents_t extents;

  cairo_save (cr);
  set_font (cr, size, flags);
  cairo_text_extents (cr, text, &extents);
  cairo_translate (cr, x, y);
  if (flags & GYRE_PICTURE_UP)
    cairo_rotate (cr, -G_PI / 2.0);
  else if (flags & GYRE_PICTURE_SLANT)
    cairo_rotate (cr, -G_PI / 4.0);
  gyre_picture_colour (cr, colour, 1.0);
  /* 0.36: half the height of a capital */
  cairo_move_to (cr, -align * extents.x_advance, 0.36 * size);
  cairo_show_text (cr, text);
  cairo_restore (cr);
}

void
gyre_picture_text_within (cairo_t          *cr,
                          double            x,
                          double            y,
                          double            align,
                          double            size,
                          GyrePictureFlags  flags,
                          double            width,
                          guint32           colour,
                          const char       *text)
{
  g_autofree char *part = g_strdup (text);

  for (glong n = g_utf8_strlen (text, -1);
       n > 1 && gyre_picture_text_width (cr, size, flags, part) > width; n--)
    {
      g_autofree char *begin = g_utf8_substring (text, 0, n - 1);

      g_free (part);
      part = g_strconcat (begin, "…", NULL);
    }
  gyre_picture_text (cr, x, y, align, size, flags, colour, part);
}

double
gyre_picture_tick (double span,
                   int    n)
{
  static const double rounds[] = { 1.0, 2.0, 5.0, 10.0 };
  double              power    = pow (10.0, floor (log10 (span / n)));

  for (gsize i = 0; i < G_N_ELEMENTS (rounds); i++)
    if (span <= rounds[i] * power * n * (1.0 + 1e-9))
      return rounds[i] * power;
  return 10.0 * power;
}

char *
gyre_picture_number (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (g_ascii_formatd (text, sizeof text,
                                    fabs (value) >= 1e4 && fabs (value) < 1e7 ? "%.0f"
                                                                              : "%.4g",
                                    value));
}
