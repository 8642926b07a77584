/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gyre-arena-private.h"

#include <stdalign.h>
#include <stddef.h>
#include <string.h>

/* Blocks grow from a page to a quarter of a megabyte.  An object larger than a quarter
 * of a block has a block of its own, so that little is left unused. */
#define FIRST_BLOCK 4096
#define LAST_BLOCK  (256 * 1024)
#define ALIGNMENT   alignof (max_align_t)

typedef struct _Block    Block;
typedef struct _Adoption Adoption;

struct _Block
{
  Block                    *next;
  alignas (max_align_t) char data[];
};

struct _Adoption
{
  Adoption      *next;
  gpointer       data;
  GDestroyNotify destroy;
};

struct _GyreArena
{
  Block    *blocks;
  char     *cursor;
  gsize     left;
  gsize     block_size;
  Adoption *adoptions;
};

/* The arenas that own what this thread makes; the last one pushed is in force. */
static _Thread_local GSList *owners;

GyreArena *
gyre_arena_new (void)
{
  GyreArena *self = g_new0 (GyreArena, 1);

  self->block_size = FIRST_BLOCK;

  return self;
}

/* Destroying may adopt more, so the list is popped one by one. */
static void
destroy_adopted (GyreArena *self)
{
  while (self->adoptions != NULL)
    {
      Adoption *adoption = self->adoptions;

      self->adoptions = adoption->next;
      adoption->destroy (adoption->data);
    }
}

void
gyre_arena_free (GyreArena *self)
{
  if (self == NULL)
    return;

  destroy_adopted (self);

  while (self->blocks != NULL)
    {
      Block *block = self->blocks;

      self->blocks = block->next;
      g_free (block);
    }
  g_free (self);
}

static char *
add_block (GyreArena *self,
           gsize      size)
{
  Block *block = g_malloc0 (sizeof (Block) + size);

  block->next = self->blocks;
  self->blocks = block;

  return block->data;
}

gpointer
gyre_arena_alloc (GyreArena *self,
                  gsize      size)
{
  char *data;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (size < G_MAXSIZE / 2, NULL);

  size = (MAX (size, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (size > self->left && size > self->block_size / 4)
    return add_block (self, size);

  if (size > self->left)
    {
      self->cursor = add_block (self, self->block_size);
      self->left = self->block_size;
      self->block_size = MIN (2 * self->block_size, LAST_BLOCK);
    }

  data = self->cursor;
  self->cursor += size;
  self->left -= size;

  return data;
}

gpointer
gyre_arena_memdup (GyreArena     *self,
                   gconstpointer  data,
                   gsize          size)
{
  gpointer copy = gyre_arena_alloc (self, size);

  if (size > 0)
    memcpy (copy, data, size);

  return copy;
}

char *
gyre_arena_strdup (GyreArena  *self,
                   const char *string)
{
  return string == NULL ? NULL : gyre_arena_memdup (self, string, strlen (string) + 1);
}

char *
gyre_arena_printf (GyreArena  *self,
                   const char *format,
                   ...)
{
  g_autofree char *string = NULL;
  va_list args;

  va_start (args, format);
  string = g_strdup_vprintf (format, args);
  va_end (args);

  return gyre_arena_strdup (self, string);
}

void
gyre_arena_adopt (GyreArena      *self,
                  gpointer        data,
                  GDestroyNotify  destroy)
{
  Adoption *adoption = gyre_arena_new0 (self, Adoption);

  adoption->data = data;
  adoption->destroy = destroy;
  adoption->next = self->adoptions;
  self->adoptions = adoption;
}

void
gyre_owner_push (GyreArena *arena)
{
  owners = g_slist_prepend (owners, arena);
}

void
gyre_owner_pop (void)
{
  g_return_if_fail (owners != NULL);

  owners = g_slist_delete_link (owners, owners);
}

GyreArena *
gyre_owner_get (void)
{
  return owners == NULL ? NULL : owners->data;
}

gboolean
gyre_owner_adopt (gpointer       data,
                  GDestroyNotify destroy)
{
  GyreArena *arena = gyre_owner_get ();

  if (arena != NULL)
    gyre_arena_adopt (arena, data, destroy);

  return arena != NULL;
}
