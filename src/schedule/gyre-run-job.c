/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-run-private.h"

#include <gyre/gyre-error.h>

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

typedef struct
{
  GyreRun *run;
  guint    device;
} DeviceDone;

static gboolean
check_lost (GyreRun  *self,
            GError  **error)
{
  for (guint d = 0; d < self->n_devices; d++)
    {
      const GError *lost =
          gyre_device_get_lost (gyre_mesh_get_device (self->compiled->mesh, d));

      if (lost == NULL)
        continue;
      *error = g_error_copy (lost);
      return FALSE;
    }

  return TRUE;
}

static gboolean
enqueue_copies (GyreRun  *self,
                GError  **error)
{
  for (guint i = 0; i < self->copies->len; i++)
    {
      const GyreRunCopy *copy = &g_array_index (self->copies, GyreRunCopy, i);

      if (!gyre_device_copy (copy->device, copy->from->buffer, 0, copy->to->buffer, 0,
                             copy->size, NULL, 0, NULL, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
enqueue_uploads (GyreRun  *self,
                 GError  **error)
{
  for (guint i = 0; i < self->uploads->len; i++)
    {
      const GyreRunUpload *upload = &g_array_index (self->uploads, GyreRunUpload, i);
      gsize size;
      gconstpointer data = g_bytes_get_data (upload->bytes, &size);

      if (!gyre_device_write (upload->device, upload->store->buffer, 0, size, data, NULL,
                              0, NULL, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
enqueue_smalls (GyreRun  *self,
                GError  **error)
{
  for (guint i = 0; i < self->smalls->len; i++)
    {
      const GyreRunSmall *small = &g_array_index (self->smalls, GyreRunSmall, i);

      if (!gyre_device_read (small->device, small->buffer, 0, small->size,
                             small->array->small, NULL, 0, NULL, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
enqueue (GyreRun  *self,
         GError  **error)
{
  return check_lost (self, error)
         && (!self->acquires || gyre_commands_acquire (self->compiled->schedule, error))
         && enqueue_copies (self, error)
         && enqueue_uploads (self, error)
         && gyre_commands_enqueue (self->compiled->schedule,
                                   (GyreBuffer *const **) self->slots, error)
         && enqueue_smalls (self, error);
}

/* Who waits for the ticket finds the run's buffers back in their pools. */
static void
finish_device (GyreRun *self,
               GError  *error)
{
  g_autoptr (GyreTicket) ticket = gyre_ticket_ref (self->ticket);

  if (error != NULL)
    g_prefix_error (&error, "step %" G_GUINT64_FORMAT ": ", self->number);
  if (--self->n_left == 0)
    gyre_run_free (self);

  gyre_ticket_done (ticket, error);
}

static void
device_done (cl_int   status,
             gpointer data)
{
  DeviceDone *done = data;
  GyreDevice *device = gyre_mesh_get_device (done->run->compiled->mesh, done->device);
  GError *error = NULL;

  gyre_device_add_busy (device, done->run->start);
  gyre_cl_check (status, &error, "a command on %s failed", gyre_device_get_name (device));
  finish_device (done->run, error);
  g_free (done);
}

/* A marker is done when all before it is; with an error the run is over, but what is
 * under way still reads the host's memory. */
static void
watch_device (GyreRun *self,
              guint    d)
{
  DeviceDone done = { self, d };
  cl_event event = NULL;
  GError *error = NULL;

  if (gyre_device_marker (gyre_mesh_get_device (self->compiled->mesh, d), NULL, 0, &event,
                          &error))
    gyre_executor_add_pending (&event, 1, device_done, g_memdup2 (&done, sizeof done));
  else
    finish_device (self, error);
}

void
gyre_run_job (gpointer data)
{
  GyreRun *self = data;
  guint n = self->n_devices;
  GError *error = NULL;

  self->start = g_get_monotonic_time ();
  if (!enqueue (self, &error))
    {
      g_prefix_error (&error, "step %" G_GUINT64_FORMAT ": ", self->number);
      gyre_ticket_fail (self->ticket, error);
    }

  g_ptr_array_set_size (self->stores, 0);
  for (guint d = 0; d < n; d++)
    watch_device (self, d);
}

static void
clear_lists (GyreRun *self)
{
  for (guint i = 0; i < self->copies->len; i++)
    {
      gyre_store_unref (g_array_index (self->copies, GyreRunCopy, i).from);
      gyre_store_unref (g_array_index (self->copies, GyreRunCopy, i).to);
    }
  for (guint i = 0; i < self->uploads->len; i++)
    {
      gyre_store_unref (g_array_index (self->uploads, GyreRunUpload, i).store);
      g_bytes_unref (g_array_index (self->uploads, GyreRunUpload, i).bytes);
    }
  g_array_unref (self->copies);
  g_array_unref (self->uploads);
  g_array_unref (self->smalls);
}

void
gyre_run_free (GyreRun *self)
{
  if (self == NULL)
    return;

  clear_lists (self);
  for (guint d = 0; d < self->n_devices; d++)
    g_free (self->slots[d]);
  g_free (self->slots);
  g_ptr_array_unref (self->stores);
  g_ptr_array_unref (self->arrays);
  gyre_ticket_unref (self->ticket);
  gyre_compiled_unref (self->compiled);
  g_free (self);
}
