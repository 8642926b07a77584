/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "device/gyre-buffer-private.h"

G_BEGIN_DECLS

/* Buffers that were given back, by device and (rounded) size: a loop that makes and drops
 * the same arrays creates none.  A queue is in order, so that a buffer may be taken again
 * while commands that were enqueued before still read it. */
typedef struct _GyrePool GyrePool;

GyrePool   *gyre_pool_new   (void);
GyrePool   *gyre_pool_ref   (GyrePool *self);
void        gyre_pool_unref (GyrePool *self);

/* Memory of one shard, which arrays and runs hold together; goes back to its pool (if it
 * has one) with its last holder. */
typedef struct
{
  gatomicrefcount ref_count;
  GyreBuffer     *buffer;
  GyrePool       *pool;
  int             n_arrays;   /* atomic: those that have their numbers here */
  gpointer        array;      /* the last of them; good while there is one */
} GyreStore;

GyreStore  *gyre_store_new       (GyreBuffer  *buffer);   /* transfer full; no pool */
GyreStore  *gyre_pool_take       (GyrePool    *self,
                                  GyreDevice  *device,
                                  gsize        size,
                                  GError     **error);
/* Buffers for as many as are in use at a time, so that later takes make none. */
gboolean    gyre_pool_reserve    (GyrePool    *self,
                                  GyreDevice  *device,
                                  gsize        size,
                                  GError     **error);
GyreStore  *gyre_store_ref       (GyreStore   *self);
void        gyre_store_unref     (GyreStore   *self);
/* At most one array has its numbers here. */
gboolean    gyre_store_is_single (GyreStore   *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyrePool, gyre_pool_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreStore, gyre_store_unref)

G_END_DECLS
