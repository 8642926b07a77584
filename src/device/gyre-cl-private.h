/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <CL/cl.h>
#include <glib.h>

G_BEGIN_DECLS

/* "CL_OUT_OF_RESOURCES", or "status -1234". */
const char *gyre_cl_status_name (cl_int status);

/* Every cl_int passes here.  TRUE if it is no error; else the error says what the
 * format says (call, kernel, device, values) and the symbolic name of the status:
 *   gyre_cl_check (status, error, "clFlush on %s", gyre_device_get_name (device)) */
gboolean gyre_cl_check (cl_int       status,
                        GError     **error,
                        const char  *format,
                        ...) G_GNUC_PRINTF (3, 4);

G_END_DECLS
