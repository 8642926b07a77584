/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "blas/gyre-blas-private.h"

G_BEGIN_DECLS

/* One way to multiply matrices.  The table in gyre-blas.c lists them in order of
 * preference; the first that serves a device and product is taken. */
struct _GyreBlasProvider
{
  const char *name;

  gboolean (*serves)  (GyreDevice *device, const GyreBlasGemm *gemm);
  gboolean (*prepare) (GyreDevice *device, GyreBlasGemm *gemm, GError **error);
  /* m, n, k and batch are at least 1 */
  gboolean (*enqueue) (GyreDevice *device, const GyreBlasGemm *gemm, cl_event *event,
                       GError **error);
};

extern const GyreBlasProvider gyre_blas_panel;
extern const GyreBlasProvider gyre_blas_clblast;
extern const GyreBlasProvider gyre_blas_plain;

/* "256x512x784": for messages */
char *gyre_blas_gemm_to_string (const GyreBlasGemm *gemm);

G_END_DECLS
