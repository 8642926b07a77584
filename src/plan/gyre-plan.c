/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/gyre-plan-private.h"

#include "ir/gyre-prim-private.h"

static const GyreExchange *
get_exchange (const GyrePlan *self,
              guint           i)
{
  return &g_array_index (self->exchanges, GyreExchange, i);
}

static const GyreTensor *
get_input (const GyrePlan *self,
           guint           i)
{
  return g_ptr_array_index (self->lives->program->graph->inputs, i);
}

/* The input that a root is to take over, or -1. */
static int
find_donor (const GyrePlan *self,
            guint           root)
{
  int output = self->lives->output[root];

  return output < 0 ? -1 : self->lives->program->donated[output];
}

/* --- homes --- */

static gboolean
can_be_home (const GyrePlan     *self,
             const GyreExchange *exchange,
             int                 input)
{
  const GyreTensor *donor;

  if (exchange->op.kind != GYRE_COLLECTIVE_ALL_GATHER || exchange->group == 0 || input < 0
      || self->home[input] >= 0)
    return FALSE;

  donor = get_input (self, (guint) input);
  return self->lives->output[donor->id] < 0
         && gyre_spec_is_replicated (&self->lives->program->specs[donor->id])
         && donor->dtype == exchange->dtype
         && gyre_shape_n_elements (&donor->shape) == exchange->n_elements
         && self->lives->last_use[donor->id] < exchange->used;
}

static void
find_homes (GyrePlan *self,
            guint    *after)
{
  for (guint i = 0; i < self->exchanges->len; i++)
    {
      const GyreExchange *exchange = get_exchange (self, i);
      int input = find_donor (self, exchange->op.out);

      if (!can_be_home (self, exchange, input))
        continue;
      self->home[input] = (int) i;
      after[i] = self->lives->last_use[get_input (self, (guint) input)->id];
    }
}

static int
find_homed_input (const GyrePlan *self,
                  guint           exchange)
{
  for (guint i = 0; i < self->lives->program->graph->inputs->len; i++)
    if (self->home[i] == (int) exchange)
      return (int) i;

  return -1;
}

/* --- places --- */

static void
place_inputs (GyrePlan *self)
{
  for (guint i = 0; i < self->lives->program->graph->inputs->len; i++)
    {
      GyrePlace *place = &self->places[get_input (self, i)->id];

      place->kind = self->home[i] >= 0 ? GYRE_PLACE_BUCKET : GYRE_PLACE_INPUT;
      place->index = self->home[i] >= 0 ? (guint) self->home[i] : i;
    }
}

/* The operand can be made in the bucket: nothing else reads it, and what lives there is
 * not read any more. */
static gboolean
is_direct (const GyrePlan *self,
           guint           i)
{
  const GyreExchange *exchange = get_exchange (self, i);
  const GyreLives *lives = self->lives;
  int input = find_homed_input (self, i);

  if (gyre_dtype_size (exchange->dtype) != 4 || exchange->op.dim >= 0
      || self->places[exchange->in].kind != GYRE_PLACE_NONE
      || lives->first_use[exchange->in] != exchange->node
      || lives->last_use[exchange->in] != exchange->node)
    return FALSE;

  return input < 0 || gyre_lives_may_overwrite (lives, exchange->in,
                                                get_input (self, (guint) input)->id);
}

/* It is copied into the bucket when that begins. */
static void
read_until_begin (GyrePlan *self,
                  guint     i)
{
  const GyreBucket *bucket = g_ptr_array_index (
    self->buckets->buckets, g_array_index (self->buckets->bucket_of, guint, i));
  guint *last_use = &self->lives->last_use[get_exchange (self, i)->in];

  *last_use = MAX (*last_use, bucket->begin / 6 + 1);
}

static void
place_exchange (GyrePlan *self,
                guint     i)
{
  const GyreExchange *exchange = get_exchange (self, i);
  GyrePlace *in = &self->places[exchange->in], *out = &self->places[exchange->op.out];

  self->direct[i] = is_direct (self, i);
  if (self->direct[i])
    {
      in->kind = GYRE_PLACE_BUCKET;
      in->index = i;
      in->chunk = exchange->op.kind == GYRE_COLLECTIVE_ALL_GATHER;
    }
  else
    read_until_begin (self, i);

  /* blocks are unpacked into memory like any other */
  if (gyre_bucket_is_blocks (g_ptr_array_index (
          self->buckets->buckets,
          g_array_index (self->buckets->bucket_of, guint, i))))
    return;
  out->kind = GYRE_PLACE_BUCKET;
  out->index = i;
  out->chunk = exchange->op.kind == GYRE_COLLECTIVE_REDUCE_SCATTER;
}

static gboolean
may_take_over (const GyrePlan *self,
               const gboolean *taken,
               guint           root,
               int             input)
{
  const GyreTensor *donor,
      *value = g_ptr_array_index (self->lives->program->graph->nodes, root);
  const GyreSpec *specs = self->lives->program->specs;

  if (input < 0 || taken[input])
    return FALSE;

  donor = get_input (self, (guint) input);
  return self->places[donor->id].kind == GYRE_PLACE_INPUT &&
         self->lives->output[donor->id] < 0 && donor->dtype == value->dtype &&
         gyre_shape_n_elements (&donor->shape) == gyre_shape_n_elements (&value->shape) &&
         specs[donor->id].flat == specs[root].flat &&
         specs[donor->id].group == specs[root].group &&
         gyre_spec_split_axes (&specs[donor->id]) ==
             gyre_spec_split_axes (&specs[root]) &&
         gyre_lives_may_overwrite (self->lives, root, donor->id);
}

static void
place_root (GyrePlan *self,
            gboolean *taken,
            guint     root)
{
  const GyreLives *lives = self->lives;
  GyrePlace *place = &self->places[root];
  int input = find_donor (self, root);

  if (!lives->held[root] || place->kind != GYRE_PLACE_NONE)
    return;

  if (lives->output[root] < 0)
    place->kind = GYRE_PLACE_ARENA;
  else if (may_take_over (self, taken, root, input))
    {
      place->kind = GYRE_PLACE_INPUT;
      place->index = (guint) input;
      taken[input] = TRUE;
    }
  else
    {
      place->kind = GYRE_PLACE_OUTPUT;
      place->index = (guint) lives->output[root];
    }
}

static void
place_all (GyrePlan *self)
{
  g_autofree gboolean *taken =
      g_new0 (gboolean, self->lives->program->graph->inputs->len + 1);

  place_inputs (self);
  for (guint i = 0; i < self->exchanges->len; i++)
    place_exchange (self, i);
  for (guint root = 0; root < self->lives->n; root++)
    if (self->lives->root[root] == root)
      place_root (self, taken, root);
}

GyrePlan *
gyre_plan_new (const GyreProgram  *program,
               gsize               align,
               const GyrePlan     *like,
               GError            **error)
{
  g_autoptr (GyrePlan) self = g_new0 (GyrePlan, 1);
  g_autofree guint *after = NULL;

  self->lives = gyre_lives_new (program);
  self->exchanges = gyre_exchanges_find (self->lives, error);
  if (self->exchanges == NULL)
    return NULL;

  self->places = g_new0 (GyrePlace, self->lives->n + 1);
  self->direct = g_new0 (gboolean, self->exchanges->len + 1);
  self->home = g_new (int, program->graph->inputs->len + 1);
  for (guint i = 0; i < program->graph->inputs->len; i++)
    self->home[i] = -1;

  after = g_new0 (guint, self->exchanges->len + 1);
  find_homes (self, after);
  self->buckets = gyre_buckets_new (self->exchanges, after, align,
                                    like != NULL ? like->buckets : NULL);
  place_all (self);

  return g_steal_pointer (&self);
}

void
gyre_plan_free (GyrePlan *self)
{
  if (self == NULL)
    return;

  gyre_lives_free (self->lives);
  g_clear_pointer (&self->exchanges, g_array_unref);
  gyre_buckets_free (self->buckets);
  g_free (self->places);
  g_free (self->direct);
  g_free (self->home);
  g_free (self);
}

const GyrePlace *
gyre_plan_get_place (const GyrePlan *self,
                     guint           id)
{
  return &self->places[self->lives->root[id]];
}

/* An operand that is copied into its bucket is read when that begins; the result of a
 * gather of blocks is written when it ends. */
void
gyre_plan_get_life (const GyrePlan *self,
                    guint           root,
                    guint          *first,
                    guint          *last)
{
  const GyreLives *lives = self->lives;

  *first = GYRE_KEY_AT (lives->made[root]);
  *last = GYRE_KEY_AT (lives->last_use[root]);

  for (guint i = 0; i < self->exchanges->len; i++)
    {
      const GyreExchange *exchange = get_exchange (self, i);
      const GyreBucket *bucket = g_ptr_array_index (
        self->buckets->buckets, g_array_index (self->buckets->bucket_of, guint, i));

      if (exchange->in == root)
        *last = MAX (*last, bucket->begin);
      if (exchange->op.out == root)
        *first = MIN (*first, bucket->finish);
    }
}
