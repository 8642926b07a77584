/* SPDX-License-Identifier: Apache-2.0 */
#include "train/gyre-picture-private.h"
#include "train/gyre-report-private.h"

#include <math.h>

#include "data/gyre-dataset-private.h"

#define COLUMNS 6
#define TILE    138.0   /* across */
#define SIDE    118.0   /* of the longer side of an image */
#define TALL    208.0   /* a tile with its words */
#define MARGIN  16.0
#define TOP     64.0

/* One image of the test split, as numbers. */
typedef struct
{
  gint64        height, width, channels;
  const guint8 *bytes;     /* or NULL */
  const float  *floats;
  double        low, high; /* black and white */
} Image;

static double
number_at (const Image *self, gint64 i)
{
  return self->bytes ? (double) self->bytes[i] : (double) self->floats[i];
}

/* Bytes lie in 0..scale. Floats that leave 0..1, as standardised ones do, are stretched
 * from the image's least to its most. */
static void
set_range (Image *self, double scale)
{
  self->low  = 0.0;
  self->high = self->bytes ? scale : 1.0;
  for (gint64 i = 0; self->floats && i < self->height * self->width * self->channels; i++)
    if (isfinite (self->floats[i]))
      {
        self->low  = MIN (self->low, (double) self->floats[i]);
        self->high = MAX (self->high, (double) self->floats[i]);
      }
}

static Image
get_image (const GyreReport *report, gint64 index)
{
  const GyreDatasetPart *part  = gyre_dataset_get_part (report->dataset, GYRE_SPLIT_TEST);
  GyreShape              shape = gyre_dataset_get_image_shape (report->dataset);
  gsize                  n     = (gsize) gyre_shape_n_elements (&shape);
  gconstpointer          data  = g_bytes_get_data (part->images, NULL);
  Image self = { .height = shape.dims[0], .width = shape.dims[1],
                 .channels = shape.dims[2] };

  if (gyre_dataset_get_image_dtype (report->dataset) == GYRE_U8)
    self.bytes = (const guint8 *) data + n * (gsize) index;
  else
    self.floats = (const float *) data + n * (gsize) index;
  set_range (&self, gyre_dataset_get_scale (report->dataset));
  return self;
}

static guint32
shade_of (const Image *self, gint64 i)
{
  double part = (number_at (self, i) - self->low) / (self->high - self->low);

  return (guint32) lround (255.0 * (isfinite (part) ? CLAMP (part, 0.0, 1.0) : 0.0));
}

/* Red, green and blue of three channels or more; else the first one as grey. */
static guint32
pixel_of (const Image *self, gint64 y, gint64 x)
{
  gint64 at    = (y * self->width + x) * self->channels;
  gint64 green = self->channels >= 3 ? 1 : 0, blue = self->channels >= 3 ? 2 : 0;

  return shade_of (self, at) << 16 | shade_of (self, at + green) << 8 |
         shade_of (self, at + blue);
}

static cairo_surface_t *
make_surface (const Image *self)
{
  cairo_surface_t *surface = cairo_image_surface_create (
      CAIRO_FORMAT_RGB24, (int) self->width, (int) self->height);
  guint8          *data    = cairo_image_surface_get_data (surface);

  for (gint64 y = 0; data && y < self->height; y++)
    {
      guint32 *row = (guint32 *) (data + y * cairo_image_surface_get_stride (surface));

      for (gint64 x = 0; x < self->width; x++)
        row[x] = pixel_of (self, y, x);
    }
  cairo_surface_mark_dirty (surface);
  return surface;
}

/* Pixels stay squares that can be told apart. */
static void
draw_image (cairo_t *cr, const Image *image, double left, double top)
{
  cairo_surface_t *surface = make_surface (image);
  double           scale   = SIDE / (double) MAX (image->width, image->height);
  double           width   = scale * (double) image->width;
  double           height  = scale * (double) image->height;

  cairo_save (cr);
  cairo_translate (cr, left + (TILE - width) / 2, top + (SIDE - height) / 2);
  cairo_rectangle (cr, 0, 0, width, height);
  gyre_picture_colour (cr, GYRE_PICTURE_GREY, 1.0);
  cairo_set_line_width (cr, 1.0);
  cairo_stroke_preserve (cr);
  cairo_clip (cr);
  cairo_scale (cr, scale, scale);
  cairo_set_source_surface (cr, surface, 0, 0);
  cairo_pattern_set_filter (cairo_get_source (cr),
                            scale >= 1.0 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  cairo_paint (cr);
  cairo_restore (cr);
  cairo_surface_destroy (surface);
}

static char *
name_of (const GyreReport *report, gint32 label)
{
  return label < report->n_classes
             ? g_strdup (gyre_dataset_get_class_name (report->dataset, label))
             : g_strdup_printf ("%d", label);
}

static void
draw_tile (cairo_t *cr, const GyreReport *report, const GyrePrediction *one, double left,
           double top)
{
  Image            image = get_image (report, one->index);
  g_autofree char *is    = name_of (report, one->label);
  g_autofree char *said  = name_of (report, one->predicted);
  char             part[G_ASCII_DTOSTR_BUF_SIZE], loss[G_ASCII_DTOSTR_BUF_SIZE];
  guint32 verdict = one->label == one->predicted ? GYRE_PICTURE_GREEN : GYRE_PICTURE_RED;
  const struct { double size; guint32 colour; char *text; } lines[] = {
    { 12.5, GYRE_PICTURE_BLACK, g_strconcat ("is ", is, NULL) },
    { 12.5, verdict, g_strconcat ("said ", said, NULL) },
    { 11.0, GYRE_PICTURE_BLACK,
      g_strdup_printf ("%s %%, loss %s",
                       g_ascii_formatd (part, sizeof part, "%.1f",
                                        100.0 * one->probability),
                       g_ascii_formatd (loss, sizeof loss, "%.2f", one->loss)) },
    { 10.5, GYRE_PICTURE_GREY,
      g_strdup_printf ("test image %" G_GINT64_FORMAT, one->index) },
  };

  draw_image (cr, &image, left, top);
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      gyre_picture_text_within (cr, left + TILE / 2, top + SIDE + 15 + 16 * (double) i,
                                0.5, lines[i].size, 0, TILE - 4, lines[i].colour,
                                lines[i].text);
      g_free (lines[i].text);
    }
}

GBytes *
gyre_report_draw_worst (const GyreReport *self)
{
  guint    rows = (self->n_worst + COLUMNS - 1) / COLUMNS;
  cairo_t *cr   = gyre_picture_new (2 * MARGIN + COLUMNS * TILE,
                                    TOP + rows * TALL + MARGIN / 2);
  g_autofree char *title = g_strdup_printf (
      "%s: the %u of %" G_GINT64_FORMAT " test images with the highest loss",
      gyre_dataset_get_name (self->dataset), self->n_worst, self->n_tested);

  gyre_picture_text_within (cr, MARGIN, 18, 0.0, 15, GYRE_PICTURE_BOLD, COLUMNS * TILE,
                            GYRE_PICTURE_BLACK, title);
  gyre_picture_text (cr, MARGIN, 42, 0.0, 12, 0, GYRE_PICTURE_GREY,
                     "what each is; what the model said, with which probability");
  for (guint i = 0; i < self->n_worst; i++)
    draw_tile (cr, self, &self->worst[i], MARGIN + TILE * (i % COLUMNS),
               TOP + TALL * (i / COLUMNS));
  return gyre_picture_finish (cr);
}
