/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-binder-private.h"

#include <gyre/gyre-error.h>

guint
gyre_binder_add (GyreBinder      *self,
                 const GyreBound *bound)
{
  g_array_append_val (self->line->bound, *bound);

  return self->line->bound->len - 1;
}

/* The buffer of a value; NULL with a slot where it differs from run to run. */
static GyreBuffer *
find_buffer (GyreBinder *self,
             guint       id,
             int        *slot,
             gboolean   *good)
{
  const GyrePlace *place = gyre_plan_get_place (self->line->plan, id);
  GyreStore *part;

  *slot = -1;
  switch (place->kind)
    {
    case GYRE_PLACE_INPUT:
      *slot = (int) place->index;
      return NULL;
    case GYRE_PLACE_OUTPUT:
      *slot = (int) (self->n_inputs + place->index);
      return NULL;
    case GYRE_PLACE_ARENA:
      return g_array_index (self->line->needs, GyreNeed,
                            self->line->need_of[self->line->plan->lives->root[id]])
          .buffer;
    case GYRE_PLACE_BUCKET:
      part = gyre_line_get_part (self->line, place->index, place->chunk, self->error);
      *good = *good && part != NULL;
      return part != NULL ? part->buffer : NULL;
    case GYRE_PLACE_NONE:
      break;
    }

  g_critical ("value %%%u has no memory", id);
  *good = FALSE;
  return NULL;
}

static guint
find_key (const GyreBinder  *self,
          const GyreLowered *lowered)
{
  return GYRE_KEY_AT (self->line->plan->lives->at[lowered->command.node->id]);
}

/* Scratch i of the command's node */
static GyreBuffer *
get_temp (const GyreBinder  *self,
          const GyreLowered *lowered,
          guint              i)
{
  return g_array_index (self->line->needs, GyreNeed,
                        self->line->n_roots + lowered->first_temp + i)
      .buffer;
}

/* --- kernels --- */

GyreKernel *
gyre_binder_find_kernel (GyreBinder       *self,
                         const GyreLaunch *launch)
{
  g_autofree char *loaded = NULL;

  if (launch->source == NULL)
    {
      loaded = gyre_kernel_source_load (launch->resource, self->error);
      if (loaded == NULL)
        return NULL;
    }

  return gyre_device_get_kernel (self->line->device,
                                 launch->source != NULL ? launch->source : loaded,
                                 launch->options, launch->kernel, self->error);
}

static gboolean
bind_arg (GyreBinder           *self,
          const GyreLowered    *lowered,
          const GyreCommandArg *arg,
          GyreKernelArg        *out,
          int                  *slot)
{
  gboolean good = TRUE;

  *slot = -1;
  switch (arg->kind)
    {
    case GYRE_COMMAND_ARG_VALUE:
      *out = GYRE_BUFFER_ARG (find_buffer (self, arg->value, slot, &good));
      break;
    case GYRE_COMMAND_ARG_TEMP:
      *out = GYRE_BUFFER_ARG (get_temp (self, lowered, arg->value));
      break;
    case GYRE_COMMAND_ARG_INT:
      *out = GYRE_I32_ARG (arg->i);
      break;
    case GYRE_COMMAND_ARG_FLOAT:
      *out = GYRE_F32_ARG (arg->f);
      break;
    }

  return good;
}

static gboolean
bind_launch (GyreBinder        *self,
             const GyreLowered *lowered,
             GArray            *wishes)
{
  const GyreLaunch *launch = &lowered->command.launch;
  GyreBound bound = { GYRE_COMMAND_LAUNCH, find_key (self, lowered),
                      lowered->command.node, lowered->command.variant };
  guint index;

  bound.launch.kernel = gyre_binder_find_kernel (self, launch);
  if (bound.launch.kernel == NULL)
    return FALSE;

  bound.launch.n_args = launch->n_args;
  bound.launch.args = g_new0 (GyreKernelArg, launch->n_args);
  bound.launch.dims = launch->dims;
  memcpy (bound.launch.global, launch->global, sizeof launch->global);
  memcpy (bound.launch.local, launch->local, sizeof launch->local);
  index = gyre_binder_add (self, &bound);

  for (guint i = 0; i < launch->n_args; i++)
    {
      GyreWish wish = { index, i };
      int slot;

      if (!bind_arg (self, lowered, &launch->args[i], &bound.launch.args[i], &slot))
        return FALSE;
      wish.slot = (guint) slot;
      if (slot >= 0)
        g_array_append_val (wishes, wish);
    }

  return TRUE;
}

/* --- others --- */

static GyreBuffer **
get_field (GyreBound *bound,
           guint      arg)
{
  switch (bound->kind)
    {
    case GYRE_COMMAND_LAUNCH:
      return &bound->launch.args[arg].value.buffer;
    case GYRE_COMMAND_GEMM:
      return arg == 0 ? &bound->gemm.a : arg == 1 ? &bound->gemm.b : &bound->gemm.c;
    case GYRE_COMMAND_FFT:
      return arg == 0 ? &bound->fft.from : &bound->fft.to;
    case GYRE_COMMAND_FILL:
      return &bound->fill.buffer;
    default:
      return arg == 0 ? &bound->copy.from : &bound->copy.to;
    }
}

gboolean
gyre_binder_set_value (GyreBinder *self,
                       guint       bound,
                       guint       arg,
                       guint       id,
                       GArray     *wishes)
{
  gboolean good = TRUE;
  GyreWish wish = { bound, arg };
  int slot;

  *get_field (&g_array_index (self->line->bound, GyreBound, bound), arg)
    = find_buffer (self, id, &slot, &good);
  wish.slot = (guint) slot;
  if (slot >= 0)
    g_array_append_val (wishes, wish);

  return good;
}

/* i: 0 for A, 1 for B, 2 for C */
static gboolean
set_operand (GyreBinder        *self,
             const GyreLowered *lowered,
             guint              bound,
             guint              i,
             GArray            *wishes)
{
  const GyreGemm *gemm = &lowered->command.gemm;
  const guint operands[] = { gemm->a, gemm->b, gemm->c };

  if ((gemm->temps & 1u << i) == 0)
    return gyre_binder_set_value (self, bound, i, operands[i], wishes);

  *get_field (&g_array_index (self->line->bound, GyreBound, bound), i)
    = get_temp (self, lowered, operands[i]);
  return TRUE;
}

static gboolean
bind_gemm (GyreBinder        *self,
           const GyreLowered *lowered,
           GArray            *wishes)
{
  const GyreGemm *gemm = &lowered->command.gemm;
  GyreBound bound = { GYRE_COMMAND_GEMM, find_key (self, lowered),
                      lowered->command.node, lowered->command.variant };
  guint index;

  bound.gemm = (GyreBlasGemm) {
    .m = gemm->m, .n = gemm->n, .k = gemm->k, .batch = gemm->batch,
    .lda = gemm->lda, .ldb = gemm->ldb, .ldc = gemm->ldc,
    .stride_a = gemm->stride_a, .stride_b = gemm->stride_b, .stride_c = gemm->stride_c,
    .first_a = gemm->first_a, .first_b = gemm->first_b, .first_c = gemm->first_c,
    .trans_a = gemm->trans_a, .trans_b = gemm->trans_b,
    .alpha = gemm->alpha, .beta = gemm->beta,
  };
  index = gyre_binder_add (self, &bound);

  for (guint i = 0; i < 3; i++)
    if (!set_operand (self, lowered, index, i, wishes))
      return FALSE;

  return TRUE;
}

static gboolean
bind_fft (GyreBinder        *self,
          const GyreLowered *lowered,
          GArray            *wishes)
{
  const GyreFftOp *fft = &lowered->command.fft;
  const GyreCommandArg *ends[] = { &fft->from, &fft->to };
  GyreBound bound = { GYRE_COMMAND_FFT, find_key (self, lowered),
                      lowered->command.node, lowered->command.variant };
  guint index;

  bound.fft.kind = (GyreFftKind) { fft->backward, fft->rows, fft->n, fft->batch };
  index = gyre_binder_add (self, &bound);

  for (guint i = 0; i < 2; i++)
    {
      GyreWish wish = { index, i };
      GyreKernelArg out;
      int slot;

      if (!bind_arg (self, lowered, ends[i], &out, &slot))
        return FALSE;
      *get_field (&g_array_index (self->line->bound, GyreBound, index), i) =
        out.value.buffer;
      wish.slot = (guint) slot;
      if (slot >= 0)
        g_array_append_val (wishes, wish);
    }

  return TRUE;
}

static gboolean
bind_fill (GyreBinder        *self,
           const GyreLowered *lowered,
           GArray            *wishes)
{
  GyreBound bound = { GYRE_COMMAND_FILL, find_key (self, lowered),
                      lowered->command.node, lowered->command.variant };

  memcpy (&bound.fill.pattern, &lowered->command.fill.pattern, sizeof bound.fill.pattern);
  bound.fill.size = (gsize) lowered->command.fill.count * 4;

  return gyre_binder_set_value (self, gyre_binder_add (self, &bound), 0,
                                lowered->command.fill.value, wishes);
}

static gboolean
bind_copy (GyreBinder        *self,
           const GyreLowered *lowered,
           GArray            *wishes)
{
  GyreBound bound = { GYRE_COMMAND_COPY, find_key (self, lowered),
                      lowered->command.node, lowered->command.variant };
  guint index;

  bound.copy.from_first = (gsize) lowered->command.copy.from_first;
  bound.copy.to_first = (gsize) lowered->command.copy.to_first;
  bound.copy.size = (gsize) lowered->command.copy.bytes;
  index = gyre_binder_add (self, &bound);

  return gyre_binder_set_value (self, index, 0, lowered->command.copy.from, wishes)
         && gyre_binder_set_value (self, index, 1, lowered->command.copy.to, wishes);
}

static gboolean
bind_lowered (GyreBinder        *self,
              const GyreLowered *lowered,
              GArray            *wishes)
{
  switch (lowered->command.kind)
    {
    case GYRE_COMMAND_LAUNCH:
      return bind_launch (self, lowered, wishes);
    case GYRE_COMMAND_GEMM:
      return bind_gemm (self, lowered, wishes);
    case GYRE_COMMAND_FFT:
      return bind_fft (self, lowered, wishes);
    case GYRE_COMMAND_FILL:
      return bind_fill (self, lowered, wishes);
    case GYRE_COMMAND_COPY:
      return bind_copy (self, lowered, wishes);
    case GYRE_COMMAND_COLLECTIVE:
      break;
    }

  return TRUE;
}

/* --- order --- */

typedef struct
{
  GyreBound bound;
  guint     index;
} Ordered;

static int
compare_key (gconstpointer a,
             gconstpointer b)
{
  const Ordered *x = a, *y = b;

  if (x->bound.key != y->bound.key)
    return x->bound.key < y->bound.key ? -1 : 1;

  return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorts the commands, and points the patches at their fields. */
static void
put_in_order (GyreLine *line,
              GArray   *wishes)
{
  guint n = line->bound->len;
  g_autofree Ordered *ordered = g_new (Ordered, n + 1);
  g_autofree guint *now = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    {
      ordered[i].bound = g_array_index (line->bound, GyreBound, i);
      ordered[i].index = i;
    }
  qsort (ordered, n, sizeof (Ordered), compare_key);
  for (guint i = 0; i < n; i++)
    {
      g_array_index (line->bound, GyreBound, i) = ordered[i].bound;
      now[ordered[i].index] = i;
    }

  for (guint i = 0; i < wishes->len; i++)
    {
      const GyreWish *wish = &g_array_index (wishes, GyreWish, i);
      GyrePatch patch = {
        get_field (&g_array_index (line->bound, GyreBound, now[wish->bound]), wish->arg),
        wish->slot
      };

      g_array_append_val (line->patches, patch);
    }
}

/* Who serves products and transforms is chosen, and all that they need made. */
static gboolean
prepare_bound (GyreLine  *self,
               GError   **error)
{
  for (guint i = 0; i < self->bound->len; i++)
    {
      GyreBound *bound = &g_array_index (self->bound, GyreBound, i);

      if (bound->kind == GYRE_COMMAND_GEMM
          && !gyre_blas_prepare (self->device, &bound->gemm, error))
        return FALSE;
      if (bound->kind == GYRE_COMMAND_FFT
          && !gyre_fft_prepare (self->device, &bound->fft, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
gyre_line_bind (GyreLine            *self,
                const GyreMeshSpec  *mesh,
                GyreLine *const     *lines,
                GError             **error)
{
  GyreBinder binder = { self, mesh, lines, self->program->graph->inputs->len, error };
  g_autoptr (GArray) wishes = g_array_new (FALSE, FALSE, sizeof (GyreWish));

  g_array_set_size (self->bound, 0);
  g_array_set_size (self->patches, 0);
  for (guint i = 0; i < self->lowered->len; i++)
    if (!bind_lowered (&binder, &g_array_index (self->lowered, GyreLowered, i), wishes))
      return FALSE;
  if (!gyre_binder_add_between (&binder, wishes))
    return FALSE;

  put_in_order (self, wishes);
  return prepare_bound (self, error);
}
