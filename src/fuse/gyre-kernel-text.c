/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-kernel-text-private.h"

#include "fuse/gyre-kernel-include-private.h"

#include <string.h>

/* From statements to a program of one kernel. */

/* A pointer that another may equal is not restrict. */
static gboolean
is_shared (const GyreFusedKernel *kernel,
           guint                  n_results,
           guint                  n_operands,
           int                    result,
           int                    operand)
{
  for (guint r = 0; r < n_results; r++)
    for (guint k = 0; k < n_operands; k++)
      if (((int) r == result || (int) k == operand) &&
          kernel->overwrites[r * n_operands + k])
        return TRUE;

  return FALSE;
}

static void
append_pointer (GString         *out,
                const char      *prefix,
                GyreDtype        dtype,
                gboolean         shared,
                const char      *name,
                int              index)
{
  g_string_append (out, out->str[out->len - 1] == '(' ? "\n    " : ",\n    ");
  g_string_append_printf (out, "__global %s%s *%s%s", prefix, gyre_dtype_ctype (dtype),
                          shared ? "" : "restrict ", name);
  if (index >= 0)
    g_string_append_printf (out, "%d", index);
}

static void
append_parameters (GString                *out,
                   const GyreKernelWriter *writer,
                   GyrePartialsUse         partials,
                   const GyreFusedKernel  *kernel)
{
  const GPtrArray *inputs = writer->fusion->body->inputs;
  const GPtrArray *outputs = writer->fusion->body->outputs;
  guint n_outputs = partials == GYRE_PARTIALS_WRITTEN ? 0 : outputs->len;

  if (partials == GYRE_PARTIALS_WRITTEN)
    append_pointer (out, "", writer->window->node->dtype, FALSE, "partials", -1);
  for (guint i = 0; i < n_outputs; i++)
    append_pointer (out, "", ((const GyreTensor *) g_ptr_array_index (outputs, i))->dtype,
                    is_shared (kernel, outputs->len, inputs->len, (int) i, -1), "out",
                    (int) i);
  for (guint i = 0; i < inputs->len; i++)
    append_pointer (
        out, "const ", ((const GyreTensor *) g_ptr_array_index (inputs, i))->dtype,
        is_shared (kernel, outputs->len, inputs->len, -1, (int) i), "in", (int) i);
  if (partials == GYRE_PARTIALS_READ)
    append_pointer (out, "const ", writer->window->node->dtype, FALSE, "partials", -1);
  for (guint i = 0; i < writer->sizes->len; i++)
    g_string_append_printf (out, ",\n    const int %s",
                            g_array_index (writer->sizes, GyreSize, i).name);
}

/* "mul_add_max": what is computed last, for readers of profiles */
static char *
readable_part (const GyreGraph *body)
{
  GString *out = g_string_new (NULL);
  const char *last = "";
  guint n = 0;

  for (guint i = body->nodes->len; i-- > 0 && n < 3;)
    {
      const GyreTensor *node = g_ptr_array_index (body->nodes, i);

      if (node->prim == &gyre_prim_input || strcmp (node->prim->name, last) == 0
          || (n > 0 && node->prim->flags & (GYRE_PRIM_GENERATOR | GYRE_PRIM_VIEW)))
        continue;
      last = node->prim->name;
      g_string_prepend (out, n > 0 ? "_" : "");
      g_string_prepend (out, last);
      n++;
    }
  g_strcanon (out->str, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS, '_');

  return g_string_free (out, FALSE);
}

static gboolean
append_headers (GString                 *out,
                const GyreKernelWriter  *writer,
                GError                 **error)
{
  g_autoptr (GHashTable) included =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < writer->headers->len; i++)
    if (!gyre_kernel_include (out, g_ptr_array_index (writer->headers, i), included,
                              error))
      return FALSE;

  return TRUE;
}

/* The name has the hash of all the rest. */
static gboolean
write_source (GyreKernelWriter  *writer,
              GyrePartialsUse    partials,
              const char        *indices,
              GyreFusedKernel   *kernel,
              GError           **error)
{
  g_autoptr (GString) head = g_string_new ("#pragma OPENCL FP_CONTRACT OFF\n\n");
  g_autoptr (GString) rest = g_string_new (" (");
  g_autofree char *readable = readable_part (writer->fusion->body);
  g_autofree char *hash = NULL;
  g_autofree char *name = NULL;
  g_autofree char *source = NULL;

  if (!append_headers (head, writer, error))
    return FALSE;

  append_parameters (rest, writer, partials, kernel);
  g_string_append_printf (rest, ")\n{\n%s%s}\n", indices, writer->text->str);

  source = g_strconcat (head->str, rest->str, NULL);
  hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, source, -1);
  name = g_strdup_printf ("gyre_fused_%s_%.10s", readable, hash);
  g_free (source);
  source = g_strconcat (head->str, "__kernel void\n", name, rest->str, NULL);

  kernel->name = g_intern_string (name);
  kernel->source = g_intern_string (source);

  return TRUE;
}

static void
keep_sizes (const GyreKernelWriter *writer,
            GyreFusedKernel        *kernel,
            GyreArena              *arena)
{
  kernel->n_sizes = writer->sizes->len;
  kernel->sizes = gyre_arena_newn (arena, GyreSize, kernel->n_sizes + 1);
  for (guint i = 0; i < kernel->n_sizes; i++)
    {
      kernel->sizes[i] = g_array_index (writer->sizes, GyreSize, i);
      kernel->sizes[i].name = gyre_arena_strdup (arena, kernel->sizes[i].name);
    }
}

gboolean
gyre_kernel_text_finish (GyreKernelWriter  *writer,
                         GyrePartialsUse    partials,
                         const char        *indices,
                         GyreFusedKernel   *kernel,
                         GError           **error)
{
  if (!write_source (writer, partials, indices, kernel, error))
    return FALSE;

  keep_sizes (writer, kernel, writer->fusion->body->arena);

  return TRUE;
}
