/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-collective-object-private.h"

#include <stdlib.h>
#include <string.h>

#include <gyre/gyre-error.h>

#include "device/gyre-executor-private.h"
#include "device/gyre-transfer-private.h"

#define MOST_ROUNDS 101
#define LEAST_ROUNDS 5
#define WARM_ROUNDS 3
#define TIME_LIMIT (G_TIME_SPAN_SECOND / 2)
#define LAST_LIMIT (10 * G_TIME_SPAN_SECOND)   /* for fewer rounds than the least */

typedef struct
{
  GPtrArray      *devices;
  GyreBuffer    **buffers;
  GyreCollective *collective;
  gsize           length;
  double          times[MOST_ROUNDS];   /* ms */
  guint           n_times;
  GError        **error;
  gboolean        good;
} Bench;

static GyreDevice *
device_at (const Bench *self,
           guint        i)
{
  return g_ptr_array_index (self->devices, i);
}

static gboolean
wait_for_all (Bench *self)
{
  for (guint i = 0; i < self->devices->len; i++)
    if (!gyre_device_flush (device_at (self, i), self->error))
      return FALSE;
  for (guint i = 0; i < self->devices->len; i++)
    {
      cl_event event = NULL;
      gboolean good = gyre_device_marker (device_at (self, i), NULL, 0, &event,
                                          self->error) &&
                      gyre_device_flush (device_at (self, i), self->error) &&
                      gyre_collective_wait_event (event, "a collective",
                                                  device_at (self, i), self->error);

      gyre_collective_clear_event (&event);
      if (!good)
        return FALSE;
    }
  return TRUE;
}

static gboolean
run_once (Bench *self)
{
  for (guint i = 0; i < self->devices->len; i++)
    if (!gyre_collective_acquire (self->collective, i, self->error))
      return FALSE;
  return gyre_collective_begin (self->collective, GYRE_PHASE_ALL_REDUCE, self->error) &&
         gyre_collective_finish (self->collective, GYRE_PHASE_ALL_REDUCE, self->error) &&
         wait_for_all (self);
}

static gboolean
fill_all (Bench *self)
{
  for (guint i = 0; i < self->devices->len; i++)
    if (!gyre_device_fill (device_at (self, i), self->buffers[i], 0, self->length * 4, 0,
                           NULL, 0, NULL, self->error))
      return FALSE;
  return wait_for_all (self);
}

static void
run_rounds (gpointer data)
{
  Bench *self = data;
  gint64 end = g_get_monotonic_time () + TIME_LIMIT;
  gint64 last = end + LAST_LIMIT;

  self->good = fill_all (self);
  for (guint i = 0; self->good && i < WARM_ROUNDS; i++)
    if (i == 0 || g_get_monotonic_time () < last)
      self->good = run_once (self);
  for (self->n_times = 0; self->good && self->n_times < MOST_ROUNDS; self->n_times++)
    {
      gint64 start = g_get_monotonic_time ();

      if ((start > end && self->n_times >= LEAST_ROUNDS) ||
          (start > last && self->n_times > 0))
        break;
      self->good = run_once (self);
      self->times[self->n_times] = (g_get_monotonic_time () - start) / 1e3;
    }
}

static int
compare_times (gconstpointer a,
               gconstpointer b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The rate of bytes that cross each member's border, whatever the algorithm does: that of
 * a perfect ring of n, 2 (n - 1) / n of the bucket. */
static void
append_line (Bench   *self,
             GString *report)
{
  guint n = self->devices->len;
  double bytes = self->length * 4.0;
  double median, rate;

  qsort (self->times, self->n_times, sizeof *self->times, compare_times);
  median = self->times[self->n_times / 2];
  rate = median > 0 ? 2.0 * (n - 1) / n * bytes / (median * 1e6) : 0;
  g_string_append_printf (report, "%-7s %u devices, %.3f MB each: median of %u %.3f ms, "
                          "least %.3f ms, %.2f GB/s\n",
                          gyre_collective_get_algorithm (self->collective), n,
                          bytes / 1e6, self->n_times, median, self->times[0], rate);
}

static gboolean
bench_one (Bench       *self,
           const char  *algorithm,
           GString     *report,
           GError     **error)
{
  GyreCollectiveInfo info = {
    .n = self->devices->len,
    .devices = (GyreDevice **) self->devices->pdata,
    .buffers = self->buffers,
    .dtype = GYRE_F32,
    .op = GYRE_REDUCE_SUM,
    .length = self->length,
    .algorithm = algorithm,
  };

  self->error = error;
  self->collective = gyre_collective_new (&info, error);
  if (self->collective == NULL)
    return FALSE;

  gyre_executor_call (run_rounds, self);
  if (self->good)
    append_line (self, report);
  gyre_collective_free (self->collective);
  return self->good;
}

/* What the host can still give, or what the devices say that there is. */
static guint64
find_memory (Bench *self)
{
  g_autofree char *text = NULL;
  const char *line = NULL;
  guint64 memory = G_MAXUINT64;

  if (g_file_get_contents ("/proc/meminfo", &text, NULL, NULL))
    line = strstr (text, "MemAvailable:");
  if (line != NULL)
    memory = g_ascii_strtoull (line + strlen ("MemAvailable:"), NULL, 10) * 1024;
  for (guint i = 0; i < self->devices->len; i++)
    if (gyre_device_get_unified_memory (device_at (self, i)))
      memory = MIN (memory, gyre_device_get_memory (device_at (self, i)));

  return memory;
}

/* Devices without memory of their own share the host's, and the staged ring keeps two
 * slots and a landing place for each chunk: three buckets more at most.  A system that
 * runs out of memory ends programs instead of refusing it. */
static gboolean
check_memory (Bench       *self,
              const char  *algorithm,
              GError     **error)
{
  guint64 memory = find_memory (self), bytes = self->length * 4, buckets;
  guint n = 0;

  for (guint i = 0; i < self->devices->len; i++)
    n += gyre_device_get_unified_memory (device_at (self, i));
  buckets = n + (algorithm == NULL || strcmp (algorithm, "staged") == 0 ? 3 : 0);
  if (n == 0 || bytes <= memory / buckets)
    return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_MEMORY,
               "%" G_GUINT64_FORMAT " bytes on each of %u devices that share the host's "
               "memory need %" G_GUINT64_FORMAT " bytes of it, and %" G_GUINT64_FORMAT
               " are there; take at most %" G_GUINT64_FORMAT, bytes, n, bytes * buckets,
               memory, memory / buckets / 4 * 4);
  return FALSE;
}

static gboolean
make_buffers (Bench   *self,
              GError **error)
{
  for (guint i = 0; i < self->devices->len; i++)
    {
      self->buffers[i] = gyre_buffer_new (device_at (self, i), self->length * 4, error);
      if (self->buffers[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

gboolean
gyre_collective_bench (GPtrArray   *devices,
                       gsize        bytes,
                       const char  *algorithm,
                       GString     *report,
                       GError     **error)
{
  static const char *const names[] = { "ring", "direct", "host", "staged" };
  g_autofree Bench *self = NULL;
  gboolean good;

  g_return_val_if_fail (devices != NULL && devices->len > 0, FALSE);

  self = g_new0 (Bench, 1);
  self->devices = devices;
  self->length = bytes / 4;
  self->buffers = g_new0 (GyreBuffer *, devices->len);
  good = check_memory (self, algorithm, error) && make_buffers (self, error);
  if (good && algorithm != NULL)
    good = bench_one (self, algorithm, report, error);
  for (guint i = 0; good && algorithm == NULL && i < G_N_ELEMENTS (names); i++)
    if (gyre_collective_can ((GyreDevice **) devices->pdata, devices->len, names[i]))
      good = bench_one (self, names[i], report, error);

  for (guint i = 0; i < devices->len; i++)
    gyre_buffer_unref (self->buffers[i]);
  g_free (self->buffers);
  return good;
}
