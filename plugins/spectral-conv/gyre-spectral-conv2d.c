/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-dft.h"
#include "common/gyre-input.h"
#include "common/gyre-modes.h"
#include "common/gyre-sizes.h"

#define GYRE_TYPE_SPECTRAL_CONV2D (gyre_spectral_conv2d_get_type ())
G_DECLARE_FINAL_TYPE (GyreSpectralConv2d, gyre_spectral_conv2d, GYRE, SPECTRAL_CONV2D,
                      GyreLayer)

struct _GyreSpectralConv2d
{
  GyreLayer parent_instance;
  gint64    features;
  char     *modes;
};

GYRE_DEFINE_LAYER (GyreSpectralConv2d, gyre_spectral_conv2d)

/* f32[b, h, w, in] → f32[2 m0, m1, b, 2, in], the frequencies in front */
static GyreTensor *
transform (GyreTensor   *x,
           const gint64 *modes)
{
  static const int width_last[] = { 0, 3, 1, 2 };
  static const int height_last[] = { 0, 1, 4, 3, 2 };
  static const int modes_first[] = { 4, 2, 0, 3, 1 };

  x = dft_real (gyre_transpose (x, width_last), modes[1]);
  x = dft_ends (gyre_transpose (x, height_last), modes[0]);

  return gyre_transpose (x, modes_first);
}

/* f32[2 m0, m1, b, 2, out] → f32[b, h, w, out] */
static GyreTensor *
transform_back (GyreTensor *x,
                gint64      height,
                gint64      width)
{
  static const int rows_last[] = { 2, 4, 1, 3, 0 };
  static const int columns_last[] = { 0, 1, 4, 3, 2 };
  static const int features_last[] = { 0, 2, 3, 1 };

  x = dft_ends_inverse (gyre_transpose (x, rows_last), height);
  x = dft_real_inverse (gyre_transpose (x, columns_last), width);

  return gyre_transpose (x, features_last);
}

static GyreTensor *
mix (GyreSpectralConv2d *self,
     GyreScope          *scope,
     const gint64       *modes,
     GyreTensor         *x)
{
  GyreShape shape = gyre_tensor_get_shape (x);

  x = gyre_reshape (x, GYRE_SHAPE (shape.dims[0] * shape.dims[1], shape.dims[2], 2,
                                   shape.dims[4]));
  x = modes_mix (scope, GYRE_SHAPE (2, modes[0], modes[1]), self->features, x);
  shape.dims[4] = self->features;

  return gyre_reshape (x, shape);
}

static GyreTensor *
fail_modes (GyreSpectralConv2d *self,
            GyreScope          *scope,
            gint64              height,
            gint64              width)
{
  return gyre_scope_fail (scope, GYRE_ERROR_SHAPE,
                          "modes=%s doesn't fit %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                          ": give two numbers, at most half the height, %" G_GINT64_FORMAT
                          ", and at most %" G_GINT64_FORMAT
                          " of the width (height and width at most %d)",
                          self->modes, height, width, height / 2, width / 2 + 1,
                          DFT_MAX_EXTENT);
}

/* y = irfft2 (X · (real + i imag)) where of X = rfft2 (x) the modes[0] lowest positive
 * and negative frequencies of the height and the modes[1] lowest of the width are kept,
 * the others dropped (Li et al., 2021);  x: f32[b, h, w, in] → f32[b, h, w, features];
 * real, imag: f32[2, modes[0], modes[1], in, features].  The transforms are products
 * with matrices of the kept frequencies; of many along the width they are gyre_rfft()
 * and gyre_irfft().  Samples may be split among devices in any
 * way. */
static GyreTensor *
gyre_spectral_conv2d_apply (GyreLayer  *layer,
                            GyreScope  *scope,
                            GyreTensor *x)
{
  GyreSpectralConv2d *self = GYRE_SPECTRAL_CONV2D (layer);
  gint64 modes[2], height, width;

  if (!input_is (x, GYRE_F32, 4, TRUE))
    return input_fail (scope, x, "f32[b, height, width, in]");

  height = gyre_tensor_dim (x, 1);
  width = gyre_tensor_dim (x, 2);
  if (sizes_parse (self->modes, modes, 2) != 2 || modes[0] < 1 || modes[1] < 1 ||
      modes[0] > height / 2 || modes[1] > width / 2 + 1 ||
      MAX (height, width) > DFT_MAX_EXTENT)
    return fail_modes (self, scope, height, width);

  x = mix (self, scope, modes, transform (x, modes));
  return transform_back (x, height, width);
}

static void
gyre_spectral_conv2d_class_init (GyreSpectralConv2dClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_spectral_conv2d_apply;
  gyre_layer_class_add_int (layer_class, "features", "How many features come out",
                            G_STRUCT_OFFSET (GyreSpectralConv2d, features), 1,
                            G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_string (layer_class, "modes",
                               "How many of the lowest frequencies of height and width",
                               G_STRUCT_OFFSET (GyreSpectralConv2d, modes), "1,1");
  gyre_layer_class_require (layer_class, "modes");
}

static void
gyre_spectral_conv2d_init (GyreSpectralConv2d *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_spectral_conv2d_add (plugin, "spectral-conv2d");
}

GYRE_PLUGIN_DEFINE (spectral_conv2d,
                    GYRE_VERSION_STRING,
                    "Apache-2.0",
                    plugin_init,
                    "Gyre")
