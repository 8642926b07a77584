/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fuse/gyre-kernel-writer-private.h"

G_BEGIN_DECLS

/* Whether the kernel has the partial results of a reduction as an argument. */
typedef enum
{
  GYRE_PARTIALS_NONE,
  GYRE_PARTIALS_WRITTEN,   /* in place of the results */
  GYRE_PARTIALS_READ       /* after the operands */
} GyrePartialsUse;

/* Sets name, source and sizes of the kernel from what was written; indices: the text
 * before it. */
gboolean gyre_kernel_text_finish (GyreKernelWriter  *writer,
                                  GyrePartialsUse    partials,
                                  const char        *indices,
                                  GyreFusedKernel   *kernel,
                                  GError           **error);

G_END_DECLS
