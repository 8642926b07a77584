/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-kernel-private.h"

G_BEGIN_DECLS

typedef struct _GyreBlasProvider GyreBlasProvider;

/* C[i] = alpha · op(A[i]) · op(B[i]) + beta · C[i] for i < batch; row-major, f32. */
typedef struct
{
  GyreBuffer *a, *b, *c;
  gint64      m, n, k, batch;
  gint64      lda, ldb, ldc;                  /* elements from row to row, as stored */
  gint64      stride_a, stride_b, stride_c;   /* elements from matrix to matrix */
  gboolean    trans_a, trans_b;
  float       alpha, beta;

  /* what gyre_blas_prepare chose */
  const GyreBlasProvider *provider;
  GyreKernel *kernel; /* the device's; NULL where a library has it */

  gint64      first_a, first_b, first_c;      /* elements before the first matrix */
} GyreBlasGemm;

/* On the executor thread.  Chooses who multiplies, and does beforehand what a call would
 * do the first time: compiles, allocates.  A call then looks nothing up and creates
 * nothing of Gyre's own; its buffers, alpha and beta may change. */
gboolean    gyre_blas_prepare  (GyreDevice          *device,
                                GyreBlasGemm        *gemm,
                                GError             **error);
/* On the executor thread.  Enqueues a product that was prepared; m, n or batch of 0 is
 * nothing, k of 0 fills C (beta must be 0 or 1 then).  event may be NULL. */
gboolean    gyre_blas_gemm     (GyreDevice          *device,
                                const GyreBlasGemm  *gemm,
                                cl_event            *event,
                                GError             **error);
/* Which provider serves the product on the device: "clblast", "panel" or "plain".  The
 * choice depends on the device and $GYRE_GEMM alone, so that runs repeat. */
const char *gyre_blas_provider (GyreDevice          *device,
                                const GyreBlasGemm  *gemm);

G_END_DECLS
