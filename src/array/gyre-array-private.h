/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gyre/gyre-array.h>

#include "array/gyre-sharding-private.h"
#include "array/gyre-ticket-private.h"

G_BEGIN_DECLS

/* The block of an array that a device holds: rows and columns, or, of one that is split
 * flat, a range of the row-major elements. */
typedef struct
{
  gint64    offsets[GYRE_MAX_RANK];
  GyreShape local;
  gboolean  flat;
  gint64    first, count;     /* flat: elements */
  guint     summand;          /* of an array in summands: which one, from 0 */
} GyreBlock;

/* How an array lies on a mesh, with all boundaries as integers.  Immutable; reference
 * counted. */
typedef struct
{
  gatomicrefcount ref_count;
  GyreSpec   spec;
  gboolean   stacked;
  guint      n_blocks;        /* one a device */
  GyreBlock *blocks;
} GyreLayout;

/* ranges: for a flat spec, by device: first element and number of elements; else
 * unused. */
GyreLayout *gyre_layout_new     (const GyreMeshSpec *mesh,
                                 const GyreShape    *shape,
                                 const GyreSpec     *spec,
                                 gboolean            stacked,
                                 const gint64       *ranges);
GyreLayout *gyre_layout_ref     (GyreLayout         *self);
void        gyre_layout_unref   (GyreLayout         *self);
gboolean    gyre_layout_equal   (const GyreLayout   *a,
                                 const GyreLayout   *b);
/* Elements of a block. */
gint64      gyre_block_n        (const GyreBlock    *self);
/* Whether the block's elements stand together in the whole array; first: where. */
gboolean    gyre_block_is_run   (const GyreBlock    *self,
                                 const GyreShape    *shape,
                                 gint64             *first);
/* Between the whole array and the block, both row-major; size is an element's. */
void        gyre_block_gather   (const GyreBlock    *self,
                                 const GyreShape    *shape,
                                 gsize               size,
                                 const guint8       *whole,
                                 guint8             *block);
void        gyre_block_scatter  (const GyreBlock    *self,
                                 const GyreShape    *shape,
                                 gsize               size,
                                 const guint8       *block,
                                 guint8             *whole);
/* The same, added to what is there. */
void        gyre_block_add      (const GyreBlock    *self,
                                 const GyreShape    *shape,
                                 GyreDtype           dtype,
                                 const guint8       *block,
                                 guint8             *whole);

/* Scalars that a step gives come to the host with it, without being asked for. */
#define GYRE_ARRAY_SMALL 16

struct _GyreArray
{
  gatomicrefcount ref_count;
  GyreDtype       dtype;
  GyreShape       shape;       /* of the whole: global, or stacked */
  int             donated;     /* atomic */

  GBytes         *bytes;       /* on the host */

  GyreSharding   *sharding;    /* on devices */
  GyreLayout     *layout;
  GyreStore     **stores;      /* one a block; under gyre_array_lock () */
  GyreTicket     *ticket;      /* what makes it; NULL: it is there */
  gboolean        has_small;
  guint8          small[GYRE_ARRAY_SMALL];  /* valid once the ticket is done */
};

/* On devices, with no stores yet (all NULL).  Takes the layout. */
GyreArray *gyre_array_new_sharded  (GyreDtype     dtype,
                                    GyreShape     shape,
                                    GyreSharding *sharding,
                                    GyreLayout   *layout);
/* Holds the store as the memory of a block; under gyre_array_lock () where others know
 * the array. */
void       gyre_array_set_store    (GyreArray    *self,
                                    guint         device,
                                    GyreStore    *store);
gboolean   gyre_array_is_on        (GyreArray    *self,
                                    GyreMesh     *mesh);
gsize      gyre_array_block_size   (GyreArray    *self,
                                    guint         device);
/* It can't be used again; its memory is no longer its own. */
void       gyre_array_set_donated  (GyreArray    *self);
gboolean   gyre_array_check        (GyreArray    *self,
                                    const char   *who,
                                    GError      **error);
/* Around changes of the stores of any array; held for a moment. */
void       gyre_array_lock         (void);
void       gyre_array_unlock       (void);

/* The host's bytes of one block; parts of bytes where it can be, without a copy.  Of
 * summands the first one has them, the others zeros. */
GBytes    *gyre_block_slice        (const GyreBlock *self,
                                    const GyreShape *shape,
                                    gsize            size,
                                    GBytes          *bytes);
/* Moves it to any layout, by way of the host where it must. */
GyreArray *gyre_array_put          (GyreArray    *self,
                                    GyreSharding *sharding,
                                    GyreLayout   *layout,   /* transfer full */
                                    GError      **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GyreLayout, gyre_layout_unref)

G_END_DECLS
