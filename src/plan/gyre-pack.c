/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/gyre-pack-private.h"

gsize
gyre_align_up (gsize n,
               gsize align)
{
  return (n + align - 1) / align * align;
}

static gboolean
overlap (const GyreInterval *a,
         const GyreInterval *b)
{
  return a->first <= b->last && b->first <= a->last;
}

static int
compare_size (gconstpointer a,
              gconstpointer b)
{
  const GyreInterval *x = *(GyreInterval *const *) a, *y = *(GyreInterval *const *) b;

  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;

  return x < y ? -1 : 1;
}

static int
compare_place (gconstpointer a,
               gconstpointer b)
{
  const GyreInterval *x = *(GyreInterval *const *) a, *y = *(GyreInterval *const *) b;

  if (x->block != y->block)
    return x->block < y->block ? -1 : 1;

  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

typedef struct
{
  GPtrArray *placed;   /* GyreInterval *, by block and offset */
  GArray    *blocks;   /* gsize */
  gsize      align;
  gsize      most;
} Packer;

/* The smallest gap of a block that takes it; past its end if that is allowed. */
static gboolean
find_gap (const Packer *self,
          guint         block,
          GyreInterval *interval,
          gsize        *waste)
{
  gsize size = gyre_align_up (interval->size, self->align), end = 0;
  gboolean found = FALSE;

  *waste = G_MAXSIZE;
  for (guint i = 0; i < self->placed->len; i++)
    {
      const GyreInterval *other = g_ptr_array_index (self->placed, i);

      if (other->block != block || !overlap (other, interval))
        continue;
      if (other->offset >= end + size && other->offset - end - size < *waste)
        {
          *waste = other->offset - end - size;
          interval->offset = end;
          found = TRUE;
        }
      end = MAX (end, other->offset + gyre_align_up (other->size, self->align));
    }

  if (!found &&
      end + size <= MAX (self->most, g_array_index (self->blocks, gsize, block)))
    {
      interval->offset = end;
      found = TRUE;
    }

  return found;
}

static void
place (Packer       *self,
       GyreInterval *interval)
{
  gsize size = gyre_align_up (interval->size, self->align), waste, zero = 0;
  gsize *end;

  for (guint b = 0;; b++)
    {
      if (b == self->blocks->len)
        {
          g_array_append_val (self->blocks, zero);
          interval->offset = 0;
        }
      else if (!find_gap (self, b, interval, &waste))
        continue;

      interval->block = b;
      end = &g_array_index (self->blocks, gsize, b);
      *end = MAX (*end, interval->offset + size);
      break;
    }

  g_ptr_array_add (self->placed, interval);
  g_ptr_array_sort (self->placed, compare_place);
}

GArray *
gyre_pack (GyreInterval *intervals,
           guint         n,
           gsize         align,
           gsize         most)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  Packer self = { g_ptr_array_new (), g_array_new (FALSE, FALSE, sizeof (gsize)), align,
                  most };

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (order, &intervals[i]);
  g_ptr_array_sort (order, compare_size);
  for (guint i = 0; i < n; i++)
    place (&self, g_ptr_array_index (order, i));

  g_ptr_array_unref (self.placed);
  return self.blocks;
}
