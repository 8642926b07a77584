/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

/* Pieces of the members' first halves go to places in their second halves.  Within a
 * context the receiver's queue copies from the sender's buffer.  Between two, and where
 * the host's ways are forced, the sender's queue reads the piece to pinned memory of the
 * host, which waits for that, and the receiver's queue writes it from there. */

typedef struct
{
  GyreBuffer *pinned;   /* of the sender's context, mapped for good; NULL: not needed */
  gpointer    host;
  cl_event    read;     /* all that goes through the host is there */
} Sender;

typedef struct
{
  gboolean *hosted;     /* [n_routes] whether it goes through the host */
  gboolean  any_hosted;
  Sender   *senders;    /* [n] */
} Routes;

static gboolean
routes_can (const GyreCollective  *self,
            const char           **why_not)
{
  return self->routes != NULL;
}

/* --- setting up --- */

static gboolean
goes_through_host (const GyreCollective *self,
                   const GyreRoute      *route)
{
  const char *forced = g_getenv ("GYRE_ALL_REDUCE");

  if (route->from == GYRE_NO_MEMBER || route->from == route->to)
    return FALSE;
  return g_strcmp0 (forced, "host") == 0 || g_strcmp0 (forced, "staged") == 0 ||
         !gyre_devices_share_context (self->devices[route->from],
                                      self->devices[route->to]);
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

      if (routes->hosted[r] && routes->senders[from].pinned == NULL)
        make->good = make_sender (self, from, make->error);
    }
}

/* What is empty goes nowhere. */
static void
drop_empty_routes (GyreCollective *self)
{
  guint n = 0;

  for (guint r = 0; r < self->n_routes; r++)
    if (self->routes[r].bytes > 0)
      self->routes[n++] = self->routes[r];
  self->n_routes = n;
}

static gboolean
routes_prepare (GyreCollective  *self,
                GError         **error)
{
  Routes *routes = g_new0 (Routes, 1);
  Make make = { self, error, FALSE };

  drop_empty_routes (self);
  routes->senders = g_new0 (Sender, self->n);
  routes->hosted = g_new0 (gboolean, self->n_routes);
  self->data = routes;
  for (guint r = 0; r < self->n_routes; r++)
    if (goes_through_host (self, &self->routes[r]))
      routes->hosted[r] = routes->any_hosted = TRUE;
  if (!routes->any_hosted)
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

  for (guint r = 0; good && r < self->n_routes; r++)
    {
      guint to = self->routes[r].to;

      if (self->routes[r].from == member && to != member && !routes->hosted[r])
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
  const Routes *routes = self->data;

  for (guint r = 0; r < self->n_routes; r++)
    {
      const GyreRoute *route = &self->routes[r];

      if (!routes->hosted[r] &&
          (route->from == GYRE_NO_MEMBER ? !clear_place (self, route, error)
                                         : !copy_piece (self, route, error)))
        return FALSE;
    }
  return TRUE;
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
read_pieces (GyreCollective  *self,
             GError         **error)
{
  Routes *routes = self->data;

  for (guint r = 0; r < self->n_routes; r++)
    {
      const GyreRoute *route = &self->routes[r];
      Sender *sender;

      if (!routes->hosted[r])
        continue;
      sender = &routes->senders[route->from];
      gyre_collective_clear_event (&sender->read);
      if (!gyre_device_read (self->devices[route->from], self->buffers[route->from],
                             route->from_first, route->bytes,
                             (guint8 *) sender->host + route->from_first, NULL, 0,
                             &sender->read, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_piece (GyreCollective   *self,
             const GyreRoute  *route,
             GError          **error)
{
  const Sender *sender = &((Routes *) self->data)->senders[route->from];

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
          !gyre_collective_wait_event (*read, "clEnqueueReadBuffer of a piece",
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
  const Routes *routes = self->data;

  if (!wait_for_reads (self, error))
    return FALSE;

  for (guint r = 0; r < self->n_routes; r++)
    if (routes->hosted[r] && !write_piece (self, &self->routes[r], error))
      return FALSE;

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

  if ((routes->any_hosted && !wait_for_writes (self, error)) ||
      !gyre_collective_mark_all (self, error) || !read_pieces (self, error) ||
      !gyre_collective_flush_all (self, error) || !copy_pieces (self, error))
    return FALSE;

  return routes->any_hosted ? gyre_collective_flush_all (self, error)
                            : mark_fresh (self, error);
}

static gboolean
routes_finish (GyreCollective       *self,
               GyreCollectivePhase   phase,
               GError              **error)
{
  const Routes *routes = self->data;

  return !routes->any_hosted || write_pieces (self, error);
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
                                routes->hosted[r] ? ", through the host" : "");
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
    {
      g_free (routes->senders);
      g_free (routes->hosted);
    }
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
