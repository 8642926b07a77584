/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-circle-private.h"

#include <string.h>

gpointer
gyre_circle_at (GyreCircle *self,
                guint       i)
{
  return self->slots + self->size * ((self->first + i) % self->capacity);
}

static void
grow (GyreCircle *self)
{
  guint capacity = MAX (64, self->capacity * 2);
  char *slots = g_malloc0_n (capacity, self->size);

  for (guint i = 0; i < self->capacity; i++)
    memcpy (slots + self->size * i, gyre_circle_at (self, i), self->size);
  g_free (self->slots);
  self->slots = slots;
  self->capacity = capacity;
  self->first = 0;
}

gpointer
gyre_circle_push (GyreCircle *self)
{
  if (self->n == self->capacity)
    grow (self);
  return gyre_circle_at (self, self->n++);
}

void
gyre_circle_pop (GyreCircle *self)
{
  self->first = (self->first + 1) % self->capacity;
  self->n--;
}
