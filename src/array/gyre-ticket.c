/* SPDX-License-Identifier: Apache-2.0 */
#include "array/gyre-ticket-private.h"

#include "device/gyre-executor-private.h"

struct _GyreTicket
{
  gatomicrefcount ref_count;
  GMutex          lock;
  GCond           cond;
  guint           n_left;
  GError         *error;
};

GyreTicket *
gyre_ticket_new (guint n_parts)
{
  GyreTicket *self = g_new0 (GyreTicket, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  self->n_left = n_parts;

  return self;
}

GyreTicket *
gyre_ticket_ref (GyreTicket *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
gyre_ticket_unref (GyreTicket *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_clear_error (&self->error);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  g_free (self);
}

/* Who waits may give up the ticket as soon as it is done: it is held until the lock
 * is. */
static void
finish (GyreTicket *self,
        guint       n_parts,
        GError     *error)
{
  gyre_ticket_ref (self);
  g_mutex_lock (&self->lock);
  if (self->error == NULL)
    self->error = g_steal_pointer (&error);
  self->n_left -= MIN (n_parts, self->n_left);
  if (self->n_left == 0)
    g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  gyre_ticket_unref (self);

  g_clear_error (&error);
}

void
gyre_ticket_done (GyreTicket *self,
                  GError     *error)
{
  finish (self, 1, error);
}

void
gyre_ticket_fail (GyreTicket *self,
                  GError     *error)
{
  finish (self, G_MAXUINT, error);
}

gboolean
gyre_ticket_is_done (GyreTicket *self)
{
  gboolean done;

  g_mutex_lock (&self->lock);
  done = self->n_left == 0;
  g_mutex_unlock (&self->lock);

  return done;
}

gboolean
gyre_ticket_wait (GyreTicket  *self,
                  GError     **error)
{
  gboolean good;

  g_return_val_if_fail (!gyre_executor_is_current (), FALSE);

  g_mutex_lock (&self->lock);
  while (self->n_left > 0)
    g_cond_wait (&self->cond, &self->lock);
  good = self->error == NULL;
  if (!good && error != NULL)
    *error = g_error_copy (self->error);
  g_mutex_unlock (&self->lock);

  return good;
}
