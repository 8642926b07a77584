/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What tests of collectives share: a bucket on each of some devices, filled from the
 * host, reduced, and compared bit for bit with the host's own sum in the same order. */

#include "../device/gyre-check-device.h"

#include "collective/gyre-collective-private.h"

#define MOST 8

typedef struct
{
  GPtrArray      *devices;
  guint           n;
  GyreDtype       dtype;
  GyreReduceOp    op;
  gsize           length;
  guint           seed;
  const guint    *order;        /* of the ring; NULL: the members' */

  GyreBuffer     *buffers[MOST];
  guint32        *in[MOST];
  guint32        *out[MOST];
  guint32        *expected;
  GyreCollective *collective;

  gboolean        two_phases;
  GyreBuffer     *other[MOST];  /* worked on in between */
} Bucket;

static inline guint32
check_hash (guint32 x)
{
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/* Floats of many magnitudes, so that another order gives other bits; any integers. */
static inline guint32
check_value (GyreDtype dtype,
             guint32   bits)
{
  float x;

  if (dtype != GYRE_F32)
    return bits;
  x = ldexpf ((gint32) bits, (int) (bits % 9) - 32);
  memcpy (&bits, &x, sizeof bits);
  return bits;
}

static inline void
bucket_fill (Bucket *self,
             guint   seed)
{
  self->seed = seed;
  for (guint i = 0; i < self->n; i++)
    for (gsize k = 0; k < self->length; k++)
      self->in[i][k] = check_value (self->dtype,
                                    check_hash (k * MOST + i + seed * 0x9e3779b9u));
}

static inline guint32
check_combine (GyreDtype    dtype,
               GyreReduceOp op,
               guint32      a,
               guint32      b)
{
  if (dtype == GYRE_F32)
    {
      float x, y, z;

      memcpy (&x, &a, sizeof x);
      memcpy (&y, &b, sizeof y);
      z = op == GYRE_REDUCE_SUM ? x + y
        : op == GYRE_REDUCE_MAX ? (x > y || x != x ? x : y)
                                : (x < y || x != x ? x : y);
      memcpy (&a, &z, sizeof a);
      return a;
    }
  if (op == GYRE_REDUCE_SUM)
    return a + b;
  if (dtype == GYRE_U32)
    return (op == GYRE_REDUCE_MAX) == (a > b) ? a : b;
  return (op == GYRE_REDUCE_MAX) == ((gint32) a > (gint32) b) ? a : b;
}

static inline guint
bucket_place (Bucket *self,
              guint   member)
{
  for (guint p = 0; self->order != NULL && p < self->n; p++)
    if (self->order[p] == member)
      return p;
  return member;
}

static inline guint
bucket_at (Bucket *self,
           guint   place)
{
  place %= self->n;
  return self->order != NULL ? self->order[place] : place;
}

/* Chunk c: from its successor around the ring to c itself. */
static inline void
bucket_expect (Bucket *self)
{
  const gsize *bounds = gyre_collective_get_bounds (self->collective);

  for (guint c = 0; c < self->n; c++)
    for (gsize k = bounds[c]; k < bounds[c + 1]; k++)
      {
        guint place = bucket_place (self, c);
        guint32 sum = self->in[bucket_at (self, place + 1)][k];

        for (guint i = 2; i <= self->n; i++)
          sum = check_combine (self->dtype, self->op, sum,
                               self->in[bucket_at (self, place + i)][k]);
        self->expected[k] = sum;
      }
}

static inline void
bucket_open (Bucket      *self,
             const char  *algorithm,
             const gsize *bounds)
{
  GError *error = NULL;
  GyreCollectiveInfo info = {
    self->n, (GyreDevice **) self->devices->pdata, self->buffers, self->dtype, self->op,
    self->length, bounds, algorithm
  };

  for (guint i = 0; i < self->n; i++)
    {
      GyreDevice *device = g_ptr_array_index (self->devices, i);

      self->buffers[i] = gyre_buffer_new (device, self->length * 4, &error);
      gyre_assert_no_error (error);
      self->other[i] = gyre_buffer_new (device, 1 << 16, &error);
      gyre_assert_no_error (error);
      self->in[i] = g_new0 (guint32, self->length + 1);
      self->out[i] = g_new0 (guint32, self->length + 1);
    }
  self->expected = g_new0 (guint32, self->length + 1);
  self->collective = gyre_collective_new (&info, &error);
  gyre_assert_no_error (error);
}

static inline void
bucket_close (Bucket *self)
{
  gyre_collective_free (self->collective);
  for (guint i = 0; i < self->n; i++)
    {
      gyre_buffer_unref (self->buffers[i]);
      gyre_buffer_unref (self->other[i]);
      g_free (self->in[i]);
      g_free (self->out[i]);
    }
  g_free (self->expected);
  gyre_executor_drain ();
}

static inline gboolean
bucket_write (Bucket  *self,
              GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!gyre_collective_acquire (self->collective, i, error) ||
        !gyre_device_write (g_ptr_array_index (self->devices, i), self->buffers[i], 0,
                            self->length * 4, self->in[i], NULL, 0, NULL, error))
      return FALSE;
  return TRUE;
}

/* Other commands, as those of a backward pass, between begin and finish. */
static inline gboolean
bucket_work (Bucket  *self,
             GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!gyre_device_fill (g_ptr_array_index (self->devices, i), self->other[i], 0,
                           1 << 16, i, NULL, 0, NULL, error))
      return FALSE;
  return TRUE;
}

static inline gboolean
bucket_phase (Bucket              *self,
              GyreCollectivePhase  phase,
              GError             **error)
{
  return gyre_collective_begin (self->collective, phase, error) &&
         bucket_work (self, error) &&
         gyre_collective_finish (self->collective, phase, error);
}

static inline gboolean
bucket_read (Bucket  *self,
             GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!gyre_device_read (g_ptr_array_index (self->devices, i), self->buffers[i], 0,
                           self->length * 4, self->out[i], NULL, 0, NULL, error))
      return FALSE;
  return TRUE;
}

static inline gboolean
bucket_wait (Bucket  *self,
             GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!gyre_device_flush (g_ptr_array_index (self->devices, i), error))
      return FALSE;
  for (guint i = 0; i < self->n; i++)
    if (!gyre_check_wait (g_ptr_array_index (self->devices, i), error))
      return FALSE;
  return TRUE;
}

static inline gboolean
bucket_step (gpointer   data,
             GError   **error)
{
  Bucket *self = data;

  if (!bucket_write (self, error))
    return FALSE;
  if (!self->two_phases && !bucket_phase (self, GYRE_PHASE_ALL_REDUCE, error))
    return FALSE;
  if (self->two_phases &&
      (!bucket_phase (self, GYRE_PHASE_REDUCE_SCATTER, error) ||
       !bucket_phase (self, GYRE_PHASE_ALL_GATHER, error)))
    return FALSE;
  return bucket_read (self, error) && bucket_wait (self, error);
}

static inline void
bucket_compare (Bucket *self,
                guint   member,
                gsize   first,
                gsize   last)
{
  for (gsize k = first; k < last; k++)
    if (self->out[member][k] != self->expected[k])
      ck_abort_msg ("%s, %u members, %s, op %d, length %" G_GSIZE_FORMAT ", seed %u: "
                    "member %u has bits %08x at %" G_GSIZE_FORMAT ", not %08x",
                    gyre_collective_get_algorithm (self->collective), self->n,
                    gyre_dtype_name (self->dtype), self->op, self->length, self->seed,
                    member, self->out[member][k], k, self->expected[k]);
}

/* Fills, reduces, and compares all of it on each member. */
static inline void
bucket_check (Bucket *self,
              guint   seed)
{
  GError *error;

  bucket_fill (self, seed);
  bucket_expect (self);
  error = gyre_check_on_executor (bucket_step, self);
  gyre_assert_no_error (error);
  for (guint i = 0; i < self->n; i++)
    bucket_compare (self, i, 0, self->length);
}
