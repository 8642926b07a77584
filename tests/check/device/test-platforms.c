/* SPDX-License-Identifier: Apache-2.0 */

/* The same small program on every device of the machine, all at once: one kernel after
 * the other on each queue, watched by the executor. */
#include "gyre-check-device.h"

#include "device/gyre-drivers-private.h"

#define N 1024
#define N_LAUNCHES 50

static const char source[] =
  "#pragma OPENCL FP_CONTRACT OFF\n"
  "__kernel void add (__global float *y, const float a, const int n)\n"
  "{\n"
  "  const int i = get_global_id (0);\n"
  "  if (i < n) y[i] = y[i] + a * (float) i;\n"
  "}\n";

typedef struct
{
  GyreDevice *device;
  GyreKernel *kernel;
  GyreBuffer *buffer;
  float       out[N];
  gint        n_done;
} Lane;

static void
lane_done (cl_int   status,
           gpointer data)
{
  Lane *lane = data;

  ck_assert_int_eq (status, CL_COMPLETE);
  g_atomic_int_inc (&lane->n_done);
}

static gboolean
run_lane (gpointer   data,
          GError   **error)
{
  Lane *lane = data;
  GyreKernelArg args[] = {
    GYRE_BUFFER_ARG (lane->buffer), GYRE_F32_ARG (0), GYRE_I32_ARG (N)
  };
  gsize global = N;

  if (!gyre_device_fill (lane->device, lane->buffer, 0, sizeof lane->out, 0, NULL, 0,
                         NULL, error))
    return FALSE;
  for (guint i = 0; i < N_LAUNCHES; i++)
    {
      cl_event event = NULL;

      args[1] = GYRE_F32_ARG (i % 3);
      if (!gyre_device_launch (lane->device, lane->kernel, args, G_N_ELEMENTS (args), 1,
                               &global, NULL, NULL, 0, &event, error))
        return FALSE;
      gyre_executor_add_pending (&event, 1, lane_done, lane);
    }
  return TRUE;
}

static gboolean
read_lane (gpointer   data,
           GError   **error)
{
  Lane *lane = data;

  return gyre_device_read (lane->device, lane->buffer, 0, sizeof lane->out, lane->out,
                           NULL, 0, NULL, error) &&
         gyre_check_wait (lane->device, error);
}

static void
open_lane (Lane       *lane,
           GyreDevice *device)
{
  GError *error = NULL;

  lane->device = device;
  lane->kernel = gyre_device_get_kernel (device, source, NULL, "add", &error);
  gyre_assert_no_error (error);
  lane->buffer = gyre_buffer_new (device, sizeof lane->out, &error);
  gyre_assert_no_error (error);
}

static void
check_lane (Lane *lane)
{
  GError *error = gyre_check_on_executor (read_lane, lane);
  float sum = 0;

  gyre_assert_no_error (error);
  ck_assert_int_eq (lane->n_done, N_LAUNCHES);
  for (guint i = 0; i < N_LAUNCHES; i++)
    sum += i % 3;
  for (guint i = 0; i < N; i++)
    ck_assert_msg (lane->out[i] == sum * i, "%s: [%u] is %g, not %g",
                   gyre_device_get_name (lane->device), i, lane->out[i], sum * i);
  gyre_buffer_unref (lane->buffer);
}

START_TEST (all_compute)
{
  g_autoptr (GPtrArray) devices = gyre_check_open ("all");
  Lane *lanes = g_new0 (Lane, devices->len);

  for (guint i = 0; i < devices->len; i++)
    open_lane (&lanes[i], g_ptr_array_index (devices, i));
  for (guint i = 0; i < devices->len; i++)
    {
      GError *error = gyre_check_on_executor (run_lane, &lanes[i]);

      gyre_assert_no_error (error);
    }
  gyre_executor_drain ();
  for (guint i = 0; i < devices->len; i++)
    check_lane (&lanes[i]);
  g_free (lanes);
}
END_TEST

static void
add_tests (Suite *suite)
{
  gyre_check_add (suite, "all", all_compute);
}

int
main (void)
{
  gyre_drivers_set_environment ();
  return gyre_check_main ("platforms", add_tests);
}
