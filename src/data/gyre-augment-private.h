/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-key.h>
#include <gyre/gyre-shape.h>

G_BEGIN_DECLS

/* How the images of an epoch differ from those of the dataset. */
typedef struct
{
  gint64   crop;   /* pixels that an image may be moved by, along either dimension */
  gboolean flip;   /* half of the images are mirrored, left to right */
} GyreAugment;

/* "crop=4,flip"; NULL and "none" change nothing. */
gboolean gyre_augment_parse     (const char   *text,
                                 GyreAugment  *augment,
                                 GError      **error);
/* As it is parsed; "none" of nothing. (transfer full) */
char    *gyre_augment_to_string (const GyreAugment *augment);
gboolean gyre_augment_is_none   (const GyreAugment *augment);
/* One image, [height, width, channel], whose pixels have pixel_size bytes, all channels
 * together: moved and mirrored as key has it, with zeros where it is moved away from. */
void     gyre_augment_apply     (const GyreAugment *augment,
                                 GyreKey            key,
                                 const GyreShape   *image,
                                 gsize              pixel_size,
                                 const guint8      *from,
                                 guint8            *to);

G_END_DECLS
