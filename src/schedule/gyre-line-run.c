/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-line-private.h"

#include "base/gyre-env-private.h"
#include "device/gyre-transfer-private.h"

static gboolean
run_launch (GyreLine         *self,
            const GyreBound  *bound,
            cl_event         *event,
            GError          **error)
{
  gboolean free_local = bound->launch.local[0] == 0;

  return gyre_device_launch (
      self->device, bound->launch.kernel, bound->launch.args, bound->launch.n_args,
      bound->launch.dims, bound->launch.global, free_local ? NULL : bound->launch.local,
      NULL, 0, event, error);
}

static gboolean
run_gemm (GyreLine         *self,
          const GyreBound  *bound,
          cl_event         *event,
          GError          **error)
{
  return gyre_blas_gemm (self->device, &bound->gemm, event, error);
}

static gboolean
run_fft (GyreLine         *self,
         const GyreBound  *bound,
         cl_event         *event,
         GError          **error)
{
  return gyre_fft_enqueue (self->device, &bound->fft, event, error);
}

static gboolean
run_fill (GyreLine         *self,
          const GyreBound  *bound,
          cl_event         *event,
          GError          **error)
{
  return gyre_device_fill (self->device, bound->fill.buffer, 0, bound->fill.size,
                           bound->fill.pattern, NULL, 0, event, error);
}

/* A value that is gathered into itself is there. */
static gboolean
run_copy (GyreLine         *self,
          const GyreBound  *bound,
          cl_event         *event,
          GError          **error)
{
  gboolean same = bound->copy.from == bound->copy.to
                  && bound->copy.from_first == bound->copy.to_first;

  return gyre_device_copy (self->device, bound->copy.from, bound->copy.from_first,
                           bound->copy.to, bound->copy.to_first,
                           same ? 0 : bound->copy.size, NULL, 0, event, error);
}

typedef gboolean (*RunFunc) (GyreLine         *self,
                             const GyreBound  *bound,
                             cl_event         *event,
                             GError          **error);

static const RunFunc run_funcs[] = {
  [GYRE_COMMAND_LAUNCH] = run_launch,
  [GYRE_COMMAND_GEMM]   = run_gemm,
  [GYRE_COMMAND_FFT]    = run_fft,
  [GYRE_COMMAND_FILL]   = run_fill,
  [GYRE_COMMAND_COPY]   = run_copy,
};

/* GYRE_STEP_SYNC=1: a debugging aid that waits after each command. */
static gboolean
is_sync (void)
{
  static gsize state;

  if (g_once_init_enter (&state))
    g_once_init_leave (&state, gyre_env_is ("GYRE_STEP_SYNC", "1") ? 2 : 1);

  return state == 2;
}

static gboolean
wait_for (cl_event   event,
          GError   **error)
{
  cl_int status;

  if (event == NULL)
    return TRUE;

  status = clWaitForEvents (1, &event);
  clReleaseEvent (event);
  return gyre_cl_check (status, error, "waiting for it");
}

static gboolean
run_bound (GyreLine         *self,
           const GyreBound  *bound,
           GError          **error)
{
  cl_event event = NULL;
  gboolean sync = is_sync ();

  if (run_funcs[bound->kind] (self, bound, sync ? &event : NULL, error)
      && (!sync || wait_for (event, error)))
    return TRUE;

  if (bound->node != NULL)
    g_prefix_error (error, "%%%u %s%s%s: ", bound->node->id, bound->node->prim->name,
                    bound->node->path[0] != '\0' ? " in " : "", bound->node->path);
  g_prefix_error (error, "%s: ", gyre_device_get_name (self->device));
  return FALSE;
}

gboolean
gyre_line_run (GyreLine  *self,
               guint     *next,
               guint      key,
               GError   **error)
{
  guint first = *next;

  for (; *next < self->bound->len; (*next)++)
    {
      const GyreBound *bound = &g_array_index (self->bound, GyreBound, *next);

      if (bound->key >= key)
        break;
      if (!run_bound (self, bound, error))
        return FALSE;
    }

  return *next == first || gyre_device_flush (self->device, error);
}

void
gyre_line_patch (GyreLine          *self,
                 GyreBuffer *const *slots)
{
  for (guint i = 0; i < self->patches->len; i++)
    {
      const GyrePatch *patch = &g_array_index (self->patches, GyrePatch, i);

      *patch->where = slots[patch->slot];
    }
}

static gsize
get_arg_bytes (const GyreBound *bound)
{
  gsize bytes = 0;

  for (guint i = 0; i < bound->launch.n_args; i++)
    if (bound->launch.args[i].kind == GYRE_ARG_BUFFER
        && bound->launch.args[i].value.buffer != NULL)
      bytes += gyre_buffer_get_size (bound->launch.args[i].value.buffer);

  return bytes;
}

static void
print_launch (const GyreBound *bound,
              GString         *out)
{
  g_string_append_printf (out, "launch %s", gyre_kernel_get_name (bound->launch.kernel));
  for (guint d = 0; d < bound->launch.dims; d++)
    g_string_append_printf (out, "%s%" G_GSIZE_FORMAT, d > 0 ? "x" : " ",
                            bound->launch.global[d]);
  g_string_append_printf (out, " bytes %" G_GSIZE_FORMAT, get_arg_bytes (bound));
}

static void
print_gemm (const GyreBound *bound,
            GString         *out)
{
  const GyreBlasGemm *gemm = &bound->gemm;

  g_string_append_printf (out, "gemm %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%"
                          G_GINT64_FORMAT, gemm->m, gemm->n, gemm->k);
  if (gemm->batch != 1)
    g_string_append_printf (out, " batch %" G_GINT64_FORMAT, gemm->batch);
  g_string_append_printf (
      out, "%s%s bytes %" G_GINT64_FORMAT, gemm->trans_a ? " trans_a" : "",
      gemm->trans_b ? " trans_b" : "",
      4 * gemm->batch * (gemm->m * gemm->k + gemm->k * gemm->n + gemm->m * gemm->n));
}

static void
print_fft (const GyreBound *bound,
           GString         *out)
{
  const GyreFftKind *kind = &bound->fft.kind;

  g_string_append_printf (
      out, "fft %s %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
      " by %s bytes %" G_GINT64_FORMAT, kind->backward ? "backward" : "forward",
      kind->batch, kind->rows, kind->n, gyre_fft_provider (&bound->fft),
      4 * kind->batch * kind->rows * (kind->n + kind->n / 2 * 2 + 2));
}

char *
gyre_bound_to_string (const GyreBound *self)
{
  GString *out = g_string_new (NULL);

  if (self->kind == GYRE_COMMAND_LAUNCH)
    print_launch (self, out);
  else if (self->kind == GYRE_COMMAND_GEMM)
    print_gemm (self, out);
  else if (self->kind == GYRE_COMMAND_FFT)
    print_fft (self, out);
  else if (self->kind == GYRE_COMMAND_FILL)
    g_string_append_printf (out, "fill bytes %" G_GSIZE_FORMAT, self->fill.size);
  else
    g_string_append_printf (out, "copy bytes %" G_GSIZE_FORMAT, self->copy.size);

  if (self->node != NULL)
    {
      g_string_append_printf (out, "  %%%u %s", self->node->id, self->node->prim->name);
      for (guint i = 0; i < self->node->n_operands; i++)
        g_string_append_printf (out, " %%%u", self->node->operands[i]->id);
      if (self->variant != NULL)
        g_string_append_printf (out, " (%s)", self->variant);
      if (self->node->path[0] != '\0')
        g_string_append_printf (out, "  ; %s", self->node->path);
    }

  return g_string_free (out, FALSE);
}
