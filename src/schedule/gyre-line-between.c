/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/gyre-binder-private.h"

/* The commands that stand between nodes: values go into their buckets and out of them. */

static const GyreExchange *
get_exchange (const GyreBinder *self,
              guint             i)
{
  return &g_array_index (self->line->plan->exchanges, GyreExchange, i);
}

static const GyreBucket *
get_bucket (const GyreBinder *self,
            guint             exchange)
{
  const GyreBuckets *buckets = self->line->plan->buckets;

  return g_ptr_array_index (buckets->buckets,
                            g_array_index (buckets->bucket_of, guint, exchange));
}

/* Where the block of a member begins in a bucket of blocks, in bytes. */
static gsize
block_offset (const GyreBinder *self,
              guint             exchange,
              guint             member)
{
  guint b = g_array_index (self->line->plan->buckets->bucket_of, guint, exchange);
  const GyreLineCrew *crew = &g_array_index (self->line->crews, GyreLineCrew, b);

  return gyre_collective_get_bounds (gyre_crew_get_collective (crew->crew))[member] * 4;
}

static gboolean
is_scattered (const GyreBucket *bucket)
{
  return bucket->kind == GYRE_COLLECTIVE_REDUCE_SCATTER && gyre_bucket_is_blocks (bucket);
}

/* A member's block in a whole array: rows of inner elements, stride apart. */
typedef struct
{
  guint  member;
  gint64 rows, inner, stride, first;
} Block;

/* The block goes from the whole to the bucket, or to the whole from there. */
static gboolean
bind_block (GyreBinder  *self,
            guint        i,
            const Block *block,
            GArray      *wishes)
{
  const GyreExchange *exchange = get_exchange (self, i);
  const GyreBucket *bucket = get_bucket (self, i);
  guint b = g_array_index (self->line->plan->buckets->bucket_of, guint, i);
  const GyreLineCrew *crew = &g_array_index (self->line->crews, GyreLineCrew, b);
  gboolean pack = is_scattered (bucket);
  gsize size = gyre_dtype_size (exchange->dtype);
  GyreBound bound = { GYRE_COMMAND_LAUNCH,
                      pack ? bucket->begin - 1 : bucket->finish + 1 };
  GyreLaunch launch = { NULL, "blocks.cl", NULL,
                        pack        ? "gyre_blocks_pack_word"
                        : size == 4 ? "gyre_blocks_unpack_word"
                                    : "gyre_blocks_unpack_byte" };
  const gint64 numbers[] = { block->inner, block->stride, block->first,
                             (gint64) (block_offset (self, i, block->member) / size) };
  guint index, whole = pack ? 1 : 0;

  bound.launch.kernel = gyre_binder_find_kernel (self, &launch);
  if (bound.launch.kernel == NULL)
    return FALSE;

  bound.launch.n_args = 6;
  bound.launch.args = g_new0 (GyreKernelArg, 6);
  bound.launch.args[1 - whole] =
      GYRE_BUFFER_ARG (gyre_crew_get_buffer (crew->crew, crew->member));
  for (guint k = 0; k < 4; k++)
    bound.launch.args[2 + k] = GYRE_I32_ARG ((gint32) numbers[k]);
  bound.launch.dims = 2;
  bound.launch.global[0] = (gsize) block->inner;
  bound.launch.global[1] = (gsize) block->rows;

  index = gyre_binder_add (self, &bound);
  g_array_index (self->line->bound, GyreBound, index).launch.args[whole].kind =
      GYRE_ARG_BUFFER;
  return gyre_binder_set_value (self, index, whole,
                                pack ? exchange->in : exchange->op.out, wishes);
}

/* The devices of a crew, in its order. */
static GPtrArray *
list_members (const GyreBinder *self,
              guint             bucket)
{
  GPtrArray *members = g_ptr_array_new ();
  GyreCrew *crew = g_array_index (self->line->crews, GyreLineCrew, bucket).crew;
  guint n = gyre_mesh_spec_n_devices (self->mesh);

  for (guint d = 0; d < n; d++)
    if (g_array_index (self->lines[d]->crews, GyreLineCrew, bucket).crew == crew)
      g_ptr_array_add (members, self->lines[d]);

  return members;
}

/* Every member's block of the whole, which is the operand or the result. */
static gboolean
bind_blocks (GyreBinder *self,
             guint       i,
             GArray     *wishes)
{
  const GyreExchange *exchange = get_exchange (self, i);
  gboolean pack = is_scattered (get_bucket (self, i));
  guint whole = pack ? exchange->in : exchange->op.out;
  guint part = pack ? exchange->op.out : exchange->in;
  const GyreTensor *value = g_ptr_array_index (self->line->program->graph->nodes, whole);
  gint64 n = gyre_line_count (self->line, self->mesh, whole);
  g_autoptr (GPtrArray) members = NULL;
  Block block = { .rows = 1 };
  GyreShape local;

  if (n == 0)
    return TRUE;

  gyre_spec_local_shape (&self->line->program->specs[whole], self->mesh, &value->shape,
                         self->line->index, &local, NULL);
  for (int d = 0; d < exchange->op.dim; d++)
    block.rows *= local.dims[d];
  block.stride = n / block.rows;

  members =
      list_members (self, g_array_index (self->line->plan->buckets->bucket_of, guint, i));
  for (; block.member < members->len; block.member++)
    {
      GyreLine *other = g_ptr_array_index (members, block.member);

      block.inner = gyre_line_count (other, self->mesh, part) / block.rows;
      if (block.inner > 0 && !bind_block (self, i, &block, wishes))
        return FALSE;
      block.first += block.inner;
    }

  return TRUE;
}

/* The operand goes into its place before the bucket begins. */
static gboolean
bind_pack (GyreBinder *self,
           guint       i,
           GArray     *wishes)
{
  const GyreExchange *exchange = get_exchange (self, i);
  const GyreBucket *bucket = get_bucket (self, i);
  guint b = g_array_index (self->line->plan->buckets->bucket_of, guint, i);
  const GyreLineCrew *crew = &g_array_index (self->line->crews, GyreLineCrew, b);
  GyreBound bound = { GYRE_COMMAND_COPY, bucket->begin - 1 };
  guint index;

  if (self->line->plan->direct[i])
    return TRUE;
  if (is_scattered (bucket))
    return bind_blocks (self, i, wishes);

  bound.copy.size = gyre_line_size (self->line, self->mesh, exchange->in);
  if (gyre_bucket_is_routed (bucket))
    bound.copy.to = gyre_crew_get_buffer (crew->crew, crew->member);
  else if (gyre_bucket_is_blocks (bucket))
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

  index = gyre_binder_add (self, &bound);
  return gyre_binder_set_value (self, index, 0, exchange->in, wishes);
}

/* What the devices gathered goes into the whole, or the own block out of the bucket. */
static gboolean
bind_unpack (GyreBinder *self,
             guint       i,
             GArray     *wishes)
{
  const GyreExchange *exchange = get_exchange (self, i);
  const GyreBucket *bucket = get_bucket (self, i);
  guint b = g_array_index (self->line->plan->buckets->bucket_of, guint, i);
  const GyreLineCrew *crew = &g_array_index (self->line->crews, GyreLineCrew, b);
  GyreBound bound = { GYRE_COMMAND_COPY, bucket->finish + 1 };

  if (!gyre_bucket_is_blocks (bucket))
    return TRUE;
  if (bucket->kind == GYRE_COLLECTIVE_ALL_GATHER)
    return bind_blocks (self, i, wishes);

  bound.copy.size = gyre_line_size (self->line, self->mesh, exchange->op.out);
  bound.copy.from = gyre_crew_get_buffer (crew->crew, crew->member);
  bound.copy.from_first =
      block_offset (self, i, gyre_bucket_is_routed (bucket) ? 1 : crew->member);
  return gyre_binder_set_value (self, gyre_binder_add (self, &bound), 1,
                                exchange->op.out, wishes);
}

/* An output that lies in a bucket is copied out at the end, unless it lives there. */
static gboolean
bind_output (GyreBinder *self,
             guint       o,
             GArray     *wishes)
{
  const GyrePlan *plan = self->line->plan;
  const GyreTensor *value = g_ptr_array_index (self->line->program->graph->outputs, o);
  guint root = plan->lives->root[value->id];
  const GyrePlace *place = &plan->places[root];
  int donor = self->line->program->donated[o];
  GyreBound bound = { GYRE_COMMAND_COPY, GYRE_KEY_END };
  GyreWish wish = { self->line->bound->len, 1, self->n_inputs + o };

  if (place->kind != GYRE_PLACE_BUCKET || plan->lives->output[root] != (int) o
      || (donor >= 0 && plan->home[donor] == (int) place->index))
    return TRUE;

  bound.copy.size = gyre_line_size (self->line, self->mesh, root);
  gyre_binder_add (self, &bound);
  g_array_append_val (wishes, wish);
  return gyre_binder_set_value (self, wish.bound, 0, root, wishes);
}

gboolean
gyre_binder_add_between (GyreBinder *self,
                         GArray     *wishes)
{
  for (guint i = 0; i < self->line->plan->exchanges->len; i++)
    if (!bind_pack (self, i, wishes) || !bind_unpack (self, i, wishes))
      return FALSE;

  for (guint o = 0; o < self->line->program->graph->outputs->len; o++)
    if (!bind_output (self, o, wishes))
      return FALSE;

  return TRUE;
}
