/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* A picture on white, in units of which each has 2 x 2 pixels. Colours are 0xrrggbb. */
cairo_t *gyre_picture_new    (double width, double height);
/* The PNG (transfer full), or NULL; ends the picture. */
GBytes  *gyre_picture_finish (cairo_t *cr);

void     gyre_picture_colour (cairo_t *cr, guint32 colour, double opacity);
void     gyre_picture_line   (cairo_t *cr, double x0, double y0, double x1, double y1,
                              double width, guint32 colour);

typedef enum
{
  GYRE_PICTURE_BOLD  = 1 << 0,
  GYRE_PICTURE_UP    = 1 << 1,    /* written upwards */
  GYRE_PICTURE_SLANT = 1 << 2     /* written upwards to the right */
} GyrePictureFlags;

/* One line of text; align 0: it begins at x, 0.5: its middle is there, 1: it ends. In
 * height its middle is at y. */
void     gyre_picture_text   (cairo_t *cr, double x, double y, double align, double size,
                              GyrePictureFlags flags, guint32 colour, const char *text);
/* The same for a text that must not be wider than width: it is cut with an ellipsis. */
void     gyre_picture_text_within (cairo_t *cr, double x, double y, double align,
                                   double size, GyrePictureFlags flags, double width,
                                   guint32 colour, const char *text);
double   gyre_picture_text_width (cairo_t *cr, double size, GyrePictureFlags flags,
                                  const char *text);

/* A round distance of ticks, so that there are at most n up to span. */
double   gyre_picture_tick   (double span, int n);
/* Few digits, such as "0.25" and "1e-05" (transfer full), whatever the locale. */
char    *gyre_picture_number (double value);

#define GYRE_PICTURE_BLACK  0x222222
#define GYRE_PICTURE_GREY   0x777777
#define GYRE_PICTURE_LIGHT  0xdddddd
#define GYRE_PICTURE_BLUE   0x1f5fa8
#define GYRE_PICTURE_ORANGE 0xc8500a
#define GYRE_PICTURE_GREEN  0x22783c
#define GYRE_PICTURE_RED    0xb3261e

G_END_DECLS
