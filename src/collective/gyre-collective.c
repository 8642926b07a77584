/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include <string.h>

#include <gyre/gyre-error.h>

#include "base/gyre-env-private.h"
#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

static gboolean
check_buffers (const GyreCollectiveInfo  *info,
               gsize                      element_size,
               GError                   **error)
{
  for (guint i = 0; i < info->n; i++)
    if (gyre_buffer_get_size (info->buffers[i]) / element_size < info->length)
      {
        g_set_error (error, GYRE_ERROR, GYRE_ERROR_SHAPE,
                     "a collective of %" G_GSIZE_FORMAT " elements of %s: the buffer of "
                     "member %u has %" G_GSIZE_FORMAT " bytes", info->length,
                     gyre_dtype_name (info->dtype), i,
                     gyre_buffer_get_size (info->buffers[i]));
        return FALSE;
      }

  return TRUE;
}

/* Parts of the object. */

/* Contexts in the order in which they first come, members of one side by side. */
static void
make_ring (GyreCollective *self)
{
  g_autofree gboolean *taken = g_new0 (gboolean, self->n);
  guint at = 0;

  for (guint i = 0; i < self->n; i++)
    for (guint j = i; j < self->n && !taken[i]; j++)
      if (!taken[j] && gyre_devices_share_context (self->devices[i], self->devices[j]))
        {
          taken[j] = j != i;
          self->ring[at++] = j;
        }
  for (guint p = 0; p < self->n; p++)
    {
      guint member = self->ring[p];

      self->place[member] = p;
      self->next[member] = self->ring[(p + 1) % self->n];
      self->prev[member] = self->ring[(p + self->n - 1) % self->n];
    }
}

static gboolean
wants_hazards (void)
{
#ifndef NDEBUG
  return TRUE;
#else
  return gyre_env_is ("GYRE_DEBUG", "hazards");
#endif
}

static GyreCollective *
make_object (const GyreCollectiveInfo *info)
{
  GyreCollective *self = g_new0 (GyreCollective, 1);
  guint n = info->n;

  self->n = n;
  self->dtype = info->dtype;
  self->op = info->op;
  self->length = info->length;
  self->element_size = gyre_dtype_size (info->dtype);
  self->one_context = gyre_devices_share_one_context (info->devices, n);
  self->devices = g_new0 (GyreDevice *, n);
  self->buffers = g_new0 (GyreBuffer *, n);
  for (guint i = 0; i < n; i++)
    {
      self->devices[i] = g_object_ref (info->devices[i]);
      self->buffers[i] = gyre_buffer_ref (info->buffers[i]);
    }
  self->bounds = g_new0 (gsize, n + 1);
  self->next = g_new0 (guint, n);
  self->prev = g_new0 (guint, n);
  self->ring = g_new0 (guint, n);
  self->place = g_new0 (guint, n);
  self->chunks = g_new0 (GyreBuffer *, (gsize) n * n);
  self->kernels = g_new0 (GyreKernel *, n * GYRE_N_HOP_KINDS);
  self->last = g_new0 (cl_event, n);
  self->fresh = g_new0 (cl_event, n);
  self->wait = g_new0 (cl_event, n);
  self->n_routes = info->n_routes;
  self->routes = info->routes == NULL
                   ? NULL : g_memdup2 (info->routes, sizeof (GyreRoute) * info->n_routes);
  self->hazards = wants_hazards () ? gyre_hazards_new (n) : NULL;
  make_ring (self);
  return self;
}

gboolean
gyre_collective_make_chunks (GyreCollective  *self,
                             GError         **error)
{
  for (guint i = 0; i < self->n; i++)
    for (guint c = 0; c < self->n; c++)
      {
        gsize bytes = gyre_collective_chunk_bytes (self, c);
        GyreBuffer **chunk = &self->chunks[i * self->n + c];

        if (bytes == 0)
          continue;
        *chunk = gyre_buffer_new_sub (self->buffers[i],
                                      self->bounds[c] * self->element_size, bytes,
                                      error);
        if (*chunk == NULL)
          {
            g_prefix_error (error, "chunk %u of member %u of a collective: ", c, i);
            return FALSE;
          }
      }
  return TRUE;
}

/* Life. */

GyreCollective *
gyre_collective_new (const GyreCollectiveInfo  *info,
                     GError                   **error)
{
  g_autoptr (GyreCollective) self = NULL;

  g_return_val_if_fail (info != NULL && info->n > 0, NULL);
  g_return_val_if_fail (gyre_dtype_size (info->dtype) == 4, NULL);
  g_return_val_if_fail (info->op <= GYRE_REDUCE_MIN, NULL);
  g_return_val_if_fail (info->routes == NULL || (info->n > 1 && info->bounds != NULL),
                        NULL);

  if (!check_buffers (info, gyre_dtype_size (info->dtype), error) ||
      (info->bounds != NULL && !gyre_collective_check_bounds (info, error)))
    return NULL;

  self = make_object (info);
  if (info->bounds != NULL)
    memcpy (self->bounds, info->bounds, sizeof *self->bounds * (info->n + 1));
  else
    gyre_collective_choose_bounds (self->devices, self->n, self->length,
                                   self->element_size, self->bounds);
  if (!gyre_collective_set_class (self, info->algorithm, error) ||
      (self->n > 1 && !self->klass->prepare (self, error)))
    return NULL;

  return g_steal_pointer (&self);
}

static void
free_idle (cl_int   status,
           gpointer data)
{
  GyreCollective *self = data;

  if (self->klass != NULL && self->klass->release != NULL)
    self->klass->release (self);
  for (guint i = 0; i < self->n; i++)
    {
      gboolean lost = gyre_device_get_lost (self->devices[i]) != NULL;

      /* A dead device's events are leaked. */
      if (!lost)
        {
          gyre_collective_clear_event (&self->last[i]);
          gyre_collective_clear_event (&self->fresh[i]);
        }
      for (guint c = 0; c < self->n; c++)
        gyre_buffer_unref (gyre_collective_chunk (self, i, c));
      gyre_buffer_unref (self->buffers[i]);
    }
  for (guint i = 0; i < self->n; i++)
    g_object_unref (self->devices[i]);
  gyre_hazards_free (self->hazards);
  g_free (self->devices);
  g_free (self->buffers);
  g_free (self->bounds);
  g_free (self->routes);
  g_free (self->next);
  g_free (self->prev);
  g_free (self->ring);
  g_free (self->place);
  g_free (self->chunks);
  g_free (self->kernels);
  g_free (self->last);
  g_free (self->fresh);
  g_free (self->wait);
  g_free (self);
}

/* A queue may still read memory of the algorithm's own that is another context's: it goes
 * when all queues have passed. */
static void
free_on_executor (gpointer data)
{
  GyreCollective *self = data;
  gboolean runs = self->klass != NULL && self->n > 1;

  for (guint i = 0; runs && i < self->n; i++)
    {
      gyre_collective_clear_event (&self->fresh[i]);
      if (gyre_device_get_lost (self->devices[i]) == NULL)
        gyre_device_marker (self->devices[i], NULL, 0, &self->fresh[i], NULL);
    }
  memcpy (self->wait, self->fresh, sizeof *self->wait * self->n);
  memset (self->fresh, 0, sizeof *self->fresh * self->n);
  gyre_executor_add_pending (self->wait, self->n, free_idle, self);
}

void
gyre_collective_free (GyreCollective *self)
{
  if (self != NULL)
    gyre_executor_post (free_on_executor, self);
}

/* Running. */

static void
note_own_uses (GyreCollective *self,
               guint           member,
               guint           first,
               guint           last,
               gboolean        write)
{
  gyre_hazards_command (self->hazards, member);
  for (guint c = first; c <= last; c++)
    gyre_hazards_use (self->hazards, member, member, c, write);
}

gboolean
gyre_collective_acquire (GyreCollective  *self,
                         guint            member,
                         GError         **error)
{
  g_return_val_if_fail (self != NULL && member < self->n, FALSE);

  if (self->n == 1)
    return TRUE;
  if (self->klass->acquire != NULL && !self->klass->acquire (self, member, error))
    return FALSE;

  note_own_uses (self, member, 0,
                 self->routes != NULL ? GYRE_CHUNK_SENT : self->n - 1, TRUE);
  return TRUE;
}

gboolean
gyre_collective_begin (GyreCollective       *self,
                       GyreCollectivePhase   phase,
                       GError              **error)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (gyre_executor_is_current (), FALSE);

  if (self->n == 1)
    return TRUE;

  /* What the caller has written, or acquired for that. */
  for (guint i = 0; i < self->n; i++)
    if (phase == GYRE_PHASE_ROUTES)
      note_own_uses (self, i, GYRE_CHUNK_SENT, GYRE_CHUNK_SENT, TRUE);
    else if (gyre_phase_reduces (phase))
      note_own_uses (self, i, 0, self->n - 1, TRUE);
    else
      note_own_uses (self, i, i, i, TRUE);
  return self->klass->begin (self, phase, error);
}

gboolean
gyre_collective_finish (GyreCollective       *self,
                        GyreCollectivePhase   phase,
                        GError              **error)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (gyre_executor_is_current (), FALSE);

  if (self->n == 1)
    return TRUE;
  if (!self->klass->finish (self, phase, error))
    return FALSE;

  for (guint i = 0; i < self->n; i++)
    if (phase == GYRE_PHASE_ROUTES)
      note_own_uses (self, i, GYRE_CHUNK_GOT, GYRE_CHUNK_GOT, FALSE);
    else if (gyre_phase_gathers (phase))
      note_own_uses (self, i, 0, self->n - 1, FALSE);
    else
      note_own_uses (self, i, i, i, FALSE);
  return TRUE;
}

/* Saying. */

const char *
gyre_collective_phase_name (GyreCollectivePhase phase)
{
  static const char *const names[] = { "reduce-scatter", "all-gather", "all-reduce",
                                       "routes" };

  return names[phase];
}

const char *
gyre_half_name (gboolean reduces)
{
  return gyre_collective_phase_name (reduces ? GYRE_PHASE_REDUCE_SCATTER
                                             : GYRE_PHASE_ALL_GATHER);
}

void
gyre_collective_describe_hop (GyreCollective *self,
                              guint           member,
                              const char     *half,
                              guint           step,
                              const char     *how,
                              guint           chunk,
                              guint           from,
                              GString        *text)
{
  g_string_append_printf (text, "%s %s hop %u: member %u (%s) %s chunk %u, %"
                          G_GSIZE_FORMAT " bytes", self->klass->name, half, step, member,
                          gyre_device_get_name (self->devices[member]), how, chunk,
                          gyre_collective_chunk_bytes (self, chunk));
  if (from == GYRE_ALL_MEMBERS)
    g_string_append (text, ", of all members\n");
  else
    g_string_append_printf (text, ", from member %u\n", from);
}

char *
gyre_collective_describe (GyreCollective      *self,
                          GyreCollectivePhase  phase)
{
  GString *text = g_string_new (NULL);

  if (self->n > 1)
    self->klass->describe (self, phase, text);
  return g_string_free (text, FALSE);
}

const char *
gyre_collective_get_algorithm (GyreCollective *self)
{
  return self->klass->name;
}

const gsize *
gyre_collective_get_bounds (GyreCollective *self)
{
  return self->bounds;
}
