/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A bump allocator: everything in it is freed at once.  Memory is zeroed, and aligned
 * for any type.  An arena belongs to one thread at a time. */
typedef struct _GyreArena GyreArena;

GyreArena *gyre_arena_new    (void);
void       gyre_arena_free   (GyreArena *self);
gpointer   gyre_arena_alloc  (GyreArena *self, gsize size);
gpointer   gyre_arena_memdup (GyreArena *self, gconstpointer data, gsize size);
char      *gyre_arena_strdup (GyreArena *self, const char *string);
char      *gyre_arena_printf (GyreArena *self, const char *format, ...)
                              G_GNUC_PRINTF (2, 3);
/* Calls destroy (data) when the arena is freed, last adopted first. */
void       gyre_arena_adopt  (GyreArena *self, gpointer data, GDestroyNotify destroy);

#define gyre_arena_new0(self, type)    ((type *) gyre_arena_alloc ((self), sizeof (type)))
#define gyre_arena_newn(self, type, n) \
  ((type *) gyre_arena_alloc ((self), sizeof (type) * (gsize) (n)))

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreArena, gyre_arena_free)

/* While an owner is set on this thread (a trace is running), trees, nodes and other
 * objects that a traced function makes are adopted by its arena, so that "inside a
 * traced function nothing is yours".  Constructors call gyre_owner_adopt ().
 *
 * Library code that runs both inside and outside of traces releases the new objects
 * that it doesn't return only if gyre_owner_get () is NULL.  Pushing NULL suspends the
 * owner: what is made until the pop belongs to its caller and can outlive the trace. */
void       gyre_owner_push  (GyreArena *arena);
void       gyre_owner_pop   (void);
GyreArena *gyre_owner_get   (void);  /* NULL: no owner */
/* FALSE: there is no owner, and the caller owns data. */
gboolean   gyre_owner_adopt (gpointer data, GDestroyNotify destroy);

G_END_DECLS
