/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/gyre-prim-private.h"

/* The text form.  Golden tests compare it byte by byte: it holds no addresses, and
 * nothing in it depends on the locale.
 *
 *   axis data=4 manual
 *   %0 = f32[256,784] input {x}
 *   %3 = f32[256,512] matmul %0 %1 {trans_b}  ; dense_0
 *   return %3
 */

void
gyre_tensor_print_type (const GyreTensor *self,
                        GString          *out)
{
  g_string_append_printf (out, "%s[", gyre_dtype_name (self->dtype));
  for (int i = 0; i < self->shape.rank; i++)
    g_string_append_printf (out, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "",
                            self->shape.dims[i]);
  g_string_append_c (out, ']');
}

static void
print_name (const GyreTensor *value,
            GString          *out)
{
  if (value->poison)
    g_string_append (out, "poison");
  else
    g_string_append_printf (out, "%%%u", value->id);
}

void
gyre_tensor_print (const GyreTensor *self,
                   GString          *out)
{
  print_name (self, out);
  g_string_append (out, " = ");
  gyre_tensor_print_type (self, out);
  g_string_append_printf (out, " %s", self->prim->name);

  for (guint i = 0; i < self->n_operands; i++)
    {
      g_string_append_c (out, ' ');
      print_name (self->operands[i], out);
    }

  if (self->prim->print != NULL)
    self->prim->print (self, out);
}

static void
print_axes (const GyreGraph *self,
            GString         *out)
{
  for (guint a = 0; a < self->n_axes; a++)
    g_string_append_printf (out, "axis %s=%u%s%s\n", self->axes[a].name,
                            self->axes[a].size, self->axes[a].manual ? " manual" : "",
                            self->axes[a].ragged ? " ragged" : "");
}

static void
print_outputs (const GyreGraph *self,
               GString         *out)
{
  g_string_append (out, "return");
  for (guint i = 0; i < self->outputs->len; i++)
    {
      g_string_append_c (out, ' ');
      print_name (g_ptr_array_index (self->outputs, i), out);
    }
  g_string_append_c (out, '\n');
}

char *
gyre_graph_to_string_full (const GyreGraph    *self,
                           GyreTensorNoteFunc  note,
                           gpointer            data)
{
  GString *out = g_string_new (NULL);

  print_axes (self, out);
  for (guint n = 0; n < self->nodes->len; n++)
    {
      const GyreTensor *node = g_ptr_array_index (self->nodes, n);

      gyre_tensor_print (node, out);
      if (note != NULL)
        note (node, out, data);
      if (node->path[0] != '\0')
        g_string_append_printf (out, "  ; %s", node->path);
      g_string_append_c (out, '\n');
    }
  print_outputs (self, out);
  if (self->error != NULL)
    g_string_append_printf (out, "error: %s\n", self->error->message);

  return g_string_free (out, FALSE);
}

char *
gyre_graph_to_string (const GyreGraph *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return gyre_graph_to_string_full (self, NULL, NULL);
}
