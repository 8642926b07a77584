/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-cell.h"
#include "common/gyre-input.h"

#define GYRE_TYPE_GRU (gyre_gru_get_type ())
G_DECLARE_FINAL_TYPE (GyreGru, gyre_gru, GYRE, GRU, GyreLayer)

struct _GyreGru
{
  GyreLayer parent_instance;
  gint64    features;
  gboolean  return_sequences;
  char     *kernel_init;
  char     *recurrent_kernel_init;
};

GYRE_DEFINE_LAYER (GyreGru, gyre_gru)

enum { RESET, UPDATE, NEW, N_GATES };

static const CellGate of_input[N_GATES] = {
  { "ir", TRUE }, { "iz", TRUE }, { "in", TRUE }
};
static const CellGate of_state[N_GATES] = {
  { "hr", FALSE }, { "hz", FALSE }, { "hn", TRUE }
};

/* One time: r = σ (ir + hr), z = σ (iz + hz), n = tanh (in + r hn); (1 - z) n + z h */
static GyreTensor *
advance (GyreTensor *inputs,
         GyreTensor *gates,
         gint64      features,
         GyreTensor *h)
{
  GyreTensor *reset = gyre_logistic (gyre_add (cell_gate (inputs, features, RESET),
                                               cell_gate (gates, features, RESET)));
  GyreTensor *update = gyre_logistic (gyre_add (cell_gate (inputs, features, UPDATE),
                                                cell_gate (gates, features, UPDATE)));
  GyreTensor *fresh =
    gyre_tanh (gyre_add (cell_gate (inputs, features, NEW),
                         gyre_mul (reset, cell_gate (gates, features, NEW))));

  return gyre_add (fresh, gyre_mul (update, gyre_sub (h, fresh)));
}

/* Gates are iX = x · iX/kernel + iX/bias and hX = h · hX/kernel, and hn has a bias too
 * (Cho et al., 2014, with the reset after the product); the state h, which is the output,
 * begins at 0.  x: f32[b, time, in] → f32[b, time, features], or f32[b, features] without
 * return-sequences.  The loop over time is unrolled.  Samples may be split among devices
 * in any way. */
static GyreTensor *
gyre_gru_apply (GyreLayer  *layer,
                GyreScope  *scope,
                GyreTensor *x)
{
  GyreGru *self = GYRE_GRU (layer);
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  GyreInit kernel_init = { .text = self->kernel_init };
  GyreInit recurrent_init = { .text = self->recurrent_kernel_init };
  GyreTensor *inputs, *h;

  if (!input_is (x, GYRE_F32, 3, TRUE) || gyre_tensor_dim (x, 1) < 1)
    return input_fail (scope, x, "f32[b, time, in] with at least one time");

  inputs = cell_gates (scope, of_input, N_GATES, &kernel_init, self->features,
                       x);
  h = gyre_full (GYRE_SHAPE (gyre_tensor_dim (x, 0), self->features), GYRE_F32, 0);
  for (gint64 t = 0; t < gyre_tensor_dim (x, 1); t++)
    {
      GyreTensor *gates = cell_gates (scope, of_state, N_GATES, &recurrent_init,
                                      self->features, h);

      h = advance (cell_at (inputs, t), gates, self->features, h);
      g_ptr_array_add (outputs, h);
    }

  return cell_result (outputs, self->return_sequences);
}

static void
gyre_gru_class_init (GyreGruClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_gru_apply;
  gyre_layer_class_add_int (layer_class, "features", "How many numbers the state has",
                            G_STRUCT_OFFSET (GyreGru, features), 1, G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_boolean (layer_class, "return-sequences",
                                "Whether the outputs of all times are given, or the last",
                                G_STRUCT_OFFSET (GyreGru, return_sequences), TRUE);
  gyre_layer_class_add_init (layer_class, "kernel-init",
                             "How the kernels of the input begin",
                             G_STRUCT_OFFSET (GyreGru, kernel_init), "lecun-normal");
  gyre_layer_class_add_init (
      layer_class, "recurrent-kernel-init", "How the kernels of the state begin",
      G_STRUCT_OFFSET (GyreGru, recurrent_kernel_init), "orthogonal");
}

static void
gyre_gru_init (GyreGru *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_gru_add (plugin, "gru");
}

GYRE_PLUGIN_DEFINE (gru, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
