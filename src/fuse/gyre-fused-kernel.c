/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-fused-partials-private.h"
#include "fuse/gyre-kernel-text-private.h"

#include <string.h>

/* From a fusion to the text of its kernel.  It is written twice: the first time to see
 * which indices go together, the second time with the ranges that are left.
 *
 * Results first, then operands, then sizes.  A work-item makes one element of each
 * result. */

/* Work-groups have few sizes: PoCL compiles a kernel again for each. */
#define GROUP_CHAIN     256
#define GROUP_REDUCTION 64
#define GROUP_COLUMNS   16   /* a vector of floats */

static const char *
range_size (GyreKernelWriter     *writer,
            const GyreKernelGrid *grid,
            guint                 range)
{
  return gyre_kernel_writer_size (writer, GYRE_SIZE_EXTENT, &grid->extents[range]);
}

static void
open_guard (GyreKernelWriter     *writer,
            const GyreKernelGrid *grid)
{
  g_autoptr (GString) condition = g_string_new (NULL);

  for (guint r = 0; r < grid->n_ranges; r++)
    g_string_append_printf (condition, "%sw%u < %s", r > 0 ? " && " : "", r,
                            range_size (writer, grid, r));
  gyre_emit_open_if (&writer->emit, condition->str);
}

static void
write_elements (GyreKernelWriter     *writer,
                const GyreKernelGrid *grid)
{
  const GPtrArray *outputs = writer->fusion->body->outputs;
  g_autofree const char **elements = g_new (const char *, outputs->len);

  /* Everything is read before anything is written, so that a result may take over the
   * buffer of an operand. */
  for (guint i = 0; i < outputs->len; i++)
    elements[i] =
        gyre_kernel_writer_element (writer, g_ptr_array_index (outputs, i), grid->ix);
  if (grid->columns)
    open_guard (writer, grid);
  for (guint i = 0; i < outputs->len; i++)
    gyre_kernel_writer_store (writer, i, grid->ix, elements[i]);
  if (grid->columns)
    gyre_emit_close_if (&writer->emit);
}

/* TRUE where it takes two kernels: then the window says what the first one covers. */
static gboolean
plan_grid (const GyreFusion *fusion,
           gboolean          cpu,
           GyreArena        *arena,
           GyreKernelGrid   *grid,
           GyreKernelWindow *window)
{
  const GyreTensor *result = g_ptr_array_index (fusion->body->outputs, 0);
  GyreKernelWriter writer;
  gboolean parted;

  gyre_kernel_grid_init (grid, result, &fusion->specs[result->id], arena);
  gyre_kernel_writer_init (&writer, fusion, arena, TRUE);
  write_elements (&writer, grid);
  gyre_kernel_grid_collapse (grid, &writer);
  grid->columns = cpu && grid->n_ranges > 0 && grid->n_ranges <= 3
                  && gyre_kernel_writer_is_columns (&writer, grid->names[0]);
  parted = grid->n_ranges == 0 && gyre_fused_partials_find (&writer, window);
  gyre_kernel_writer_clear (&writer);

  return parted;
}

/* Whether operand k is read by each work-item at the index of its own result alone. */
static gboolean
is_aligned (const GyreKernelWriter *writer,
            const GyreKernelGrid   *grid,
            guint                   k)
{
  for (guint i = 0; i < writer->accesses->len; i++)
    {
      const GyreAccess *access = &g_array_index (writer->accesses, GyreAccess, i);

      if (access->store || access->index != k)
        continue;
      for (int d = 0; d < access->value->shape.rank; d++)
        if (strcmp (access->ix[d], grid->ix[d]) != 0)
          return FALSE;
    }

  return TRUE;
}

static void
find_overwrites (const GyreKernelWriter *writer,
                 const GyreKernelGrid   *grid,
                 GyreFusedKernel        *kernel)
{
  const GyreFusion *fusion = writer->fusion;
  const GPtrArray *inputs = fusion->body->inputs;
  const GPtrArray *outputs = fusion->body->outputs;

  kernel->overwrites = gyre_arena_newn (fusion->body->arena, gboolean,
                                        outputs->len * MAX (inputs->len, 1));
  for (guint r = 0; r < outputs->len; r++)
    for (guint k = 0; k < inputs->len; k++)
      {
        const GyreTensor *result = g_ptr_array_index (outputs, r);
        const GyreTensor *operand = g_ptr_array_index (inputs, k);
        const GyreSpec *a = &fusion->specs[result->id];
        const GyreSpec *b = &fusion->specs[operand->id];

        kernel->overwrites[r * inputs->len + k] =
            result->dtype == operand->dtype &&
            gyre_shape_equal (&result->shape, &operand->shape) &&
            gyre_spec_equal (a, b) && a->group == b->group && writer->window == NULL &&
            is_aligned (writer, grid, k);
      }
}

/* More than three ranges: the outer ones share the third id. */
static void
append_packed_ranges (GString              *out,
                      GyreKernelWriter     *writer,
                      const GyreKernelGrid *grid)
{
  g_string_append (out, "  int w = get_global_id (2);\n");
  for (guint r = 2; r < grid->n_ranges - 1; r++)
    {
      const char *size = range_size (writer, grid, r);

      g_string_append_printf (out, "  const int %s = w %% %s;\n  w /= %s;\n",
                              grid->names[r], size, size);
    }
  g_string_append_printf (out, "  const int %s = w;\n", grid->names[grid->n_ranges - 1]);
}

/* All work-items reach all barriers: those past the end do what the last one does, and
 * write nothing. */
static void
append_clamped_indices (GString              *out,
                        GyreKernelWriter     *writer,
                        const GyreKernelGrid *grid)
{
  for (guint r = 0; r < grid->n_ranges; r++)
    g_string_append_printf (out,
                            "  const int w%u = get_global_id (%u);\n"
                            "  const int %s = min (w%u, %s - 1);\n",
                            r, r, grid->names[r], r, range_size (writer, grid, r));
  g_string_append_c (out, '\n');
}

static void
append_indices (GString              *out,
                GyreKernelWriter     *writer,
                const GyreKernelGrid *grid)
{
  guint plain = grid->n_ranges > 3 ? 2 : grid->n_ranges;

  if (grid->n_ranges == 0)
    return;
  if (grid->columns)
    {
      append_clamped_indices (out, writer, grid);
      return;
    }

  for (guint r = 0; r < plain; r++)
    g_string_append_printf (out, "  const int %s = get_global_id (%u);\n", grid->names[r],
                            r);
  if (plain < grid->n_ranges)
    append_packed_ranges (out, writer, grid);

  g_string_append (out, "\n  if (");
  for (guint r = 0; r < grid->n_ranges; r++)
    g_string_append_printf (out, "%s%s >= %s", r > 0 ? " || " : "", grid->names[r],
                            range_size (writer, grid, r));
  g_string_append (out, ")\n    return;\n\n");
}

/* The range of work-items; what follows from the text alone, so that the text is the same
 * wherever it runs. */
static void
set_ranges (GyreFusedKernel      *kernel,
            const GyreKernelGrid *grid,
            gboolean              reduces)
{
  gsize left = grid->columns ? GROUP_COLUMNS : reduces ? GROUP_REDUCTION : GROUP_CHAIN;

  kernel->dims = CLAMP (grid->n_ranges, 1, 3);
  for (guint r = 0; r < 3; r++)
    {
      kernel->range[r] = (GyreExtents) { 1 };
      kernel->local[r] = 1;
    }
  for (guint r = 0; r < grid->n_ranges; r++)
    {
      GyreExtents *range = &kernel->range[MIN (r, 2)];

      range->literal *= grid->extents[r].literal;
      for (guint i = 0; i < grid->extents[r].n; i++)
        gyre_extents_multiply (range, &grid->extents[r].factors[i]);
    }
  for (guint r = 0; r < MIN (grid->n_ranges, 2); r++)
    {
      gboolean whole = kernel->range[r].n == 0;

      while (kernel->local[r] < left
             && (!whole || (gint64) kernel->local[r] < kernel->range[r].literal))
        kernel->local[r] *= 2;
      left /= kernel->local[r];
    }
}

static gboolean
has_reduction (const GyreGraph *body)
{
  for (guint i = 0; i < body->nodes->len; i++)
    if (((const GyreTensor *) g_ptr_array_index (body->nodes, i))->prim->flags
        & GYRE_PRIM_REDUCTION)
      return TRUE;

  return FALSE;
}

static gboolean
generate (const GyreFusion  *fusion,
          gboolean           cpu,
          GyreFusedKernel   *kernel,
          GError           **error)
{
  g_autoptr (GyreArena) arena = gyre_arena_new ();
  g_autoptr (GString) indices = g_string_new (NULL);
  GyreKernelWriter writer;
  GyreKernelGrid grid;
  GyreKernelWindow window;
  gboolean parted, done;

  parted = plan_grid (fusion, cpu, arena, &grid, &window);
  gyre_kernel_writer_init (&writer, fusion, arena, FALSE);
  writer.in_step = grid.columns;
  if (parted)
    writer.window = &window;
  for (guint r = 0; r < grid.n_ranges; r++)
    range_size (&writer, &grid, r);
  write_elements (&writer, &grid);

  find_overwrites (&writer, &grid, kernel);
  set_ranges (kernel, &grid, has_reduction (fusion->body));
  append_indices (indices, &writer, &grid);
  done =
      gyre_kernel_text_finish (&writer, parted ? GYRE_PARTIALS_READ : GYRE_PARTIALS_NONE,
                               indices->str, kernel, error);
  gyre_kernel_writer_clear (&writer);
  if (done && parted)
    kernel->before = gyre_fused_partials_make (fusion, &window, cpu, error);

  return done && (!parted || kernel->before != NULL);
}

const GyreFusedKernel *
gyre_fusion_get_kernel (GyreFusion  *self,
                        gboolean     cpu,
                        GError     **error)
{
  GyreFusedKernel **place = &self->kernels[cpu ? 1 : 0];
  GyreFusedKernel *kernel;

  if (*place != NULL)
    return *place;

  kernel = gyre_arena_new0 (self->body->arena, GyreFusedKernel);
  if (generate (self, cpu, kernel, error))
    *place = kernel;

  return *place;
}
