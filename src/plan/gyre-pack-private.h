/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A piece of scratch memory that is needed from one moment to another, both included. */
typedef struct
{
  gsize size;
  guint first, last;

  guint block;      /* out: which block */
  gsize offset;     /* out: where in it */
} GyreInterval;

/* Places intervals in as few bytes as best fit finds: the largest first, each in the
 * smallest gap among those that live at the same time.  Offsets are multiples of align.
 * A block is never longer than most, unless one interval is.  Returns the sizes of the
 * blocks (gsize). */
GArray *gyre_pack (GyreInterval *intervals,
                   guint         n,
                   gsize         align,
                   gsize         most);

gsize   gyre_align_up (gsize n,
                       gsize align);

G_END_DECLS
