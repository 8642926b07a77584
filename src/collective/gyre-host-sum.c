/* SPDX-License-Identifier: Apache-2.0 */
#include "collective/gyre-host-sum-private.h"

#include <string.h>

/* Blocks stay in the nearest cache from the first member's to the last one's. */
#define BLOCK 2048
/* Elements of all members: fewer are done before a second thread has woken up. */
#define WORTH_TWO 65536
/* An inner loop of a known length: compilers make vectors of it. */
#define LANES 16

/* a[k] = a[k] ∘ x[k] */
typedef void (*Combine) (gpointer      a,
                         gconstpointer x,
                         gsize         n);

#define SUM(a, x) ((a) + (x))
#define MAX_OF(a, x) ((a) > (x) || (a) != (a) ? (a) : (x))
#define MIN_OF(a, x) ((a) < (x) || (a) != (a) ? (a) : (x))

#define DEFINE_COMBINE(name, type, OP)                                        \
  static void                                                                 \
  name (gpointer      to,                                                     \
        gconstpointer from,                                                   \
        gsize         n)                                                      \
  {                                                                           \
    type *restrict a = to;                                                    \
    const type *restrict x = from;                                            \
    gsize k = 0;                                                              \
                                                                              \
    for (; k + LANES <= n; k += LANES)                                        \
      for (guint j = 0; j < LANES; j++)                                       \
        a[k + j] = OP (a[k + j], x[k + j]);                                   \
    for (; k < n; k++)                                                        \
      a[k] = OP (a[k], x[k]);                                                 \
  }

DEFINE_COMBINE (sum_f32, float, SUM)
DEFINE_COMBINE (max_f32, float, MAX_OF)
DEFINE_COMBINE (min_f32, float, MIN_OF)
DEFINE_COMBINE (sum_u32, guint32, SUM)
DEFINE_COMBINE (max_u32, guint32, MAX_OF)
DEFINE_COMBINE (min_u32, guint32, MIN_OF)
DEFINE_COMBINE (max_i32, gint32, MAX_OF)
DEFINE_COMBINE (min_i32, gint32, MIN_OF)

/* Sums of integers are modulo 2³², with a sign or without. */
static const Combine combines[][3] = {
  [GYRE_F32] = { sum_f32, max_f32, min_f32 },
  [GYRE_I32] = { sum_u32, max_i32, min_i32 },
  [GYRE_U32] = { sum_u32, max_u32, min_u32 },
};

/* A block of n elements of chunk c, from offset on. */

static void
reduce_block (const GyreHostSum *self,
              guint              c,
              gsize              offset,
              gsize              n)
{
  const GyreCollective *of = self->collective;
  Combine combine = combines[of->dtype][of->op];
  guint i = of->next[c];
  guint32 sum[BLOCK];

  memcpy (sum, self->at[i * of->n + c] + offset, n * sizeof *sum);
  while (i != c)
    {
      i = of->next[i];
      combine (sum, self->at[i * of->n + c] + offset, n);
    }
  memcpy (self->at[c * of->n + c] + offset, sum, n * sizeof *sum);
}

static void
spread_block (const GyreHostSum *self,
              guint              c,
              gsize              offset,
              gsize              n)
{
  const GyreCollective *of = self->collective;
  const guint32 *from = self->at[c * of->n + c] + offset;

  for (guint i = 0; i < of->n; i++)
    if (i != c)
      memcpy (self->at[i * of->n + c] + offset, from, n * sizeof *from);
}

/* Elements [first, last) of the bucket. */
static void
run_range (const GyreHostSum *self,
           gsize              first,
           gsize              last)
{
  const gsize *bounds = self->collective->bounds;

  for (guint c = 0; c < self->collective->n; c++)
    {
      gsize k = MAX (first, bounds[c]);
      gsize end = MIN (last, bounds[c + 1]);

      for (; k < end; k += BLOCK)
        {
          gsize n = MIN (BLOCK, end - k);

          if (gyre_phase_reduces (self->phase))
            reduce_block (self, c, k - bounds[c], n);
          if (gyre_phase_gathers (self->phase))
            spread_block (self, c, k - bounds[c], n);
        }
    }
}

/* The second thread. */

static struct
{
  GMutex             lock;
  GCond              wake;
  GCond              done;
  const GyreHostSum *sum;       /* NULL: nothing to do */
  gsize              first, last;
} second;

static gpointer
run_second (gpointer unused)
{
  g_mutex_lock (&second.lock);
  for (;;)
    {
      while (second.sum == NULL)
        g_cond_wait (&second.wake, &second.lock);
      g_mutex_unlock (&second.lock);
      run_range (second.sum, second.first, second.last);
      g_mutex_lock (&second.lock);
      second.sum = NULL;
      g_cond_signal (&second.done);
    }
  return NULL;
}

void
gyre_host_sum_start (void)
{
  static gsize started;

  if (g_once_init_enter (&started))
    {
      g_thread_unref (g_thread_new ("gyre-host-sum", run_second, NULL));
      g_once_init_leave (&started, 1);
    }
}

void
gyre_host_sum_run (const GyreHostSum *self)
{
  gsize length = self->collective->length;
  gsize half = length / 2 / LANES * LANES;

  if (length * self->collective->n < WORTH_TWO)
    {
      run_range (self, 0, length);
      return;
    }
  g_mutex_lock (&second.lock);
  second.first = half;
  second.last = length;
  second.sum = self;
  g_cond_signal (&second.wake);
  g_mutex_unlock (&second.lock);

  run_range (self, 0, half);

  g_mutex_lock (&second.lock);
  while (second.sum != NULL)
    g_cond_wait (&second.done, &second.lock);
  g_mutex_unlock (&second.lock);
}
