/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A queue in a circle of slots of one size, which grows and never shrinks: once it is
 * large enough, nothing is allocated.  A slot keeps what it held when it is used again,
 * and is zero before. */
typedef struct
{
  char  *slots;
  gsize  size;      /* of a slot; set by the owner, the rest starts as 0 */
  guint  capacity;
  guint  first;
  guint  n;
} GyreCircle;

/* Valid until the next push. */
gpointer gyre_circle_at   (GyreCircle *self,
                           guint       i);
/* A new last one. */
gpointer gyre_circle_push (GyreCircle *self);
/* Takes the first away. */
void     gyre_circle_pop  (GyreCircle *self);

G_END_DECLS
