/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-line-private.h"

#include <gyre/gyre-error.h>

/* Makes bound commands of lowered ones: kernels are looked up, values become buffers. */
typedef struct
{
  GyreLine            *line;
  const GyreMeshSpec  *mesh;
  GyreLine *const     *lines;
  guint                n_inputs;
  GError             **error;
} Binder;

/* The arguments of bound commands stay where they are: patches point at them only once
 * all are there. */
typedef struct
{
  guint bound;
  guint arg;
  guint slot;
} Wish;

static guint
add_bound (Binder          *self,
           const GyreBound *bound)
{
  g_array_append_val (self->line->bound, *bound);

  return self->line->bound->len - 1;
}

/* The buffer of a value; NULL with a slot where it differs from run to run. */
static GyreBuffer *
find_buffer (Binder   *self,
             guint     id,
             int      *slot,
             gboolean *good)
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
find_key (const Binder      *self,
          const GyreLowered *lowered)
{
  return GYRE_KEY_AT (self->line->plan->lives->at[lowered->command.node->id]);
}

/* --- kernels --- */

static GyreKernel *
find_kernel (Binder           *self,
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
bind_arg (Binder               *self,
          const GyreLowered    *lowered,
          const GyreCommandArg *arg,
          GyreKernelArg        *out,
          int                  *slot)
{
  gboolean good = TRUE;
  guint temp = self->line->n_roots + lowered->first_temp;

  *slot = -1;
  switch (arg->kind)
    {
    case GYRE_COMMAND_ARG_VALUE:
      *out = GYRE_BUFFER_ARG (find_buffer (self, arg->value, slot, &good));
      break;
    case GYRE_COMMAND_ARG_TEMP:
      *out = GYRE_BUFFER_ARG (g_array_index (self->line->needs, GyreNeed,
                                             temp + arg->value).buffer);
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
bind_launch (Binder            *self,
             const GyreLowered *lowered,
             GArray            *wishes)
{
  const GyreLaunch *launch = &lowered->command.launch;
  GyreBound bound = { GYRE_COMMAND_LAUNCH, find_key (self, lowered),
                      lowered->command.node };
  guint index;

  bound.launch.kernel = find_kernel (self, launch);
  if (bound.launch.kernel == NULL)
    return FALSE;

  bound.launch.n_args = launch->n_args;
  bound.launch.args = g_new0 (GyreKernelArg, launch->n_args);
  bound.launch.dims = launch->dims;
  memcpy (bound.launch.global, launch->global, sizeof launch->global);
  memcpy (bound.launch.local, launch->local, sizeof launch->local);
  index = add_bound (self, &bound);

  for (guint i = 0; i < launch->n_args; i++)
    {
      Wish wish = { index, i };
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

/* Sets the arg-th buffer of a command that is no launch. */
static gboolean
bind_value (Binder  *self,
            guint    bound,
            guint    arg,
            guint    id,
            GArray  *wishes);

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
    case GYRE_COMMAND_FILL:
      return &bound->fill.buffer;
    default:
      return arg == 0 ? &bound->copy.from : &bound->copy.to;
    }
}

static gboolean
bind_value (Binder *self,
            guint   bound,
            guint   arg,
            guint   id,
            GArray *wishes)
{
  gboolean good = TRUE;
  Wish wish = { bound, arg };
  int slot;

  *get_field (&g_array_index (self->line->bound, GyreBound, bound), arg)
    = find_buffer (self, id, &slot, &good);
  wish.slot = (guint) slot;
  if (slot >= 0)
    g_array_append_val (wishes, wish);

  return good;
}

static gboolean
bind_gemm (Binder            *self,
           const GyreLowered *lowered,
           GArray            *wishes)
{
  const GyreGemm *gemm = &lowered->command.gemm;
  GyreBound bound = { GYRE_COMMAND_GEMM, find_key (self, lowered),
                      lowered->command.node };
  guint index;

  bound.gemm = (GyreBlasGemm) {
    .m = gemm->m, .n = gemm->n, .k = gemm->k, .batch = gemm->batch,
    .lda = gemm->lda, .ldb = gemm->ldb, .ldc = gemm->ldc,
    .stride_a = gemm->stride_a, .stride_b = gemm->stride_b, .stride_c = gemm->stride_c,
    .trans_a = gemm->trans_a, .trans_b = gemm->trans_b,
    .alpha = gemm->alpha, .beta = gemm->beta,
  };
  index = add_bound (self, &bound);

  return bind_value (self, index, 0, gemm->a, wishes)
         && bind_value (self, index, 1, gemm->b, wishes)
         && bind_value (self, index, 2, gemm->c, wishes);
}

static gboolean
bind_fill (Binder            *self,
           const GyreLowered *lowered,
           GArray            *wishes)
{
  GyreBound bound = { GYRE_COMMAND_FILL, find_key (self, lowered),
                      lowered->command.node };

  memcpy (&bound.fill.pattern, &lowered->command.fill.pattern, sizeof bound.fill.pattern);
  bound.fill.size = (gsize) lowered->command.fill.count * 4;

  return bind_value (self, add_bound (self, &bound), 0, lowered->command.fill.value,
                     wishes);
}

static gboolean
bind_copy (Binder            *self,
           const GyreLowered *lowered,
           GArray            *wishes)
{
  GyreBound bound = { GYRE_COMMAND_COPY, find_key (self, lowered),
                      lowered->command.node };
  guint index;

  bound.copy.from_first = (gsize) lowered->command.copy.from_first;
  bound.copy.to_first = (gsize) lowered->command.copy.to_first;
  bound.copy.size = (gsize) lowered->command.copy.bytes;
  index = add_bound (self, &bound);

  return bind_value (self, index, 0, lowered->command.copy.from, wishes)
         && bind_value (self, index, 1, lowered->command.copy.to, wishes);
}

static gboolean
bind_lowered (Binder            *self,
              const GyreLowered *lowered,
              GArray            *wishes)
{
  switch (lowered->command.kind)
    {
    case GYRE_COMMAND_LAUNCH:
      return bind_launch (self, lowered, wishes);
    case GYRE_COMMAND_GEMM:
      return bind_gemm (self, lowered, wishes);
    case GYRE_COMMAND_FILL:
      return bind_fill (self, lowered, wishes);
    case GYRE_COMMAND_COPY:
      return bind_copy (self, lowered, wishes);
    case GYRE_COMMAND_COLLECTIVE:
      break;
    }

  return TRUE;
}

/* --- what stands between nodes --- */

static const GyreExchange *
get_exchange (const Binder *self,
              guint         i)
{
  return &g_array_index (self->line->plan->exchanges, GyreExchange, i);
}

static const GyreBucket *
get_bucket (const Binder *self,
            guint         exchange)
{
  const GyreBuckets *buckets = self->line->plan->buckets;

  return g_ptr_array_index (buckets->buckets,
                            g_array_index (buckets->bucket_of, guint, exchange));
}

/* Where the block of a member begins in a bucket of blocks, in bytes. */
static gsize
block_offset (const Binder *self,
              guint         exchange,
              guint         member)
{
  guint b = g_array_index (self->line->plan->buckets->bucket_of, guint, exchange);
  const GyreLineCrew *crew = &g_array_index (self->line->crews, GyreLineCrew, b);

  return gyre_collective_get_bounds (gyre_crew_get_collective (crew->crew))[member] * 4;
}

/* The operand goes into its place before the bucket begins. */
static gboolean
bind_pack (Binder *self,
           guint   i,
           GArray *wishes)
{
  const GyreExchange *exchange = get_exchange (self, i);
  const GyreBucket *bucket = get_bucket (self, i);
  guint b = g_array_index (self->line->plan->buckets->bucket_of, guint, i);
  const GyreLineCrew *crew = &g_array_index (self->line->crews, GyreLineCrew, b);
  GyreBound bound = { GYRE_COMMAND_COPY, bucket->begin - 1 };
  guint index;

  if (self->line->plan->direct[i])
    return TRUE;

  bound.copy.size = gyre_line_size (self->line, self->mesh, exchange->in);
  if (gyre_bucket_is_blocks (bucket))
    {
      bound.copy.to = gyre_crew_get_buffer (crew->crew, crew->member);
      bound.copy.to_first = block_offset (self, i, crew->member);
    }
  else
    {
      GyreStore *part = gyre_line_get_part (self->line, i,
                                            bucket->kind == GYRE_COLLECTIVE_ALL_GATHER,
                                            self->error);

      if (part == NULL)
        return FALSE;
      bound.copy.to = part->buffer;
    }

  index = add_bound (self, &bound);
  return bind_value (self, index, 0, exchange->in, wishes);
}

/* One member's block goes to its place in the whole. */
static gboolean
bind_block (Binder *self,
            guint   i,
            guint   member,
            gint64  inner,
            gint64  stride,
            gint64  first,
            gint64  rows,
            GArray *wishes)
{
  const GyreExchange *exchange = get_exchange (self, i);
  const GyreBucket *bucket = get_bucket (self, i);
  guint b = g_array_index (self->line->plan->buckets->bucket_of, guint, i);
  const GyreLineCrew *crew = &g_array_index (self->line->crews, GyreLineCrew, b);
  gsize size = gyre_dtype_size (exchange->dtype);
  GyreBound bound = { GYRE_COMMAND_LAUNCH, bucket->finish + 1 };
  GyreLaunch launch = { NULL, "blocks.cl", NULL,
                        size == 4 ? "gyre_blocks_unpack_word"
                                  : "gyre_blocks_unpack_byte" };
  const gint64 numbers[] = { inner, stride, first,
                             (gint64) (block_offset (self, i, member) / size) };
  guint index;

  bound.launch.kernel = find_kernel (self, &launch);
  if (bound.launch.kernel == NULL)
    return FALSE;

  bound.launch.n_args = 6;
  bound.launch.args = g_new0 (GyreKernelArg, 6);
  bound.launch.args[1] =
      GYRE_BUFFER_ARG (gyre_crew_get_buffer (crew->crew, crew->member));
  for (guint k = 0; k < 4; k++)
    bound.launch.args[2 + k] = GYRE_I32_ARG ((gint32) numbers[k]);
  bound.launch.dims = 2;
  bound.launch.global[0] = (gsize) inner;
  bound.launch.global[1] = (gsize) rows;

  index = add_bound (self, &bound);
  g_array_index (self->line->bound, GyreBound, index).launch.args[0].kind =
      GYRE_ARG_BUFFER;
  return bind_value (self, index, 0, exchange->op.out, wishes);
}

/* The devices of a crew, in its order. */
static GPtrArray *
list_members (const Binder *self,
              guint         bucket)
{
  GPtrArray *members = g_ptr_array_new ();
  GyreCrew *crew = g_array_index (self->line->crews, GyreLineCrew, bucket).crew;
  guint n = gyre_mesh_spec_n_devices (self->mesh);

  for (guint d = 0; d < n; d++)
    if (g_array_index (self->lines[d]->crews, GyreLineCrew, bucket).crew == crew)
      g_ptr_array_add (members, self->lines[d]);

  return members;
}

static gboolean
bind_unpack (Binder *self,
             guint   i,
             GArray *wishes)
{
  const GyreExchange *exchange = get_exchange (self, i);
  const GyreTensor *out =
      g_ptr_array_index (self->line->program->graph->nodes, exchange->op.out);
  g_autoptr (GPtrArray) members = NULL;
  gint64 rows = 1, first = 0, stride,
         n = gyre_line_count (self->line, self->mesh, out->id);

  if (!gyre_bucket_is_blocks (get_bucket (self, i)) || n == 0)
    return TRUE;

  for (int d = 0; d < exchange->op.dim; d++)
    rows *= out->shape.dims[d];
  stride = n / rows;

  members =
      list_members (self, g_array_index (self->line->plan->buckets->bucket_of, guint, i));
  for (guint m = 0; m < members->len; m++)
    {
      GyreLine *other = g_ptr_array_index (members, m);
      gint64 inner = gyre_line_count (other, self->mesh, exchange->in) / rows;

      if (inner > 0 && !bind_block (self, i, m, inner, stride, first, rows, wishes))
        return FALSE;
      first += inner;
    }

  return TRUE;
}

/* An output that lies in a bucket is copied out at the end, unless it lives there. */
static gboolean
bind_output (Binder *self,
             guint   o,
             GArray *wishes)
{
  const GyrePlan *plan = self->line->plan;
  const GyreTensor *value = g_ptr_array_index (self->line->program->graph->outputs, o);
  guint root = plan->lives->root[value->id];
  const GyrePlace *place = &plan->places[root];
  int donor = self->line->program->donated[o];
  GyreBound bound = { GYRE_COMMAND_COPY, GYRE_KEY_END };
  Wish wish = { self->line->bound->len, 1, self->n_inputs + o };

  if (place->kind != GYRE_PLACE_BUCKET || plan->lives->output[root] != (int) o
      || (donor >= 0 && plan->home[donor] == (int) place->index))
    return TRUE;

  bound.copy.size = gyre_line_size (self->line, self->mesh, root);
  add_bound (self, &bound);
  g_array_append_val (wishes, wish);
  return bind_value (self, wish.bound, 0, root, wishes);
}

static gboolean
bind_between (Binder *self,
              GArray *wishes)
{
  for (guint i = 0; i < self->line->plan->exchanges->len; i++)
    if (!bind_pack (self, i, wishes) || !bind_unpack (self, i, wishes))
      return FALSE;

  for (guint o = 0; o < self->line->program->graph->outputs->len; o++)
    if (!bind_output (self, o, wishes))
      return FALSE;

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
      const Wish *wish = &g_array_index (wishes, Wish, i);
      GyrePatch patch = {
        get_field (&g_array_index (line->bound, GyreBound, now[wish->bound]), wish->arg),
        wish->slot
      };

      g_array_append_val (line->patches, patch);
    }
}

static gboolean
prepare_gemms (GyreLine  *self,
               GError   **error)
{
  for (guint i = 0; i < self->bound->len; i++)
    {
      const GyreBound *bound = &g_array_index (self->bound, GyreBound, i);

      if (bound->kind == GYRE_COMMAND_GEMM
          && !gyre_blas_prepare (self->device, &bound->gemm, error))
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
  Binder binder = { self, mesh, lines, self->program->graph->inputs->len, error };
  g_autoptr (GArray) wishes = g_array_new (FALSE, FALSE, sizeof (Wish));

  g_array_set_size (self->bound, 0);
  g_array_set_size (self->patches, 0);
  for (guint i = 0; i < self->lowered->len; i++)
    if (!bind_lowered (&binder, &g_array_index (self->lowered, GyreLowered, i), wishes))
      return FALSE;
  if (!bind_between (&binder, wishes))
    return FALSE;

  put_in_order (self, wishes);
  return prepare_gemms (self, error);
}
