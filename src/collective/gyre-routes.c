/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

/* Pieces of the members' first halves go to places in their second halves.  Within a
 * context the receiver's queue copies from the sender's buffer.  Over several, and where
 * the host's ways are forced, the sender's queue reads its half to pinned memory of the
 * host, which waits for that, and the receivers' queues write from there. */

typedef struct
{
  GyreBuffer *pinned; /* of the sender's context, mapped for good; NULL: sends nothing */
  gpointer    host;
  cl_event    read;     /* the half is in host */
} Sender;

typedef struct
{
  gboolean through_host;
  Sender  *senders;     /* [n] */
} Routes;

static gboolean
routes_can (const GyreCollective  *self,
            const char           **why_not)
{
  return self->routes != NULL;
}

/* --- setting up --- */

static gboolean
goes_through_host (const GyreCollective *self)
{
  const char *forced = g_getenv ("GYRE_ALL_REDUCE");

  return !self->one_context || g_strcmp0 (forced, "host") == 0 ||
         g_strcmp0 (forced, "staged") == 0;
}

typedef struct
{
  GyreCollective *self;
  GError        **error;
  gboolean        good;
} Make;

static gboolean
make_sender (GyreCollective  *self,
             guint            member,
             GError         **error)
{
  GyreDevice *device = self->devices[member];
  Sender *sender = &((Routes *) self->data)->senders[member];
  gsize bytes = gyre_collective_chunk_bytes (self, GYRE_CHUNK_SENT);

  sender->pinned = gyre_buffer_new_pinned (device, bytes, error);
  return sender->pinned != NULL &&
         gyre_collective_map_pinned (device, sender->pinned, &sender->host, error);
}

static void
make_senders (gpointer data)
{
  Make *make = data;
  GyreCollective *self = make->self;
  const Routes *routes = self->data;

  make->good = TRUE;
  for (guint r = 0; make->good && r < self->n_routes; r++)
    {
      guint from = self->routes[r].from;

      if (from != GYRE_NO_MEMBER && routes->senders[from].pinned == NULL)
        make->good = make_sender (self, from, make->error);
    }
}

static gboolean
routes_prepare (GyreCollective  *self,
                GError         **error)
{
  Routes *routes = g_new0 (Routes, 1);
  Make make = { self, error, FALSE };

  routes->senders = g_new0 (Sender, self->n);
  routes->through_host = goes_through_host (self);
  self->data = routes;
  if (!routes->through_host ||
      gyre_collective_chunk_bytes (self, GYRE_CHUNK_SENT) == 0)
    return TRUE;

  gyre_executor_call (make_senders, &make);
  return make.good;
}

/* --- within a context --- */

/* Who sent to others waits until they have it. */
static gboolean
routes_acquire (GyreCollective  *self,
                guint            member,
                GError         **error)
{
  const Routes *routes = self->data;
  gboolean good = TRUE;

  for (guint r = 0; good && !routes->through_host && r < self->n_routes; r++)
    {
      guint to = self->routes[r].to;

      if (self->routes[r].from == member && to != member)
        good = gyre_collective_wait_for (self, member, &to, 1, error);
    }
  return good;
}

static gboolean
copy_piece (GyreCollective   *self,
            const GyreRoute  *route,
            GError          **error)
{
  gboolean own = route->from == route->to;

  gyre_hazards_command (self->hazards, route->to);
  if (!own)
    gyre_hazards_wait (self->hazards, route->to, route->from);
  gyre_hazards_use (self->hazards, route->to, route->from, GYRE_CHUNK_SENT, FALSE);
  gyre_hazards_use (self->hazards, route->to, route->to, GYRE_CHUNK_GOT, TRUE);
  return gyre_device_copy (self->devices[route->to], self->buffers[route->from],
                           route->from_first, self->buffers[route->to], route->to_first,
                           route->bytes, own ? NULL : &self->last[route->from],
                           own ? 0 : 1, NULL, error);
}

static gboolean
clear_place (GyreCollective   *self,
             const GyreRoute  *route,
             GError          **error)
{
  gyre_hazards_command (self->hazards, route->to);
  gyre_hazards_use (self->hazards, route->to, route->to, GYRE_CHUNK_GOT, TRUE);
  return gyre_device_fill (self->devices[route->to], self->buffers[route->to],
                           route->to_first, route->bytes, 0, NULL, 0, NULL, error);
}

static gboolean
mark_fresh (GyreCollective  *self,
            GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    {
      gyre_hazards_command (self->hazards, i);
      if (!gyre_device_marker (self->devices[i], NULL, 0, &self->fresh[i], error))
        return FALSE;
    }
  gyre_collective_turn_events (self);
  return gyre_collective_flush_all (self, error);
}

static gboolean
copy_pieces (GyreCollective  *self,
             GError         **error)
{
  if (!gyre_collective_mark_all (self, error) ||
      !gyre_collective_flush_all (self, error))
    return FALSE;

  for (guint r = 0; r < self->n_routes; r++)
    {
      const GyreRoute *route = &self->routes[r];

      if (route->from == GYRE_NO_MEMBER ? !clear_place (self, route, error)
                                        : !copy_piece (self, route, error))
        return FALSE;
    }
  return mark_fresh (self, error);
}

/* --- through the host --- */

/* What was written from the host's memory has left it once all queues are here. */
static gboolean
wait_for_writes (GyreCollective  *self,
                 GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    if (self->last[i] != NULL &&
        !gyre_collective_wait_event (self->last[i], "clEnqueueWriteBuffer of a piece",
                                     self->devices[i], error))
      return FALSE;

  return TRUE;
}

static gboolean
read_halves (GyreCollective  *self,
             GError         **error)
{
  Routes *routes = self->data;
  gsize bytes = gyre_collective_chunk_bytes (self, GYRE_CHUNK_SENT);

  if (!wait_for_writes (self, error))
    return FALSE;
  for (guint i = 0; i < self->n; i++)
    {
      Sender *sender = &routes->senders[i];

      if (sender->pinned != NULL &&
          !gyre_device_read (self->devices[i], self->buffers[i], 0, bytes, sender->host,
                             NULL, 0, &sender->read, error))
        return FALSE;
    }
  return gyre_collective_flush_all (self, error);
}

static gboolean
write_piece (GyreCollective   *self,
             const GyreRoute  *route,
             GError          **error)
{
  const Sender *sender = &((Routes *) self->data)->senders[route->from];

  if (route->bytes == 0)
    return TRUE;

  gyre_hazards_command (self->hazards, route->to);
  gyre_hazards_use (self->hazards, route->to, route->to, GYRE_CHUNK_GOT, TRUE);
  return gyre_device_write (self->devices[route->to], self->buffers[route->to],
                            route->to_first, route->bytes,
                            (const guint8 *) sender->host + route->from_first, NULL, 0,
                            NULL, error);
}

static gboolean
wait_for_reads (GyreCollective  *self,
                GError         **error)
{
  Routes *routes = self->data;

  for (guint i = 0; i < self->n; i++)
    {
      cl_event *read = &routes->senders[i].read;

      if (*read != NULL &&
          !gyre_collective_wait_event (*read, "clEnqueueReadBuffer of a half",
                                       self->devices[i], error))
        return FALSE;
      gyre_collective_clear_event (read);
    }
  return TRUE;
}

static gboolean
write_pieces (GyreCollective  *self,
              GError         **error)
{
  if (!wait_for_reads (self, error))
    return FALSE;

  for (guint r = 0; r < self->n_routes; r++)
    {
      const GyreRoute *route = &self->routes[r];

      if (route->from == GYRE_NO_MEMBER ? !clear_place (self, route, error)
                                        : !write_piece (self, route, error))
        return FALSE;
    }
  return mark_fresh (self, error);
}

/* --- the class --- */

static gboolean
routes_begin (GyreCollective       *self,
              GyreCollectivePhase   phase,
              GError              **error)
{
  const Routes *routes = self->data;

  g_return_val_if_fail (phase == GYRE_PHASE_ROUTES, FALSE);

  return routes->through_host ? read_halves (self, error) : copy_pieces (self, error);
}

static gboolean
routes_finish (GyreCollective       *self,
               GyreCollectivePhase   phase,
               GError              **error)
{
  const Routes *routes = self->data;

  return !routes->through_host || write_pieces (self, error);
}

static void
routes_describe (GyreCollective      *self,
                 GyreCollectivePhase  phase,
                 GString             *text)
{
  const Routes *routes = self->data;

  for (guint r = 0; r < self->n_routes; r++)
    {
      const GyreRoute *route = &self->routes[r];
      const char *to = gyre_device_get_name (self->devices[route->to]);

      if (route->from == GYRE_NO_MEMBER)
        g_string_append_printf (text, "routes: member %u (%s) fills %" G_GSIZE_FORMAT
                                " bytes with zeros\n", route->to, to, route->bytes);
      else
        g_string_append_printf (text, "routes: member %u (%s) gets %" G_GSIZE_FORMAT
                                " bytes from member %u%s\n", route->to, to, route->bytes,
                                route->from,
                                routes->through_host ? ", through the host" : "");
    }
}

static void
routes_release (GyreCollective *self)
{
  Routes *routes = self->data;

  for (guint i = 0; routes != NULL && i < self->n; i++)
    {
      Sender *sender = &routes->senders[i];
      gboolean lost = gyre_device_get_lost (self->devices[i]) != NULL;

      if (!lost)
        gyre_collective_clear_event (&sender->read);
      if (!lost && sender->host != NULL)
        gyre_device_unmap (self->devices[i], sender->pinned, sender->host, NULL, 0, NULL,
                           NULL);
      if (sender->pinned != NULL)
        gyre_buffer_unref (sender->pinned);
    }
  if (routes != NULL)
    g_free (routes->senders);
  g_free (routes);
}

const GyreCollectiveClass gyre_collective_routes_class = {
  .name = "routes",
  .can = routes_can,
  .prepare = routes_prepare,
  .acquire = routes_acquire,
  .begin = routes_begin,
  .finish = routes_finish,
  .describe = routes_describe,
  .release = routes_release,
};
