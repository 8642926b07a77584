/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fused-partials-private.h"

#include "fuse/gyre-kernel-text-private.h"

#include <string.h>

/* The first kernel of a long reduction to one number.  Along one dimension, of extent n,
 * work-item w of W takes the elements w, w + W, … as far as all have one; what is left,
 * fewer than W, is a partial result for each of its own.  So neighbours read neighbours,
 * all run the same number of rounds, and the order of addition depends on the extents
 * alone. */

#define N_ITEMS   256           /* W */
#define N_PARTIALS "512"        /* 2 W */
#define MIN_COUNT 8192          /* elements; below that a second launch costs more */

static gint64
count_reduced (const GyreTensor *node)
{
  return gyre_shape_n_elements (&node->operands[0]->shape)
         / MAX (gyre_shape_n_elements (&node->shape), 1);
}

/* The one node that loops, if it is the only one and can be parted. */
static const GyreTensor *
find_reduction (const GyreGraph *body)
{
  const GyreTensor *found = NULL;

  for (guint i = 0; i < body->nodes->len; i++)
    {
      const GyreTensor *node = g_ptr_array_index (body->nodes, i);

      if ((node->prim->flags & GYRE_PRIM_REDUCTION) == 0)
        continue;
      if (found != NULL || (node->prim->flags & GYRE_PRIM_PARTIALS) == 0)
        return NULL;
      found = node;
    }

  return found;
}

gboolean
gyre_fused_partials_find (const GyreKernelWriter *writer,
                          GyreKernelWindow       *window)
{
  const GyreTensor *node = find_reduction (writer->fusion->body);
  const GyreTensor *operand;

  if (node == NULL || !writer->uniform || gyre_shape_n_elements (&node->shape) != 1
      || count_reduced (node) < MIN_COUNT)
    return FALSE;

  operand = node->operands[0];
  *window = (GyreKernelWindow) { node, operand->shape.rank - 1, TRUE, N_PARTIALS, NULL };
  while (window->dim > 0 && operand->shape.dims[window->dim] == 1)
    window->dim--;

  return operand->shape.dims[window->dim] >= N_ITEMS;
}

static const char *
local_extent (GyreKernelWriter       *writer,
              const GyreKernelWindow *window)
{
  const GyreTensor *operand = window->node->operands[0];
  GyreExtent extent =
      gyre_extent_of (operand, &writer->fusion->specs[operand->id], window->dim);
  GyreExtents extents = { 1 };

  gyre_extents_multiply (&extents, &extent);

  return gyre_kernel_writer_size (writer, GYRE_SIZE_EXTENT, &extents);
}

static const char *
reduce_part (GyreKernelWriter       *writer,
             const GyreKernelWindow *window,
             gboolean                in_step)
{
  const char *ix[GYRE_MAX_RANK];

  for (int d = 0; d < GYRE_MAX_RANK; d++)
    ix[d] = "0";

  writer->window = window;
  writer->in_step = in_step;
  g_array_set_size (writer->memo, 0);

  return gyre_kernel_writer_element (writer, window->node, ix);
}

static void
write_parts (GyreKernelWriter       *writer,
             const GyreKernelWindow *window,
             gboolean                cpu)
{
  GyreEmit *emit = &writer->emit;
  const char *n = local_extent (writer, window);
  const char *whole = gyre_emit_let (emit, "int",
                                     gyre_emit_printf (emit, "%s / %d", n, N_ITEMS));
  const char *rest =
      gyre_emit_printf (emit, "w0 < %s - %s * %d ? 1 : 0", n, whole, N_ITEMS);
  GyreKernelWindow part = *window;
  const char *first, *second;

  part.partials = FALSE;
  part.count = whole;
  part.format = gyre_emit_printf (emit, "%%s * %d + w0", N_ITEMS);
  first = reduce_part (writer, &part, cpu);

  part.count = gyre_emit_let (emit, "int", rest);
  part.format = gyre_emit_printf (emit, "(%s + %%s) * %d + w0", whole, N_ITEMS);
  second = reduce_part (writer, &part, FALSE);

  gyre_emit_statement (emit, "partials[w0] = %s;", first);
  gyre_emit_statement (emit, "partials[%d + w0] = %s;", N_ITEMS, second);
  writer->window = window;
}

GyreFusedKernel *
gyre_fused_partials_make (const GyreFusion        *fusion,
                          const GyreKernelWindow  *window,
                          gboolean                 cpu,
                          GError                 **error)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  GyreFusedKernel *kernel = gyre_arena_new0 (fusion->body->arena, GyreFusedKernel);
  GyreKernelWriter writer;
  gboolean done;

  kernel->overwrites = gyre_arena_newn (fusion->body->arena, gboolean,
                                        fusion->body->outputs->len
                                          * MAX (fusion->body->inputs->len, 1));
  kernel->scratch = 2 * N_ITEMS * gyre_dtype_size (window->node->dtype);
  kernel->dims = 1;
  kernel->range[0] = (GyreExtents) { N_ITEMS };
  kernel->local[0] = cpu ? 16 : 64;
  kernel->local[1] = kernel->local[2] = 1;

  gyre_kernel_writer_init (&writer, fusion, arena, FALSE);
  write_parts (&writer, window, cpu);
  done =
      gyre_kernel_text_finish (&writer, GYRE_PARTIALS_WRITTEN,
                               "  const int w0 = get_global_id (0);\n\n", kernel, error);
  gyre_kernel_writer_clear (&writer);

  return done ? kernel : NULL;
}
