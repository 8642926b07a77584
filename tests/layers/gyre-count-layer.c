/* SPDX-License-Identifier: Apache-2.0 */

/* An OpenCL layer for tests: OPENCL_LAYERS=/path/to/libgyre-count-layer.so.  It stands
 * between the loader and the drivers, and does what the environment says:
 *
 *   GYRE_LAYER_LOG=FILE            writes how often each call was made, a line "NAME
 *                                  COUNT" each, at exit and on SIGUSR1
 *   GYRE_LAYER_FAIL=NAME:N:STATUS  the N-th call (from 1) of that name fails with the
 *                                  status, a number; several with commas between
 *   GYRE_LAYER_KERNELS=FILE        adds the name of each kernel that is launched to the
 *                                  file, a line each; one may be there several times
 *   GYRE_LAYER_CRASH=DEVICE        a kernel launch on a device whose name has that
 *                                  part crashes
 *   GYRE_LAYER_HANG=DEVICE         … never returns
 *   GYRE_LAYER_LIE=DEVICE          … a blocking read from it changes the last byte
 *   GYRE_LAYER_HIDE_COMPILER=DEVICE  the device has no compiler; "1" means all
 *
 * In the process itself, dlopen () of the same file gives gyre_layer_count () and
 * gyre_layer_fail (). */
#include <CL/cl_layer.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__ ((visibility ("default")))

typedef void (CL_CALLBACK *ContextNotify) (const char *, const void *, size_t, void *);
typedef void (CL_CALLBACK *ProgramNotify) (cl_program, void *);
typedef void (CL_CALLBACK *EventNotify) (cl_event, cl_int, void *);
typedef void (CL_CALLBACK *MemNotify) (cl_mem, void *);
typedef void (CL_CALLBACK *NativeFunc) (void *);

enum
{
#define STATUS(name, params, args) INDEX_##name,
#define HANDLE(type, name, params, args) INDEX_##name,
#include "gyre-count-calls.inc"
#undef STATUS
#undef HANDLE
  N_CALLS
};

static const char *const names[] = {
#define STATUS(name, params, args) #name,
#define HANDLE(type, name, params, args) #name,
#include "gyre-count-calls.inc"
#undef STATUS
#undef HANDLE
};

static const cl_icd_dispatch *target;
static unsigned long counts[N_CALLS];       /* atomic */
static unsigned long fail_at[N_CALLS];      /* 0: never */
static cl_int fail_status[N_CALLS];

/* TRUE, and the status, if this call is one that fails. */
static int
is_to_fail (int     i,
            cl_int *status)
{
  unsigned long n = __atomic_add_fetch (&counts[i], 1, __ATOMIC_RELAXED);

  *status = fail_status[i];
  return n == fail_at[i];
}

/* What every call does unless it is told below. */

#define STATUS(name, params, args)                                                       \
  static cl_int CL_API_CALL plain_##name params                                          \
  {                                                                                      \
    cl_int status;                                                                       \
    return is_to_fail (INDEX_##name, &status) ? status : target->name args;              \
  }
#define HANDLE(type, name, params, args)                                                 \
  static type CL_API_CALL plain_##name params                                            \
  {                                                                                      \
    cl_int status;                                                                       \
    if (!is_to_fail (INDEX_##name, &status))                                             \
      return target->name args;                                                          \
    if (errcode_ret != NULL)                                                             \
      *errcode_ret = status;                                                             \
    return NULL;                                                                         \
  }
#include "gyre-count-calls.inc"
#undef STATUS
#undef HANDLE

/* Faults of devices. */

static int
device_is_named (cl_device_id  device,
                 const char   *variable)
{
  const char *part = getenv (variable);
  char name[256] = { 0 };

  if (part == NULL || part[0] == '\0')
    return 0;
  target->clGetDeviceInfo (device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
  return strcmp (part, "1") == 0 || strstr (name, part) != NULL;
}

static int
queue_is_of (cl_command_queue  queue,
             const char       *variable)
{
  cl_device_id device = NULL;

  return getenv (variable) != NULL &&
         target->clGetCommandQueueInfo (queue, CL_QUEUE_DEVICE, sizeof device, &device,
                                        NULL) == CL_SUCCESS &&
         device_is_named (device, variable);
}

/* A line is written at once: other processes may write to the file. */
static void
note_kernel (cl_kernel kernel)
{
  static cl_kernel last;   /* atomic; a step launches many kernels in turn */
  const char *path = getenv ("GYRE_LAYER_KERNELS");
  char line[512] = { 0 };
  FILE *file;

  if (path == NULL || __atomic_exchange_n (&last, kernel, __ATOMIC_RELAXED) == kernel ||
      target->clGetKernelInfo (kernel, CL_KERNEL_FUNCTION_NAME, sizeof line - 2, line,
                               NULL) != CL_SUCCESS)
    return;

  strcat (line, "\n");
  file = fopen (path, "a");
  if (file == NULL)
    return;
  fputs (line, file);
  fclose (file);
}

static cl_int CL_API_CALL
faulty_launch (cl_command_queue  queue,
               cl_kernel         kernel,
               cl_uint           dims,
               const size_t     *offset,
               const size_t     *global,
               const size_t     *local,
               cl_uint           n_wait,
               const cl_event   *wait,
               cl_event         *event)
{
  if (queue_is_of (queue, "GYRE_LAYER_CRASH"))
    {
      signal (SIGSEGV, SIG_DFL);   /* a sanitizer would make an exit of it */
      raise (SIGSEGV);
    }
  while (queue_is_of (queue, "GYRE_LAYER_HANG"))
    pause ();
  note_kernel (kernel);
  return plain_clEnqueueNDRangeKernel (queue, kernel, dims, offset, global, local, n_wait,
                                       wait, event);
}

static cl_int CL_API_CALL
faulty_read (cl_command_queue  queue,
             cl_mem            buffer,
             cl_bool           blocking,
             size_t            offset,
             size_t            size,
             void             *data,
             cl_uint           n_wait,
             const cl_event   *wait,
             cl_event         *event)
{
  cl_int status = plain_clEnqueueReadBuffer (queue, buffer, blocking, offset, size, data,
                                             n_wait, wait, event);

  if (status == CL_SUCCESS && blocking && size > 0 &&
      queue_is_of (queue, "GYRE_LAYER_LIE"))
    ((unsigned char *) data)[size - 1] ^= 1;
  return status;
}

static cl_int CL_API_CALL
faulty_device_info (cl_device_id    device,
                    cl_device_info  param,
                    size_t          size,
                    void           *value,
                    size_t         *size_ret)
{
  cl_int status = plain_clGetDeviceInfo (device, param, size, value, size_ret);

  if (status == CL_SUCCESS && param == CL_DEVICE_COMPILER_AVAILABLE && value != NULL &&
      device_is_named (device, "GYRE_LAYER_HIDE_COMPILER"))
    memset (value, 0, sizeof (cl_bool));
  return status;
}

/* As on hardware: a program from source can be made, and can't be built. */
static cl_int CL_API_CALL
faulty_build (cl_program          program,
              cl_uint             n_devices,
              const cl_device_id *devices,
              const char         *options,
              ProgramNotify       notify,
              void               *data)
{
  size_t size = 0;

  target->clGetProgramInfo (program, CL_PROGRAM_SOURCE, 0, NULL, &size);
  if (size > 1 && n_devices > 0 &&
      device_is_named (devices[0], "GYRE_LAYER_HIDE_COMPILER"))
    return CL_COMPILER_NOT_AVAILABLE;
  return plain_clBuildProgram (program, n_devices, devices, options, notify, data);
}

/* What tests ask. */

static int
find (const char *name)
{
  for (int i = 0; i < N_CALLS; i++)
    if (strcmp (names[i], name) == 0)
      return i;

  fprintf (stderr, "gyre-count-layer: there is no call %s\n", name);
  abort ();
}

EXPORT unsigned long gyre_layer_count (const char *name);
EXPORT void gyre_layer_fail (const char *name, unsigned long n, int status);

/* How often it was called. */
unsigned long
gyre_layer_count (const char *name)
{
  return __atomic_load_n (&counts[find (name)], __ATOMIC_RELAXED);
}

/* Its n-th call from now on fails. */
void
gyre_layer_fail (const char    *name,
                 unsigned long  n,
                 int            status)
{
  int i = find (name);

  fail_status[i] = status;
  fail_at[i] = counts[i] + n;
}

static void
write_log (void)
{
  const char *path = getenv ("GYRE_LAYER_LOG");
  FILE *file = path != NULL ? fopen (path, "w") : NULL;

  if (file == NULL)
    return;
  for (int i = 0; i < N_CALLS; i++)
    if (counts[i] > 0)
      fprintf (file, "%s %lu\n", names[i], counts[i]);
  fclose (file);
}

static void
log_on_signal (int signal)
{
  write_log ();
}

static void
read_failures (void)
{
  const char *text = getenv ("GYRE_LAYER_FAIL");
  char name[64];
  unsigned long n;
  int status;

  for (; text != NULL; text = strchr (text, ','))
    {
      text += *text == ',';
      if (sscanf (text, "%63[^:]:%lu:%d", name, &n, &status) == 3)
        gyre_layer_fail (name, n, status);
    }
}

/* What the loader asks. */

EXPORT cl_int CL_API_CALL
clGetLayerInfo (cl_layer_info  param,
                size_t         size,
                void          *value,
                size_t        *size_ret)
{
  static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  static const char name[] = "gyre-count-layer";
  const void *answer = param == CL_LAYER_NAME ? (const void *) name : &version;
  size_t answer_size = param == CL_LAYER_NAME ? sizeof name : sizeof version;

  if (param != CL_LAYER_NAME && param != CL_LAYER_API_VERSION)
    return CL_INVALID_VALUE;
  if (value != NULL && size < answer_size)
    return CL_INVALID_VALUE;
  if (value != NULL)
    memcpy (value, answer, answer_size);
  if (size_ret != NULL)
    *size_ret = answer_size;
  return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL
clInitLayer (cl_uint                 n,
             const cl_icd_dispatch  *target_dispatch,
             cl_uint                *n_ret,
             const cl_icd_dispatch **dispatch_ret)
{
  static cl_icd_dispatch dispatch;

  if (n < sizeof dispatch / sizeof dispatch.clGetPlatformIDs)
    return CL_INVALID_VALUE;

  target = target_dispatch;
  dispatch = *target_dispatch;
#define STATUS(name, params, args) dispatch.name = plain_##name;
#define HANDLE(type, name, params, args) dispatch.name = plain_##name;
#include "gyre-count-calls.inc"
#undef STATUS
#undef HANDLE
  dispatch.clEnqueueNDRangeKernel = faulty_launch;
  dispatch.clEnqueueReadBuffer = faulty_read;
  dispatch.clGetDeviceInfo = faulty_device_info;
  dispatch.clBuildProgram = faulty_build;

  read_failures ();
  if (getenv ("GYRE_LAYER_LOG") != NULL)
    {
      signal (SIGUSR1, log_on_signal);
      atexit (write_log);
    }
  *n_ret = sizeof dispatch / sizeof dispatch.clGetPlatformIDs;
  *dispatch_ret = &dispatch;
  return CL_SUCCESS;
}
