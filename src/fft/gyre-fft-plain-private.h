/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fft/gyre-fft-provider-private.h"

G_BEGIN_DECLS

/* The tables that the kernels of fft.cl read: made once for each device and length. */
typedef enum
{
  GYRE_FFT_ROOTS,   /* [n]: e^(-2πi j / n) */
  GYRE_FFT_CHIRP,   /* [n]: e^(-πi j² / n) */
  GYRE_FFT_SPECTRUM /* [gyre_fft_wide (n)]: of the chirp's conjugate around 0, / wide */
} GyreFftTable;

/* The power of 2 in which a convolution of n numbers with the chirp doesn't wrap. */
gint64      gyre_fft_wide      (gint64         n);
/* On the executor thread; the device's, kept while the process lives. */
GyreBuffer *gyre_fft_get_table (GyreDevice    *device,
                                GyreFftTable   table,
                                gint64         n,
                                GError       **error);

G_END_DECLS
