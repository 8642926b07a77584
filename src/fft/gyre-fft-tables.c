/* SPDX-License-Identifier: Apache-2.0 */
#include "fft/gyre-fft-plain-private.h"

#include <math.h>

#include "device/gyre-transfer-private.h"

typedef struct
{
  GyreDevice   *device;
  GyreFftTable  table;
  gint64        n;
  GyreBuffer   *buffer;
} Entry;

gint64
gyre_fft_wide (gint64 n)
{
  gint64 wide = 1;

  while (wide < 2 * n - 1)
    wide *= 2;

  return wide;
}

static void
put (double *numbers,
     gint64  at,
     double  angle)
{
  numbers[2 * at] = cos (angle);
  numbers[2 * at + 1] = sin (angle);
}

/* j² modulo 2n: large angles would round. */
static double
chirp_angle (gint64 j,
             gint64 n)
{
  return G_PI * (double) (j * j % (2 * n)) / (double) n;
}

static void
fill_roots (double *numbers,
            gint64  n)
{
  for (gint64 j = 0; j < n; j++)
    put (numbers, j, -2 * G_PI * (double) j / (double) n);
}

static void
fill_chirp (double *numbers,
            gint64  n)
{
  for (gint64 j = 0; j < n; j++)
    put (numbers, j, -chirp_angle (j, n));
}

static void
fill_spectrum (double *numbers,
               gint64  n)
{
  gint64 wide = gyre_fft_wide (n);

  for (gint64 j = 0; j < n; j++)
    {
      put (numbers, j, chirp_angle (j, n));
      put (numbers, (wide - j) % wide, chirp_angle (j, n));
    }
  gyre_fft_host (numbers, wide, FALSE);
  for (gint64 i = 0; i < 2 * wide; i++)
    numbers[i] /= (double) wide;
}

static void (*const fill_funcs[]) (double *numbers, gint64 n) = {
  [GYRE_FFT_ROOTS] = fill_roots,
  [GYRE_FFT_CHIRP] = fill_chirp,
  [GYRE_FFT_SPECTRUM] = fill_spectrum,
};

/* Waits: the numbers are the caller's. */
static gboolean
write_numbers (GyreDevice    *device,
               GyreBuffer    *buffer,
               const float   *numbers,
               GError       **error)
{
  cl_event done = NULL;
  cl_int status;

  if (!gyre_device_write (device, buffer, 0, gyre_buffer_get_size (buffer), numbers, NULL,
                          0, &done, error)
      || !gyre_device_flush (device, error))
    return FALSE;

  status = clWaitForEvents (1, &done);
  clReleaseEvent (done);
  return gyre_cl_check (status, error, "writing a table to %s",
                        gyre_device_get_name (device));
}

static GyreBuffer *
make_table (GyreDevice    *device,
            GyreFftTable   table,
            gint64         n,
            GError       **error)
{
  gsize count = (gsize) (table == GYRE_FFT_SPECTRUM ? gyre_fft_wide (n) : n) * 2;
  g_autofree double *numbers = g_new0 (double, count);
  g_autofree float *rounded = g_new (float, count);
  g_autoptr (GyreBuffer) buffer = gyre_buffer_new (device, count * sizeof (float), error);

  if (buffer == NULL)
    return NULL;

  fill_funcs[table](numbers, n);
  for (gsize i = 0; i < count; i++)
    rounded[i] = (float) numbers[i];
  return write_numbers (device, buffer, rounded, error) ? g_steal_pointer (&buffer)
                                                        : NULL;
}

GyreBuffer *
gyre_fft_get_table (GyreDevice    *device,
                    GyreFftTable   table,
                    gint64         n,
                    GError       **error)
{
  static GArray *entries;
  Entry entry = { device, table, n, NULL };

  if (entries == NULL)
    entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *old = &g_array_index (entries, Entry, i);

      if (old->device == device && old->table == table && old->n == n)
        return old->buffer;
    }

  entry.buffer = make_table (device, table, n, error);
  if (entry.buffer != NULL)
    g_array_append_val (entries, entry);
  return entry.buffer;
}
