/* SPDX-License-Identifier: Apache-2.0 */
#include "fft/gyre-fft-provider-private.h"

#include <gyre/gyre-error.h>

#include "device/gyre-transfer-private.h"

static const GyreFftProvider *const providers[] = {
  &gyre_fft_clfft,
  &gyre_fft_plain,
};

/* What is kept of a device while the process lives.  The executor thread alone is here;
 * its queue is in order, so one pair of scratch buffers serves all transforms. */
typedef struct
{
  GPtrArray  *plans;        /* GyreFftPlan: few, so they are looked through */
  GyreBuffer *scratch[2];   /* grown, never given back */
} DeviceRecord;

static DeviceRecord *
get_record (GyreDevice *device)
{
  static GHashTable *records;
  DeviceRecord *record;

  if (records == NULL)
    records = g_hash_table_new (NULL, NULL);

  record = g_hash_table_lookup (records, device);
  if (record == NULL)
    {
      record = g_new0 (DeviceRecord, 1);
      record->plans = g_ptr_array_new ();
      g_hash_table_insert (records, g_object_ref (device), record);
    }

  return record;
}

char *
gyre_fft_kind_to_string (const GyreFftKind *kind)
{
  return g_strdup_printf ("%s transform of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                          " x %" G_GINT64_FORMAT, kind->backward ? "backward" : "forward",
                          kind->batch, kind->rows, kind->n);
}

/* --- the choice --- */

static gboolean
check_choice (GError **error)
{
  const char *first = g_getenv ("GYRE_FFT");

  if (first == NULL || *first == '\0')
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (providers); i++)
    if (g_str_equal (providers[i]->name, first))
      return TRUE;

  g_set_error (error, GYRE_ERROR, GYRE_ERROR_INVALID, "GYRE_FFT=%s: it is clfft or plain",
               first);
  return FALSE;
}

/* $GYRE_FFT names a provider that is asked first. */
static const GyreFftProvider *
find_provider (GyreDevice        *device,
               const GyreFftKind *kind)
{
  const char *first = g_getenv ("GYRE_FFT");

  for (gsize i = 0; first != NULL && i < G_N_ELEMENTS (providers); i++)
    if (g_str_equal (providers[i]->name, first) && providers[i]->serves (device, kind))
      return providers[i];
  for (gsize i = 0; i < G_N_ELEMENTS (providers); i++)
    if (providers[i]->suits (device, kind) && providers[i]->serves (device, kind))
      return providers[i];

  return &gyre_fft_plain;   /* serves all */
}

static gboolean
same_kind (const GyreFftKind *a,
           const GyreFftKind *b)
{
  return a->backward == b->backward && a->rows == b->rows && a->n == b->n
         && a->batch == b->batch;
}

static GyreFftPlan *
get_plan (GyreDevice             *device,
          const GyreFftKind      *kind,
          const GyreFftProvider  *provider,
          GError                **error)
{
  DeviceRecord *record = get_record (device);
  GyreFftPlan *plan;

  for (guint i = 0; i < record->plans->len; i++)
    {
      plan = g_ptr_array_index (record->plans, i);
      if (plan->provider == provider && same_kind (&plan->kind, kind))
        return plan;
    }

  plan = provider->plan (device, kind, error);
  if (plan == NULL)
    return NULL;

  plan->kind = *kind;
  plan->provider = provider;
  plan->device = device;
  g_ptr_array_add (record->plans, plan);
  return plan;
}

static gboolean
grow_scratch (GyreDevice         *device,
              const GyreFftPlan  *plan,
              GError            **error)
{
  DeviceRecord *record = get_record (device);

  for (int i = 0; i < 2; i++)
    {
      GyreBuffer *larger;

      if (plan->scratch[i] == 0
          || (record->scratch[i] != NULL
              && gyre_buffer_get_size (record->scratch[i]) >= plan->scratch[i]))
        continue;
      larger = gyre_buffer_new (device, plan->scratch[i], error);
      if (larger == NULL)
        return FALSE;
      g_clear_pointer (&record->scratch[i], gyre_buffer_unref);
      record->scratch[i] = larger;
    }

  return TRUE;
}

gboolean
gyre_fft_prepare (GyreDevice  *device,
                  GyreFft     *fft,
                  GError     **error)
{
  const GyreFftProvider *provider;

  fft->plan = NULL;
  if (!check_choice (error))
    return FALSE;
  if (fft->kind.batch == 0)
    return TRUE;

  provider = find_provider (device, &fft->kind);
  fft->plan = get_plan (device, &fft->kind, provider, error);
  if (fft->plan != NULL && grow_scratch (device, fft->plan, error))
    return TRUE;

  g_prefix_error (error, "a transform on %s: ", gyre_device_get_name (device));
  return FALSE;
}

gboolean
gyre_fft_enqueue (GyreDevice     *device,
                  const GyreFft  *fft,
                  cl_event       *event,
                  GError        **error)
{
  if (fft->kind.batch == 0)
    return event == NULL || gyre_device_marker (device, NULL, 0, event, error);

  g_return_val_if_fail (fft->plan != NULL, FALSE);

  return fft->plan->provider->enqueue (fft->plan, fft->from, fft->to,
                                       get_record (device)->scratch, event, error);
}

const char *
gyre_fft_provider (const GyreFft *fft)
{
  return fft->plan != NULL ? fft->plan->provider->name : "nobody";
}

guint
gyre_fft_n_plans (GyreDevice *device)
{
  return get_record (device)->plans->len;
}
