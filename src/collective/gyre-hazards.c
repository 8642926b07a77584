/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include <string.h>

/* Vector clocks: of each queue, how far into each other queue it is known to be behind.
 * A use is in order with an earlier one if the clock of its command has passed it. */
struct _GyreHazards
{
  guint    n;
  guint64 *now;    /* [n · n] clock of each member's newest command */
  guint64 *last;   /* [n · n] clock of its command with the last event */
  guint64 *wrote;  /* [n · n · n] by owner, chunk and queue: its newest write */
  guint64 *read;   /* and read; 0: none */
};

GyreHazards *
gyre_hazards_new (guint n)
{
  GyreHazards *self = g_new0 (GyreHazards, 1);
  gsize n2 = (gsize) n * n;

  self->n = n;
  self->now = g_new0 (guint64, n2);
  self->last = g_new0 (guint64, n2);
  self->wrote = g_new0 (guint64, n2 * n);
  self->read = g_new0 (guint64, n2 * n);
  return self;
}

void
gyre_hazards_free (GyreHazards *self)
{
  if (self == NULL)
    return;

  g_free (self->now);
  g_free (self->last);
  g_free (self->wrote);
  g_free (self->read);
  g_free (self);
}

void
gyre_hazards_command (GyreHazards *self,
                      guint        member)
{
  if (self != NULL)
    self->now[member * self->n + member]++;
}

void
gyre_hazards_wait (GyreHazards *self,
                   guint        member,
                   guint        other)
{
  if (self == NULL)
    return;

  for (guint q = 0; q < self->n; q++)
    {
      guint64 *mine = &self->now[member * self->n + q];

      *mine = MAX (*mine, self->last[other * self->n + q]);
    }
}

static void
check_passed (GyreHazards   *self,
              const guint64 *uses,
              guint          member,
              guint          owner,
              guint          chunk)
{
  for (guint q = 0; q < self->n; q++)
    if (q != member && uses[q] > self->now[member * self->n + q])
      g_critical ("collective: the queue of member %u uses chunk %u of member %u while "
                  "that of member %u may still use it; is an acquire missing?", member,
                  chunk, owner, q);
}

void
gyre_hazards_use (GyreHazards *self,
                  guint        member,
                  guint        owner,
                  guint        chunk,
                  gboolean     write)
{
  gsize at;

  if (self == NULL)
    return;

  at = ((gsize) owner * self->n + chunk) * self->n;
  check_passed (self, self->wrote + at, member, owner, chunk);
  if (write)
    check_passed (self, self->read + at, member, owner, chunk);
  (write ? self->wrote : self->read)[at + member] =
    self->now[member * self->n + member];
}

void
gyre_hazards_turn (GyreHazards *self)
{
  if (self != NULL)
    memcpy (self->last, self->now, sizeof *self->now * self->n * self->n);
}
