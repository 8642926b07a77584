/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <CL/cl.h>
#include <glib.h>

G_BEGIN_DECLS

/* Of ours: a device gave no answer in time. */
#define GYRE_CL_NO_ANSWER (-9999)

/* "CL_OUT_OF_RESOURCES". */
const char *gyre_cl_status_name (cl_int status);

/* Every cl_int passes here.  TRUE if it is no error; else the error says what the
 * format says (call, kernel, device, values) and the symbolic name of the status:
 *   gyre_cl_check (status, error, "clFlush on %s", gyre_device_get_name (device)) */
gboolean gyre_cl_check (cl_int       status,
                        GError     **error,
                        const char  *format,
                        ...) G_GNUC_PRINTF (3, 4);

/* What a platform or a device says of itself: "" or 0 where it says nothing. */
char   *gyre_cl_get_platform_string (cl_platform_id   id,
                                     cl_platform_info param);
char   *gyre_cl_get_device_string   (cl_device_id     id,
                                     cl_device_info   param);
guint64 gyre_cl_get_device_number   (cl_device_id     id,
                                     cl_device_info   param);

G_END_DECLS
