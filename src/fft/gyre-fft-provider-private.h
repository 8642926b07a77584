/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fft/gyre-fft-private.h"

G_BEGIN_DECLS

/* One way to transform.  The table in gyre-fft.c lists them in order of preference. */
typedef struct
{
  const char *name;

  /* Whether it is right for the device and the lengths: the first that is right and
   * suits is taken, else the first that is right. */
  gboolean     (*serves)  (GyreDevice *device, const GyreFftKind *kind);
  gboolean     (*suits)   (GyreDevice *device, const GyreFftKind *kind);
  GyreFftPlan *(*plan)    (GyreDevice *device, const GyreFftKind *kind, GError **error);
  gboolean     (*enqueue) (const GyreFftPlan *plan, GyreBuffer *from, GyreBuffer *to,
                           GyreBuffer *const *scratch, cl_event *event, GError **error);
} GyreFftProvider;

/* A plan begins with this. */
struct _GyreFftPlan
{
  GyreFftKind            kind;
  const GyreFftProvider *provider;
  GyreDevice            *device;       /* not held: the plan is in its record */
  gsize                  scratch[2];   /* bytes: shared by all plans of the device */
};

extern const GyreFftProvider gyre_fft_clfft;
extern const GyreFftProvider gyre_fft_plain;

/* "forward transform of 16 x 1 x 1024": for messages; g_free */
char       *gyre_fft_kind_to_string (const GyreFftKind *kind);

/* On the host, in double: n interleaved complex numbers, any n; unscaled. */
void        gyre_fft_host           (double            *numbers,
                                     gint64             n,
                                     gboolean           backward);
/* What kind says of one item of a batch: rows · n reals and rows · (n / 2 + 1) complex
 * numbers. */
void        gyre_fft_host_real      (const GyreFftKind *kind,
                                     const float       *from,
                                     double            *to);

G_END_DECLS
