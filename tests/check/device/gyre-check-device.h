/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What tests of devices share. */

#include "gyre-check.h"

#include "device/gyre-executor-private.h"
#include "device/gyre-kernel-private.h"
#include "device/gyre-transfer-private.h"

static inline GPtrArray *
gyre_check_open (const char *spec)
{
  g_autofree char *own = gyre_check_device_spec (spec);
  GError *error = NULL;
  GPtrArray *devices = gyre_devices_open (own, &error);

  gyre_assert_no_error (error);
  return devices;
}

/* Something to do on the executor thread that can fail. */
typedef gboolean (*GyreCheckFunc) (gpointer   data,
                                   GError   **error);

typedef struct
{
  GyreCheckFunc func;
  gpointer      data;
  GError       *error;
} GyreCheckCall;

static inline void
gyre_check_run_call (gpointer data)
{
  GyreCheckCall *call = data;

  call->func (call->data, &call->error);
}

/* Runs it there; its error comes back. */
static inline GError *
gyre_check_on_executor (GyreCheckFunc func,
                        gpointer      data)
{
  GyreCheckCall call = { func, data, NULL };

  gyre_executor_call (gyre_check_run_call, &call);
  return call.error;
}

/* Until all that was enqueued on the device is complete. */
static inline gboolean
gyre_check_wait (GyreDevice  *device,
                 GError     **error)
{
  cl_event event = NULL;
  cl_int status;

  if (!gyre_device_marker (device, NULL, 0, &event, error))
    return FALSE;
  status = clWaitForEvents (1, &event);
  clReleaseEvent (event);
  return gyre_cl_check (status, error, "clWaitForEvents");
}
