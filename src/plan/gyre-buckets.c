/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/gyre-buckets-private.h"

#include "plan/gyre-pack-private.h"

#define LEAST_BYTES (64 * 1024)
#define MOST_BYTES  (4 * 1024 * 1024)

typedef struct
{
  GyreBuckets  *out;
  const GArray *exchanges;
  const guint  *homes;
  gsize         align;
  gsize         target;
} Builder;

static const GyreExchange *
get_exchange (const GArray *exchanges,
              guint         i)
{
  return &g_array_index (exchanges, GyreExchange, i);
}

static gboolean
is_reduction (const GyreExchange *exchange)
{
  return exchange->op.kind == GYRE_COLLECTIVE_ALL_REDUCE
         || exchange->op.kind == GYRE_COLLECTIVE_REDUCE_SCATTER;
}

static gsize
get_size (const GyreExchange *exchange)
{
  return (gsize) exchange->n_elements * gyre_dtype_size (exchange->dtype);
}

/* A quarter of what is reduced, in whole values. */
static gsize
choose_target (const GArray *exchanges)
{
  gsize total = 0;

  for (guint i = 0; i < exchanges->len; i++)
    if (is_reduction (get_exchange (exchanges, i)))
      total += get_size (get_exchange (exchanges, i));

  return CLAMP (total / 4, LEAST_BYTES, MOST_BYTES);
}

gboolean
gyre_bucket_is_blocks (const GyreBucket *self)
{
  return self->dim >= 0 && self->kind != GYRE_COLLECTIVE_ALL_REDUCE;
}

gboolean
gyre_bucket_is_routed (const GyreBucket *self)
{
  return self->kind == GYRE_COLLECTIVE_ALL_TO_ALL
         || self->kind == GYRE_COLLECTIVE_PERMUTE;
}

static void
bucket_free (gpointer data)
{
  GyreBucket *bucket = data;

  g_array_unref (bucket->members);
  g_array_unref (bucket->offsets);
  g_free (bucket);
}

static int
find_mirror (const Builder      *self,
             const GyreExchange *exchange)
{
  if (exchange->op.kind != GYRE_COLLECTIVE_ALL_GATHER || exchange->group == 0)
    return -1;

  return self->out->groups[exchange->group - 1].bucket;
}

static GyreBucket *
add_bucket (Builder            *self,
            const GyreExchange *exchange)
{
  GyreBucket *bucket = g_new0 (GyreBucket, 1);

  bucket->kind = exchange->op.kind;
  bucket->op = exchange->op.op;
  bucket->dtype = exchange->dtype;
  bucket->axes = exchange->op.axes;
  bucket->dim = exchange->op.dim;
  bucket->mirror = find_mirror (self, exchange);
  bucket->members = g_array_new (FALSE, FALSE, sizeof (guint));
  bucket->offsets = g_array_new (FALSE, FALSE, sizeof (gsize));
  bucket->acquire = bucket->finish = G_MAXUINT;
  if (bucket->mirror >= 0)
    bucket->size = ((GyreBucket *) g_ptr_array_index (self->out->buckets,
                                                      bucket->mirror))->size;
  g_ptr_array_add (self->out->buckets, bucket);

  return bucket;
}

static guint
begin_key (const Builder *self,
           guint          i)
{
  return GYRE_KEY_AFTER (MAX (get_exchange (self->exchanges, i)->ready, self->homes[i]));
}

static gboolean
can_join (const Builder    *self,
          const GyreBucket *bucket,
          guint             i)
{
  const GyreExchange *exchange = get_exchange (self->exchanges, i);

  if (bucket->kind != exchange->op.kind || bucket->op != exchange->op.op
      || bucket->dtype != exchange->dtype || bucket->axes != exchange->op.axes
      || bucket->dim != exchange->op.dim || gyre_bucket_is_blocks (bucket)
      || bucket->mirror != find_mirror (self, exchange))
    return FALSE;
  if (bucket->mirror < 0 &&
      (bucket->size >= self->target || bucket->size + get_size (exchange) > MOST_BYTES))
    return FALSE;

  return MAX (bucket->begin, begin_key (self, i))
         <= MIN (bucket->finish, GYRE_KEY_BEFORE (exchange->used));
}

/* The latest bucket that it fits: the values of a bucket come one after the other. */
static GyreBucket *
choose_bucket (Builder *self,
               guint    i)
{
  for (guint b = self->out->buckets->len; b-- > 0;)
    {
      GyreBucket *bucket = g_ptr_array_index (self->out->buckets, b);

      if (can_join (self, bucket, i))
        return bucket;
    }

  return add_bucket (self, get_exchange (self->exchanges, i));
}

static gsize
take_place (Builder            *self,
            GyreBucket         *bucket,
            const GyreExchange *exchange)
{
  gsize offset = bucket->size;

  if (gyre_bucket_is_blocks (bucket))
    return 0;
  if (bucket->mirror >= 0)
    return self->out->groups[exchange->group - 1].offset;

  bucket->size += gyre_align_up (MAX (get_size (exchange), 1), self->align);
  return offset;
}

static void
join (Builder    *self,
      guint       i,
      GyreBucket *bucket)
{
  const GyreExchange *exchange = get_exchange (self->exchanges, i);
  gsize offset = take_place (self, bucket, exchange);
  guint index;

  g_ptr_array_find (self->out->buckets, bucket, &index);
  g_array_append_val (bucket->members, i);
  g_array_append_val (bucket->offsets, offset);
  g_array_index (self->out->bucket_of, guint, i) = index;
  bucket->acquire = MIN (bucket->acquire, GYRE_KEY_BEFORE (exchange->ready));
  bucket->begin = MAX (bucket->begin, begin_key (self, i));
  bucket->finish = MIN (bucket->finish, GYRE_KEY_BEFORE (exchange->used));

  if (exchange->op.kind == GYRE_COLLECTIVE_REDUCE_SCATTER && exchange->group > 0)
    {
      self->out->groups[exchange->group - 1].bucket = (int) index;
      self->out->groups[exchange->group - 1].offset = offset;
      self->out->groups[exchange->group - 1].size = get_size (exchange);
    }
}

static int
compare_ready (gconstpointer a,
               gconstpointer b,
               gpointer      data)
{
  const GyreExchange *x = get_exchange (data, *(const guint *) a);
  const GyreExchange *y = get_exchange (data, *(const guint *) b);

  if (x->ready != y->ready)
    return x->ready < y->ready ? -1 : 1;

  return x->node < y->node ? -1 : x->node > y->node;
}

static void
count_groups (GyreBuckets  *self,
              const GArray *exchanges)
{
  for (guint i = 0; i < exchanges->len; i++)
    self->n_groups = MAX (self->n_groups, get_exchange (exchanges, i)->group);

  self->groups = g_malloc0_n (self->n_groups + 1, sizeof *self->groups);
  for (guint i = 0; i < self->n_groups; i++)
    self->groups[i].bucket = -1;
}

static void
join_by_readiness (Builder *self)
{
  guint n = self->exchanges->len;
  g_autofree guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) n, sizeof (guint), compare_ready,
                     (gpointer) self->exchanges);
  for (guint i = 0; i < n; i++)
    join (self, order[i], choose_bucket (self, order[i]));
}

static void
join_alike (Builder           *self,
            const GyreBuckets *like)
{
  for (guint b = 0; b < like->buckets->len; b++)
    {
      const GArray *members =
          ((GyreBucket *) g_ptr_array_index (like->buckets, b))->members;
      GyreBucket *bucket = add_bucket (
        self, get_exchange (self->exchanges, g_array_index (members, guint, 0)));

      for (guint m = 0; m < members->len; m++)
        join (self, g_array_index (members, guint, m), bucket);
    }
}

GyreBuckets *
gyre_buckets_new (const GArray      *exchanges,
                  const guint       *homes,
                  gsize              align,
                  const GyreBuckets *like)
{
  GyreBuckets *self = g_new0 (GyreBuckets, 1);
  Builder builder = { self, exchanges, homes, align, choose_target (exchanges) };

  self->buckets = g_ptr_array_new_with_free_func (bucket_free);
  self->bucket_of = g_array_new (FALSE, TRUE, sizeof (guint));
  g_array_set_size (self->bucket_of, exchanges->len);
  count_groups (self, exchanges);

  if (like != NULL && like->bucket_of->len == exchanges->len)
    join_alike (&builder, like);
  else
    join_by_readiness (&builder);

  return self;
}

void
gyre_buckets_free (GyreBuckets *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->buckets);
  g_array_unref (self->bucket_of);
  g_free (self->groups);
  g_free (self);
}

gsize
gyre_bucket_get_offset (const GyreBucket *self,
                        guint             exchange)
{
  for (guint i = 0; i < self->members->len; i++)
    if (g_array_index (self->members, guint, i) == exchange)
      return g_array_index (self->offsets, gsize, i);

  g_return_val_if_reached (0);
}
