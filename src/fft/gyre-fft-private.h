/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-buffer-private.h"

G_BEGIN_DECLS

/* Transforms of real arrays, batched, along their last one or two dimensions; row-major,
 * interleaved complex numbers:
 *
 *   forward   f32[batch, (rows,) n] → c64[batch, (rows,) n / 2 + 1], unscaled
 *   backward  c64[batch, (rows,) n / 2 + 1] → f32[batch, (rows,) n], divided by rows · n
 */
typedef struct
{
  gboolean backward;
  gint64   rows;    /* 1: one dimension */
  gint64   n;
  gint64   batch;
} GyreFftKind;

/* Plans of a device, made once for each kind (a plan is compiled: seconds when its cache
 * is cold).  The executor thread alone uses it. */
typedef struct _GyreFftPlans GyreFftPlans;

GyreFftPlans *gyre_fft_plans_new   (GyreDevice         *device);
void          gyre_fft_plans_free  (GyreFftPlans       *self);
guint         gyre_fft_plans_count (const GyreFftPlans *self);

/* Whether the device and the lengths can be served: lengths with the factors 2, 3, 5, 7,
 * 11 and 13, and a device that compiles. */
gboolean      gyre_fft_can         (GyreDevice         *device,
                                    const GyreFftKind  *kind);
/* Makes the plan and its scratch memory beforehand. */
gboolean      gyre_fft_prepare     (GyreFftPlans       *self,
                                    const GyreFftKind  *kind,
                                    GError            **error);
/* Enqueues the transform; a batch of 0 is nothing. event may be NULL. */
gboolean      gyre_fft_enqueue     (GyreFftPlans       *self,
                                    const GyreFftKind  *kind,
                                    GyreBuffer         *from,
                                    GyreBuffer         *to,
                                    cl_event           *event,
                                    GError            **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreFftPlans, gyre_fft_plans_free)

G_END_DECLS
