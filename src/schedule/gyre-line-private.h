/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "array/gyre-mesh-private.h"
#include "blas/gyre-blas-private.h"
#include "device/gyre-kernel-private.h"
#include "fft/gyre-fft-private.h"
#include "plan/gyre-pack-private.h"
#include "plan/gyre-plan-private.h"
#include "schedule/gyre-crew-private.h"

G_BEGIN_DECLS

/* A command with its kernel and its buffers, ready to be enqueued. */
typedef struct
{
  GyreCommandKind   kind;
  guint             key;       /* when, see GYRE_KEY_AT () */
  const GyreTensor *node;      /* NULL: between nodes */
  const char       *variant;   /* which way to compute it, or NULL */
  union
  {
    struct
    {
      GyreKernel    *kernel;
      guint          n_args;
      GyreKernelArg *args;
      guint          dims;
      gsize          global[3], local[3];
    } launch;
    GyreBlasGemm gemm;
    GyreFft      fft;
    struct { GyreBuffer *buffer; gsize size; guint32 pattern; } fill;
    struct { GyreBuffer *from, *to; gsize from_first, to_first, size; } copy;
  };
} GyreBound;

/* A buffer that differs from run to run: slot i is input i, then come the outputs. */
typedef struct
{
  GyreBuffer **where;
  guint        slot;
} GyrePatch;

/* Memory that a root or a scratch buffer of a node needs. */
typedef struct
{
  guint id;             /* root; or, of scratch, the node */
  int   temp;           /* index of the scratch, or -1 */
  gsize size;
  guint first, last;    /* keys */
  GyreBuffer *buffer;
} GyreNeed;

typedef struct
{
  GyreCommand command;
  guint       first_temp;  /* of its node, in the scratch of all */
} GyreLowered;

/* What one device does in a step. */
typedef struct
{
  GyreDevice         *device;
  guint               index;      /* in the mesh */
  const GyreProgram  *program;
  const GyrePlan     *plan;       /* shared by the lines of one program */
  GyreTarget          target;

  /* the crew of each bucket, and this device's place in it (GyreLineCrew) */
  GArray             *crews;
  gint64            **bounds;     /* by group - 1: [n_devices + 1], own entries set */

  GyreArena          *arena;      /* of the commands as they are now */
  GArray             *lowered;    /* GyreLowered */
  GArray             *scratch;    /* GyreNeed, as they are now: no buffers */
  GArray             *needs;      /* GyreNeed with buffers: roots, then scratch; as large
                                     as they ever were */
  guint               n_roots;    /* among the needs */
  guint              *need_of;    /* by root: index among the needs */
  GPtrArray          *blocks;     /* GyreBuffer */

  GArray             *bound;      /* GyreBound, by key */
  GArray             *patches;    /* GyrePatch */
} GyreLine;

typedef struct
{
  GyreCrew *crew;      /* held */
  guint     member;
} GyreLineCrew;

GyreLine *gyre_line_new  (GyreDevice         *device,
                          guint               index,
                          guint               n_devices,
                          const GyreProgram  *program,
                          const GyrePlan     *plan);
void      gyre_line_free (GyreLine           *self);

/* What the device holds of a value, in elements and bytes, under these shares. */
gint64    gyre_line_count        (const GyreLine     *self,
                                  const GyreMeshSpec *mesh,
                                  guint               id);
gsize     gyre_line_size         (const GyreLine     *self,
                                  const GyreMeshSpec *mesh,
                                  guint               id);
/* The flat part of a group that is this device's: elements. */
void      gyre_line_get_chunk    (const GyreLine     *self,
                                  guint16             group,
                                  gint64             *first,
                                  gint64             *count);

/* The stages of an update, in their order. */
gboolean  gyre_line_lower        (GyreLine           *self,
                                  const GyreMeshSpec *mesh,
                                  GError            **error);
gboolean  gyre_line_store        (GyreLine           *self,
                                  const GyreMeshSpec *mesh,
                                  GError            **error);
/* On the executor thread. */
gboolean  gyre_line_bind         (GyreLine           *self,
                                  const GyreMeshSpec *mesh,
                                  GyreLine *const    *lines,
                                  GError            **error);

/* Memory of an exchange's value in its bucket: all of it, or the device's chunk. */
GyreStore *gyre_line_get_part    (GyreLine           *self,
                                  guint               exchange,
                                  gboolean            chunk,
                                  GError            **error);

/* On the executor thread: enqueues commands from *next on, those before key. */
gboolean  gyre_line_run          (GyreLine           *self,
                                  guint              *next,
                                  guint               key,
                                  GError            **error);
void      gyre_line_patch        (GyreLine           *self,
                                  GyreBuffer *const  *slots);
char     *gyre_bound_to_string   (const GyreBound    *self);

G_END_DECLS
