/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gyre-cl-private.h"

#include <gyre/gyre-error.h>

typedef struct
{
  cl_int      status;
  const char *name;
  int         code;
} Status;

#define STATUS(name, code) { name, #name, GYRE_ERROR_##code }

/* The loader's, from an extension's header that need not be there. */
#define CL_PLATFORM_NOT_FOUND_KHR (-1001)

static const Status statuses[] = {
  STATUS (CL_SUCCESS, DEVICE),
  STATUS (CL_DEVICE_NOT_FOUND, NO_DEVICE),
  STATUS (CL_DEVICE_NOT_AVAILABLE, DEVICE),
  STATUS (CL_COMPILER_NOT_AVAILABLE, BUILD),
  STATUS (CL_MEM_OBJECT_ALLOCATION_FAILURE, MEMORY),
  STATUS (CL_OUT_OF_RESOURCES, DEVICE),
  STATUS (CL_OUT_OF_HOST_MEMORY, MEMORY),
  STATUS (CL_PROFILING_INFO_NOT_AVAILABLE, DEVICE),
  STATUS (CL_MEM_COPY_OVERLAP, DEVICE),
  STATUS (CL_IMAGE_FORMAT_MISMATCH, DEVICE),
  STATUS (CL_IMAGE_FORMAT_NOT_SUPPORTED, DEVICE),
  STATUS (CL_BUILD_PROGRAM_FAILURE, BUILD),
  STATUS (CL_MAP_FAILURE, DEVICE),
  STATUS (CL_MISALIGNED_SUB_BUFFER_OFFSET, DEVICE),
  STATUS (CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, DEVICE),
  STATUS (CL_COMPILE_PROGRAM_FAILURE, BUILD),
  STATUS (CL_LINKER_NOT_AVAILABLE, BUILD),
  STATUS (CL_LINK_PROGRAM_FAILURE, BUILD),
  STATUS (CL_DEVICE_PARTITION_FAILED, DEVICE),
  STATUS (CL_KERNEL_ARG_INFO_NOT_AVAILABLE, DEVICE),
  STATUS (CL_INVALID_VALUE, DEVICE),
  STATUS (CL_INVALID_DEVICE_TYPE, DEVICE),
  STATUS (CL_INVALID_PLATFORM, DEVICE),
  STATUS (CL_INVALID_DEVICE, DEVICE),
  STATUS (CL_INVALID_CONTEXT, DEVICE),
  STATUS (CL_INVALID_QUEUE_PROPERTIES, DEVICE),
  STATUS (CL_INVALID_COMMAND_QUEUE, DEVICE),
  STATUS (CL_INVALID_HOST_PTR, DEVICE),
  STATUS (CL_INVALID_MEM_OBJECT, DEVICE),
  STATUS (CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, DEVICE),
  STATUS (CL_INVALID_IMAGE_SIZE, DEVICE),
  STATUS (CL_INVALID_SAMPLER, DEVICE),
  STATUS (CL_INVALID_BINARY, BUILD),
  STATUS (CL_INVALID_BUILD_OPTIONS, BUILD),
  STATUS (CL_INVALID_PROGRAM, BUILD),
  STATUS (CL_INVALID_PROGRAM_EXECUTABLE, BUILD),
  STATUS (CL_INVALID_KERNEL_NAME, BUILD),
  STATUS (CL_INVALID_KERNEL_DEFINITION, BUILD),
  STATUS (CL_INVALID_KERNEL, DEVICE),
  STATUS (CL_INVALID_ARG_INDEX, DEVICE),
  STATUS (CL_INVALID_ARG_VALUE, DEVICE),
  STATUS (CL_INVALID_ARG_SIZE, DEVICE),
  STATUS (CL_INVALID_KERNEL_ARGS, DEVICE),
  STATUS (CL_INVALID_WORK_DIMENSION, DEVICE),
  STATUS (CL_INVALID_WORK_GROUP_SIZE, DEVICE),
  STATUS (CL_INVALID_WORK_ITEM_SIZE, DEVICE),
  STATUS (CL_INVALID_GLOBAL_OFFSET, DEVICE),
  STATUS (CL_INVALID_EVENT_WAIT_LIST, DEVICE),
  STATUS (CL_INVALID_EVENT, DEVICE),
  STATUS (CL_INVALID_OPERATION, DEVICE),
  STATUS (CL_INVALID_GL_OBJECT, DEVICE),
  STATUS (CL_INVALID_BUFFER_SIZE, MEMORY),
  STATUS (CL_INVALID_MIP_LEVEL, DEVICE),
  STATUS (CL_INVALID_GLOBAL_WORK_SIZE, DEVICE),
  STATUS (CL_INVALID_PROPERTY, DEVICE),
  STATUS (CL_INVALID_IMAGE_DESCRIPTOR, DEVICE),
  STATUS (CL_INVALID_COMPILER_OPTIONS, BUILD),
  STATUS (CL_INVALID_LINKER_OPTIONS, BUILD),
  STATUS (CL_INVALID_DEVICE_PARTITION_COUNT, DEVICE),
  STATUS (CL_PLATFORM_NOT_FOUND_KHR, NO_DEVICE),
  STATUS (GYRE_CL_NO_ANSWER, DEVICE),
};

static const Status *
find_status (cl_int status)
{
  for (gsize i = 0; i < G_N_ELEMENTS (statuses); i++)
    if (statuses[i].status == status)
      return &statuses[i];

  return NULL;
}

const char *
gyre_cl_status_name (cl_int status)
{
  const Status *known = find_status (status);

  return known != NULL ? known->name : "a status of the driver's own";
}

gboolean
gyre_cl_check (cl_int       status,
               GError     **error,
               const char  *format,
               ...)
{
  const Status *known;
  g_autofree char *what = NULL;
  va_list args;

  if (G_LIKELY (status == CL_SUCCESS))
    return TRUE;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  known = find_status (status);
  g_set_error (error, GYRE_ERROR, known != NULL ? known->code : GYRE_ERROR_DEVICE,
               "%s: %s (%d)", what, gyre_cl_status_name (status), status);
  return FALSE;
}

char *
gyre_cl_get_platform_string (cl_platform_id   id,
                             cl_platform_info param)
{
  gsize size = 0;
  char *text;

  if (clGetPlatformInfo (id, param, 0, NULL, &size) != CL_SUCCESS)
    return g_strdup ("");

  text = g_malloc0 (size + 1);
  if (clGetPlatformInfo (id, param, size, text, NULL) != CL_SUCCESS)
    text[0] = '\0';
  return g_strstrip (text);
}

char *
gyre_cl_get_device_string (cl_device_id   id,
                           cl_device_info param)
{
  gsize size = 0;
  char *text;

  if (clGetDeviceInfo (id, param, 0, NULL, &size) != CL_SUCCESS)
    return g_strdup ("");

  text = g_malloc0 (size + 1);
  if (clGetDeviceInfo (id, param, size, text, NULL) != CL_SUCCESS)
    text[0] = '\0';
  return g_strstrip (text);
}

guint64
gyre_cl_get_device_number (cl_device_id   id,
                           cl_device_info param)
{
  guint64 value = 0;   /* narrower answers fill its low bytes */
  gsize size = 0;

  if (clGetDeviceInfo (id, param, 0, NULL, &size) != CL_SUCCESS || size > sizeof value)
    return 0;
  if (clGetDeviceInfo (id, param, size, &value, NULL) != CL_SUCCESS)
    return 0;
#if G_BYTE_ORDER == G_BIG_ENDIAN
  value >>= 8 * (sizeof value - size);
#endif
  return value;
}
