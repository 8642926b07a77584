/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/gyre-kernel-writer-private.h"

#include <string.h>

/* Generated kernels are written a statement a line.  Names: iN index of a work-item, vN
 * value, mN variable that changes, rN loop index, nN extent, oN offset, gN global
 * extent. */

typedef struct
{
  const GyreTensor  *value;
  const char *const *ix;
  const char        *name;
} Memo;

static GyreKernelWriter *
writer_of (GyreEmit *emit)
{
  return (GyreKernelWriter *) emit;
}

static gboolean
is_name_char (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

gboolean
gyre_text_has_name (const char *text,
                    const char *name)
{
  gsize length = strlen (name);

  for (const char *at = strstr (text, name); at != NULL; at = strstr (at + 1, name))
    if ((at == text || !is_name_char (at[-1])) && !is_name_char (at[length]))
      return TRUE;

  return FALSE;
}

/* A name or a number: repeating it costs nothing, and it needs no parentheses. */
static gboolean
is_simple (const char *expression)
{
  for (const char *at = expression; *at != '\0'; at++)
    if (!is_name_char (*at) && *at != '.')
      return FALSE;

  return *expression != '\0';
}

static void
write_line (GyreKernelWriter *self,
            const char       *format,
            ...) G_GNUC_PRINTF (2, 3);

static void
write_line (GyreKernelWriter *self,
            const char       *format,
            ...)
{
  va_list args;

  g_string_append_printf (self->text, "%*s", 2 * (int) (self->depth + 1), "");
  va_start (args, format);
  g_string_append_vprintf (self->text, format, args);
  va_end (args);
  g_string_append_c (self->text, '\n');
}

static const char *
new_name (GyreKernelWriter *self,
          char              prefix)
{
  return gyre_emit_printf (&self->emit, "%c%u", prefix, self->n_names++);
}

/* Blocks: what was named inside one is unknown outside of it. */

static void
open_block (GyreKernelWriter *self)
{
  write_line (self, "{");
  self->depth++;
  g_array_append_val (self->blocks, self->memo->len);
}

static void
close_block (GyreKernelWriter *self)
{
  guint length = g_array_index (self->blocks, guint, self->blocks->len - 1);

  g_array_set_size (self->memo, length);
  g_array_set_size (self->blocks, self->blocks->len - 1);
  self->depth--;
  write_line (self, "}");
}

/* Sizes */

static char
size_prefix (GyreSizeKind kind)
{
  static const char prefixes[] = {
    [GYRE_SIZE_EXTENT] = 'n',
    [GYRE_SIZE_OFFSET] = 'o',
    [GYRE_SIZE_GLOBAL] = 'g',
  };

  return prefixes[kind];
}

const char *
gyre_kernel_writer_size (GyreKernelWriter  *self,
                         GyreSizeKind       kind,
                         const GyreExtents *extents)
{
  GyreSize size = { kind, *extents };

  for (guint i = 0; i < self->sizes->len; i++)
    {
      const GyreSize *known = &g_array_index (self->sizes, GyreSize, i);

      if (known->kind == kind && gyre_extents_equal (&known->extents, extents))
        return known->name;
    }

  size.name =
      gyre_emit_printf (&self->emit, "%c%u", size_prefix (kind), self->sizes->len);
  g_array_append_val (self->sizes, size);

  return size.name;
}

static const GyreSpec *
spec_of (GyreKernelWriter *self,
         const GyreTensor *value)
{
  return &self->fusion->specs[value->id];
}

static const char *
size_of_dim (GyreKernelWriter *self,
             const GyreTensor *value,
             int               dim,
             GyreSizeKind      kind)
{
  GyreExtent extent = gyre_extent_of (value, spec_of (self, value), dim);
  GyreExtents extents = { 1 };

  if (gyre_extent_is_one (&extent))
    return kind == GYRE_SIZE_OFFSET ? "0" : "1";
  if (kind == GYRE_SIZE_OFFSET && extent.axes == 0 && extent.flat == 0)
    return "0";

  gyre_extents_multiply (&extents, &extent);

  return gyre_kernel_writer_size (self, kind, &extents);
}

/* Elements */

static gboolean
ix_equal (const GyreTensor  *value,
          const char *const *a,
          const char *const *b)
{
  for (int d = 0; d < value->shape.rank; d++)
    if (strcmp (a[d], b[d]) != 0)
      return FALSE;

  return TRUE;
}

static const char *
recall (GyreKernelWriter  *self,
        const GyreTensor  *value,
        const char *const *ix)
{
  for (guint i = 0; i < self->memo->len; i++)
    {
      const Memo *memo = &g_array_index (self->memo, Memo, i);

      if (memo->value == value && ix_equal (value, memo->ix, ix))
        return memo->name;
    }

  return NULL;
}

/* An index that depends on a variable that changes means another element later on. */
static gboolean
is_steady (const char *expression)
{
  for (const char *at = expression; *at != '\0'; at++)
    if (*at == 'm' && g_ascii_isdigit (at[1]) &&
        (at == expression || !is_name_char (at[-1])))
      return FALSE;

  return TRUE;
}

static const char *const *
keep_ix (GyreKernelWriter  *self,
         const GyreTensor  *value,
         const char *const *ix)
{
  return gyre_arena_memdup (self->emit.arena, ix,
                            MAX (value->shape.rank, 1) * sizeof *ix);
}

static void
remember (GyreKernelWriter  *self,
          const GyreTensor  *value,
          const char *const *ix,
          const char        *name)
{
  Memo memo = { value, keep_ix (self, value, ix), name };

  for (int d = 0; d < value->shape.rank; d++)
    if (!is_steady (ix[d]))
      return;

  g_array_append_val (self->memo, memo);
}

/* Of one dimension, where there is but one element, the index is 0 whatever it looks
 * like. */
static const char *const *
drop_ones (GyreKernelWriter  *self,
           const GyreTensor  *value,
           const char *const *ix)
{
  const char **kept = gyre_arena_newn (self->emit.arena, const char *, GYRE_MAX_RANK);

  for (int d = 0; d < value->shape.rank; d++)
    {
      GyreExtent extent = gyre_extent_of (value, spec_of (self, value), d);

      kept[d] = gyre_extent_is_one (&extent) ? "0" : ix[d];
    }

  return kept;
}

/* The product as text: "", "512", "n3 * 512" */
static void
append_stride (GyreKernelWriter  *self,
               const GyreExtents *stride,
               GString           *out)
{
  for (guint i = 0; i < stride->n; i++)
    {
      GyreExtents extents = { 1, 1, { stride->factors[i] } };

      g_string_append_printf (out, " * %s",
                              gyre_kernel_writer_size (self, GYRE_SIZE_EXTENT, &extents));
    }
  if (stride->literal != 1)
    g_string_append_printf (out, " * %" G_GINT64_FORMAT, stride->literal);
}

static const char *
write_address (GyreKernelWriter  *self,
               const GyreTensor  *value,
               const char *const *ix)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (int d = 0; d < value->shape.rank; d++)
    {
      GyreExtents stride = gyre_extents_stride (value, spec_of (self, value), d);

      if (strcmp (ix[d], "0") == 0)
        continue;
      g_string_append (out, out->len > 0 ? " + " : "");
      g_string_append_printf (out, is_simple (ix[d]) ? "%s" : "(%s)", ix[d]);
      append_stride (self, &stride, out);
    }

  return gyre_arena_strdup (self->emit.arena, out->len > 0 ? out->str : "0");
}

static const char *
access_value (GyreKernelWriter  *self,
              const GyreTensor  *value,
              gboolean           store,
              guint              index,
              const char *const *ix)
{
  GyreAccess access = { value, store, index, drop_ones (self, value, ix) };
  const char *address;

  g_array_append_val (self->accesses, access);
  address = self->measuring ? "" : write_address (self, value, access.ix);

  return gyre_emit_printf (&self->emit, "%s%u[%s]", store ? "out" : "in", index, address);
}

static const char *
ask_rule (GyreKernelWriter  *self,
          const GyreTensor  *value,
          const char *const *ix)
{
  const GyreTensor *outer = self->rule;
  const char *element;

  self->rule = value;
  element = value->prim->fuse (&self->emit, value, ix);
  self->rule = outer;

  return element;
}

/* A view in a body only adds or drops dimensions of one element. */
static const char *
view_element (GyreKernelWriter  *self,
              const GyreTensor  *value,
              const char *const *ix)
{
  const char *jx[GYRE_MAX_RANK];
  int dims[GYRE_MAX_RANK];

  if (!gyre_extents_map_view (value, self->fusion->specs, dims))
    return ask_rule (self, value, ix);

  for (int d = 0; d < value->operands[0]->shape.rank; d++)
    jx[d] = dims[d] >= 0 ? ix[dims[d]] : "0";

  return gyre_kernel_writer_element (self, value->operands[0], jx);
}

const char *
gyre_kernel_writer_element (GyreKernelWriter  *self,
                            const GyreTensor  *value,
                            const char *const *ix)
{
  const char *name = recall (self, value, ix);

  if (name != NULL)
    return name;

  if (value->prim == &gyre_prim_input)
    name = access_value (self, value, FALSE,
                         ((const GyreInputAttrs *) value->attrs)->index, ix);
  else if (value->prim->flags & GYRE_PRIM_VIEW)
    name = view_element (self, value, ix);
  else
    name = ask_rule (self, value, ix);

  if (!is_simple (name))
    name = gyre_emit_let (&self->emit, gyre_dtype_ctype (value->dtype), name);
  remember (self, value, ix, name);

  return name;
}

void
gyre_kernel_writer_store (GyreKernelWriter  *self,
                          guint              output,
                          const char *const *ix,
                          const char        *expression)
{
  const GyreTensor *value = g_ptr_array_index (self->fusion->body->outputs, output);
  const char *target = access_value (self, value, TRUE, output, ix);

  write_line (self, "%s = %s;", target, expression);
}

static gboolean
is_in_loop (const GyreAccess *access)
{
  for (int d = 0; d < access->value->shape.rank; d++)
    if (access->ix[d][0] == 'r' || strstr (access->ix[d], " r") != NULL
        || strstr (access->ix[d], "(r") != NULL)
      return TRUE;

  return FALSE;
}

gboolean
gyre_kernel_writer_is_columns (const GyreKernelWriter *self,
                               const char             *innermost)
{
  gboolean any = FALSE;

  if (self->n_loops == 0 || !self->uniform)
    return FALSE;

  for (guint i = 0; i < self->accesses->len; i++)
    {
      const GyreAccess *access = &g_array_index (self->accesses, GyreAccess, i);

      if (!is_in_loop (access))
        continue;
      if (strcmp (access->ix[access->value->shape.rank - 1], innermost) != 0)
        return FALSE;
      any = TRUE;
    }

  return any;
}

/* The face that rules see */

/* Whether the reduction that is done in two kernels asks. */
static gboolean
is_windowed (const GyreKernelWriter *self)
{
  return self->window != NULL && self->rule == self->window->node;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static const char *
windowed_element (GyreKernelWriter  *self,
                  const GyreTensor  *operand,
                  const char *const *ix)
{
  const GyreKernelWindow *window = self->window;
  const char *jx[GYRE_MAX_RANK];

  if (window->partials)
    return gyre_emit_printf (&self->emit, "partials[%s]", ix[window->dim]);

  memcpy (jx, ix, operand->shape.rank * sizeof *jx);
  jx[window->dim] = gyre_emit_let (&self->emit, "int",
                                   gyre_emit_printf (&self->emit, window->format,
                                                     ix[window->dim]));

  return gyre_kernel_writer_element (self, operand, jx);
}

#pragma GCC diagnostic pop

static const char *
emit_operand (GyreEmit          *emit,
              const GyreTensor  *node,
              guint              i,
              const char *const *ix)
{
  if (is_windowed (writer_of (emit)))
    return windowed_element (writer_of (emit), node->operands[i], ix);

  return gyre_kernel_writer_element (writer_of (emit), node->operands[i], ix);
}

static const char *
emit_extent (GyreEmit         *emit,
             const GyreTensor *value,
             int               dim)
{
  const GyreKernelWindow *window = writer_of (emit)->window;

  if (is_windowed (writer_of (emit)))
    {
      if (dim == window->dim)
        return window->count;
      if (window->partials)
        return "1";
    }

  return size_of_dim (writer_of (emit), value, dim, GYRE_SIZE_EXTENT);
}

static const char *
emit_offset (GyreEmit         *emit,
             const GyreTensor *value,
             int               dim)
{
  return size_of_dim (writer_of (emit), value, dim, GYRE_SIZE_OFFSET);
}

static const char *
emit_global_extent (GyreEmit         *emit,
                    const GyreTensor *value,
                    int               dim)
{
  return size_of_dim (writer_of (emit), value, dim, GYRE_SIZE_GLOBAL);
}

static const char *
emit_let (GyreEmit   *emit,
          const char *ctype,
          const char *expression)
{
  const char *name = new_name (writer_of (emit), 'v');

  write_line (writer_of (emit), "const %s %s = %s;", ctype, name, expression);

  return name;
}

static const char *
emit_variable (GyreEmit   *emit,
               const char *ctype,
               const char *initial)
{
  const char *name = new_name (writer_of (emit), 'm');

  write_line (writer_of (emit), "%s %s = %s;", ctype, name, initial);

  return name;
}

static void
emit_statement (GyreEmit   *emit,
                const char *statement)
{
  gboolean ended = g_str_has_suffix (statement, ";") || g_str_has_suffix (statement, "}");

  write_line (writer_of (emit), ended ? "%s" : "%s;", statement);
}

static gboolean
is_size_name (const char *expression)
{
  return is_simple (expression) &&
         (g_ascii_isdigit (expression[0]) || expression[0] == 'n');
}

static const char *
emit_open_loop (GyreEmit   *emit,
                const char *extent)
{
  GyreKernelWriter *self = writer_of (emit);
  const char *name = new_name (self, 'r');

  self->n_loops++;
  self->innermost = TRUE;
  self->uniform = self->uniform && self->n_ifs == 0 && is_size_name (extent);
  write_line (self, "for (int %s = 0; %s < %s; %s++)", name, name, extent, name);
  open_block (self);

  return name;
}

static void
emit_open_if (GyreEmit   *emit,
              const char *condition)
{
  writer_of (emit)->n_ifs++;
  write_line (writer_of (emit), "if (%s)", condition);
  open_block (writer_of (emit));
}

static void
emit_close_loop (GyreEmit *emit)
{
  GyreKernelWriter *self = writer_of (emit);

  if (self->in_step && self->innermost)
    write_line (self, "barrier (CLK_LOCAL_MEM_FENCE);");
  self->innermost = FALSE;
  close_block (self);
}

static void
emit_close_if (GyreEmit *emit)
{
  writer_of (emit)->n_ifs--;
  close_block (writer_of (emit));
}

static void
emit_need (GyreEmit   *emit,
           const char *header)
{
  GPtrArray *headers = writer_of (emit)->headers;

  if (!g_ptr_array_find_with_equal_func (headers, header, g_str_equal, NULL))
    g_ptr_array_add (headers, (gpointer) header);
}

static const GyreEmitFuncs funcs = {
  .operand       = emit_operand,
  .extent        = emit_extent,
  .offset        = emit_offset,
  .global_extent = emit_global_extent,
  .let           = emit_let,
  .variable      = emit_variable,
  .statement     = emit_statement,
  .open_loop     = emit_open_loop,
  .close_loop    = emit_close_loop,
  .open_if       = emit_open_if,
  .close_if      = emit_close_if,
  .need          = emit_need,
};

void
gyre_kernel_writer_init (GyreKernelWriter *self,
                         const GyreFusion *fusion,
                         GyreArena        *arena,
                         gboolean          measuring)
{
  memset (self, 0, sizeof *self);
  self->emit.funcs = &funcs;
  self->emit.arena = arena;
  self->fusion = fusion;
  self->measuring = measuring;
  self->uniform = TRUE;
  self->text = g_string_new (NULL);
  self->memo = g_array_new (FALSE, FALSE, sizeof (Memo));
  self->blocks = g_array_new (FALSE, FALSE, sizeof (guint));
  self->headers = g_ptr_array_new ();
  self->sizes = g_array_new (FALSE, FALSE, sizeof (GyreSize));
  self->accesses = g_array_new (FALSE, FALSE, sizeof (GyreAccess));
}

void
gyre_kernel_writer_clear (GyreKernelWriter *self)
{
  g_string_free (self->text, TRUE);
  g_array_unref (self->memo);
  g_array_unref (self->blocks);
  g_ptr_array_unref (self->headers);
  g_array_unref (self->sizes);
  g_array_unref (self->accesses);
}
