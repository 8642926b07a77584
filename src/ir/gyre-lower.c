/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-lower-private.h"

/* What a device holds of a value.  A value that is split flat is one dimension here: the
 * part of the row-major array that is the device's. */
void
gyre_lower_local_shape (const GyreLower  *self,
                        const GyreTensor *value,
                        GyreShape        *local,
                        gint64           *offsets)
{
  const GyreSpec *spec = &self->specs[value->id];
  const gint64 *bounds;

  if (spec->flat == 0)
    {
      gyre_spec_local_shape (spec, self->mesh, &value->shape, self->device, local,
                             offsets);
      return;
    }

  bounds = self->flat_bounds (self->data, value->id);
  *local = GYRE_SHAPE (bounds[self->device + 1] - bounds[self->device]);
  if (offsets != NULL)
    offsets[0] = bounds[self->device];
}

static void
add_command (GyreLower         *self,
             const GyreTensor  *node,
             const GyreCommand *command)
{
  GyreCommand copy = *command;

  copy.node = node;
  copy.variant = self->variant;
  g_array_append_val (self->commands, copy);
}

/* The arguments are copied; the strings are kept as they are, so they are static or of
 * the arena. */
void
gyre_lower_launch (GyreLower        *self,
                   const GyreTensor *node,
                   const GyreLaunch *launch)
{
  GyreCommand command = { GYRE_COMMAND_LAUNCH };

  g_return_if_fail (launch->kernel != NULL);
  g_return_if_fail (launch->source != NULL || launch->resource != NULL);
  g_return_if_fail (launch->dims >= 1 && launch->dims <= 3);

  command.launch = *launch;
  command.launch.args = gyre_arena_memdup (self->arena, launch->args,
                                           launch->n_args * sizeof (GyreCommandArg));
  add_command (self, node, &command);
}

void
gyre_lower_gemm (GyreLower        *self,
                 const GyreTensor *node,
                 const GyreGemm   *gemm)
{
  GyreCommand command = { GYRE_COMMAND_GEMM };

  command.gemm = *gemm;
  add_command (self, node, &command);
}

void
gyre_lower_fft (GyreLower        *self,
                const GyreTensor *node,
                const GyreFftOp  *fft)
{
  GyreCommand command = { GYRE_COMMAND_FFT };

  command.fft = *fft;
  add_command (self, node, &command);
}

void
gyre_lower_fill (GyreLower        *self,
                 const GyreTensor *node,
                 guint             value,
                 float             pattern,
                 gint64            count)
{
  GyreCommand command = { GYRE_COMMAND_FILL };

  command.fill.value = value;
  command.fill.pattern = pattern;
  command.fill.count = count;
  add_command (self, node, &command);
}

void
gyre_lower_copy (GyreLower        *self,
                 const GyreTensor *node,
                 guint             from,
                 gint64            from_first,
                 guint             to,
                 gint64            to_first,
                 gint64            bytes)
{
  GyreCommand command = { GYRE_COMMAND_COPY };

  command.copy.from = from;
  command.copy.to = to;
  command.copy.from_first = from_first;
  command.copy.to_first = to_first;
  command.copy.bytes = bytes;
  add_command (self, node, &command);
}

void
gyre_lower_collective (GyreLower              *self,
                       const GyreTensor       *node,
                       const GyreCollectiveOp *op)
{
  GyreCommand command = { GYRE_COMMAND_COLLECTIVE };

  command.collective = *op;
  add_command (self, node, &command);
}

guint
gyre_lower_temp (GyreLower *self,
                 gsize      bytes)
{
  g_array_append_val (self->temps, bytes);

  return self->temps->len - 1;
}
