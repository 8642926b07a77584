/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-dft.h"
#include "common/gyre-input.h"
#include "common/gyre-modes.h"

#define GYRE_TYPE_SPECTRAL_CONV1D (gyre_spectral_conv1d_get_type ())
G_DECLARE_FINAL_TYPE (GyreSpectralConv1d, gyre_spectral_conv1d, GYRE, SPECTRAL_CONV1D,
                      GyreLayer)

struct _GyreSpectralConv1d
{
  GyreLayer parent_instance;
  gint64    features;
  gint64    modes;
};

GYRE_DEFINE_LAYER (GyreSpectralConv1d, gyre_spectral_conv1d)

/* y = irfft (X · (real + i imag)) where X is the lowest modes of rfft (x) and the others
 * are dropped (Li et al., 2021);  x: f32[b, n, in] → f32[b, n, features]; real, imag:
 * f32[modes, in, features].  The transforms are products with matrices of the kept
 * frequencies, or of many of these gyre_rfft() and gyre_irfft().  Samples may be split
 * among devices in any way. */
static GyreTensor *
gyre_spectral_conv1d_apply (GyreLayer  *layer,
                            GyreScope  *scope,
                            GyreTensor *x)
{
  static const int length_last[] = { 0, 2, 1 };
  static const int modes_first[] = { 3, 0, 2, 1 };
  static const int modes_last[] = { 1, 3, 2, 0 };
  GyreSpectralConv1d *self = GYRE_SPECTRAL_CONV1D (layer);
  gint64 n;

  if (!input_is (x, GYRE_F32, 3, TRUE))
    return input_fail (scope, x, "f32[b, n, in]");

  n = gyre_tensor_dim (x, 1);
  if (n < 1 || self->modes > n / 2 + 1)
    return gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                            "%" G_GINT64_FORMAT " numbers have %" G_GINT64_FORMAT
                            " frequencies, not %" G_GINT64_FORMAT ": give fewer modes=",
                            n, n > 0 ? n / 2 + 1 : 0, self->modes);

  x = dft_real (gyre_transpose (x, length_last), self->modes);
  x = modes_mix (scope, GYRE_SHAPE (self->modes), self->features,
                 gyre_transpose (x, modes_first));
  x = dft_real_inverse (gyre_transpose (x, modes_last), n);

  return gyre_transpose (x, length_last);
}

static void
gyre_spectral_conv1d_class_init (GyreSpectralConv1dClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_spectral_conv1d_apply;
  gyre_layer_class_add_int (layer_class, "features", "How many features come out",
                            G_STRUCT_OFFSET (GyreSpectralConv1d, features), 1,
                            G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_int (layer_class, "modes", "How many of the lowest frequencies",
                            G_STRUCT_OFFSET (GyreSpectralConv1d, modes), 1, G_MAXINT32,
                            1);
  gyre_layer_class_require (layer_class, "modes");
}

static void
gyre_spectral_conv1d_init (GyreSpectralConv1d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_spectral_conv1d_add (plugin, "spectral-conv1d");
}

GYRE_PLUGIN_DEFINE (spectral_conv1d,
                    GYRE_VERSION_STRING,
                    "Apache-2.0",
                    plugin_init,
                    "Gyre")
