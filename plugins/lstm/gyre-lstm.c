/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gyre-cell.h"
#include "common/gyre-input.h"

#define GYRE_TYPE_LSTM (gyre_lstm_get_type ())
G_DECLARE_FINAL_TYPE (GyreLstm, gyre_lstm, GYRE, LSTM, GyreLayer)

struct _GyreLstm
{
  GyreLayer parent_instance;
  gint64    features;
  gboolean  return_sequences;
  char     *kernel_init;
  char     *recurrent_kernel_init;
};

GYRE_DEFINE_LAYER (GyreLstm, gyre_lstm)

enum { INPUT, FORGET, CELL, OUTPUT, N_GATES };

static const CellGate of_input[N_GATES] = {
  { "ii", FALSE }, { "if", FALSE }, { "ig", FALSE }, { "io", FALSE }
};
static const CellGate of_state[N_GATES] = {
  { "hi", TRUE }, { "hf", TRUE }, { "hg", TRUE }, { "ho", TRUE }
};

/* One time: *carry becomes c = σ (f) c + σ (i) tanh (g); the output is σ (o) tanh (c) */
static GyreTensor *
advance (GyreTensor  *gates,
         gint64       features,
         GyreTensor **carry)
{
  GyreTensor *input = gyre_logistic (cell_gate (gates, features, INPUT));
  GyreTensor *forget = gyre_logistic (cell_gate (gates, features, FORGET));
  GyreTensor *cell = gyre_tanh (cell_gate (gates, features, CELL));
  GyreTensor *output = gyre_logistic (cell_gate (gates, features, OUTPUT));

  *carry = gyre_add (gyre_mul (forget, *carry), gyre_mul (input, cell));
  return gyre_mul (output, gyre_tanh (*carry));
}

/* Each gate is x · iX/kernel + h · hX/kernel + hX/bias (Hochreiter and Schmidhuber, 1997;
 * Gers et al., 2000); state and output h begin at 0.  x: f32[b, time, in] → f32[b, time,
 * features], or f32[b, features] without return-sequences.  The loop over time is
 * unrolled.  Samples may be split among devices in any way. */
static GyreTensor *
gyre_lstm_apply (GyreLayer  *layer,
                 GyreScope  *scope,
                 GyreTensor *x)
{
  GyreLstm *self = GYRE_LSTM (layer);
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  GyreInit kernel_init = { .text = self->kernel_init };
  GyreInit recurrent_init = { .text = self->recurrent_kernel_init };
  GyreTensor *inputs, *carry, *h;

  if (!input_is (x, GYRE_F32, 3, TRUE) || gyre_tensor_dim (x, 1) < 1)
    return input_fail (scope, x, "f32[b, time, in] with at least one time");

  inputs = cell_gates (scope, of_input, N_GATES, &kernel_init, self->features,
                       x);
  h = carry =
    gyre_full (GYRE_SHAPE (gyre_tensor_dim (x, 0), self->features), GYRE_F32, 0);
  for (gint64 t = 0; t < gyre_tensor_dim (x, 1); t++)
    {
      GyreTensor *gates = cell_gates (scope, of_state, N_GATES, &recurrent_init,
                                      self->features, h);

      h = advance (gyre_add (cell_at (inputs, t), gates), self->features, &carry);
      g_ptr_array_add (outputs, h);
    }

  return cell_result (outputs, self->return_sequences);
}

static void
gyre_lstm_class_init (GyreLstmClass *klass)
{
  GyreLayerClass *layer_class = GYRE_LAYER_CLASS (klass);

  layer_class->apply = gyre_lstm_apply;
  gyre_layer_class_add_int (layer_class, "features", "How many numbers the state has",
                            G_STRUCT_OFFSET (GyreLstm, features), 1, G_MAXINT32, 1);
  gyre_layer_class_require (layer_class, "features");
  gyre_layer_class_add_boolean (layer_class, "return-sequences",
                                "Whether the outputs of all times are given, or the last",
                                G_STRUCT_OFFSET (GyreLstm, return_sequences), TRUE);
  gyre_layer_class_add_init (layer_class, "kernel-init",
                             "How the kernels of the input begin",
                             G_STRUCT_OFFSET (GyreLstm, kernel_init), "lecun-normal");
  gyre_layer_class_add_init (
      layer_class, "recurrent-kernel-init", "How the kernels of the state begin",
      G_STRUCT_OFFSET (GyreLstm, recurrent_kernel_init), "orthogonal");
}

static void
gyre_lstm_init (GyreLstm *self)
{
}

static void
plugin_init (GyrePlugin *plugin)
{
  gyre_lstm_add (plugin, "lstm");
}

GYRE_PLUGIN_DEFINE (lstm, GYRE_VERSION_STRING, "Apache-2.0", plugin_init, "Gyre")
