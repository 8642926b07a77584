/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-buffer-private.h"

G_BEGIN_DECLS

/* Transforms of real arrays, batched, along their last one or two dimensions; row-major,
 * interleaved complex numbers:
 *
 *   forward   f32[batch, (rows,) n] → c64[batch, (rows,) n / 2 + 1], unscaled
 *   backward  c64[batch, (rows,) n / 2 + 1] → f32[batch, (rows,) n], divided by rows · n
 *
 * Backward, a transform along the rows comes first; of what the one along n then sees,
 * the imaginary parts of the numbers that are their own mirror images are not looked
 * at. */
typedef struct
{
  gboolean backward;
  gint64   rows;    /* 1: one dimension */
  gint64   n;
  gint64   batch;
} GyreFftKind;

typedef struct _GyreFftPlan GyreFftPlan;

typedef struct
{
  GyreFftKind  kind;
  GyreBuffer  *from, *to;   /* not the same */

  /* what gyre_fft_prepare () chose; the device's, kept while the process lives */
  GyreFftPlan *plan;
} GyreFft;

/* All on the executor thread. */

/* Chooses who transforms, and makes the plan, its tables and its scratch memory.  A call
 * then makes nothing; its buffers may change.  A batch of 0 is nothing. */
gboolean    gyre_fft_prepare  (GyreDevice     *device,
                               GyreFft        *fft,
                               GError        **error);
/* Enqueues a transform that was prepared.  event may be NULL. */
gboolean    gyre_fft_enqueue  (GyreDevice     *device,
                               const GyreFft  *fft,
                               cl_event       *event,
                               GError        **error);
/* Who was chosen: "clfft" or "plain"; "nobody" where nothing is to be done.  The choice
 * depends on the device, the lengths and $GYRE_FFT alone, so that runs repeat. */
const char *gyre_fft_provider (const GyreFft  *fft);
/* How many plans were made for a device. */
guint       gyre_fft_n_plans  (GyreDevice     *device);

G_END_DECLS
