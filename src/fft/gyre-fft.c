/* SPDX-License-Identifier: Apache-2.0 */
#include "fft/gyre-fft-private.h"

#include <clFFT.h>

#include <gyre/gyre-error.h>

#include "device/gyre-transfer-private.h"

typedef struct
{
  GyreFftKind        kind;
  clfftPlanHandle    handle;
  gboolean           is_made;
  GyreBuffer        *scratch;   /* NULL where the plan needs none */
} Plan;

struct _GyreFftPlans
{
  GyreDevice *device;
  GPtrArray  *plans;            /* Plan: few, so they are looked through */
};

/* clFFT is set up once and never torn down: its teardown at exit races with drivers. */
static gboolean
set_up (GError **error)
{
  static gsize once;
  static clfftStatus status;

  if (g_once_init_enter (&once))
    {
      clfftSetupData data;

      status = clfftInitSetupData (&data);
      if (status == CLFFT_SUCCESS)
        status = clfftSetup (&data);
      g_once_init_leave (&once, 1);
    }
  return gyre_cl_check ((cl_int) status, error, "setting up clFFT");
}

static gboolean
check (clfftStatus        status,
       const Plan        *plan,
       GyreDevice        *device,
       const char        *call,
       GError           **error)
{
  const GyreFftKind *kind = &plan->kind;

  if (status == CLFFT_SUCCESS)
    return TRUE;
  g_set_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE,
               "%s of a %s transform of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %"
               G_GINT64_FORMAT " on %s failed with status %d", call,
               kind->backward ? "backward" : "forward", kind->batch, kind->rows, kind->n,
               gyre_device_get_name (device), (int) status);
  return FALSE;
}

static void
plan_free (gpointer data)
{
  Plan *plan = data;

  if (plan->is_made)
    clfftDestroyPlan (&plan->handle);
  g_clear_pointer (&plan->scratch, gyre_buffer_unref);
  g_free (plan);
}

GyreFftPlans *
gyre_fft_plans_new (GyreDevice *device)
{
  GyreFftPlans *self = g_new0 (GyreFftPlans, 1);

  self->device = g_object_ref (device);
  self->plans = g_ptr_array_new_with_free_func (plan_free);
  return self;
}

void
gyre_fft_plans_free (GyreFftPlans *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->plans);
  g_object_unref (self->device);
  g_free (self);
}

guint
gyre_fft_plans_count (const GyreFftPlans *self)
{
  return self->plans->len;
}

static gboolean
has_known_factors (gint64 n)
{
  static const gint64 factors[] = { 2, 3, 5, 7, 11, 13 };

  for (gsize i = 0; i < G_N_ELEMENTS (factors); i++)
    while (n > 1 && n % factors[i] == 0)
      n /= factors[i];
  return n == 1;
}

gboolean
gyre_fft_can (GyreDevice        *device,
              const GyreFftKind *kind)
{
  return gyre_device_get_has_compiler (device) && has_known_factors (kind->n) &&
         has_known_factors (kind->rows);
}

/* --- making a plan --- */

/* Lengths and strides, the dimension that varies fastest first. */
static gboolean
set_layout (Plan *plan, GyreDevice *device, GError **error)
{
  const GyreFftKind *kind = &plan->kind;
  gsize half = (gsize) kind->n / 2 + 1;
  gsize real[2] = { 1, (gsize) kind->n };
  gsize complex[2] = { 1, half };
  gsize real_size = (gsize) (kind->rows * kind->n);
  gsize complex_size = (gsize) kind->rows * half;
  clfftDim dim = kind->rows > 1 ? CLFFT_2D : CLFFT_1D;

  return check (clfftSetPlanBatchSize (plan->handle, (gsize) kind->batch), plan, device,
                "clfftSetPlanBatchSize", error) &&
         check (clfftSetPlanPrecision (plan->handle, CLFFT_SINGLE), plan, device,
                "clfftSetPlanPrecision", error) &&
         check (clfftSetResultLocation (plan->handle, CLFFT_OUTOFPLACE), plan, device,
                "clfftSetResultLocation", error) &&
         check (
             clfftSetLayout (plan->handle,
                             kind->backward ? CLFFT_HERMITIAN_INTERLEAVED : CLFFT_REAL,
                             kind->backward ? CLFFT_REAL : CLFFT_HERMITIAN_INTERLEAVED),
             plan, device, "clfftSetLayout", error) &&
         check (clfftSetPlanInStride (plan->handle, dim, kind->backward ? complex : real),
                plan, device, "clfftSetPlanInStride", error) &&
         check (
             clfftSetPlanOutStride (plan->handle, dim, kind->backward ? real : complex),
             plan, device, "clfftSetPlanOutStride", error) &&
         check (clfftSetPlanDistance (plan->handle,
                                      kind->backward ? complex_size : real_size,
                                      kind->backward ? real_size : complex_size),
                plan, device, "clfftSetPlanDistance", error);
}

static gboolean
make_plan (Plan *plan, GyreDevice *device, GError **error)
{
  const GyreFftKind *kind = &plan->kind;
  cl_command_queue queue = gyre_device_get_queue (device);
  gsize lengths[2] = { (gsize) kind->n, (gsize) kind->rows };
  gsize scratch = 0;

  if (!check (clfftCreateDefaultPlan (&plan->handle, gyre_device_get_context (device),
                                      kind->rows > 1 ? CLFFT_2D : CLFFT_1D, lengths),
              plan, device, "clfftCreateDefaultPlan", error))
    return FALSE;
  plan->is_made = TRUE;
  if (!set_layout (plan, device, error) ||
      !check (clfftBakePlan (plan->handle, 1, &queue, NULL, NULL), plan, device,
              "clfftBakePlan", error) ||
      !check (clfftGetTmpBufSize (plan->handle, &scratch), plan, device,
              "clfftGetTmpBufSize", error))
    return FALSE;
  if (scratch == 0)
    return TRUE;
  plan->scratch = gyre_buffer_new (device, scratch, error);
  return plan->scratch != NULL;
}

static gboolean
same_kind (const GyreFftKind *a, const GyreFftKind *b)
{
  return a->backward == b->backward && a->rows == b->rows && a->n == b->n &&
         a->batch == b->batch;
}

static Plan *
get_plan (GyreFftPlans *self, const GyreFftKind *kind, GError **error)
{
  Plan *plan;

  for (guint i = 0; i < self->plans->len; i++)
    {
      plan = g_ptr_array_index (self->plans, i);
      if (same_kind (&plan->kind, kind))
        return plan;
    }
  if (!gyre_fft_can (self->device, kind))
    {
      g_set_error (error, GYRE_ERROR, GYRE_ERROR_DEVICE,
                   "a transform of length %" G_GINT64_FORMAT " can't run on %s: lengths "
                   "need the factors 2, 3, 5, 7, 11 or 13, and the device a compiler",
                   kind->n, gyre_device_get_name (self->device));
      return NULL;
    }
  if (!set_up (error))
    return NULL;
  plan = g_new0 (Plan, 1);
  plan->kind = *kind;
  if (!make_plan (plan, self->device, error))
    {
      plan_free (plan);
      return NULL;
    }
  g_ptr_array_add (self->plans, plan);
  return plan;
}

/* --- use --- */

gboolean
gyre_fft_prepare (GyreFftPlans       *self,
                  const GyreFftKind  *kind,
                  GError            **error)
{
  return kind->batch == 0 || get_plan (self, kind, error) != NULL;
}

gboolean
gyre_fft_enqueue (GyreFftPlans       *self,
                  const GyreFftKind  *kind,
                  GyreBuffer         *from,
                  GyreBuffer         *to,
                  cl_event           *event,
                  GError            **error)
{
  cl_command_queue queue = gyre_device_get_queue (self->device);
  cl_mem in = gyre_buffer_get_mem (from);
  cl_mem out = gyre_buffer_get_mem (to);
  Plan *plan;

  if (kind->batch == 0)
    return event == NULL || gyre_device_marker (self->device, NULL, 0, event, error);
  plan = get_plan (self, kind, error);
  return plan != NULL &&
         check (clfftEnqueueTransform (plan->handle,
                                       kind->backward ? CLFFT_BACKWARD : CLFFT_FORWARD, 1,
                                       &queue, 0, NULL, event, &in, &out,
                                       plan->scratch
                                           ? gyre_buffer_get_mem (plan->scratch)
                                           : NULL),
                plan, self->device, "clfftEnqueueTransform", error);
}
