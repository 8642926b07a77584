/* SPDX-License-Identifier: Apache-2.0 */
#include "data/gyre-augment-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

#include "base/gyre-text-private.h"

/* More would leave nothing of an image of any size that there is. */
#define MOST_CROP 4096

static gboolean
fail (const char *text, GError **error)
{
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID,
               "augmentation '%s': it is crop=PIXELS, flip, both as crop=4,flip, or none",
               text);
  return FALSE;
}

static gboolean
parse_word (const char *word, GyreAugment *augment)
{
  if (g_str_equal (word, "flip"))
    augment->flip = TRUE;
  else if (!g_str_has_prefix (word, "crop=") ||
           !gyre_text_parse_int (word + strlen ("crop="), 0, MOST_CROP, &augment->crop,
                                 NULL))
    return FALSE;
  return TRUE;
}

gboolean
gyre_augment_parse (const char   *text,
                    GyreAugment  *augment,
                    GError      **error)
{
  g_auto (GStrv) words = NULL;

  *augment = (GyreAugment) { 0, FALSE };
  if (!text || g_str_equal (text, "none"))
    return TRUE;
  words = g_strsplit (text, ",", -1);
  for (guint i = 0; words[i]; i++)
    if (!parse_word (g_strstrip (words[i]), augment))
      return fail (text, error);
  return words[0] ? TRUE : fail (text, error);
}

gboolean
gyre_augment_is_none (const GyreAugment *augment)
{
  return augment->crop == 0 && !augment->flip;
}

char *
gyre_augment_to_string (const GyreAugment *augment)
{
  if (augment->crop == 0)
    return g_strdup (augment->flip ? "flip" : "none");
  return g_strdup_printf ("crop=%" G_GINT64_FORMAT "%s", augment->crop,
                          augment->flip ? ",flip" : "");
}

/* A row of the result is a piece of a row of the image, with zeros on either side. */
static void
copy_row (gint64        width,
          gsize         pixel_size,
          gint64        shift,
          const guint8 *from,
          guint8       *to)
{
  gint64 first = CLAMP (-shift, 0, width);          /* of the result, inside the image */
  gint64 end   = CLAMP (width - shift, first, width);

  memset (to, 0, (gsize) width * pixel_size);
  if (end > first)
    memcpy (to + (gsize) first * pixel_size, from + (gsize) (first + shift) * pixel_size,
            (gsize) (end - first) * pixel_size);
}

static void
mirror_row (gint64  width,
            gsize   pixel_size,
            guint8 *row)
{
  for (gint64 i = 0; i < width / 2; i++)
    for (gsize byte = 0; byte < pixel_size; byte++)
      {
        guint8 *left  = row + (gsize) i * pixel_size + byte;
        guint8 *right = row + (gsize) (width - 1 - i) * pixel_size + byte;
        guint8  kept  = *left;

        *left  = *right;
        *right = kept;
      }
}

void
gyre_augment_apply (const GyreAugment *augment,
                    GyreKey            key,
                    const GyreShape   *image,
                    gsize              pixel_size,
                    const guint8      *from,
                    guint8            *to)
{
  gint64   height = image->dims[0], width = image->dims[1];
  gsize    row    = (gsize) width * pixel_size;
  guint32  places = 2 * (guint32) augment->crop + 1;
  guint32  bits[3];                                 /* down, to the right, mirrored */
  gint64   down, right;

  gyre_key_bits (key, 0, G_N_ELEMENTS (bits), bits);
  down  = (gint64) (bits[0] % places) - augment->crop;
  right = (gint64) (bits[1] % places) - augment->crop;
  for (gint64 y = 0; y < height; y++)
    {
      gint64  source = y + down;
      guint8 *place  = to + (gsize) y * row;

      if (source < 0 || source >= height)
        memset (place, 0, row);
      else
        copy_row (width, pixel_size, right, from + (gsize) source * row, place);
      if (augment->flip && bits[2] >> 31)
        mirror_row (width, pixel_size, place);
    }
}
